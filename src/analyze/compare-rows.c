/* SPDX-License-Identifier: MIT */
/* What two sides have in common becomes rows, each with its statistics; decide() runs over all of them. */
#include "analyze/compare-parts.h"
#include "base/cleanup.h"

#include <math.h>
#include <string.h>

#define NOTICED_P 0.05

struct gathered {			/* the waits of one probe on one side */
	struct waits *w;
	const struct side_series **series;
	size_t *run;			/* index on the side */
	size_t n;
	nsec_t limit;
	size_t warm, errors;
	bool clipped;
};

static void gather(const struct side *s, const char *name, struct gathered *ret)
{
	struct gathered g = { .w = mem_array(s->runs.n, sizeof(*g.w)), .series = mem_array(s->runs.n, sizeof(*g.series)),
			      .run = mem_array(s->runs.n, sizeof(*g.run)) };

	for (size_t i = 0; i < s->runs.n; i++) {
		const struct side_series *x = side_series_find(&s->runs.p[i], name);

		if (!x)
			continue;
		g.limit = g.limit ? g.limit : x->limit;
		g.warm += x->warm * x->wants_cold;
		g.errors += x->errors;
		g.clipped |= x->clipped;
		g.series[g.n] = x;
		g.run[g.n] = i;
		g.w[g.n++] = x->w;
	}
	*ret = g;
}

static void gathered_done(struct gathered *g)
{
	free(g->w);
	free(g->series);
	free(g->run);
}

static void find_drift(const struct gathered *g, struct row_drift *ret)
{
	*ret = (struct row_drift){ .p = 1 };
	for (size_t i = 0; i < g->n; i++) {
		struct drift d;

		if (g->w[i].unordered)
			continue;
		drift_of(g->w[i].x, g->w[i].n, &d);
		/* many runs have many chances */
		if (!d.noticed || d.p * (double)g->n > NOTICED_P || d.p >= ret->p)
			continue;
		*ret = (struct row_drift){ .noticed = true, .run = g->run[i], .at = d.at, .p = d.p,
					   .t = g->series[i]->t ? g->series[i]->t[d.at] : NSEC_NEVER };
	}
}

static void probe_row(struct compared *k, const char *name, size_t side)
{
	struct row r = { .kind = ROW_PROBE, .name = name, .side = side };
	struct gathered a, b;
	struct cmp_conf conf = { .margin = k->conf->margin, .share_margin = k->conf->share_margin };

	gather(k->sides[0], name, &a);
	gather(k->sides[side], name, &b);
	r.limit = conf.limit = a.limit ? a.limit : b.limit ? b.limit : NSEC_PER_SEC;
	r.warm[0] = a.warm;
	r.warm[1] = b.warm;
	r.errors[0] = a.errors;
	r.errors[1] = b.errors;
	r.clipped = a.clipped || b.clipped;
	comparison_of(a.w, a.n, b.w, b.n, &conf, &r.c);
	find_drift(&a, &r.drift[0]);
	find_drift(&b, &r.drift[1]);
	vec_push(&k->rows, r);
	gathered_done(&a);
	gathered_done(&b);
}

static bool side_has(const struct side *s, const char *name)
{
	for (size_t i = 0; i < s->runs.n; i++)
		if (side_series_find(&s->runs.p[i], name))
			return true;
	return false;
}

static bool seen_before(const struct side *s, size_t run, size_t series)
{
	const char *name = s->runs.p[run].series.p[series].name;

	for (size_t i = 0; i <= run; i++)
		for (size_t j = 0; j < (i == run ? series : s->runs.p[i].series.n); j++)
			if (!strcmp(s->runs.p[i].series.p[j].name, name))
				return true;
	return false;
}

static void only_in(struct compared *k, const char *name, size_t side)
{
	vec_push(&k->only, mem_printf("%s was measured only in %c", name, side_letter(side)));
}

/* A single series on each side is compared whatever it is called: files of foreign formats name theirs differently. */
static bool single_pair(struct compared *k)
{
	const struct side *a = k->sides[0], *b = k->sides[1];

	return k->n == 2 && a->runs.n && b->runs.n && a->runs.p[0].series.n == 1 && b->runs.p[0].series.n == 1 &&
	       !strcmp(a->runs.p[0].producer, "import") && !strcmp(b->runs.p[0].producer, "import") &&
	       !side_has(b, a->runs.p[0].series.p[0].name);
}

static void rename_series(struct side *s, const char *name)
{
	for (size_t i = 0; i < s->runs.n; i++)
		for (size_t j = 0; j < s->runs.p[i].series.n; j++) {
			free(s->runs.p[i].series.p[j].name);
			s->runs.p[i].series.p[j].name = mem_dup(name);
		}
}

static void probe_rows(struct compared *k)
{
	const struct side *a = k->sides[0];

	if (single_pair(k))
		rename_series(k->sides[1], a->runs.p[0].series.p[0].name);
	for (size_t s = 1; s < k->n; s++) {
		const struct side *b = k->sides[s];

		for (size_t i = 0; i < a->runs.n; i++)
			for (size_t j = 0; j < a->runs.p[i].series.n; j++) {
				const char *name = a->runs.p[i].series.p[j].name;

				if (seen_before(a, i, j))
					continue;
				if (side_has(b, name))
					probe_row(k, name, s);
				else
					only_in(k, name, 0);
			}
		for (size_t i = 0; i < b->runs.n; i++)
			for (size_t j = 0; j < b->runs.p[i].series.n; j++)
				if (!seen_before(b, i, j) && !side_has(a, b->runs.p[i].series.p[j].name))
					only_in(k, b->runs.p[i].series.p[j].name, s);
	}
}

static double mean(const double *y, size_t n)
{
	double s = 0;

	for (size_t i = 0; i < n; i++)
		s += y[i];
	return s / (double)n;
}

/* What all loads achieved: one mean a run, or with single runs their seconds. */
static void load_row(struct compared *k, size_t side)
{
	struct row r = { .kind = ROW_LOAD, .name = "load", .unit = "bytes/s", .side = side, .better = 1 };
	const struct side *s[2] = { k->sides[0], k->sides[side] };
	cleanup_free double *y0 = mem_array(s[0]->runs.n + 1, sizeof(double));
	cleanup_free double *y1 = mem_array(s[1]->runs.n + 1, sizeof(double));
	double *y[2] = { y0, y1 };
	const struct side_run *last[2] = { NULL };
	size_t n[2] = { 0 };

	for (int i = 0; i < 2; i++)
		for (size_t j = 0; j < s[i]->runs.n; j++)
			if (s[i]->runs.p[j].load) {
				last[i] = &s[i]->runs.p[j];
				y[i][n[i]++] = mean(last[i]->load, last[i]->nload);
			}
	if (!n[0] || !n[1])
		return;
	if (n[0] == 1 && n[1] == 1)
		rate_series_of(last[0]->load, last[0]->nload, last[1]->load, last[1]->nload, 1, k->conf->margin, &r.rate);
	else
		rates_of(y[0], n[0], y[1], n[1], 1, k->conf->margin, &r.rate);
	vec_push(&k->rows, r);
}

static size_t numbers_of(const struct side *s, const char *name, double *ret)
{
	size_t n = 0;

	for (size_t i = 0; i < s->runs.n; i++)
		for (size_t j = 0; j < s->runs.p[i].numbers.n; j++)
			if (!strcmp(s->runs.p[i].numbers.p[j].name, name))
				ret[n++] = s->runs.p[i].numbers.p[j].value;
	return n;
}

static size_t count_numbers(const struct side *s)
{
	size_t n = 1;

	for (size_t i = 0; i < s->runs.n; i++)
		n += s->runs.p[i].numbers.n;
	return n;
}

static void number_rows(struct compared *k, size_t side)
{
	const struct side *a = k->sides[0], *b = k->sides[side];
	cleanup_free double *ya = mem_array(count_numbers(a), sizeof(double));
	cleanup_free double *yb = mem_array(count_numbers(b), sizeof(double));

	for (size_t i = 0; i < a->runs.n; i++)
		for (size_t j = 0; j < a->runs.p[i].numbers.n; j++) {
			const struct side_number *x = &a->runs.p[i].numbers.p[j];
			struct row r = { .kind = ROW_NUMBER, .name = x->name, .unit = x->unit, .side = side, .better = x->better };
			bool seen = false;
			size_t na, nb;

			for (size_t m = 0; m < k->rows.n; m++)
				seen |= k->rows.p[m].kind == ROW_NUMBER && k->rows.p[m].side == side &&
					!strcmp(k->rows.p[m].name, x->name);
			nb = numbers_of(b, x->name, yb);
			if (seen || !nb)
				continue;
			na = numbers_of(a, x->name, ya);
			rates_of(ya, na, yb, nb, x->better, k->conf->margin, &r.rate);
			vec_push(&k->rows, r);
		}
}

void rows_make(struct compared *k)
{
	cleanup_free struct decision *d = NULL;

	probe_rows(k);
	for (size_t s = 1; s < k->n; s++)
		load_row(k, s);
	for (size_t s = 1; s < k->n; s++)
		number_rows(k, s);
	d = mem_array(k->rows.n + 1, sizeof(*d));
	for (size_t i = 0; i < k->rows.n; i++)
		d[i] = *row_decision(&k->rows.p[i]);
	decide(d, k->rows.n, k->conf->alpha);
	for (size_t i = 0; i < k->rows.n; i++) {
		struct row *r = &k->rows.p[i];

		*row_decision(r) = d[i];
		if (r->kind == ROW_PROBE) {
			felt_of(&r->c, k->conf->alpha);
			r->felt = r->c.felt;
		}
	}
}

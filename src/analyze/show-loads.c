/* SPDX-License-Identifier: MIT */
/* Loads with what they achieved in the measured time. */
#include "analyze/show.h"
#include "base/cleanup.h"
#include "base/mem.h"
#include "base/units.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int show_take_points(void *ctx, int run, const nsec_t *t, const int64_t *v, uint32_t n)
{
	struct show_points *p = ctx;

	(void)run;
	for (uint32_t i = 0; i < n; i++) {
		vec_push(&p->t, t[i]);
		vec_push(&p->v, v[i]);
	}
	return 0;
}

void show_points_done(struct show_points *p)
{
	vec_done(&p->t);
	vec_done(&p->v);
}

bool show_get_points(struct show *s, int run, const char *name, struct show_points *ret)
{
	int series = rec_series_find(s->rec, SERIES_COUNTER, name);

	*ret = (struct show_points){ 0 };
	if (series)
		rec_counter_each(s->rec, run, series, show_take_points, ret, NULL);
	return ret->t.n > 0;
}

/* A rate a second times the second it stands for, as far as it lies in the measured window. */
double show_total_of(const struct show_points *p, nsec_t t0, nsec_t t1)
{
	double sum = 0;

	for (size_t i = 0; i < p->t.n; i++) {
		nsec_t from = i ? p->t.p[i - 1] : p->t.p[i] - NSEC_PER_SEC, a = MAX(from, t0), b = MIN(p->t.p[i], t1);

		if (b > a)
			sum += (double)p->v.p[i] * nsec_seconds(b - a);
	}
	return sum;
}

static void series_of(struct node *row, const char *key, const struct show_points *p, const struct rec_run *r)
{
	double *x = mem_array(p->t.n + 1, sizeof(*x)), *y = mem_array(p->t.n + 1, sizeof(*y));

	for (size_t i = 0; i < p->t.n; i++) {
		x[i] = nsec_seconds(p->t.p[i] - (r->measure_t0 ?: r->t0));
		y[i] = (double)p->v.p[i];
	}
	page_flag(page_series(row, key, NULL, x, UNIT_SECONDS, y, UNIT_BYTES_S, p->t.n), NODE_JSON_ONLY);
	free(x);
	free(y);
}

struct load_walk {
	struct show *s;
	struct node *table;
	struct strbuf *words;
};

/* Each load has a series "load.LABEL.written". */
static bool is_load(const struct rec_series *s)
{
	const char *dot = strrchr(s->name, '.');

	return s->kind == SERIES_COUNTER && s->group && !strcmp(s->group, "load") && dot && !strcmp(dot, ".written") &&
	       !strncmp(s->name, "load.", 5) && dot > s->name + 5;
}

static int one_load(void *ctx, const struct rec_series *series)
{
	struct load_walk *w = ctx;
	struct show *s = w->s;
	cleanup_free char *label = NULL;
	const char *dot, *kind, *workers;
	double read = 0, written = 0, covered = 0;
	struct node *row;
	char both[80], a[UNITS_TEXT], b[UNITS_TEXT];

	dot = strrchr(series->name, '.');
	if (!is_load(series))
		return 0;
	label = mem_dupn(series->name + 5, (size_t)(dot - series->name - 5));
	kind = rec_series_attr_get(s->rec, series->id, "load");
	workers = rec_series_attr_get(s->rec, series->id, "workers");
	row = page_row(w->table);
	page_cell(row, "name", NULL, val_text(label));
	page_cell(row, "kind", NULL, val_text(kind));
	page_cell(row, "workers", NULL, workers ? val(atof(workers), UNIT_COUNT) : val_null(UNIT_COUNT));
	for (size_t i = 0; i < s->nruns; i++) {
		const struct rec_run *r = &s->runs[i].r;
		cleanup_free char *rname = mem_printf("load.%s.read", label);
		struct show_points pr, pw;

		if (r->measure_t1 <= r->measure_t0)
			continue;
		covered += nsec_seconds(r->measure_t1 - r->measure_t0);
		show_get_points(s, r->id, rname, &pr);
		show_get_points(s, r->id, series->name, &pw);
		read += show_total_of(&pr, r->measure_t0, r->measure_t1);
		written += show_total_of(&pw, r->measure_t0, r->measure_t1);
		if (i == 0) {
			series_of(row, "read_series", &pr, r);
			series_of(row, "written_series", &pw, r);
		}
		show_points_done(&pr);
		show_points_done(&pw);
	}
	page_cell(row, "bytes_read", NULL, val(floor(read), UNIT_BYTES));
	page_cell(row, "bytes_written", NULL, val(floor(written), UNIT_BYTES));
	page_cell(row, "read_rate", NULL, covered > 0 ? val(read / covered, UNIT_BYTES_S) : val_null(UNIT_BYTES_S));
	page_cell(row, "written_rate", NULL, covered > 0 ? val(written / covered, UNIT_BYTES_S) : val_null(UNIT_BYTES_S));
	if (covered > 0) {
		snprintf(both, sizeof(both), "read %s, wrote %s", units_rate_text(read / covered, a),
			 units_rate_text(written / covered, b));
		page_flag(page_cell(row, "did", NULL, val_text(both)), NODE_SCREEN_ONLY);
	}
	return 0;
}

void show_loads(struct show *s, struct node *parent)
{
	struct load_walk w = { .s = s, .table = page_table(parent, "loads", NULL) };

	page_column(w.table, "name", "load", 0);
	page_column(w.table, "kind", NULL, NODE_JSON_ONLY);
	page_column(w.table, "workers", "processes", NODE_RIGHT);
	page_column(w.table, "did", "achieved", NODE_SCREEN_ONLY);
	rec_series_each(s->rec, one_load, &w);
}

static int one_word(void *ctx, const struct rec_series *series)
{
	struct load_walk *w = ctx;
	const char *dot = strrchr(series->name, '.');
	double sum = 0, covered = 0;
	char rate[UNITS_TEXT];
	size_t n;

	if (!is_load(series))
		return 0;
	n = (size_t)(dot - series->name - 5);
	for (size_t i = 0; i < w->s->nruns; i++) {
		const struct rec_run *r = &w->s->runs[i].r;
		cleanup_free char *read = mem_printf("load.%.*s.read", (int)n, series->name + 5);
		struct show_points p;

		for (int k = 0; k < 2; k++) {
			show_get_points(w->s, r->id, k ? read : series->name, &p);
			sum += show_total_of(&p, r->measure_t0, r->measure_t1);
			show_points_done(&p);
		}
		covered += nsec_seconds(MAX(r->measure_t1 - r->measure_t0, 0));
	}
	strbuf_addf(w->words, "%s%.*s", w->words->len ? ", " : "Load: ", (int)n, series->name + 5);
	if (covered > 0)
		strbuf_addf(w->words, " %s", units_rate_text(sum / covered, rate));
	return 0;
}

void show_load_words(struct show *s, struct strbuf *out)
{
	struct load_walk w = { .s = s, .words = out };

	rec_series_each(s->rec, one_word, &w);
}

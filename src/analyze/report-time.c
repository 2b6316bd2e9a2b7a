/* SPDX-License-Identifier: MIT */
/* Pictures over time: heat map of each probe with bands and marks, the machine's counters below on the same axis. */
#include "analyze/probes.h"
#include "analyze/report.h"
#include "base/mem.h"
#include "base/vec.h"
#include "page/chart.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEAT_COLS 120
#define HEAT_ROWS 30
#define LINE_POINTS 600		/* more are binned: the largest of each bin stays */

struct span {
	int run;
	nsec_t t0, t1, measure0, measure1;
};

/* The run with the longest wait is the one worth looking at; the report says which. */
static int pick_run(const struct probes *p)
{
	nsec_t worst = -1;
	int run = 0;

	for (size_t i = 0; i < p->n; i++) {
		if (p->p[i].worst.end && sample_wait(&p->p[i].worst) > worst) {
			worst = sample_wait(&p->p[i].worst);
			run = p->p[i].worst_run;
		}
	}
	return run;
}

static bool span_of(struct rec *r, int id, struct span *ret)
{
	struct rec_run run = { 0 };

	for (int i = 0; !rec_run_get(r, i, &run); i++) {
		if (id && run.id != id)
			continue;
		*ret = (struct span){ run.id, run.t0, run.t1, run.measure_t0, run.measure_t1 };
		return run.t1 > run.t0;
	}
	return false;
}

static double rel(const struct span *s, nsec_t t)
{
	return nsec_seconds(t - s->t0);
}

static const struct probe_part *part_of(const struct probe_part *parts, size_t n, int run)
{
	for (size_t i = 0; i < n; i++)
		if (parts[i].run == run)
			return &parts[i];
	return NULL;
}

static void bands(struct chart *c, const struct span *s, const struct probe_data *p)
{
	const struct probe_part *idle = part_of(p->idle, p->nruns, s->run), *rest = part_of(p->recovery, p->nruns, s->run);

	if (idle && idle->n)
		chart_band(c, rel(s, idle->t[0]), rel(s, idle->t[idle->n - 1] + idle->wait[idle->n - 1]), "idle", 1);
	if (s->measure1 > s->measure0)
		chart_band(c, rel(s, s->measure0), rel(s, s->measure1), "under load, measured", 2);
	if (rest && rest->n)
		chart_band(c, rel(s, rest->t[0]), rel(s, rest->t[rest->n - 1] + rest->wait[rest->n - 1]), "recovery", 3);
}

struct marking {
	struct chart *c;
	const struct span *span;
	int series, n;
	uint64_t last_id;
};

/* One mark a stuck operation, at its first picture; the stall list uses the same order of ids. */
static int mark_stall(void *ctx, const struct rec_stall *s)
{
	struct marking *m = ctx;
	char label[64], anchor[48];

	if (s->run != m->span->run || s->series != m->series || (m->n && s->sample_id == m->last_id) || m->n >= 60)
		return 0;
	m->last_id = s->sample_id;
	m->n++;
	snprintf(label, sizeof(label), "stuck operation %llu", (unsigned long long)s->sample_id);
	snprintf(anchor, sizeof(anchor), "stall-%d-%d-%llu", s->run, s->series, (unsigned long long)s->sample_id);
	chart_mark(m->c, rel(m->span, s->t), nsec_seconds(s->waited), label, anchor);
	return 0;
}

static void heat_of(struct node *parent, struct rec *r, const struct probe_data *p, const struct span *s, const char *group)
{
	const struct probe_part *parts[3] = {
		part_of(p->idle, p->nruns, s->run), part_of(p->measured, p->nruns, s->run), part_of(p->recovery, p->nruns, s->run),
	};
	double lo = HUGE_VAL, hi = 0;
	struct marking m = { .span = s, .series = p->series };
	struct chart *c;
	char title[160];
	size_t n = 0;

	for (int k = 0; k < 3; k++) {
		for (size_t i = 0; parts[k] && i < parts[k]->n; i++, n++) {
			lo = fmin(lo, fmax(1e-6, nsec_seconds(parts[k]->wait[i])));
			hi = fmax(hi, nsec_seconds(parts[k]->wait[i]));
		}
	}
	if (!n)
		return;
	snprintf(title, sizeof(title), "%.60s: each wait (darker = more of them); rings mark the longest and what was caught stuck", p->name);
	c = page_chart(parent, title, CHART_HEAT, group);
	chart_axis_x(c, "time since the run began", UNIT_SECONDS, 0, rel(s, s->t1), false);
	chart_axis_y(c, "wait", UNIT_SECONDS, pow(10, floor(log10(lo))), fmax(pow(10, ceil(log10(fmax(hi, lo * 1.01)))), lo * 10), true);
	chart_heat(c, HEAT_COLS, HEAT_ROWS);
	for (int k = 0; k < 3; k++)
		for (size_t i = 0; parts[k] && i < parts[k]->n; i++)
			chart_heat_add(c, rel(s, parts[k]->t[i]), nsec_seconds(parts[k]->wait[i]));
	bands(c, s, p);
	if (p->worst.end && p->worst_run == s->run)
		chart_mark(c, rel(s, p->worst.intended), nsec_seconds(sample_wait(&p->worst)), "the longest wait", NULL);
	m.c = c;
	rec_stalls_each(r, s->run, mark_stall, &m);
}

struct points {
	VEC(double) x;
	VEC(double) y;
	const struct span *span;
};

static int take_points(void *ctx, int run, const nsec_t *t, const int64_t *value, uint32_t n)
{
	struct points *p = ctx;

	for (uint32_t i = 0; i < n; i++) {
		if (run != p->span->run)
			continue;
		vec_push(&p->x, rel(p->span, t[i]));
		vec_push(&p->y, (double)value[i]);
	}
	return 0;
}

/* More points than a picture can show: the largest of each bin, so that no peak is lost. */
static void thin(struct points *p)
{
	size_t n = p->x.n, out = 0;

	if (n <= LINE_POINTS)
		return;
	for (size_t b = 0, i = 0; b < LINE_POINTS; b++) {
		size_t end = (b + 1) * n / LINE_POINTS, best = i;

		for (; i < end; i++)
			if (p->y.p[i] > p->y.p[best])
				best = i;
		p->x.p[out] = p->x.p[best];
		p->y.p[out++] = p->y.p[best];
	}
	p->x.n = p->y.n = out;
}

static const struct {
	const char *unit;
	enum unit as;
	double factor;
} units[] = {
	{ "bytes", UNIT_BYTES, 1 }, { "bytes/s", UNIT_BYTES_S, 1 }, { "us", UNIT_SECONDS, 1e-6 }, { "ns", UNIT_SECONDS, 1e-9 },
	{ "ppm", UNIT_SHARE, 1e-6 }, { "ms/s", UNIT_SHARE, 1e-3 }, { "count", UNIT_COUNT, 1 }, { "count/s", UNIT_PER_S, 1 },
};

struct counters {
	VEC(struct rec_series) s;
};

static int keep_counter(void *ctx, const struct rec_series *s)
{
	struct counters *c = ctx;

	if (s->kind == SERIES_COUNTER)
		vec_push(&c->s, *s);
	return 0;
}

static bool is_limit(const char *name)
{
	size_t n = strlen(name);

	return strstr(name, "thresh") || strstr(name, "background") || (n > 5 && !strcmp(name + n - 5, "limit"));
}

/* One chart for each group and unit: Dirty, Writeback and their thresholds are together because they share both. */
static int counter_chart(struct node *parent, struct rec *r, const struct counters *all, size_t first, const struct span *span,
			 const char *group, bool *used, struct err *e)
{
	const struct rec_series *f = &all->s.p[first];
	struct chart *c = NULL;
	double factor = 1;
	enum unit as = UNIT_NONE;
	int err = 0;

	for (size_t u = 0; u < sizeof(units) / sizeof(units[0]); u++) {
		if (!strcmp(units[u].unit, f->unit)) {
			as = units[u].as;
			factor = units[u].factor;
		}
	}
	for (size_t i = first; i < all->s.n && !err; i++) {
		const struct rec_series *s = &all->s.p[i];
		struct points p = { .span = span };
		bool any = false;

		if (used[i] || strcmp(s->group, f->group) || strcmp(s->unit, f->unit))
			continue;
		used[i] = true;
		err = rec_counter_each(r, span->run, s->id, take_points, &p, e);
		for (size_t k = 0; k < p.y.n; k++) {
			p.y.p[k] *= factor;
			any |= p.y.p[k] != 0;
		}
		if (any && p.x.n > 1) {
			thin(&p);
			if (!c) {
				char title[160];

				snprintf(title, sizeof(title), "%.80s (%s)", f->group, f->unit);
				c = page_chart(parent, title, CHART_LINES, group);
				chart_axis_x(c, "time since the run began", UNIT_SECONDS, 0, rel(span, span->t1), false);
				chart_axis_y(c, title, as, 0, 0, false);
				if (span->measure1 > span->measure0)
					chart_band(c, rel(span, span->measure0), rel(span, span->measure1), "under load, measured", 2);
			}
			chart_line(c, s->name, p.x.p, p.y.p, p.x.n, is_limit(s->name));
		}
		vec_done(&p.x);
		vec_done(&p.y);
	}
	return err;
}

int report_timeline(struct node *parent, const struct report_side *side, const char *group, struct err *e)
{
	struct probes p = { 0 };
	struct counters all = { 0 };
	struct span span;
	bool *used;
	int err = probes_load(side->rec, &p, e);

	if (err)
		return err;
	if (!span_of(side->rec, pick_run(&p), &span)) {
		page_text(parent, "There is no time axis: what was imported does not say when each wait was.");
		probes_done(&p);
		return 0;
	}
	if (rec_run_count(side->rec) > 1)
		page_text(parent, "Run %d of %d, the one with the longest wait.", span.run, rec_run_count(side->rec));
	for (size_t i = 0; i < p.n; i++)
		heat_of(parent, side->rec, &p.p[i], &span, group);
	rec_series_each(side->rec, keep_counter, &all);
	used = mem_array(all.s.n, sizeof(*used));
	for (size_t i = 0; i < all.s.n && !err; i++)
		if (!used[i])
			err = counter_chart(parent, side->rec, &all, i, &span, group, used, e);
	free(used);
	vec_done(&all.s);
	probes_done(&p);
	return err;
}

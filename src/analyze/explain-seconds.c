/* SPDX-License-Identifier: MIT */
#include "analyze/explain-seconds.h"
#include "base/cleanup.h"

#include <math.h>
#include <string.h>

#define ROWS_MAX	20
#define LEAD		(5 * NSEC_PER_SEC)

static const char *const names[] = { "vm.dirty", "vm.writeback", "vm.dirty_background", "vm.dirty_limit" };

#define COUNTERS	(int)ARRAY_SIZE(names)

struct line {
	nsec_t t;
	double x[4];
};

struct lines {
	VEC(struct line) v;
	int which;
};

/* The collector reads all four at once: rows of the same time belong together. */
static int take_values(void *ctx, int run, const nsec_t *t, const int64_t *value, uint32_t n)
{
	struct lines *l = ctx;
	size_t at = 0;

	for (uint32_t i = 0; i < n; i++) {
		while (at < l->v.n && l->v.p[at].t < t[i])
			at++;
		if (l->which == 0) {
			vec_push(&l->v, ((struct line){ t[i], { (double)value[i], NAN, NAN, NAN } }));
			at = l->v.n;
		} else if (at < l->v.n && l->v.p[at].t - t[i] < NSEC_PER_SEC / 2) {
			l->v.p[at].x[l->which] = (double)value[i];
		}
	}
	return 0;
}

static struct value bytes(double x)
{
	return isnan(x) ? val_null(UNIT_BYTES) : val(x, UNIT_BYTES);
}

static double commits(const struct trace *t, nsec_t a, nsec_t b)
{
	size_t n = 0;

	for (size_t i = 0; i < t->commit.n; i++)
		n += t->commit.p[i].t < b && t->commit.p[i].t + t->commit.p[i].dur > a;
	return (double)n;
}

static void whole_run(struct node *parent, const struct trace *t, const struct lines *l)
{
	double *x = mem_array(l->v.n, sizeof(double)), *y = mem_array(l->v.n, sizeof(double));

	for (int c = 0; c < COUNTERS; c++) {
		for (size_t i = 0; i < l->v.n; i++) {
			x[i] = nsec_seconds(l->v.p[i].t - t->t0);
			y[i] = l->v.p[i].x[c];
		}
		page_flag(page_series(parent, names[c] + 3, NULL, x, UNIT_SECONDS, y, UNIT_BYTES, l->v.n), NODE_JSON_ONLY);
	}
	free(x);
	free(y);
}

void explain_seconds(struct node *parent, const struct trace *t, nsec_t a, nsec_t b)
{
	struct lines l = { 0 };
	struct node *table, *group;
	size_t first = 0, shown = 0;

	for (l.which = 0; l.which < COUNTERS; l.which++) {
		int id = rec_series_find(t->rec, SERIES_COUNTER, names[l.which]);

		if (id)
			rec_counter_each(t->rec, t->run, id, take_values, &l, NULL);
	}
	if (!l.v.n) {
		vec_done(&l.v);
		return;
	}
	group = page_group(parent, "dirty", "Dirty each second, around the worst stall");
	table = page_table(group, "seconds", NULL);
	page_column(table, "at", "second", NODE_RIGHT);
	page_column(table, "dirty", "dirty", NODE_RIGHT);
	page_column(table, "writeback", "writeback", NODE_RIGHT);
	page_column(table, "dirty_background", "background", NODE_RIGHT);
	page_column(table, "dirty_limit", "limit", NODE_RIGHT);
	page_column(table, "commits", "commits", NODE_RIGHT);
	while (first < l.v.n && l.v.p[first].t < a - LEAD)
		first++;
	for (size_t i = first; i < l.v.n && shown < ROWS_MAX && (!b || l.v.p[i].t <= b + NSEC_PER_SEC); i++, shown++) {
		const struct line *s = &l.v.p[i];
		struct node *row = page_row(table);

		page_cell(row, "at", NULL, val(round(nsec_seconds(s->t - t->t0)), UNIT_NONE));
		page_cell(row, "dirty", NULL, bytes(s->x[0]));
		page_cell(row, "writeback", NULL, bytes(s->x[1]));
		page_cell(row, "dirty_background", NULL, bytes(s->x[2]));
		page_cell(row, "dirty_limit", NULL, bytes(s->x[3]));
		page_cell(row, "commits", NULL, val(commits(t, s->t - NSEC_PER_SEC, s->t), UNIT_COUNT));
	}
	whole_run(group, t, &l);
	vec_done(&l.v);
}

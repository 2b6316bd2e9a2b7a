/* SPDX-License-Identifier: MIT */
/* Lists of the report: stuck operations with their stacks, and the environment. */
#include "analyze/report.h"
#include "base/strbuf.h"

#include <stdio.h>
#include <string.h>

#define STALLS_MAX 200		/* the longest are in explain; a page of more helps nobody */
#define FRAMES_MAX 64

struct listing {
	struct node *parent, *now;
	struct rec *r;
	int n, run, series;
	uint64_t id;
};

static void picture(struct listing *l, const struct rec_stall *s)
{
	const char *frame[FRAMES_MAX];
	int n = rec_stack_get(l->r, s->stack, frame, FRAMES_MAX);
	cleanup_strbuf struct strbuf b = STRBUF_INIT;
	char waited[NSEC_TEXT];

	strbuf_addf(&b, "%s (tid %u) after %s%s%s%s%s\n", s->comm ? s->comm : "?", s->tid, nsec_text(s->waited, waited),
		    s->syscall && *s->syscall ? " in " : "", s->syscall ? s->syscall : "",
		    s->wchan && *s->wchan ? ", waiting in " : "", s->wchan ? s->wchan : "");
	for (int i = 0; i < n; i++)
		strbuf_addf(&b, "  %s\n", frame[i]);
	page_pre(l->now, "%s", strbuf_str(&b));
}

static int list_stall(void *ctx, const struct rec_stall *s)
{
	struct listing *l = ctx;

	if (l->now && s->run == l->run && s->series == l->series && s->sample_id == l->id) {
		picture(l, s);
		return 0;
	}
	if (l->n >= STALLS_MAX)
		return 0;
	if (!s->series) {		/* another task that was stuck at the same time */
		if (l->now)
			picture(l, s);
		return 0;
	}
	l->n++;
	l->run = s->run;
	l->series = s->series;
	l->id = s->sample_id;
	{
		struct rec_series series = { 0 };
		char title[200];

		rec_series_get(l->r, s->series, &series);
		snprintf(title, sizeof(title), "%.80s, action %llu of run %d", series.name ? series.name : "?", (unsigned long long)s->sample_id, s->run);
		l->now = page_group(l->parent, NULL, title);
		page_anchor(l->now, "stall-%d-%d-%llu", s->run, s->series, (unsigned long long)s->sample_id);
	}
	picture(l, s);
	return 0;
}

int report_stalls(struct node *parent, const struct report_side *side, struct err *e)
{
	struct listing l = { .parent = parent, .r = side->rec };

	rec_stalls_each(side->rec, 0, list_stall, &l);
	if (!l.n)
		page_text(parent, "No operation was caught in flight for longer than the threshold.");
	else if (l.n >= STALLS_MAX)
		page_text(parent, "Only the first %d are listed.", STALLS_MAX);
	return 0;
}

struct env_table {
	struct node *table;
	struct rec *other;
	int run;
};

static int env_row(void *ctx, const char *key, const char *value, bool counts)
{
	struct env_table *t = ctx;
	const char *b = t->other ? rec_env_get(t->other, t->run, key) : NULL;
	struct node *row = page_row(t->table);

	page_cell(row, "fact", NULL, val_text(key));
	page_cell(row, "a", NULL, val_text(value));
	if (t->other) {
		page_cell(row, "b", NULL, val_text(b));
		if (counts && (!b || strcmp(b, value)))
			page_flag(row, NODE_WARN);
	}
	return 0;
}

void report_environment(struct node *parent, const struct report_side *sides, size_t n)
{
	struct env_table t = { .table = page_table(parent, NULL, NULL) };
	struct rec_run run = { 0 };

	page_column(t.table, "fact", "fact", 0);
	page_column(t.table, "a", n > 1 ? sides[0].name : "value", 0);
	if (n > 1) {
		page_column(t.table, "b", sides[1].name, 0);
		t.other = sides[1].rec;
		if (!rec_run_get(sides[1].rec, 0, &run))
			t.run = run.id;
	}
	if (!rec_run_get(sides[0].rec, 0, &run))
		rec_env_each(sides[0].rec, run.id, env_row, &t);
}

/* SPDX-License-Identifier: MIT */
#include "analyze/cause.h"
#include "analyze/explain.h"
#include "analyze/explain-seconds.h"
#include "analyze/explain-words.h"
#include "base/cleanup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WIDTH		78
#define BAR		10
#define LINES_SHORT	14		/* of a tree, when several stalls are shown */
#define LINES_FULL	200
#define CHARGES		4
#define BLAME_ROWS	10
#define JSON_DEPTH	12
#define JSON_KIDS	24

struct lines {
	struct node *into;
	const struct trace *t;
	double total;
	uint32_t own;
	int left;
};

/* "  5.69 s #########   waits for ...", cut to the width; `~` marks a link that rests on time alone. */
static void line(struct lines *l, double ns, int depth, const char *text, bool guessed)
{
	char bar[BAR + 1], time[NSEC_TEXT];
	int fill = l->total > 0 ? (int)(ns / l->total * BAR + 0.5) : 0, room;

	if (l->left-- <= 0)
		return;
	memset(bar, ' ', BAR);
	memset(bar, '#', (size_t)MIN(MAX(fill, 0), BAR));
	bar[BAR] = '\0';
	nsec_text((nsec_t)ns, time);
	depth = MIN(depth, 12);
	room = WIDTH - 2 - 9 - 1 - BAR - 1 - 2 * depth - 1;
	page_pre(l->into, "  %9s %s %*s%s%.*s%s", time, bar, 2 * depth, "", guessed ? "~" : "",
		 (int)strlen(text) > room ? room - 3 : room, text, (int)strlen(text) > room ? "..." : "");
}

static int by_charge(const void *a, const void *b)
{
	const struct charge *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? 1 : -1;
	return (x->pid > y->pid) - (x->pid < y->pid);
}

static void tree(struct lines *l, struct walk_node *n, int depth)
{
	cleanup_strbuf struct strbuf b = STRBUF_INIT;
	const double crumbs = l->total / 100;
	double small = 0;

	words_node(l->t, n, &b);
	line(l, n->ns, depth, strbuf_str(&b), n->conf == CONF_TIME && n->kind != WALK_WAIT);
	if (n->kind == WALK_LEAF && n->leaf == LEAF_UNKNOWN && n->stack) {
		const char *frames[6];
		int m = rec_stack_get(l->t->rec, n->stack, frames, 6);

		for (int i = 0; i < m && i < 3; i++)
			line(l, 0, depth + 1, frames[i], false);
	}
	if (n->bill.c.n) {
		qsort(n->bill.c.p, n->bill.c.n, sizeof(*n->bill.c.p), by_charge);
		for (size_t i = 0; i < n->bill.c.n && i < CHARGES && n->bill.c.p[i].ns >= crumbs; i++) {
			strbuf_clear(&b);
			strbuf_adds(&b, "for ");
			words_charge(l->t, &n->bill.c.p[i], l->own, &b);
			line(l, n->bill.c.p[i].ns, depth + 1, strbuf_str(&b), n->bill.c.p[i].conf == CONF_TIME);
		}
	}
	for (size_t i = 0; i < n->nkids; i++) {
		if (n->kid[i]->ns >= crumbs)
			tree(l, n->kid[i], depth + 1);
		else
			small += n->kid[i]->ns;
	}
	if (small >= crumbs)
		line(l, small, depth + 1, "smaller parts", false);
}

static void json_charges(struct node *parent, const struct trace *t, struct bill *b, uint32_t own)
{
	struct node *table = page_table(parent, "charges", NULL);

	page_flag(table, NODE_JSON_ONLY);
	page_column(table, "pid", "pid", 0);
	page_column(table, "comm", "comm", 0);
	page_column(table, "file", "file", 0);
	page_column(table, "seconds", "seconds", 0);
	page_column(table, "own", "own", 0);
	page_column(table, "confidence", "confidence", 0);
	if (b->c.n)
		qsort(b->c.p, b->c.n, sizeof(*b->c.p), by_charge);
	for (size_t i = 0; i < b->c.n && i < 100; i++) {
		const struct charge *c = &b->c.p[i];
		const struct tr_task *k = trace_task(t, c->pid);
		const char *file = c->ino ? trace_file_name(t, c->dev, c->ino) : "";
		struct node *row = page_row(table);

		page_cell(row, "pid", NULL, val(c->pid, UNIT_NONE));
		page_cell(row, "comm", NULL, val_text(k && *k->comm ? k->comm : NULL));
		page_cell(row, "file", NULL, val_text(*file ? file : NULL));
		page_cell(row, "seconds", NULL, val(c->ns / 1e9, UNIT_SECONDS));
		page_cell(row, "own", NULL, val_bool(c->pid == own));
		page_cell(row, "confidence", NULL, val_text(conf_name(c->conf)));
	}
}

static void json_tree(struct node *parent, const char *key, const struct trace *t, struct walk_node *n, uint32_t own, int depth)
{
	static const char *const kinds[] = { "task", "wait", "leaf" };
	cleanup_strbuf struct strbuf b = STRBUF_INIT;
	const struct tr_task *task = trace_task(t, n->tid);
	struct node *g = page_group(parent, key, NULL), *kids;

	page_flag(g, NODE_JSON_ONLY);
	words_node(t, n, &b);
	page_cell(g, "kind", NULL, val_text(kinds[n->kind]));
	page_cell(g, "says", NULL, val_text(strbuf_str(&b)));
	page_cell(g, "seconds", NULL, val(n->ns / 1e9, UNIT_SECONDS));
	page_cell(g, "confidence", NULL, val_text(conf_name(n->conf)));
	page_cell(g, "tid", NULL, val(n->tid, UNIT_NONE));
	page_cell(g, "comm", NULL, val_text(task && *task->comm ? task->comm : NULL));
	if (n->kind == WALK_WAIT) {
		page_cell(g, "class", NULL, val_text(wait_name(n->class)));
		page_cell(g, "cause", NULL, val_text(n->cause));
	}
	if (n->kind == WALK_LEAF) {
		page_cell(g, "leaf", NULL, val_text(walk_leaf_name(n->leaf)));
		page_cell(g, "requests", NULL, val((double)(n->reads + n->sync_writes + n->async_writes + n->meta + n->flushes), UNIT_COUNT));
		page_cell(g, "bytes", NULL, val((double)n->bytes, UNIT_BYTES));
		json_charges(g, t, &n->bill, own);
	}
	if (n->transaction)
		page_cell(g, "transaction", NULL, val(n->transaction, UNIT_NONE));
	if (depth >= JSON_DEPTH || !n->nkids)
		return;
	kids = page_list(g, "children", NULL);
	for (size_t i = 0; i < n->nkids && i < JSON_KIDS; i++)
		json_tree(kids, NULL, t, n->kid[i], own, depth + 1);
}

static void try_line(struct node *g, const struct stall *s)
{
	const struct cause_ops *c = cause_of(s->class);

	if (!*s->cause || !c->ab)
		return;
	page_text(g, "  To test a remedy (%s):", c->remedy);
	page_pre(g, "    %s", c->ab);
	page_flag(page_cell(g, "try", NULL, val_text(c->ab)), NODE_JSON_ONLY);
}

static void show_stall(struct node *list, const struct trace *t, struct stall *s, size_t number, bool full)
{
	cleanup_strbuf struct strbuf b = STRBUF_INIT;
	struct walk_node *merged = walk_task(t, s->tid, s->a, s->b);
	struct node *g = page_group(list, NULL, NULL), *c;
	const struct tr_task *me = trace_task(t, s->tid), *who = trace_task(t, s->culprit);
	double total = (double)(s->b - s->a);
	struct lines l = { .into = g, .t = t, .total = total, .own = s->pid, .left = full ? LINES_FULL : LINES_SHORT };

	walk_merge(merged);
	stall_sentence(t, s, &b);
	page_flag(page_cell(g, "number", NULL, val((double)number, UNIT_COUNT)), NODE_JSON_ONLY);
	page_flag(page_cell(g, "says", NULL, val_text(strbuf_str(&b))), NODE_JSON_ONLY);
	page_flag(page_text(g, "%zu. %s.", number, strbuf_str(&b)), NODE_LOUD);
	page_flag(page_cell(g, "seconds", NULL, s->open ? val_at_least(total / 1e9, UNIT_SECONDS) : val_nsec(s->b - s->a)),
		  NODE_JSON_ONLY | NODE_BOUND);
	page_flag(page_cell(g, "open", NULL, val_bool(s->open)), NODE_JSON_ONLY);
	page_flag(page_cell(g, "at", NULL, val_nsec(s->a - t->t0)), NODE_JSON_ONLY);
	page_flag(page_cell(g, "pid", NULL, val(s->pid, UNIT_NONE)), NODE_JSON_ONLY);
	page_flag(page_cell(g, "tid", NULL, val(s->tid, UNIT_NONE)), NODE_JSON_ONLY);
	page_flag(page_cell(g, "comm", NULL, val_text(me && *me->comm ? me->comm : NULL)), NODE_JSON_ONLY);
	page_flag(page_cell(g, "probe", NULL, val_text(s->probe)), NODE_JSON_ONLY);
	page_flag(page_cell(g, "operation", NULL, val_text(*s->operation ? s->operation : NULL)), NODE_JSON_ONLY);
	page_flag(page_cell(g, "cause", NULL, val_text(*s->cause ? s->cause : NULL)), NODE_JSON_ONLY);
	page_flag(page_cell(g, "class", NULL, val_text(wait_name(s->class))), NODE_JSON_ONLY);
	page_flag(page_cell(g, "leaf", NULL, val_text(walk_leaf_name(s->leaf))), NODE_JSON_ONLY);
	c = page_flag(page_group(g, "culprit", NULL), NODE_JSON_ONLY);
	page_cell(c, "pid", NULL, s->culprit ? val(s->culprit, UNIT_NONE) : val_null(UNIT_NONE));
	page_cell(c, "comm", NULL, val_text(who && *who->comm ? who->comm : NULL));
	page_cell(c, "seconds", NULL, val(s->culprit_ns / 1e9, UNIT_SECONDS));
	page_flag(page_cell(g, "own_seconds", NULL, val(s->own / 1e9, UNIT_SECONDS)), NODE_JSON_ONLY);
	page_flag(page_cell(g, "nobody_seconds", NULL, val(s->nobody / 1e9, UNIT_SECONDS)), NODE_JSON_ONLY);
	page_flag(page_cell(g, "unknown_seconds", NULL, val(s->leaf_ns[LEAF_UNKNOWN] / 1e9, UNIT_SECONDS)), NODE_JSON_ONLY);
	tree(&l, merged, 0);
	if (l.left < 0)
		page_pre(g, "  ... %d more lines: --stall %zu shows them", -l.left, number);
	json_charges(g, t, &s->bill, s->pid);
	json_tree(g, "chain", t, merged, s->pid, 0);
	try_line(g, s);
	walk_free(merged);
}

struct row {
	const char *key;
	char name[200];
	double ns, own;
	uint64_t stalls;
};

typedef VEC(struct row) rows_t;

static void add_row(rows_t *v, const char *name, double ns, double own, bool new_stall)
{
	for (size_t i = 0; i < v->n; i++) {
		if (!strcmp(v->p[i].name, name)) {
			v->p[i].ns += ns;
			v->p[i].own += own;
			v->p[i].stalls += new_stall;
			return;
		}
	}
	vec_push(v, ((struct row){ .ns = ns, .own = own, .stalls = 1 }));
	snprintf(v->p[v->n - 1].name, sizeof(v->p[0].name), "%s", name);
}

static int by_row(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? 1 : -1;
	return strcmp(x->name, y->name);
}

static void blame_table(struct node *parent, const char *key, const char *label, const char *what, rows_t *v, double total)
{
	struct node *table;

	if (!v->n)
		return;
	qsort(v->p, v->n, sizeof(*v->p), by_row);
	table = page_table(parent, key, label);
	page_column(table, "who", what, 0);
	page_column(table, "seconds", "seconds", NODE_RIGHT);
	page_column(table, "share", "share", NODE_RIGHT);
	page_column(table, "own", "its own waits", NODE_RIGHT);
	for (size_t i = 0; i < v->n && i < BLAME_ROWS; i++) {
		struct node *row = page_row(table);

		page_cell(row, "who", NULL, val_text(v->p[i].name));
		page_cell(row, "seconds", NULL, val(v->p[i].ns / 1e9, UNIT_SECONDS));
		page_cell(row, "share", NULL, val(total > 0 ? v->p[i].ns / total : 0, UNIT_SHARE));
		page_cell(row, "own", NULL, val(v->p[i].own / 1e9, UNIT_SECONDS));
	}
	vec_done(v);
}

static void blame(struct page *p, const struct trace *t, const struct stalls *s, double total)
{
	struct node *g = page_group(p->root, "blame", "Who is behind it, over all stalls");
	rows_t by_process = { 0 }, by_file = { 0 }, by_group = { 0 };
	double charged = 0;
	char who[200];

	for (size_t i = 0; i < s->v.n; i++) {
		for (size_t k = 0; k < s->v.p[i].bill.c.n; k++) {
			const struct charge *c = &s->v.p[i].bill.c.p[k];
			const struct tr_task *task = trace_task(t, c->pid);
			const char *file = c->ino ? trace_file_name(t, c->dev, c->ino) : "";
			double own = c->pid == s->v.p[i].pid ? c->ns : 0;

			charged += c->ns;
			trace_who(t, c->pid, who, 96);
			if (task && task->ours)
				snprintf(who + strlen(who), 96, ", our %s", task->ours);
			add_row(&by_process, who, c->ns, own, false);
			if (*file)
				add_row(&by_file, file, c->ns, own, false);
			if (task && *task->cgroup)
				add_row(&by_group, task->cgroup, c->ns, own, false);
		}
	}
	if (total - charged > total / 1000)
		add_row(&by_process, "nobody known", total - charged, 0, false);
	blame_table(g, "processes", NULL, "process", &by_process, total);
	blame_table(g, "files", "By file", "file", &by_file, total);
	blame_table(g, "cgroups", "By cgroup", "cgroup", &by_group, total);
}

static void leaves(struct page *p, const struct stalls *s, double total)
{
	struct node *table = page_table(p->root, "leaves", "Where the time went");
	rows_t v = { 0 };
	double sum[LEAF_MAX] = { 0 };

	page_column(table, "leaf", "what", 0);
	page_column(table, "name", "name", 0);
	page_column(table, "seconds", "seconds", NODE_RIGHT);
	page_column(table, "share", "share", NODE_RIGHT);
	for (size_t i = 0; i < s->v.n; i++)
		for (int l = 0; l < LEAF_MAX; l++)
			sum[l] += s->v.p[i].leaf_ns[l];
	for (int done = 0; done < LEAF_MAX; done++) {
		int best = -1;

		for (int l = 0; l < LEAF_MAX; l++)
			if (sum[l] > 0 && (best < 0 || sum[l] > sum[best]))
				best = l;
		if (best < 0)
			break;
		struct node *row = page_row(table);

		page_cell(row, "leaf", NULL, val_text(walk_leaf_words((enum walk_leaf)best)));
		page_cell(row, "name", NULL, val_text(walk_leaf_name((enum walk_leaf)best)));
		page_cell(row, "seconds", NULL, val(sum[best] / 1e9, UNIT_SECONDS));
		page_cell(row, "share", NULL, val(total > 0 ? sum[best] / total : 0, UNIT_SHARE));
		sum[best] = 0;
	}
	vec_done(&v);
}

static int show_note(void *ctx, int run, enum note_kind kind, nsec_t t, const char *key, const char *text)
{
	struct page *p = ctx;

	if (!strncmp(key, "trace-", 6))
		page_flag(page_text(p->root, "%s: %s", kind == NOTE_LOSS ? "Lost" : "Note", text), kind == NOTE_LOSS ? NODE_WARN : 0);
	return 0;
}

int analyze_explain(struct rec *r, const struct explain_conf *c, struct page **ret, struct err *e)
{
	size_t show = c->show ? (size_t)c->show : 5;
	struct stalls s;
	struct trace t;
	struct page *p;
	struct node *list, *sum;
	double total = 0, unknown = 0;
	char time[NSEC_TEXT];
	int got = trace_load(r, c->run, &t, e);

	if (got < 0)
		return got;
	stalls_find(&t, c, &s);
	if (c->stall && (size_t)c->stall > s.v.n) {
		got = err_set(e, -2, "%s has %zu stalls of %s or more, there is no stall %d", rec_path(r), s.found,
			      nsec_text(s.threshold, time), c->stall);
		stalls_done(&s);
		trace_done(&t);
		return got;
	}
	for (size_t i = 0; i < s.v.n; i++) {
		total += (double)(s.v.p[i].b - s.v.p[i].a);
		unknown += s.v.p[i].leaf_ns[LEAF_UNKNOWN];
	}
	p = page_new("stallmark.explain/1");
	sum = page_flag(page_group(p->root, "summary", NULL), NODE_JSON_ONLY);
	page_cell(sum, "stalls", NULL, val((double)s.found, UNIT_COUNT));
	page_cell(sum, "explained", NULL, val((double)s.v.n, UNIT_COUNT));
	page_cell(sum, "seconds", NULL, val(total / 1e9, UNIT_SECONDS));
	page_cell(sum, "unknown_share", NULL, val(total > 0 ? unknown / total : 0, UNIT_SHARE));
	page_cell(sum, "threshold", NULL, val_nsec(s.threshold));
	page_cell(sum, "sampled", NULL, val_bool(t.sampled));
	page_cell(sum, "lost", NULL, val((double)t.lost, UNIT_COUNT));
	if (!s.v.n)
		page_text(p->root, "No stall of %s or more was seen%s%s.", nsec_text(s.threshold, time),
			  c->probe ? " by the probe " : "", c->probe ? c->probe : "");
	else
		page_text(p->root, "%zu stall%s of %s or more, %.1f s in all; %.1f %% of it is not explained.%s", s.found,
			  s.found == 1 ? "" : "s", nsec_text(s.threshold, time), total / 1e9, total > 0 ? 100 * unknown / total : 0,
			  s.found > s.v.n ? " Only the longest are explained." : "");
	if (t.sampled && s.v.n)
		page_flag(page_text(p->root, "No tracer ran: waits come from sampled stacks, so times are rough and who is behind "
				    "them is at best likely."), NODE_WARN);
	list = page_list(p->root, "stalls", NULL);
	for (size_t i = 0; i < s.v.n; i++)
		if (c->stall ? i + 1 == (size_t)c->stall : i < show)
			show_stall(list, &t, &s.v.p[i], i + 1, c->stall > 0 || s.v.n == 1);
	if (!c->stall && s.v.n > show)
		page_text(p->root, "%zu more: --stall N shows one, -n 20 more of them.", s.v.n - show);
	if (s.v.n && !c->stall) {
		leaves(p, &s, total);
		blame(p, &t, &s, total);
	}
	if (!c->stall)
		explain_seconds(p->root, &t, s.v.n ? s.v.p[0].a : 0, s.v.n ? s.v.p[0].b : 0);
	if (rec_damaged(r))
		page_flag(page_text(p->root, "The record is damaged: %llu parts could not be read.",
				    (unsigned long long)rec_damaged(r)), NODE_WARN);
	rec_notes_each(r, t.run, show_note, p);
	page_text(p->root, "~ marks what rests on time alone. Seconds sum to the stall; 'itself' is the waiter's own share.");
	stalls_done(&s);
	trace_done(&t);
	*ret = p;
	return 0;
}

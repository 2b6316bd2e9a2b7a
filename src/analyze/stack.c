/* SPDX-License-Identifier: MIT */
#include "analyze/stack.h"
#include "analyze/cause.h"
#include "analyze/stack-parse.h"
#include "base/cleanup.h"
#include "base/strbuf.h"
#include "event/waitclass.h"

#include <string.h>

/* Tasks whose waits read the same are told once. */
struct group {
	struct stack_verdict verdict;
	char operation[STACK_SYMBOL];
	char where[STACK_SYMBOL];	/* the frame that decided */
	const struct stack_task *first;
	size_t n;
	struct strbuf who;		/* "dd (pid 12), cp (pid 13)" */
	uint64_t count;
};

#define WHO_NAMED 8

static bool harmless(enum wait_class c)
{
	return c == WAIT_IDLE || c == WAIT_INPUT || c == WAIT_SLEEP || c == WAIT_TASK || c == WAIT_STOPPED || c == WAIT_URING || c == WAIT_CPU;
}

static void name_task(struct strbuf *b, const struct stack_task *t)
{
	if (*t->comm)
		strbuf_adds(b, t->comm);
	else if (!t->pid && *t->title)
		strbuf_adds(b, t->title);
	else if (!t->pid)
		strbuf_adds(b, "the task");
	if (t->pid)
		strbuf_addf(b, *t->comm ? " (pid %u)" : "pid %u", t->pid);
}

static struct group *find_group(struct group *g, size_t n, const struct stack_verdict *v, const char *op,
				const struct stack_task *t)
{
	if (v->class == WAIT_UNKNOWN || t->owner_pid || t->blocked_s)
		return NULL;
	for (size_t i = 0; i < n; i++)
		if (g[i].verdict.class == v->class && g[i].verdict.words == v->words && !strcmp(g[i].operation, op) &&
		    !g[i].first->owner_pid && !g[i].first->blocked_s)
			return &g[i];
	return NULL;
}

static int by_weight(const void *a, const void *b)
{
	const struct group *x = a, *y = b;
	bool hx = harmless(x->verdict.class), hy = harmless(y->verdict.class);

	if (hx != hy)
		return hx ? 1 : -1;
	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	if (x->n != y->n)
		return x->n < y->n ? 1 : -1;
	return x->first < y->first ? -1 : 1;
}

/* "dd (pid 12), in fsync: waits for a journal commit" */
static void sentence(struct strbuf *b, const struct group *g)
{
	const struct stack_task *t = g->first;
	bool many = g->n > 1;

	if (many)
		strbuf_addf(b, "%zu tasks", g->n);
	else
		name_task(b, t);
	if (*g->operation)
		strbuf_addf(b, ", %s%s", strchr(g->operation, ' ') ? "" : "in ", g->operation);
	if (t->blocked_s)
		strbuf_addf(b, ", stuck for more than %u s", t->blocked_s);
	if (g->verdict.class == WAIT_IDLE)
		strbuf_addf(b, ": wait%s for work; nothing is wrong", many ? "" : "s");
	else if (g->verdict.class == WAIT_UNKNOWN)
		strbuf_addf(b, ": wait%s for something this table does not know", many ? "" : "s");
	else
		strbuf_addf(b, ": wait%s for %s", many ? "" : "s", g->verdict.words);
}

static void show_group(struct node *list, struct group *g)
{
	const struct cause_ops *c = cause_of(g->verdict.class);
	cleanup_strbuf struct strbuf b = STRBUF_INIT;
	struct node *n = page_group(list, NULL, NULL);
	const struct stack_task *t = g->first;

	sentence(&b, g);
	page_flag(page_cell(n, "says", NULL, val_text(strbuf_str(&b))), NODE_JSON_ONLY);
	page_flag(page_text(n, "%s", strbuf_str(&b)), NODE_LOUD);
	page_flag(page_cell(n, "class", NULL, val_text(wait_name(g->verdict.class))), NODE_JSON_ONLY);
	page_flag(page_cell(n, "operation", NULL, val_text(*g->operation ? g->operation : NULL)), NODE_JSON_ONLY);
	page_flag(page_cell(n, "frame", NULL, val_text(*g->where ? g->where : NULL)), NODE_JSON_ONLY);
	page_flag(page_cell(n, "certain", NULL, val_bool(!g->verdict.weak && g->verdict.frame >= 0)), NODE_JSON_ONLY);
	page_flag(page_cell(n, "tasks", NULL, val((double)g->n, UNIT_COUNT)), NODE_JSON_ONLY);
	page_flag(page_cell(n, "pid", NULL, t->pid ? val(t->pid, UNIT_NONE) : val_null(UNIT_NONE)), NODE_JSON_ONLY);
	page_flag(page_cell(n, "comm", NULL, val_text(*t->comm ? t->comm : NULL)), NODE_JSON_ONLY);
	if (g->n > 1)
		page_text(n, "  tasks: %s", strbuf_str(&g->who));
	if (t->owner_pid)
		page_text(n, "  The lock is likely held by %s (pid %u): look at that task.", t->owner, t->owner_pid);
	page_flag(page_cell(n, "owner_pid", NULL, t->owner_pid ? val(t->owner_pid, UNIT_NONE) : val_null(UNIT_NONE)),
		  NODE_JSON_ONLY);
	if (*g->where)
		page_text(n, "  seen in: %s%s", g->where, g->verdict.weak ? " (this says only how it sleeps)" : "");
	if (g->verdict.class == WAIT_UNKNOWN)
		for (int i = 0; i < t->nframes; i++)
			page_pre(n, "    %s", t->frame[i]);
	if (c->whom && !harmless(g->verdict.class)) {
		page_text(n, "  behind it: %s", c->whom);
		page_flag(page_cell(n, "behind", NULL, val_text(c->whom)), NODE_JSON_ONLY);
	}
	if (c->ab && !harmless(g->verdict.class)) {
		page_text(n, "  to test a remedy (%s):", c->remedy);
		page_pre(n, "    %s", c->ab);
		page_flag(page_cell(n, "try", NULL, val_text(c->ab)), NODE_JSON_ONLY);
	}
}

static void done(struct group *g, size_t n)
{
	for (size_t i = 0; i < n; i++)
		strbuf_done(&g[i].who);
}

int analyze_stack(const char *text, size_t len, bool all, struct page **ret, struct err *e)
{
	struct stack_text st = { 0 };
	VEC(struct group) g = { 0 };
	size_t harmless_tasks = 0;
	struct page *p;
	struct node *list;
	int r = stack_parse(text, len, &st, e);

	if (r < 0)
		return r;
	for (size_t i = 0; i < st.task.n; i++) {
		const struct stack_task *t = &st.task.p[i];
		struct stack_verdict v = stack_judge((const char *const *)t->frame, t->nframes);
		char op[STACK_SYMBOL];
		struct group *into;

		stack_operation((const char *const *)t->frame, t->nframes, op);
		into = find_group(g.p, g.n, &v, op, t);
		if (!into) {
			struct group fresh = { .verdict = v, .first = t };

			memcpy(fresh.operation, op, sizeof(op));
			if (v.frame >= 0)
				stack_symbol(t->frame[v.frame], fresh.where);
			vec_push(&g, fresh);
			into = &g.p[g.n - 1];
		}
		if (into->n++ < WHO_NAMED) {
			if (into->n > 1)
				strbuf_adds(&into->who, ", ");
			name_task(&into->who, t);
		} else if (into->n == WHO_NAMED + 1) {
			strbuf_adds(&into->who, ", ...");
		}
		into->count += t->count;
		harmless_tasks += harmless(v.class);
	}
	qsort(g.p, g.n, sizeof(*g.p), by_weight);
	p = page_new("stallmark.stack/1");
	page_flag(page_cell(p->root, "tasks", NULL, val((double)st.task.n, UNIT_COUNT)), NODE_JSON_ONLY);
	page_flag(page_cell(p->root, "harmless", NULL, val((double)harmless_tasks, UNIT_COUNT)), NODE_JSON_ONLY);
	page_flag(page_cell(p->root, "lines_not_understood", NULL, val((double)st.odd_lines, UNIT_COUNT)), NODE_JSON_ONLY);
	list = page_list(p->root, "waits", NULL);
	for (size_t i = 0; i < g.n; i++)
		if (all || harmless_tasks == st.task.n || !harmless(g.p[i].verdict.class))
			show_group(list, &g.p[i]);
	if (!all && harmless_tasks && harmless_tasks < st.task.n)
		page_text(p->root, "%zu of %zu tasks idle or wait for input, a timer or another program: --all shows them.",
			  harmless_tasks, st.task.n);
	done(g.p, g.n);
	vec_done(&g);
	stack_text_done(&st);
	*ret = p;
	return 0;
}

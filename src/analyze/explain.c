/* SPDX-License-Identifier: MIT */
/* Finding the stalls of a trace and reducing each tree to an answer. */
#include "analyze/explain.h"
#include "base/cleanup.h"
#include "event/waitclass.h"

#include <stdlib.h>
#include <string.h>

#define EPISODE_GAP	(50 * NSEC_PER_MSEC)
#define EXPLAINED_MAX	2000		/* the longest ones; the others are counted */

static bool people_wait(uint32_t class)
{
	return class != WAIT_SLEEP && class != WAIT_INPUT && class != WAIT_TASK && class != WAIT_IDLE && class != WAIT_URING &&
	       class != WAIT_WORKQUEUE;
}

static int longest_first(const void *a, const void *b)
{
	const struct stall *x = a, *y = b;
	nsec_t dx = x->b - x->a, dy = y->b - y->a;

	if (dx != dy)
		return dx < dy ? 1 : -1;
	if (x->a != y->a)
		return x->a < y->a ? -1 : 1;
	return (x->tid > y->tid) - (x->tid < y->tid);
}

struct samples_ctx {
	const struct trace *t;
	const struct explain_conf *c;
	struct stalls *out;
	const char *probe;
};

static int take_samples(void *ctx, int run, const struct sample *rows, uint32_t n)
{
	struct samples_ctx *x = ctx;

	for (uint32_t i = 0; i < n; i++) {
		const struct sample *s = &rows[i];
		struct stall st = { .a = s->start ? s->start : s->intended, .b = s->end, .tid = s->tid, .pid = s->pid, .probe = x->probe };

		if (st.b - st.a < x->out->threshold || s->status == SAMPLE_ERROR)
			continue;
		st.open = s->status == SAMPLE_CENSORED || s->status == SAMPLE_KILLED;
		vec_push(&x->out->v, st);
	}
	return 0;
}

static int each_series(void *ctx, const struct rec_series *s)
{
	struct samples_ctx *x = ctx;

	if (s->kind != SERIES_SAMPLES || (x->c->probe && strcmp(x->c->probe, s->name)))
		return 0;
	x->probe = s->name;
	rec_samples_each(x->t->rec, x->t->run, s->id, take_samples, x, NULL);
	return 0;
}

static const char *word_after(const char *scope, const char *what)
{
	size_t n = strlen(what);

	return !strncmp(scope, what, n) && scope[n] == ' ' ? scope + n + 1 : NULL;
}

/* Is this task one the user asked for? scope is what `trace` stored: "pid 12", "comm dd", "cgroup /x", "all". */
static bool in_scope(const struct trace *t, const char *scope, uint32_t tid, int deep)
{
	const struct tr_task *k = trace_task(t, tid);
	const char *w;

	if (!scope || !k)
		return true;
	if ((w = word_after(scope, "pid")))
		return k->pid == strtoul(w, NULL, 10) || k->tid == strtoul(w, NULL, 10);
	if ((w = word_after(scope, "tree"))) {	/* a command and what it started, as far as parents are known */
		if (k->pid == strtoul(w, NULL, 10) || k->parent == strtoul(w, NULL, 10))
			return true;
		return k->parent && deep < 16 && trace_task(t, k->parent) && in_scope(t, scope, k->parent, deep + 1);
	}
	if ((w = word_after(scope, "comm")))
		return !strncmp(k->comm, w, 15);
	if ((w = word_after(scope, "cgroup"))) {
		size_t n = strlen(w);

		while (n && w[n - 1] == '/')
			n--;
		return !strncmp(k->cgroup, w, n) && (k->cgroup[n] == '\0' || k->cgroup[n] == '/');
	}
	return true;
}

/* Is there a probe's action of this thread around it already? */
static bool told_by_probe(const struct stalls *s, size_t n, uint32_t tid, nsec_t a, nsec_t b)
{
	for (size_t i = 0; i < n; i++)
		if (s->v.p[i].tid == tid && s->v.p[i].a < b && s->v.p[i].b > a)
			return true;
	return false;
}

/* One row of a task's day: asleep or kept from running. */
struct stretch {
	uint32_t tid, pid;
	nsec_t a, b;
	bool open, cpu;		/* cpu: kept from running */
};

static int by_tid_a(const void *x, const void *y)
{
	const struct stretch *p = x, *q = y;

	if (p->tid != q->tid)
		return p->tid < q->tid ? -1 : 1;
	return (p->a > q->a) - (p->a < q->a);
}

static void find_episodes(const struct trace *t, const struct explain_conf *c, struct stalls *out)
{
	const char *scope = rec_env_get(t->rec, t->run, "trace.scope");
	VEC(struct stretch) v = { 0 };
	size_t probes = out->v.n, i;

	for (i = 0; i < t->wait.n; i++) {
		const struct event *w = &t->wait.p[i];
		const struct tr_task *k = trace_task(t, w->tid);

		if (w->flags & EVF_KTHREAD || (k && (k->kthread || (k->ours && probes))) || !people_wait(w->class))
			continue;
		vec_push(&v, ((struct stretch){ w->tid, w->pid, w->t, w->t + w->dur + (nsec_t)w->a, w->flags & EVF_OPEN && !t->sampled, false }));
	}
	for (i = 0; i < t->runq.n; i++) {
		const struct event *r = &t->runq.p[i];
		const struct tr_task *k = trace_task(t, r->tid);

		if (!(r->flags & EVF_KTHREAD) && !(k && (k->kthread || (k->ours && probes))))
			vec_push(&v, ((struct stretch){ r->tid, r->pid, r->t, r->t + r->dur, false, true }));
	}
	if (v.n)
		qsort(v.p, v.n, sizeof(*v.p), by_tid_a);
	for (i = 0; i < v.n;) {
		struct stall st = { .a = v.p[i].a, .b = v.p[i].b, .tid = v.p[i].tid, .pid = v.p[i].pid };
		nsec_t sum = 0;

		/* sharing a CPU is no stall: such stretches count together only when nothing ran in between */
		for (bool cpu = v.p[i].cpu; i < v.n && v.p[i].tid == st.tid &&
		     v.p[i].a <= st.b + (cpu || v.p[i].cpu ? NSEC_PER_MSEC : EPISODE_GAP); i++) {
			cpu = v.p[i].cpu;
			sum += MAX(v.p[i].b - MAX(v.p[i].a, sum ? st.b : v.p[i].a), 0);
			st.b = MAX(st.b, v.p[i].b);
			st.open |= v.p[i].open;
		}
		if (sum >= out->threshold && in_scope(t, scope, st.tid, 0) && !told_by_probe(out, probes, st.tid, st.a, st.b))
			vec_push(&out->v, st);
	}
	vec_done(&v);
}

static void sum_leaves(struct stall *s, const struct walk_node *n)
{
	if (n->kind == WALK_LEAF) {
		s->leaf_ns[n->leaf] += n->ns;
		bill_join(&s->bill, &n->bill, 1);
	}
	for (size_t i = 0; i < n->nkids; i++)
		sum_leaves(s, n->kid[i]);
}

static void find_operation(const struct trace *t, struct stall *s)
{
	size_t m;
	const struct event *w = trace_by_tid(&t->wait, s->tid, s->a, INT64_MAX / 4, &m), *best = NULL;
	const char *frames[64];
	int n;

	for (size_t i = 0; i < m && w[i].t < s->b; i++)
		if (w[i].t + w[i].dur > s->a && w[i].stack && (!best || w[i].dur > best->dur))
			best = &w[i];
	if (!best)
		return;
	n = rec_stack_get(t->rec, best->stack, frames, 64);
	stack_operation(frames, n, s->operation);
}

/* The wait class that took most of the waiter's own time. */
static void find_class(struct stall *s)
{
	double by_class[WAIT_MAX] = { 0 }, best = 0;

	s->cause = "";
	for (size_t i = 0; i < s->tree->nkids; i++)
		if (s->tree->kid[i]->kind == WALK_WAIT && s->tree->kid[i]->class < WAIT_MAX)
			by_class[s->tree->kid[i]->class] += s->tree->kid[i]->ns;
	for (uint32_t c = 0; c < WAIT_MAX; c++) {
		if (by_class[c] <= best)
			continue;
		best = by_class[c];
		s->class = c;
		for (size_t i = 0; i < s->tree->nkids; i++)
			if (s->tree->kid[i]->kind == WALK_WAIT && s->tree->kid[i]->class == c)
				s->cause = s->tree->kid[i]->cause;
	}
}

static void explain_one(const struct trace *t, struct stall *s)
{
	VEC(struct charge) by_pid = { 0 };
	double charged;

	s->tree = walk_task(t, s->tid, s->a, s->b);
	sum_leaves(s, s->tree);
	find_operation(t, s);
	find_class(s);
	for (int l = 1; l < LEAF_MAX; l++)
		if (s->leaf_ns[l] > s->leaf_ns[s->leaf])
			s->leaf = (enum walk_leaf)l;
	for (size_t i = 0; i < s->bill.c.n; i++) {
		const struct charge *c = &s->bill.c.p[i];
		size_t k;

		if (c->pid == s->pid) {
			s->own += c->ns;
			continue;
		}
		for (k = 0; k < by_pid.n && by_pid.p[k].pid != c->pid; k++)
			;
		if (k == by_pid.n)
			vec_push(&by_pid, ((struct charge){ .pid = c->pid }));
		by_pid.p[k].ns += c->ns;
		if (by_pid.p[k].ns > s->culprit_ns) {
			s->culprit = c->pid;
			s->culprit_ns = by_pid.p[k].ns;
		}
	}
	charged = bill_sum(&s->bill);
	s->nobody = MAX((double)(s->b - s->a) - charged, 0);
	vec_done(&by_pid);
}

void stalls_find(const struct trace *t, const struct explain_conf *c, struct stalls *ret)
{
	struct samples_ctx x = { .t = t, .c = c, .out = ret };

	memset(ret, 0, sizeof(*ret));
	ret->threshold = c->threshold ? c->threshold : t->threshold;
	rec_series_each(t->rec, each_series, &x);
	if (!c->probe)
		find_episodes(t, c, ret);
	if (ret->v.n)
		qsort(ret->v.p, ret->v.n, sizeof(*ret->v.p), longest_first);
	ret->found = ret->v.n;
	if (ret->v.n > EXPLAINED_MAX)
		ret->v.n = EXPLAINED_MAX;
	for (size_t i = 0; i < ret->v.n; i++)
		explain_one(t, &ret->v.p[i]);
}

void stalls_done(struct stalls *s)
{
	for (size_t i = 0; i < s->v.n; i++) {
		walk_free(s->v.p[i].tree);
		bill_done(&s->v.p[i].bill);
	}
	vec_done(&s->v);
}

/* SPDX-License-Identifier: MIT */
#include "analyze/walk.h"
#include "analyze/cause.h"
#include "base/cleanup.h"

#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX	8
#define NODES_MAX	200000
#define OWN_SLACK	(2 * NSEC_PER_MSEC)	/* a request made right after a wake-up belongs to the wait before it */

static const struct {
	const char *name, *words;
} leaves[LEAF_MAX] = {
#define WALK_LEAF_TEXT(id, name, words) [LEAF_##id] = { name, words },
	WALK_LEAVES(WALK_LEAF_TEXT)
#undef WALK_LEAF_TEXT
};

const char *walk_leaf_name(enum walk_leaf l)
{
	return leaves[l].name;
}

const char *walk_leaf_words(enum walk_leaf l)
{
	return leaves[l].words;
}

static struct walk_node *add(struct walk *k, struct walk_node *parent, enum walk_kind kind, nsec_t a, nsec_t b)
{
	struct walk_node *n = mem_alloc(sizeof(*n));

	n->kind = kind;
	n->leaf = LEAF_UNKNOWN;
	n->a = a;
	n->b = b;
	n->ns = (double)(b - a);
	n->count = 1;
	n->parent = parent;
	k->nodes++;
	if (parent) {
		n->tid = parent->tid;
		parent->kid = mem_realloc(parent->kid, (parent->nkids + 1) * sizeof(*parent->kid));
		parent->kid[parent->nkids++] = n;
	}
	return n;
}

void walk_free(struct walk_node *n)
{
	if (!n)
		return;
	for (size_t i = 0; i < n->nkids; i++)
		walk_free(n->kid[i]);
	free(n->kid);
	bill_done(&n->bill);
	free(n);
}

double walk_left(const struct walk_node *n)
{
	double left = n->ns;

	for (size_t i = 0; i < n->nkids; i++)
		left -= n->kid[i]->ns;
	return left;
}

struct walk_node *walk_add_leaf(struct walk *k, struct walk_node *n, enum walk_leaf l, double ns, uint32_t conf, struct bill *bill)
{
	struct walk_node *leaf;

	if (ns > walk_left(n))		/* never more than the interval, whatever the events say */
		ns = MAX(walk_left(n), 0);
	leaf = add(k, n, WALK_LEAF, n->a, n->b);
	leaf->leaf = l;
	leaf->ns = ns;
	leaf->conf = conf;
	leaf->stack = n->stack;
	if (bill) {
		double sum = bill_sum(bill);

		bill_join(&leaf->bill, bill, sum > ns && sum > 0 ? ns / sum : 1);
		bill_done(bill);
	}
	return leaf;
}

void walk_disk(struct walk *k, struct walk_node *n, uint32_t disk, nsec_t a, nsec_t b, enum walk_leaf busy, uint32_t conf)
{
	enum serve_how how = busy == LEAF_SLOTS || busy == LEAF_WBT ? SERVE_SLOTS : SERVE_DISK;
	struct served s;
	struct walk_node *leaf;

	serve(k->t, disk, a, b, how, &s);
	if (s.busy > 0) {
		leaf = walk_add_leaf(k, n, busy, s.busy, conf, &s.bill);
		leaf->dev = disk;
		leaf->reads = s.reads;
		leaf->sync_writes = s.sync_writes;
		leaf->async_writes = s.async_writes;
		leaf->meta = s.meta;
		leaf->bytes = s.bytes;
	}
	if (s.flush > 0) {
		leaf = walk_add_leaf(k, n, LEAF_FLUSH, s.flush, conf, &s.flush_bill);
		leaf->dev = disk;
		leaf->flushes = s.flushes;
	}
	if (s.silent > 0)
		walk_add_leaf(k, n, LEAF_SILENT, s.silent, conf, NULL)->dev = disk;
	if (s.held > 0)
		walk_add_leaf(k, n, LEAF_HELD, s.held, conf, NULL)->dev = disk;
	served_done(&s);
}

/* The first of the task's own requests that touches [a, b]. */
static const struct event *own_request(const struct trace *t, uint32_t tid, nsec_t a, nsec_t b)
{
	size_t m;
	const struct event *r = trace_by_tid(&t->own, tid, a, t->longest_rq, &m), *best = NULL;

	for (size_t i = 0; i < m && r[i].t <= b + OWN_SLACK; i++)
		if (r[i].t + r[i].dur >= a && (!best || r[i].t + r[i].dur > best->t + best->dur))
			best = &r[i];
	return best;
}

uint32_t walk_find_disk(struct walk *k, const struct event *w, uint32_t *ret_conf)
{
	const struct event *r;
	nsec_t b = w->t + w->dur;

	*ret_conf = CONF_EXACT;
	if (w->dev && trace_fs(k->t, w->dev))
		return trace_disk_of(k->t, w->dev);
	r = own_request(k->t, w->tid, w->t, b);
	if (r)
		return r->dev;
	*ret_conf = CONF_COMPLETION;
	if (w->d && w->e)
		return (uint32_t)w->e;
	*ret_conf = CONF_WAKER;
	r = w->b ? own_request(k->t, (uint32_t)w->b, w->t, b) : NULL;
	if (r)
		return r->dev;
	*ret_conf = CONF_TIME;
	for (size_t i = k->t->dirty.n; i-- > 0;)
		if (k->t->dirty.p[i].pid == w->pid)
			return trace_disk_of(k->t, k->t->dirty.p[i].dev);
	r = NULL;
	for (size_t i = 0; i < k->t->rq.n; i++) {	/* the only disk that was busy */
		const struct event *q = &k->t->rq.p[i];

		if (q->t >= b || q->t + q->dur <= w->t)
			continue;
		if (r && r->dev != q->dev)
			return 0;
		r = q;
	}
	return r ? r->dev : 0;
}

static uint32_t journal_of_thread(const struct trace *t, uint32_t tid)
{
	for (size_t i = 0; i < t->commit.n; i++)
		if (t->commit.p[i].tid == tid)
			return t->commit.p[i].dev;
	return 0;
}

uint32_t walk_find_journal(struct walk *k, const struct event *w, uint32_t *ret_conf)
{
	uint32_t dev;
	size_t n;

	*ret_conf = CONF_EXACT;
	trace_by_dev(&k->t->commit, w->dev, INT64_MIN / 2, 0, &n);
	if (w->dev && n)
		return w->dev;
	*ret_conf = CONF_WAKER;
	dev = w->b ? journal_of_thread(k->t, (uint32_t)w->b) : 0;
	if (dev)
		return dev;
	*ret_conf = CONF_TIME;
	for (size_t i = 0; i < k->t->handle.n; i++) {
		const struct event *h = &k->t->handle.p[i];

		if (h->tid == w->tid && h->t + h->dur >= w->t - NSEC_PER_SEC && h->t <= w->t + w->dur + NSEC_PER_SEC)
			return h->dev;
	}
	for (size_t i = k->t->dirty.n; i-- > 0;) {
		trace_by_dev(&k->t->commit, k->t->dirty.p[i].dev, INT64_MIN / 2, 0, &n);
		if (k->t->dirty.p[i].pid == w->pid && n)
			return k->t->dirty.p[i].dev;
	}
	if (k->t->commit.n && k->t->commit.p[0].dev == k->t->commit.p[k->t->commit.n - 1].dev)
		return k->t->commit.p[0].dev;	/* there is only one journal */
	return 0;
}

bool walk_follow_commit(struct walk *k, struct walk_node *n, uint32_t fs_dev, uint32_t conf)
{
	size_t m;
	const struct event *c = trace_by_dev(&k->t->commit, fs_dev, INT64_MIN / 2, 0, &m), *best = NULL;

	for (size_t i = 0; i < m; i++)		/* the commit that covers most of it names the node */
		if (c[i].t < n->b && c[i].t + c[i].dur > n->a && (!best || MIN(c[i].t + c[i].dur, n->b) - MAX(c[i].t, n->a) >
		    MIN(best->t + best->dur, n->b) - MAX(best->t, n->a)))
			best = &c[i];
	if (!best) {
		if (!m || !walk_follow(k, n, c[0].tid, n->a, n->b, conf ? CONF_TIME : conf))
			return false;
		return true;	/* a commit that had not ended when the recording did */
	}
	if (!walk_follow(k, n, best->tid, n->a, n->b, conf))
		return false;
	n->kid[n->nkids - 1]->transaction = (uint32_t)best->a;
	n->kid[n->nkids - 1]->dev = fs_dev;
	return true;
}

bool walk_follow_thread(struct walk *k, struct walk_node *n, const char *prefix)
{
	nsec_t most = 0;
	uint32_t best = 0;

	for (size_t i = 0; i < k->t->task.n; i++) {
		const struct tr_task *x = &k->t->task.p[i];
		nsec_t sum = 0;
		size_t m;
		const struct event *w;

		if (!x->kthread || strncmp(x->comm, prefix, strlen(prefix)))
			continue;
		w = trace_by_tid(&k->t->wait, x->tid, n->a, INT64_MAX / 4, &m);
		for (size_t j = 0; j < m && w[j].t < n->b; j++)
			sum += MAX(MIN(w[j].t + w[j].dur, n->b) - MAX(w[j].t, n->a), 0);
		if (sum > most) {
			most = sum;
			best = x->tid;
		}
	}
	return best && walk_follow(k, n, best, n->a, n->b, CONF_TIME);
}

void walk_follow_journal(struct walk *k, struct walk_node *n, const struct event *w)
{
	uint32_t conf, dev = walk_find_journal(k, w, &conf);

	if (dev && walk_follow_commit(k, n, dev, conf))
		return;
	if (!walk_follow(k, n, (uint32_t)w->b, n->a, n->b, CONF_WAKER))
		walk_follow_thread(k, n, "jbd2/");
}

/* A stretch in which the task was not in a recorded wait: runnable, or its own requests in flight, or running. */
static void walk_gap(struct walk *k, struct walk_node *n, nsec_t a, nsec_t b)
{
	size_t m;
	const struct event *r = trace_by_tid(&k->t->runq, n->tid, a, 60 * NSEC_PER_SEC, &m);
	nsec_t at = a;

	for (size_t i = 0; i < m && at < b; i++) {
		nsec_t from = MAX(r[i].t, at), to = MIN(r[i].t + r[i].dur, b);
		struct bill bill = { 0 };

		if (to <= from)
			continue;
		if (from > at)
			walk_add_leaf(k, n, LEAF_RUNNING, (double)(from - at), CONF_EXACT, NULL);
		if (r[i].other && !trace_is_kthread(k->t, r[i].other))
			bill_add(&bill, trace_task(k->t, r[i].other) ? trace_task(k->t, r[i].other)->pid : r[i].other, 0, 0,
				 (double)(to - from), CONF_TIME);
		walk_add_leaf(k, n, LEAF_CPU, (double)(to - from), CONF_EXACT, &bill);
		at = to;
	}
	if (b > at)
		walk_add_leaf(k, n, LEAF_RUNNING, (double)(b - at), CONF_EXACT, NULL);
}

static bool on_the_way(const struct walk_node *n, uint32_t tid)
{
	for (; n; n = n->parent)
		if (n->kind == WALK_TASK && n->tid == tid)
			return true;
	return false;
}

static int depth(const struct walk_node *n)
{
	int d = 0;

	for (; n; n = n->parent)
		d += n->kind == WALK_TASK;
	return d;
}

static void walk_wait(struct walk *k, struct walk_node *task, const struct event *w, nsec_t a, nsec_t b)
{
	struct walk_node *n = add(k, task, WALK_WAIT, a, b);
	const struct cause_ops *c = cause_of(w->class);

	n->class = w->class;
	n->cause = c->plug.name;
	n->stack = w->stack;
	n->dev = w->dev;
	n->ino = w->ino;
	n->conf = CONF_EXACT;
	if (c->follow)
		c->follow(k, n, w);
	if (walk_left(n) > 0.5)
		walk_add_leaf(k, n, LEAF_UNKNOWN, walk_left(n), CONF_UNKNOWN, NULL);
}

static void fill_task(struct walk *k, struct walk_node *n)
{
	size_t m;
	const struct event *w = trace_by_tid(&k->t->wait, n->tid, n->a, INT64_MAX / 4, &m);
	nsec_t at = n->a;

	for (size_t i = 0; i < m && at < n->b; i++) {
		nsec_t slept = w[i].t + w[i].dur, ran = slept + (nsec_t)w[i].a;
		nsec_t from = MAX(w[i].t, at);

		if (ran <= at || w[i].t >= n->b)
			continue;
		if (from > at)
			walk_gap(k, n, at, from);
		if (MIN(slept, n->b) > from)
			walk_wait(k, n, &w[i], from, MIN(slept, n->b));
		from = MAX(from, slept);
		if (MIN(ran, n->b) > from)
			walk_gap(k, n, from, MIN(ran, n->b));
		at = MIN(MAX(ran, at), n->b);
	}
	if (at < n->b)
		walk_gap(k, n, at, n->b);
}

bool walk_follow(struct walk *k, struct walk_node *n, uint32_t tid, nsec_t a, nsec_t b, uint32_t conf)
{
	struct walk_node *task;

	if (!tid || b <= a || on_the_way(n, tid) || depth(n) >= DEPTH_MAX || k->nodes > NODES_MAX)
		return false;
	task = add(k, n, WALK_TASK, a, b);
	task->tid = tid;
	task->conf = conf;
	fill_task(k, task);
	return true;
}

struct walk_node *walk_task(const struct trace *t, uint32_t tid, nsec_t a, nsec_t b)
{
	const struct tr_task *task = trace_task(t, tid);
	struct walk k = { .t = t, .victim_pid = task ? task->pid : tid };
	struct walk_node *root = add(&k, NULL, WALK_TASK, a, b);

	root->tid = tid;
	root->conf = CONF_EXACT;
	fill_task(&k, root);
	return root;
}

static bool same(const struct walk_node *x, const struct walk_node *y)
{
	if (x->kind == WALK_WAIT && y->kind == WALK_WAIT)	/* which file it was is told by the leaves */
		return x->class == y->class && x->tid == y->tid && x->transaction == y->transaction;
	return x->kind == y->kind && x->leaf == y->leaf && x->class == y->class && x->tid == y->tid && x->ino == y->ino &&
	       x->dev == y->dev && x->transaction == y->transaction;
}

static void take_over(struct walk_node *into, struct walk_node *from)
{
	into->ns += from->ns;
	into->count += from->count;
	into->conf = MIN(into->conf, from->conf);
	into->reads += from->reads;
	into->sync_writes += from->sync_writes;
	into->async_writes += from->async_writes;
	into->meta += from->meta;
	into->flushes += from->flushes;
	into->bytes += from->bytes;
	into->b = MAX(into->b, from->b);
	bill_join(&into->bill, &from->bill, 1);
	if (from->nkids) {
		into->kid = mem_realloc(into->kid, (into->nkids + from->nkids) * sizeof(*into->kid));
		for (size_t i = 0; i < from->nkids; i++) {
			from->kid[i]->parent = into;
			into->kid[into->nkids++] = from->kid[i];
		}
		from->nkids = 0;
	}
	walk_free(from);
}

static int by_ns(const void *a, const void *b)
{
	const struct walk_node *x = *(struct walk_node *const *)a, *y = *(struct walk_node *const *)b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? 1 : -1;
	return (x->a > y->a) - (x->a < y->a);
}

void walk_merge(struct walk_node *n)
{
	size_t out = 0;

	for (size_t i = 0; i < n->nkids; i++) {
		size_t j;

		for (j = 0; j < out && !same(n->kid[j], n->kid[i]); j++)
			;
		if (j < out)
			take_over(n->kid[j], n->kid[i]);
		else
			n->kid[out++] = n->kid[i];
	}
	n->nkids = out;
	for (size_t i = 0; i < n->nkids; i++)
		walk_merge(n->kid[i]);
	if (n->nkids > 1)
		qsort(n->kid, n->nkids, sizeof(*n->kid), by_ns);
}

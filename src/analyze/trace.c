/* SPDX-License-Identifier: MIT */
#include "analyze/trace.h"
#include "base/cleanup.h"
#include "event/waitclass.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CMP(x, y) ((x) < (y) ? -1 : (x) > (y))

static int by_tid_t(const void *a, const void *b)
{
	const struct event *x = a, *y = b;

	return x->tid != y->tid ? CMP(x->tid, y->tid) : x->t != y->t ? CMP(x->t, y->t) : CMP(x->dur, y->dur);
}

static int by_dev_t(const void *a, const void *b)
{
	const struct event *x = a, *y = b;

	return x->dev != y->dev ? CMP(x->dev, y->dev) : x->t != y->t ? CMP(x->t, y->t) : CMP(x->dur, y->dur);
}

static int by_ino_t(const void *a, const void *b)
{
	const struct event *x = a, *y = b;

	return x->dev != y->dev ? CMP(x->dev, y->dev) : x->ino != y->ino ? CMP(x->ino, y->ino) : CMP(x->t, y->t);
}

static int by_t(const void *a, const void *b)
{
	const struct event *x = a, *y = b;

	return CMP(x->t, y->t);
}

static int by_tid(const void *a, const void *b)
{
	const struct tr_task *x = a, *y = b;

	return CMP(x->tid, y->tid);
}

static int by_tid_start(const void *a, const void *b)
{
	const struct tr_task *x = a, *y = b;

	return x->tid != y->tid ? CMP(x->tid, y->tid) : CMP(x->seen, y->seen);
}

/* What later rows of the same thread add: a name from one kind of row, a parent from another. */
static void merge_task(struct trace *t, const struct event *ev)
{
	struct tr_task fresh = { .tid = ev->tid, .pid = ev->pid, .seen = ev->t };
	const char *name = rec_string_get(t->rec, ev->name);

	fresh.comm = rec_string_get(t->rec, ev->comm);
	fresh.cgroup = "";
	if (ev->kind == EV_TASK) {
		fresh.parent = (uint32_t)ev->b;
		fresh.started = ev->a;
		if (ev->flags & EVF_OURS)
			fresh.ours = name;
		else
			fresh.cgroup = name;
	}
	fresh.kthread = ev->flags & EVF_KTHREAD && (ev->kind == EV_TASK || ev->kind == EV_WAIT || ev->kind == EV_RUNQ);
	vec_push(&t->task, fresh);
}

static void fold_tasks(struct trace *t)
{
	size_t n = 0;

	if (!t->task.n)
		return;
	qsort(t->task.p, t->task.n, sizeof(*t->task.p), by_tid_start);
	for (size_t i = 0; i < t->task.n; i++) {
		struct tr_task *x = &t->task.p[i];
		struct tr_task *k = n ? &t->task.p[n - 1] : NULL;

		if (!k || k->tid != x->tid) {
			t->task.p[n++] = *x;
			continue;
		}
		if (x->started && k->started && x->started != k->started && strcmp(k->comm, x->comm))
			k->before = k->comm;
		if (x->started)
			k->started = x->started;
		if (*x->comm)
			k->comm = x->comm;
		if (*x->cgroup)
			k->cgroup = x->cgroup;
		if (x->ours)
			k->ours = x->ours;
		if (x->parent)
			k->parent = x->parent;
		if (x->pid)
			k->pid = x->pid;
		k->kthread |= x->kthread;
	}
	t->task.n = n;
}

static void sort(events_t *v, int (*by)(const void *, const void *))
{
	if (v->n > 1)
		qsort(v->p, v->n, sizeof(*v->p), by);
}

/* A wait that was read while open and later seen to end is there twice: the longer one stays. */
static void drop_twice(events_t *v)
{
	size_t n = 0;

	for (size_t i = 0; i < v->n; i++) {
		if (n && v->p[n - 1].tid == v->p[i].tid && v->p[n - 1].t == v->p[i].t)
			v->p[n - 1] = v->p[i];
		else
			v->p[n++] = v->p[i];
	}
	v->n = n;
}

void trace_index(struct trace *t)
{
	sort(&t->wait, by_tid_t);
	drop_twice(&t->wait);
	sort(&t->runq, by_tid_t);
	sort(&t->fsync, by_tid_t);
	sort(&t->throttle, by_tid_t);
	sort(&t->reclaim, by_tid_t);
	for (size_t i = 0; i < t->rq.n; i++)
		vec_push(&t->own, t->rq.p[i]);
	sort(&t->own, by_tid_t);
	sort(&t->rq, by_dev_t);
	sort(&t->commit, by_dev_t);
	sort(&t->inode, by_dev_t);
	sort(&t->handle, by_dev_t);
	sort(&t->dirty, by_ino_t);
	sort(&t->signal, by_t);
	sort(&t->force, by_t);
	for (size_t i = 0; i < t->rq.n; i++)
		t->longest_rq = MAX(t->longest_rq, t->rq.p[i].dur);
	for (size_t i = 0; i < t->handle.n; i++)
		t->longest_handle = MAX(t->longest_handle, t->handle.p[i].dur);
	fold_tasks(t);
}

static events_t *home(struct trace *t, uint32_t kind)
{
	switch (kind) {
	case EV_WAIT:		return &t->wait;
	case EV_RUNQ:		return &t->runq;
	case EV_BLK_RQ:		return &t->rq;
	case EV_JBD2_COMMIT:	return &t->commit;
	case EV_JBD2_INODE:	return &t->inode;
	case EV_JBD2_HANDLE:	return &t->handle;
	case EV_DIRTY:		return &t->dirty;
	case EV_FSYNC:		return &t->fsync;
	case EV_DIRTY_THROTTLE:	return &t->throttle;
	case EV_RECLAIM:	return &t->reclaim;
	case EV_SIGNAL:		return &t->signal;
	case EV_XFS_LOG:	return &t->force;
	case EV_FS:		return &t->fs;
	case EV_DISK:		return &t->disk;
	case EV_POKE:		return &t->poke;
	default:		return NULL;
	}
}

static int take_rows(void *ctx, int run, const struct event *rows, uint32_t n)
{
	struct trace *t = ctx;

	for (uint32_t i = 0; i < n; i++) {
		const struct event *ev = &rows[i];
		events_t *v = home(t, ev->kind);

		if (v)
			vec_push(v, *ev);
		if (ev->kind == EV_LOST)
			t->lost += ev->a;
		if (ev->tid && (ev->comm || ev->kind == EV_TASK))
			merge_task(t, ev);
	}
	return 0;
}

#define PICTURE		(250 * NSEC_PER_MSEC)	/* what one picture of a task stands for when nothing says more */
#define PICTURES_APART	(6 * NSEC_PER_SEC)	/* at most, while the same operation is stuck */

/*
 * Sampled stacks (no tracer). A picture of a probe's action knows since when it lasts, and the next one of the same
 * action is longer; of another task (dur 0 here) only that it waited just then.
 */
static int take_sampled(void *ctx, const struct rec_stall *s)
{
	struct event ev = { .kind = EV_WAIT, .t = s->t - s->waited, .dur = s->waited, .pid = s->pid, .tid = s->tid, .stack = s->stack,
			    .flags = EVF_OPEN };
	struct tr_task task = { .tid = s->tid, .pid = s->pid, .comm = s->comm, .cgroup = "" };
	struct trace *t = ctx;
	const char *frames[64];
	int n = rec_stack_get(t->rec, s->stack, frames, 64);

	if (!n && s->wchan && *s->wchan)
		frames[n++] = s->wchan;
	ev.class = stack_classify(frames, n);
	if (s->state && *s->state == 'D')
		ev.flags |= EVF_UNINTR;
	if (ev.class == WAIT_IDLE || ev.class == WAIT_INPUT || ev.class == WAIT_SLEEP || ev.class == WAIT_TASK || !s->tid)
		return 0;
	task.kthread = n && !strcmp(frames[n - 1], "ret_from_fork_asm");
	for (int i = 0; i < n; i++) {
		char sym[STACK_SYMBOL];

		task.kthread |= !strcmp(stack_symbol(frames[i], sym), "kthread");
	}
	vec_push(&t->wait, ev);
	vec_push(&t->task, task);
	return 0;
}

/* Pictures of a task that show the same wait become one stretch, from one picture to the next. */
static void join_pictures(events_t *v)
{
	size_t n = 0;

	sort(v, by_tid_t);
	for (size_t i = 0; i < v->n; i++) {
		struct event *ev = &v->p[i], *last = n ? &v->p[n - 1] : NULL;

		if (ev->dur) {
			v->p[n++] = *ev;
			continue;
		}
		if (last && last->tid == ev->tid && last->class == ev->class && ev->t - (last->t + last->dur) < PICTURES_APART) {
			last->dur = ev->t - last->t;
			continue;
		}
		ev->t -= PICTURE / 2;
		ev->dur = PICTURE / 2;
		v->p[n++] = *ev;
	}
	v->n = n;
}

static int want_series(void *ctx, const struct rec_series *s)
{
	VEC(int) *ids = ctx;

	if (s->kind == SERIES_EVENTS)
		vec_push(ids, s->id);
	return 0;
}

int trace_load(struct rec *r, int run, struct trace *ret, struct err *e)
{
	struct trace t = { .rec = r, .threshold = 20 * NSEC_PER_MSEC };
	struct rec_run info;
	VEC(int) ids = { 0 };
	int got = 0;

	for (int i = 0; i < rec_run_count(r); i++)
		if (rec_run_get(r, i, &info) == 0 && (run == 0 || info.id == run))
			break;
		else
			info.id = 0;
	if (rec_run_count(r) == 0 || !info.id)
		return err_set(e, -ENOENT, "%s has no run %d", rec_path(r), run);
	t.run = info.id;
	t.t0 = info.t0;
	t.t1 = info.t1;
	rec_series_each(r, want_series, &ids);
	for (size_t i = 0; i < ids.n && !got; i++) {
		got = rec_events_each(r, t.run, ids.p[i], 0, NSEC_NEVER, take_rows, &t, e);
		if (got == -EBADMSG)	/* what could be read is explained; the caller asks rec_damaged() */
			got = 0;
	}
	for (size_t i = 0; i < ids.n; i++) {
		const char *ns = rec_series_attr_get(r, ids.p[i], "threshold_ns");

		if (ns && strtoll(ns, NULL, 10) > 0)
			t.threshold = strtoll(ns, NULL, 10);
	}
	vec_done(&ids);
	if (!got && !t.wait.n && !t.rq.n) {
		t.sampled = true;
		got = rec_stalls_each(r, t.run, take_sampled, &t);
		join_pictures(&t.wait);
	}
	if (got) {
		trace_done(&t);
		return got;
	}
	if (!t.wait.n && !t.rq.n && !t.fs.n && !t.disk.n) {
		trace_done(&t);
		return err_set(e, -ENODATA, "run %d of %s was not traced and no task was seen waiting; record with stallmark trace, "
			       "or run as root", info.id, rec_path(r));
	}
	trace_index(&t);
	*ret = t;
	return 0;
}

void trace_done(struct trace *t)
{
	events_t *all[] = { &t->wait, &t->runq, &t->rq, &t->own, &t->commit, &t->inode, &t->handle, &t->dirty, &t->fsync, &t->throttle,
			    &t->reclaim, &t->signal, &t->force, &t->fs, &t->disk, &t->poke };

	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		vec_done(all[i]);
	vec_done(&t->task);
}

const struct tr_task *trace_task(const struct trace *t, uint32_t tid)
{
	struct tr_task key = { .tid = tid };

	return t->task.n ? bsearch(&key, t->task.p, t->task.n, sizeof(key), by_tid) : NULL;
}

const char *trace_who(const struct trace *t, uint32_t tid, char *buf, size_t size)
{
	const struct tr_task *k = trace_task(t, tid);

	if (k && *k->comm && k->kthread)
		snprintf(buf, size, "%s", k->comm);
	else if (k && *k->comm && k->before)
		snprintf(buf, size, "%s (pid %u, before it %s)", k->comm, k->pid, k->before);
	else if (k && *k->comm)
		snprintf(buf, size, "%s (pid %u)", k->comm, k->pid);
	else
		snprintf(buf, size, "pid %u", tid);
	return buf;
}

bool trace_is_kthread(const struct trace *t, uint32_t tid)
{
	const struct tr_task *k = trace_task(t, tid);

	return k && k->kthread;
}

/* First row of v that is not before (key, from) in v's order. */
static size_t lower(const events_t *v, const struct event *key, int (*by)(const void *, const void *))
{
	size_t lo = 0, hi = v->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (by(&v->p[mid], key) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

const struct event *trace_by_tid(const events_t *v, uint32_t tid, nsec_t a, nsec_t longest, size_t *ret_n)
{
	struct event key = { .tid = tid, .t = a - longest, .dur = 0 };
	size_t i = lower(v, &key, by_tid_t), end;

	for (end = i; end < v->n && v->p[end].tid == tid;)
		end++;
	*ret_n = end - i;
	return v->n ? v->p + i : NULL;
}

const struct event *trace_by_dev(const events_t *v, uint32_t dev, nsec_t a, nsec_t longest, size_t *ret_n)
{
	struct event key = { .dev = dev, .t = a - longest, .dur = 0 }, last = { .dev = dev + 1, .t = INT64_MIN };
	size_t i = lower(v, &key, by_dev_t), end = lower(v, &last, by_dev_t);

	*ret_n = end > i ? end - i : 0;
	return v->n ? v->p + i : NULL;
}

const struct event *trace_fs(const struct trace *t, uint32_t fs_dev)
{
	for (size_t i = 0; i < t->fs.n; i++)
		if (t->fs.p[i].dev == fs_dev)
			return &t->fs.p[i];
	return NULL;
}

uint32_t trace_disk_of(const struct trace *t, uint32_t fs_dev)
{
	const struct event *fs = trace_fs(t, fs_dev);

	return fs ? (uint32_t)fs->a : fs_dev;
}

const char *trace_disk_name(const struct trace *t, uint32_t disk, char *buf, size_t size)
{
	for (size_t i = 0; i < t->disk.n; i++) {
		if (t->disk.p[i].dev == disk) {
			snprintf(buf, size, "%s", rec_string_get(t->rec, t->disk.p[i].name));
			return buf;
		}
	}
	snprintf(buf, size, "%u:%u", disk >> 20, disk & 0xfffff);
	return buf;
}

const char *trace_file_name(const struct trace *t, uint32_t dev, uint64_t ino)
{
	struct event key = { .dev = dev, .ino = ino, .t = INT64_MIN };

	for (size_t i = lower(&t->dirty, &key, by_ino_t); i < t->dirty.n; i++) {
		const struct event *d = &t->dirty.p[i];

		if (d->dev != dev || d->ino != ino)
			break;
		if (d->name)
			return rec_string_get(t->rec, d->name);
	}
	return "";
}

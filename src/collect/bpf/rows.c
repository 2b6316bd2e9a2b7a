/* SPDX-License-Identifier: MIT */
#include "collect/bpf/rows.h"
#include "base/cleanup.h"
#include "collect/ksyms.h"
#include "event/waitclass.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#define BATCH		4096
#define EPISODE_GAP	(50 * NSEC_PER_MSEC)	/* shorter than this between two waits: one stall */

struct rows *rows_new(struct rec *rec, int run, int clock, int series, nsec_t threshold, bool full)
{
	struct rows *r = mem_alloc(sizeof(*r));

	r->rec = rec;
	r->run = run;
	r->clock = clock;
	r->series = series;
	r->threshold = threshold;
	r->full = full;
	r->held = mem_array(ROWS_HELD, sizeof(*r->held));
	return r;
}

void rows_free(struct rows *r)
{
	if (!r)
		return;
	ksyms_free(r->syms);
	free(r->held);
	vec_done(&r->out);
	free(r);
}

static uint32_t text(struct rows *r, const char *s, size_t size)
{
	char buf[WIRE_NAME + 1];

	memcpy(buf, s, size);
	buf[size] = '\0';
	return rec_string(r->rec, buf);
}

static struct event base(struct rows *r, uint32_t kind, const struct wire_head *h)
{
	return (struct event){ .kind = kind, .t = (nsec_t)h->t, .dur = (nsec_t)h->dur, .pid = h->pid, .tid = h->tid,
			       .dev = h->dev, .comm = text(r, h->comm, WIRE_COMM) };
}

/* The longest path of /proc/PID/cgroup is the one that says most; "" for the root. */
static void cgroup_of(uint32_t pid, char *buf, size_t size)
{
	char path[64], line[4096];
	size_t best = 1;

	buf[0] = '\0';
	snprintf(path, sizeof(path), "/proc/%u/cgroup", pid);
	cleanup_file FILE *f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f)) {
		char *p = strchr(line, ':');

		p = p ? strchr(p + 1, ':') : NULL;
		if (!p)
			continue;
		p++;
		p[strcspn(p, "\n")] = '\0';
		if (strlen(p) > best && strlen(p) < size) {
			best = strlen(p);
			memcpy(buf, p, best + 1);
		}
	}
}

static struct rows_task *task_slot(struct rows *r, uint32_t tid)
{
	return &r->task[tid * 2654435761u % ROWS_TASKS];
}

/* Name, parent and start time from /proc/PID/stat; false: it is gone. */
static bool read_stat(uint32_t pid, char comm[WIRE_COMM], uint32_t *parent, uint64_t *started)
{
	char path[64], line[1024], *open_at, *close_at;
	unsigned long long start;

	snprintf(path, sizeof(path), "/proc/%u/stat", pid);
	cleanup_file FILE *f = fopen(path, "re");
	if (!f || !fgets(line, sizeof(line), f) || !(open_at = strchr(line, '(')) || !(close_at = strrchr(line, ')')) ||
	    sscanf(close_at + 1, " %*c %u %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu", parent,
		   &start) != 2)
		return false;
	*started = start;
	*close_at = '\0';
	snprintf(comm, WIRE_COMM, "%.15s", open_at + 1);
	return true;
}

/* The first time a thread shows up (or its name changed: exec, or the number was used again) says who it is. */
static void introduce(struct rows *r, uint32_t pid, uint32_t tid, const char *comm, uint32_t parent, bool kthread, nsec_t t)
{
	struct rows_task *k = task_slot(r, tid);
	struct event ev = { .kind = EV_TASK, .t = t, .pid = pid, .tid = tid, .b = parent };
	char group[256];

	if (!tid || (k->tid == tid && !strncmp(k->comm, comm, WIRE_COMM)))
		return;
	k->tid = tid;
	memcpy(k->comm, comm, WIRE_COMM);
	ev.comm = text(r, comm, WIRE_COMM);
	if (kthread) {
		ev.flags = EVF_KTHREAD;
	} else {
		char now[WIRE_COMM];
		uint32_t above;

		if (!read_stat(pid, now, &above, &ev.a))	/* tells one use of the number from the next */
			ev.a = 0;
		else if (!parent)
			ev.b = parent = above;
		cgroup_of(pid, group, sizeof(group));
		ev.name = rec_string(r->rec, group);
	}
	vec_push(&r->out, ev);
	if (!kthread && parent > 2) {	/* the line of ancestors: the scope of `trace -- COMMAND` is its descendants */
		char above[WIRE_COMM] = "";
		uint32_t next = 0;
		uint64_t start;

		if (task_slot(r, parent)->tid != parent && read_stat(parent, above, &next, &start))
			introduce(r, parent, parent, above, next, false, t);
	}
}

void rows_ours(struct rows *r, uint32_t pid, const char *what, nsec_t now)
{
	struct event ev = { .kind = EV_TASK, .t = now, .pid = pid, .tid = pid, .flags = EVF_OURS };

	ev.name = rec_string(r->rec, what);
	vec_push(&r->out, ev);
}

static uint64_t hash_stack(const wire_u64 *ip, uint32_t n)
{
	uint64_t h = 0xcbf29ce484222325u + n;

	for (uint32_t i = 0; i < n; i++)
		h = (h ^ ip[i]) * 0x9e3779b97f4a7c15u, h ^= h >> 29;
	return h | 1;
}

/* The stack's id in the record and its class; each distinct stack is resolved once. */
static struct rows_stack stack_of(struct rows *r, const wire_u64 *ip, uint32_t n)
{
	const char *frames[WIRE_STACK];
	struct rows_stack *s, fresh;
	char numbers[WIRE_STACK][20];

	if (n > WIRE_STACK)
		n = WIRE_STACK;
	if (!n)
		return (struct rows_stack){ 0 };
	fresh = (struct rows_stack){ .hash = hash_stack(ip, n) };
	s = &r->stack[fresh.hash % ROWS_STACKS];
	if (s->hash == fresh.hash)
		return *s;
	if (!r->syms && !r->syms_failed)
		r->syms_failed = ksyms_load(&r->syms, NULL) < 0;
	for (uint32_t i = 0; i < n; i++) {
		frames[i] = r->syms ? ksyms_find(r->syms, ip[i]) : NULL;
		if (!frames[i]) {
			snprintf(numbers[i], sizeof(numbers[i]), "0x%llx", (unsigned long long)ip[i]);
			frames[i] = numbers[i];
		}
	}
	fresh.class = stack_classify(frames, (int)n);
	fresh.id = rec_stack(r->rec, frames, (int)n);
	*s = fresh;
	return fresh;
}

static void open_window(struct rows *r, nsec_t a, nsec_t b)
{
	struct rows_window *last = &r->window[(r->nwindow - 1) % ROWS_WINDOWS];

	if (r->evicted > a)
		r->truncated++;
	if (r->nwindow > r->scanned && a <= last->b && b >= last->a) {	/* not looked at yet: one window */
		last->a = MIN(last->a, a);
		last->b = MAX(last->b, b);
		return;
	}
	r->window[r->nwindow++ % ROWS_WINDOWS] = (struct rows_window){ a, b };
}

/* A long wait is a stall, and so are short ones that follow each other closely. */
static void note_stall(struct rows *r, const struct wire_wait *w)
{
	struct rows_sleeper *s = &r->sleeper[w->h.tid % ROWS_SLEEPERS];
	nsec_t a = (nsec_t)w->h.t, b = a + (nsec_t)w->h.dur;

	if (s->tid != w->h.tid || a - s->to > EPISODE_GAP)
		*s = (struct rows_sleeper){ .tid = w->h.tid, .from = a };
	s->to = b;
	s->sum += (nsec_t)w->h.dur;
	if (s->sum >= r->threshold)
		open_window(r, s->from, b);
}

static void take_wait(struct rows *r, const struct wire_wait *w)
{
	struct rows_stack st = stack_of(r, w->stack, w->nstack);
	struct event ev = base(r, EV_WAIT, &w->h);
	bool kthread = w->flags & WIRE_KTHREAD;

	ev.class = w->flags & WIRE_STOPPED ? WAIT_STOPPED : st.class;
	if (ev.class == WAIT_UNKNOWN && w->owner)
		ev.class = WAIT_LOCK;
	ev.stack = st.id;
	ev.ino = w->ino;
	ev.other = w->owner;
	ev.a = w->runnable;
	ev.b = w->waker;
	ev.c = w->last_sector;
	ev.d = w->last_age;
	ev.e = w->last_dev;
	ev.f = w->owner_pid;
	ev.flags = (w->flags & WIRE_IOWAIT ? EVF_IOWAIT : 0) | (w->flags & WIRE_UNINTR ? EVF_UNINTR : 0) |
		   (w->flags & WIRE_OPEN ? EVF_OPEN : 0) | (kthread ? EVF_KTHREAD : 0);
	if (ev.class == WAIT_IDLE || (ev.class == WAIT_SLEEP && !(w->flags & WIRE_UNINTR)))
		return;
	introduce(r, w->h.pid, w->h.tid, w->h.comm, w->parent, kthread, ev.t);
	vec_push(&r->out, ev);
	r->waits++;
	if (!kthread)
		note_stall(r, w);
}

static struct event request(struct rows *r, const struct wire_rq *w)
{
	struct event ev = base(r, EV_BLK_RQ, &w->h);

	ev.ino = w->ino;
	ev.other = w->ino_dev;
	ev.a = w->sector;
	ev.b = w->bytes;
	ev.c = w->getrq == UINT32_MAX ? 0 : (uint64_t)w->getrq * 1000;
	ev.d = w->insert == UINT32_MAX ? 0 : (uint64_t)w->insert * 1000;
	ev.e = w->issue == UINT32_MAX ? 0 : (uint64_t)w->issue * 1000;
	ev.flags = w->flags;
	return ev;
}

static void write_request(struct rows *r, const struct wire_rq *w)
{
	struct event ev = request(r, w);

	if (w->h.tid)
		introduce(r, w->h.pid, w->h.tid, w->h.comm, 0, false, ev.t);
	vec_push(&r->out, ev);
}

static bool in_window(const struct rows *r, const struct wire_rq *w, uint64_t from)
{
	nsec_t a = (nsec_t)w->h.t, b = a + (nsec_t)w->h.dur;

	for (uint64_t i = MAX(from, r->nwindow > ROWS_WINDOWS ? r->nwindow - ROWS_WINDOWS : 0); i < r->nwindow; i++)
		if (a <= r->window[i % ROWS_WINDOWS].b && b >= r->window[i % ROWS_WINDOWS].a)
			return true;
	return false;
}

static void take_request(struct rows *r, const struct wire_rq *w)
{
	struct held *h;

	r->requests++;
	if (r->full || in_window(r, w, 0)) {
		write_request(r, w);
		return;
	}
	h = &r->held[r->nheld % ROWS_HELD];
	if (r->nheld >= ROWS_HELD && !h->written)
		r->evicted = MAX(r->evicted, (nsec_t)(h->rq.h.t + h->rq.h.dur));
	h->rq = *w;
	h->written = false;
	r->nheld++;
}

static void take_numbers(struct rows *r, const struct wire_numbers *w, uint32_t kind)
{
	struct event ev = base(r, kind, &w->h);

	ev.ino = w->ino;
	ev.other = w->other;
	ev.a = w->a;
	ev.b = w->b;
	ev.c = w->c;
	ev.d = w->d;
	ev.e = w->e;
	ev.f = w->f;
	introduce(r, w->h.pid, w->h.tid, w->h.comm, 0, false, ev.t);
	vec_push(&r->out, ev);
}

int rows_take(void *ctx, void *row, size_t n)
{
	static const uint32_t kinds[WIRE_MAX] = {
		[WIRE_THROTTLE] = EV_DIRTY_THROTTLE, [WIRE_RECLAIM] = EV_RECLAIM, [WIRE_COMMIT] = EV_JBD2_COMMIT,
		[WIRE_INODE] = EV_JBD2_INODE, [WIRE_HANDLE] = EV_JBD2_HANDLE, [WIRE_FSYNC] = EV_FSYNC,
		[WIRE_SIGNAL] = EV_SIGNAL, [WIRE_BTRFS] = EV_BTRFS_COMMIT, [WIRE_XFS] = EV_XFS_LOG,
		[WIRE_CHECKPOINT] = EV_JBD2_CHECKPOINT,
	};
	const struct wire_head *h = row;
	struct rows *r = ctx;

	if (n >= sizeof(*h) && h->type == WIRE_WAIT && n >= sizeof(struct wire_wait)) {
		take_wait(r, row);
	} else if (n >= sizeof(*h) && h->type == WIRE_RQ && n >= sizeof(struct wire_rq)) {
		take_request(r, row);
	} else if (n >= sizeof(*h) && h->type == WIRE_RUNQ && n >= sizeof(struct wire_runq)) {
		const struct wire_runq *w = row;
		struct event ev = base(r, EV_RUNQ, h);

		ev.other = w->other;
		ev.flags = w->flags & WIRE_KTHREAD ? EVF_KTHREAD : 0;
		introduce(r, h->pid, h->tid, h->comm, w->parent, w->flags & WIRE_KTHREAD, ev.t);
		vec_push(&r->out, ev);
	} else if (n >= sizeof(*h) && h->type == WIRE_DIRTY && n >= sizeof(struct wire_dirty)) {
		const struct wire_dirty *w = row;
		struct event ev = base(r, EV_DIRTY, h);

		ev.ino = w->ino;
		ev.a = w->pages;
		ev.name = text(r, w->name, strnlen(w->name, WIRE_NAME));
		introduce(r, h->pid, h->tid, h->comm, 0, false, ev.t);
		vec_push(&r->out, ev);
	} else if (n >= sizeof(*h) && h->type < WIRE_MAX && kinds[h->type] && n >= sizeof(struct wire_numbers)) {
		take_numbers(r, row, kinds[h->type]);
	} else {
		r->bad++;
	}
	return 0;
}

int rows_flush(struct rows *r, nsec_t now, bool all, struct err *e)
{
	int got;

	if (r->nwindow > r->scanned) {
		uint64_t first = r->nheld > ROWS_HELD ? r->nheld - ROWS_HELD : 0;

		for (uint64_t i = first; i < r->nheld; i++) {
			struct held *h = &r->held[i % ROWS_HELD];

			if (!h->written && in_window(r, &h->rq, r->scanned)) {
				write_request(r, &h->rq);
				h->written = true;
			}
		}
		r->scanned = r->nwindow;
	}
	if (!r->out.n || (!all && r->out.n < BATCH && now - r->flushed < NSEC_PER_SEC))
		return 0;
	got = rec_events(r->rec, r->run, r->series, r->clock, r->out.p, (uint32_t)r->out.n, e);
	r->out.n = 0;
	r->flushed = now;
	return got;
}

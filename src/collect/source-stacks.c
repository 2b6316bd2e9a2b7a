/* SPDX-License-Identifier: MIT */
/*
 * Pictures of stuck operations. While a probe's action is in flight longer than
 * `after`, this looks where in the kernel its task sleeps (stack, wchan, system
 * call) and at every other task in D state, for who waits beside it and who
 * holds it up. Each picture is a set of stall rows with the same time.
 *
 * Looking costs: about 5 us a task to find those in D state (/proc/TID/stat)
 * and 20 us for each of these. So pictures of one wait come at twice the wait
 * each time, at most every `every`, and never take more than 2 % of the time.
 * Without probes (stallmark trace where BPF cannot run) all in D state are seen.
 * Kernel stacks need root; others see wchan and system call of their own tasks.
 */
#include "base/cleanup.h"
#include "collect/source.h"
#include "sys/kfile.h"
#include "sys/proc.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PROBES_MAX	64
#define TASKS_MAX	128		/* in one picture; more are counted as lost */
#define FRAMES_MAX	64

struct conf {
	nsec_t after, every;
};

struct stacks {
	const struct source_env *env;
	nsec_t after, every;
	nsec_t due, free_at;		/* next look; earliest next picture, by the cost of the last */
	int n;
	const struct in_flight *slot[PROBES_MAX];
	int series[PROBES_MAX];
	uint64_t id[PROBES_MAX];	/* of the action that next_at is about */
	nsec_t next_at[PROBES_MAX];	/* length of wait at which its next picture is due */
	uint64_t lost;
	int proc;			/* /proc */
	bool see_stacks;
	/* buffers, so that nothing is allocated while things are stuck */
	char dents[32768] __attribute__((aligned(8))), task_dents[8192] __attribute__((aligned(8))), text[8192], wchan[64], call[256];
};

static const struct param params[] = {
	{ .name = "after", .type = PARAM_NSEC, .offset = offsetof(struct conf, after), .def = "250ms",
	  .help = "take a picture of an operation that is in flight longer than this", .min = 1e6, .max = 3.6e12 },
	{ .name = "every", .type = PARAM_NSEC, .offset = offsetof(struct conf, every), .def = "5s",
	  .help = "while it lasts, take another one at least this often", .min = 1e7, .max = 3.6e12 },
	{ 0 },
};

static int supported(struct err *why)
{
	return access("/proc/self/stat", R_OK) ? err_set(why, -ENOTSUP, "/proc is not mounted") : 0;
}

static int stacks_open(void *st, const void *conf, const struct source_env *env, struct err *e)
{
	const struct conf *c = conf;
	struct stacks *s = st;

	s->env = env;
	s->after = c->after;
	s->every = c->every;
	s->see_stacks = access("/proc/self/stack", R_OK) == 0 && geteuid() == 0;
	s->proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (s->proc < 0)
		return err_sys(e, -errno, "cannot open /proc");
	s->n = MIN(env->nin_flight, PROBES_MAX);
	for (int i = 0; i < s->n; i++) {
		s->slot[i] = env->in_flight[i];
		s->series[i] = rec_series_find(env->rec, SERIES_SAMPLES, env->in_flight_series[i]);
	}
	return 0;
}

static int stacks_start(void *st, struct err *e)
{
	struct stacks *s = st;

	s->due = nsec_now() + s->after / 4;
	return 0;
}

static nsec_t stacks_due(void *st, nsec_t now)
{
	struct stacks *s = st;

	return s->due;
}

/* A file of a task into buf; "" when it cannot be read. */
static void of_task(struct stacks *s, uint32_t tid, const char *what, char *buf, size_t size)
{
	char path[48];
	int fd;

	buf[0] = 0;
	snprintf(path, sizeof(path), "%u/%s", tid, what);
	fd = openat(s->proc, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	if (file_again(fd, buf, size) < 0)
		buf[0] = 0;
	close(fd);
	if (buf[0] && buf[strlen(buf) - 1] == '\n')
		buf[strlen(buf) - 1] = 0;
}

static uint32_t process_of(struct stacks *s, uint32_t tid)
{
	uint64_t tgid;

	of_task(s, tid, "status", s->text, sizeof(s->text));
	return file_field(s->text, "Tgid:", &tgid) ? (uint32_t)tgid : tid;
}

static int picture_of(struct stacks *s, uint32_t pid, uint32_t tid, int series, uint64_t id, nsec_t now, nsec_t waited, struct err *e)
{
	const char *frame[FRAMES_MAX];
	char name[32], state[2] = "";
	struct proc_stat ps = { .state = '?' };
	struct rec_stall row = { .run = s->env->run, .series = series, .sample_id = id, .t = now, .waited = waited, .tid = tid };

	of_task(s, tid, "stat", s->text, sizeof(s->text));
	if (!proc_stat_parse(s->text, &ps))
		return 0;	/* it has ended */
	of_task(s, tid, "wchan", s->wchan, sizeof(s->wchan));
	if (!strcmp(s->wchan, "0"))
		s->wchan[0] = 0;
	of_task(s, tid, "syscall", s->call, sizeof(s->call));
	if (s->see_stacks) {
		int n;

		of_task(s, tid, "stack", s->text, sizeof(s->text));
		n = proc_stack_frames(s->text, frame, FRAMES_MAX);
		row.stack = n ? rec_stack(s->env->rec, frame, n) : 0;
	}
	state[0] = ps.state;
	row.pid = pid;
	row.comm = ps.comm;
	row.state = state;
	row.wchan = s->wchan;
	row.syscall = proc_syscall_name(s->call, name, sizeof(name));
	return rec_stall(s->env->rec, &row, e);
}

/* Calls fn for each number in the directory; not readdir: opendir allocates. */
static int each_number(int fd, char *buf, size_t size, int (*fn)(void *ctx, uint32_t number), void *ctx)
{
	ssize_t n;
	int r = 0;

	while (!r && (n = getdents64(fd, buf, size)) > 0) {
		for (ssize_t at = 0; !r && at < n;) {
			const struct dirent64 *d = (const void *)(buf + at);

			if (d->d_name[0] >= '0' && d->d_name[0] <= '9')
				r = fn(ctx, (uint32_t)strtoul(d->d_name, NULL, 10));
			at += d->d_reclen;
		}
	}
	return r;
}

struct picture {
	struct stacks *s;
	nsec_t now;
	uint32_t pid;
	uint32_t waiter[PROBES_MAX];	/* have their row already */
	int nwaiters, tasks;
	struct err *e;
};

static int other_task(struct picture *p, uint32_t tid, const struct proc_stat *ps)
{
	if (ps->state != 'D')
		return 0;
	for (int i = 0; i < p->nwaiters; i++)
		if (p->waiter[i] == tid)
			return 0;
	if (p->tasks++ >= TASKS_MAX) {
		p->s->lost++;
		return 0;
	}
	return picture_of(p->s, p->pid, tid, 0, 0, p->now, 0, p->e);
}

static int one_thread(void *ctx, uint32_t tid)
{
	struct picture *p = ctx;
	struct proc_stat ps;

	of_task(p->s, tid, "stat", p->s->text, sizeof(p->s->text));
	return proc_stat_parse(p->s->text, &ps) ? other_task(p, tid, &ps) : 0;
}

static int one_process(void *ctx, uint32_t pid)
{
	struct picture *p = ctx;
	struct proc_stat ps;
	char path[32];
	int fd, r;

	p->pid = pid;
	of_task(p->s, pid, "stat", p->s->text, sizeof(p->s->text));
	if (!proc_stat_parse(p->s->text, &ps))
		return 0;
	if (ps.threads <= 1)
		return other_task(p, pid, &ps);
	snprintf(path, sizeof(path), "%u/task", pid);
	fd = openat(p->s->proc, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	r = each_number(fd, p->s->task_dents, sizeof(p->s->task_dents), one_thread, p);
	close(fd);
	return r;
}

static int stacks_drain(void *st, nsec_t now, struct err *e)
{
	struct stacks *s = st;
	struct picture p = { .s = s, .now = now, .e = e };
	nsec_t cost;
	int r = 0;

	if (now < s->due)
		return 0;
	s->due = now + MAX(s->n ? s->after / 4 : s->after, NSEC_PER_MSEC);
	if (now < s->free_at)
		return 0;
	for (int i = 0; !r && i < s->n; i++) {
		struct in_flight f = in_flight_read(s->slot[i]);
		nsec_t waited = now - f.started;

		if (!f.started || waited < s->after)
			continue;
		if (f.id != s->id[i] || !s->next_at[i]) {
			s->id[i] = f.id;
			s->next_at[i] = s->after;
		}
		if (waited < s->next_at[i])
			continue;
		s->next_at[i] = waited + MIN(waited, s->every);
		p.waiter[p.nwaiters++] = f.tid;
		r = picture_of(s, process_of(s, f.tid), f.tid, s->series[i], f.id, now, waited, e);
	}
	if (r || (s->n && !p.nwaiters))		/* without probes (trace): whoever is in D state */
		return r;
	if (lseek(s->proc, 0, SEEK_SET) == 0)
		r = each_number(s->proc, s->dents, sizeof(s->dents), one_process, &p);
	cost = nsec_now() - now;
	s->free_at = now + 50 * cost;		/* 2 % */
	return r;
}

static int stacks_stop(void *st, struct err *e)
{
	return 0;
}

static uint64_t stacks_lost(const void *st)
{
	return ((const struct stacks *)st)->lost;
}

static void stacks_close(void *st)
{
	struct stacks *s = st;

	if (s->proc > 0)
		close(s->proc);
}

const struct source_ops source_stacks = {
	.plug = { .name = "stacks", .about = "where in the kernel stuck operations sleep, and who sleeps beside them",
		  .conf_size = sizeof(struct conf), .state_size = sizeof(struct stacks), .params = params },
	.supported = supported,
	.open = stacks_open,
	.start = stacks_start,
	.due = stacks_due,
	.drain = stacks_drain,
	.stop = stacks_stop,
	.lost = stacks_lost,
	.close = stacks_close,
};

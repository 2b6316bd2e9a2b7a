/* SPDX-License-Identifier: MIT */
/*
 * What a probe costs beside its system calls: the same calls bare and through
 * an action with its ring, as a run performs it (script, steps in flight, clock
 * reads, the finished sample), in interleaved pairs on tmpfs. Prints the cost
 * of one step and what was allocated; exit 1 at 2 us a step or at any
 * allocation between the script and the ring.
 */
#include "../tests/unit/malloc-count.h"

#include "base/cleanup.h"
#include "base/mem.h"
#include "perform/action.h"
#include "run/ring.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#define ROUNDS	15
#define ACTIONS	4000
#define LIMIT_US 2.0

struct probe {
	struct ring *ring;
	struct actor actor;
	struct action action;
	int steps;
	uint64_t id;
	uint32_t tid;
};

/* `steps` calls of stat(), each a step of its own: the cheapest call with a path there is. */
static int script(void *ctx, struct op *ops, int max)
{
	struct probe *p = ctx;

	for (int i = 0; i < p->steps; i++) {
		ops[i] = (struct op){ .kind = OP_STAT, .step = (uint8_t)i };
		snprintf(ops[i].path, OP_PATH_MAX, "file-%d", i);
	}
	return p->steps;
}

static void on_step(void *ctx, unsigned step, nsec_t now)
{
	struct probe *p = ctx;

	if (!step)
		ring_begin(p->ring, p->id, now, now, p->tid);
	else
		ring_step(p->ring, step, now);
}

static nsec_t through_actions(struct probe *p)
{
	nsec_t start = nsec_now();

	for (int i = 0; i < ACTIONS; i++) {
		struct sample s = { .runq = -1 };

		action_run(&p->actor, &p->action);
		ring_end(p->ring);
		s.id = p->id++;
		s.intended = s.start = p->action.start;
		s.end = p->action.end;
		memcpy(s.step, p->action.step, sizeof(s.step));
		ring_put(p->ring, &s);
	}
	return nsec_now() - start;
}

static nsec_t bare(int dirfd, int steps)
{
	nsec_t start = nsec_now();
	char path[OP_PATH_MAX];
	struct stat sb;

	for (int i = 0; i < ACTIONS; i++) {
		for (int k = 0; k < steps; k++) {
			snprintf(path, sizeof(path), "file-%d", k);
			if (fstatat(dirfd, path, &sb, AT_SYMLINK_NOFOLLOW))
				return 0;
		}
	}
	return nsec_now() - start;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double cost_us(struct probe *p, int dirfd, int steps, unsigned long *ret_mallocs)
{
	double us[ROUNDS];

	p->steps = steps;
	*ret_mallocs = 0;
	for (int r = 0; r < ROUNDS; r++) {
		unsigned long before;
		nsec_t a, b;

		a = r % 2 ? bare(dirfd, steps) : 0;
		before = malloc_calls;
		b = through_actions(p);
		*ret_mallocs += malloc_calls - before;
		if (!(r % 2))
			a = bare(dirfd, steps);
		us[r] = (double)(b - a) / 1e3 / ACTIONS / steps;
	}
	qsort(us, ROUNDS, sizeof(*us), by_value);
	return us[ROUNDS / 2];
}

int main(void)
{
	const struct perform_ops *posix = plug_find(perform_table, "posix");
	char dir[] = "/dev/shm/stallmark-bench.XXXXXX", path[64];
	struct perform_conf conf = { .seed = 1 };
	struct err e = { 0 };
	struct probe p = { .tid = (uint32_t)syscall(SYS_gettid) };
	int steps[] = { 1, 2, 6, 12 }, bad = 0;

	if (!mkdtemp(dir) || (conf.dirfd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0) {
		perror("probe-cost: /dev/shm");
		return 77;
	}
	for (int i = 0; i < ACTION_STEPS; i++) {
		snprintf(path, sizeof(path), "file-%d", i);
		close(openat(conf.dirfd, path, O_WRONLY | O_CREAT, 0600));
	}
	snprintf(path, sizeof(path), "%s/ring", dir);
	p.actor = (struct actor){ .perform = posix, .st = mem_alloc(posix->plug.state_size), .script = script, .ctx = &p,
				  .on_step = on_step, .on_ctx = &p };
	if (posix->open(p.actor.st, &conf, &e) || ring_create(path, "bench", &p.ring, &e)) {
		fprintf(stderr, "probe-cost: %s\n", e.msg);
		return 2;
	}
	printf("cost of a probe beside its system calls, %d rounds of %d actions, medians (wanted < %.0f us a step)\n", ROUNDS,
	       ACTIONS, LIMIT_US);
	for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
		unsigned long mallocs;
		double us = cost_us(&p, conf.dirfd, steps[i], &mallocs);

		printf("%2d step%s  %.3f us a step, %lu allocations%s\n", steps[i], steps[i] == 1 ? " " : "s", us, mallocs,
		       malloc_counted ? "" : " (not counted in this build)");
		bad |= us >= LIMIT_US || mallocs;
	}
	posix->close(p.actor.st);
	free(p.actor.st);
	ring_close(p.ring);
	unlink(path);
	for (int i = 0; i < ACTION_STEPS; i++) {
		snprintf(path, sizeof(path), "file-%d", i);
		unlinkat(conf.dirfd, path, 0);
	}
	close(conf.dirfd);
	rmdir(dir);
	return bad ? 1 : 0;
}

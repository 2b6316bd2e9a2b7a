/* SPDX-License-Identifier: MIT */
/*
 * What a decision of a disk model costs: CPU time a request with 32 in the queue, and with a full write cache (16 MiB of
 * scattered 4 KiB writes: 4096 extents). Fails above 5 us and 20 us for the disks that turn. Median of 5.
 */
#include "base/cleanup.h"
#include "base/mem.h"
#include "config.h"
#include "model/profile.h"

#include <stdio.h>
#include <stdlib.h>

#define CAPACITY (UINT64_C(64) << 30)

struct bench {
	struct profile *p;
	void *st;
	nsec_t now;
	struct rng rng;
	uint64_t id;
};

static int by_time(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static void wait_one(struct bench *b, struct rq **ret)
{
	while (!b->p->ops->reap(b->st, b->now, ret, 1))
		b->now = b->p->ops->next(b->st);
}

/* CPU ns a request; writes: keeps the cache full, each request is a write that waits for room. */
static double cost(const char *name, enum rq_op op, unsigned depth, unsigned n)
{
	const char *dirs[] = { getenv("STALLMARK_PROFILES"), SOURCE_DIR "/profiles", NULL };
	struct rq *rq = mem_array(depth, sizeof(*rq)), *done;
	struct bench b = { 0 };
	struct err e = { 0 };
	unsigned warm = op == RQ_WRITE ? 6000 : 200;
	nsec_t t0 = 0;
	double x;

	if (profile_load(name, dirs[0] ? dirs : dirs + 1, &b.p, &e)) {
		fprintf(stderr, "%s\n", e.msg);
		exit(2);
	}
	b.st = mem_alloc(b.p->ops->plug.state_size);
	rng_seed(&b.rng, 1);
	b.p->ops->init(b.st, b.p->conf, CAPACITY, &b.rng, NULL);
	for (unsigned i = 0; i < warm + n; i++) {
		struct rq *r = &rq[i % depth];

		if (i >= depth) {
			wait_one(&b, &done);
			r = done;
		}
		if (i == warm)
			t0 = nsec_thread_cpu();
		*r = (struct rq){ .op = op, .sector = rng_below(&b.rng, CAPACITY / 4096) * 8, .bytes = 4096, .id = b.id++ };
		b.p->ops->submit(b.st, r, b.now);
	}
	x = (double)(nsec_thread_cpu() - t0) / n;
	b.p->ops->done(b.st);
	free(b.st);
	free(rq);
	profile_free(b.p);
	return x;
}

static double median(const char *name, enum rq_op op, unsigned depth, unsigned n)
{
	double x[5];

	for (int i = 0; i < 5; i++)
		x[i] = cost(name, op, depth, n);
	qsort(x, 5, sizeof(*x), by_time);
	return x[2];
}

int main(void)
{
	static const char *const turning[] = { "hdd7200_2009", "hdd7200_now", "hdd5400_2009" };
	static const char *const others[] = { "ssd_sata_consumer", "cloud_gp3", "null" };
	int bad = 0;

	for (size_t i = 0; i < ARRAY_SIZE(turning); i++) {
		double r = median(turning[i], RQ_READ, 31, 20000), w = median(turning[i], RQ_WRITE, 4, 20000);

		printf("%-20s queue of 31: %6.2f us a read (limit 5), full cache: %6.2f us a write (limit 20)\n", turning[i], r / 1e3,
		       w / 1e3);
		bad |= r > 5e3 || w > 20e3;
	}
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		printf("%-20s queue of 32: %6.2f us a read\n", others[i], median(others[i], RQ_READ, 32, 100000) / 1e3);
	if (bad)
		puts("FAIL: above the limit");
	return bad;
}

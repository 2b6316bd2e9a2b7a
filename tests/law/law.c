/* SPDX-License-Identifier: MIT */
#include "law.h"
#include "base/mem.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void law_near(double x, double want, double share, const char *what, const char *file, int line)
{
	printf("%-46s %14.6g expected %14.6g  off by %+.2f %% (allowed %.1f)\n", what, x, want, 100 * (x / want - 1), 100 * share);
	if (!(fabs(x - want) <= share * fabs(want)))
		_assert_true(0, what, file, line);
}

static void start(struct bench_disk *d, uint64_t capacity, uint64_t seed)
{
	struct err e = { 0 };
	struct rng r;

	d->st = mem_alloc(d->p->ops->plug.state_size);
	d->capacity = capacity;
	d->now = 0;
	d->next_id = 0;
	rng_seed(&r, seed);
	rng_split(&r, "law", &d->rng);
	if (d->p->ops->init(d->st, d->p->conf, capacity, &r, &e))
		fail_msg("%s", e.msg);
}

void disk_open(struct bench_disk *d, const char *profile, uint64_t capacity, uint64_t seed)
{
	char dir[512];
	const char *dirs[] = { dir, NULL };
	struct err e = { 0 };

	snprintf(dir, sizeof(dir), "%s/profiles", getenv("SOURCE_DIR"));
	if (profile_load(profile, dirs, &d->p, &e))
		fail_msg("%s", e.msg);
	start(d, capacity, seed);
}

void disk_open_text(struct bench_disk *d, const char *text, uint64_t capacity, uint64_t seed)
{
	struct err e = { 0 };

	if (profile_parse(text, strlen(text), "text", "text", &d->p, &e))
		fail_msg("%s", e.msg);
	start(d, capacity, seed);
}

void disk_close(struct bench_disk *d)
{
	d->p->ops->done(d->st);
	free(d->st);
	profile_free(d->p);
}

static struct rq *submit(struct bench_disk *d, enum rq_op op, uint64_t sector, uint32_t bytes)
{
	struct rq *rq = mem_alloc(sizeof(*rq));

	rq->op = op;
	rq->sector = sector;
	rq->bytes = bytes;
	rq->id = d->next_id++;
	assert_true(d->p->ops->room(d->st) > 0);
	d->p->ops->submit(d->st, rq, d->now);
	return rq;
}

struct rq *disk_wait(struct bench_disk *d)
{
	struct rq *rq;

	while (!d->p->ops->reap(d->st, d->now, &rq, 1)) {
		nsec_t t = d->p->ops->next(d->st);

		assert_true(t != NSEC_NEVER);
		assert_true(t >= d->now);
		d->now = t;
	}
	assert_true(rq->done <= d->now && rq->done >= rq->submitted && rq->started >= rq->submitted);
	return rq;
}

nsec_t disk_one(struct bench_disk *d, enum rq_op op, uint64_t sector, uint32_t bytes)
{
	nsec_t t0 = d->now;
	struct rq *rq = submit(d, op, sector, bytes);

	assert_ptr_equal(disk_wait(d), rq);
	free(rq);
	return d->now - t0;
}

double disk_random(struct bench_disk *d, enum rq_op op, unsigned depth, unsigned n)
{
	nsec_t t0 = d->now;
	uint64_t places = d->capacity / 4096;
	unsigned inside = 0, sent = 0, got = 0;

	while (got < n) {
		while (inside < depth && sent < n) {
			submit(d, op, rng_below(&d->rng, places) * 8, 4096);
			inside++;
			sent++;
		}
		free(disk_wait(d));
		inside--;
		got++;
	}
	return n / nsec_seconds(d->now - t0);
}

double disk_sequential(struct bench_disk *d, enum rq_op op, uint64_t sector, uint32_t bytes, unsigned depth, unsigned n)
{
	nsec_t t0 = d->now;
	unsigned inside = 0, sent = 0, got = 0;

	while (got < n) {
		while (inside < depth && sent < n) {
			submit(d, op, sector + (uint64_t)sent * (bytes / 512), bytes);
			inside++;
			sent++;
		}
		free(disk_wait(d));
		inside--;
		got++;
	}
	return (double)n * bytes / nsec_seconds(d->now - t0);
}

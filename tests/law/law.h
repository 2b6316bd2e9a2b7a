/* SPDX-License-Identifier: MIT */
/* A disk by itself in virtual time, for the laws: shipped profile or text, closed loop or given arrivals. */
#ifndef TESTS_LAW_H
#define TESTS_LAW_H

#include "unit.h"

#include "model/profile.h"

#define GIB (UINT64_C(1) << 30)

struct bench_disk {
	struct profile *p;
	void *st;
	nsec_t now;
	uint64_t capacity, next_id;
	struct rng rng;
};

void disk_open(struct bench_disk *d, const char *profile, uint64_t capacity, uint64_t seed);	/* shipped one */
void disk_open_text(struct bench_disk *d, const char *text, uint64_t capacity, uint64_t seed);
void disk_close(struct bench_disk *d);

/* Waits for one completion, from `now` on. */
struct rq *disk_wait(struct bench_disk *d);
/* One request from now to its completion; returns its response time. */
nsec_t disk_one(struct bench_disk *d, enum rq_op op, uint64_t sector, uint32_t bytes);
/* Closed loop: keeps `depth` 4 KiB requests at uniformly random places inside; returns requests a second. */
double disk_random(struct bench_disk *d, enum rq_op op, unsigned depth, unsigned n);
/* Closed loop, one after another: bytes a second from `sector` on. */
double disk_sequential(struct bench_disk *d, enum rq_op op, uint64_t sector, uint32_t bytes, unsigned depth, unsigned n);

#define assert_near(x, want, share) law_near((x), (want), (share), #x, __FILE__, __LINE__)
void law_near(double x, double want, double share, const char *what, const char *file, int line);

#endif

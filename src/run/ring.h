/* SPDX-License-Identifier: MIT */
/*
 * The file between one probe process and the controller: a ring of samples and
 * the action in flight, in the run's tmpfs folder, locked into memory by both.
 * One writer (the probe), one reader (the recorder thread, or `recover` when
 * the controller was killed). The writer never waits: a full ring counts lost.
 */
#ifndef RUN_RING_H
#define RUN_RING_H

#include "base/err.h"
#include "record/sample.h"

#define RING_MAGIC	UINT64_C(0x31676e6972676d73)	/* "smgring1" */
#define RING_ENTRIES	8192				/* power of two; 80 s at 100/s */

struct ring {
	uint64_t magic;
	uint32_t entry_bytes, entries;
	char series[64];		/* name of the probe's series */
	uint32_t pid, phase;		/* of the probe; phase is set by the controller (enum sample_phase) */
	nsec_t phase_since[PHASE_MAX];	/* set by the controller: when each phase began, 0: not yet */
	nsec_t interval;		/* open loops: between two ticks; 0: closed */
	nsec_t limit;			/* longer is "stuck": never thinned */
	uint64_t load_bytes_per_s;	/* set by the controller each second, copied into samples */
	uint64_t head __attribute__((aligned(64)));	/* written so far */
	uint64_t lost, thinned, put;	/* put: samples offered so far */
	uint64_t tail __attribute__((aligned(64)));	/* read so far */
	struct in_flight now __attribute__((aligned(64)));
	struct sample entry[RING_ENTRIES] __attribute__((aligned(64)));
};

#define RING_KEEP_ALL	UINT64_C(1000000)		/* above that only stalls and every 10th of the rest are kept */

int ring_create(const char *path, const char *series, struct ring **ret, struct err *e);
int ring_open(const char *path, struct ring **ret, struct err *e);	/* checks size, magic, head - tail */
void ring_put(struct ring *r, const struct sample *s);			/* no allocation, no system call */
uint32_t ring_take(struct ring *r, struct sample *ret, uint32_t max);
void ring_begin(struct ring *r, uint64_t id, nsec_t intended, nsec_t started, uint32_t tid);
void ring_step(struct ring *r, uint32_t step, nsec_t now);
void ring_end(struct ring *r);
struct in_flight ring_now(const struct ring *r);			/* a consistent copy */
void ring_set_phase(struct ring *r, uint32_t phase, nsec_t now);	/* the controller's */
uint32_t ring_phase_at(const struct ring *r, nsec_t t);			/* the phase in which an action intended at t began */
/* What is still owed when the watching ends at t1: the action in flight and, for open loops, each tick due before t1
 * and not performed. As censored samples, waiting until t1. Returns how many, at most max; from what `fl` says. */
uint32_t ring_owed(const struct ring *r, const struct in_flight *fl, nsec_t t1, struct sample *ret, uint32_t max);
void ring_close(struct ring *r);

#endif

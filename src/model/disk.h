/* SPDX-License-Identifier: MIT */
/*
 * A disk that computes and never waits: told `now`, it says when it will be
 * done. The simulator jumps there, the lab's server sleeps there; the same
 * object code. Integer nanoseconds, no floating point in any ordering, seeded.
 *
 *	room() -> submit() ... next() -> (time passes) -> reap() ...
 *
 * A FLUSH is a request of its own. `now` never goes backwards between calls.
 */
#ifndef MODEL_DISK_H
#define MODEL_DISK_H

#include "base/nsec.h"
#include "base/plug.h"
#include "base/rng.h"

enum rq_op { RQ_READ, RQ_WRITE, RQ_FLUSH, RQ_DISCARD };

struct rq {
	enum rq_op op;
	uint32_t flags;			/* EVF_* of event.h: sync, meta, fua */
	uint64_t sector;		/* 512-byte units */
	uint32_t bytes;
	uint32_t pid;			/* whose it is, 0: unknown */
	uint64_t id;			/* set by the submitter, in order of submission */
	nsec_t submitted, started, done;	/* set by the disk */
	int error;			/* 0 or -errno */
	void *owner;			/* the submitter's */
	struct rq *link;		/* the disk's own list while it has the request */
	uint64_t scratch[2];		/* the disk's own */
};

struct disk_ops {
	struct plug plug;
	/* capacity comes from the user, not from the profile */
	int (*init)(void *st, const void *conf, uint64_t capacity_bytes, const struct rng *rng, struct err *e);
	void (*done)(void *st);
	unsigned (*room)(const void *st);			/* how many requests it takes now */
	void (*submit)(void *st, struct rq *rq, nsec_t now);	/* only after room() said so */
	nsec_t (*next)(void *st);				/* when reap() will have work or state changes; NSEC_NEVER */
	unsigned (*reap)(void *st, nsec_t now, struct rq **done, unsigned max);
	/* What the profile promises, for tests, `lab disks` and bounds; 0: does not apply. */
	nsec_t (*expect_random_read)(const void *conf, uint64_t capacity_bytes);	/* mean, 4 KiB, depth 1 */
	uint64_t (*expect_sequential)(const void *conf);	/* bytes/s at the start of the disk */
	bool rotational;
};

extern const void *const disk_table[];

#endif

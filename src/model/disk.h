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

/* What every model's conf begins with, so that the lab and the tests need not know the model. */
struct disk_conf {
	uint64_t depth;			/* requests it takes at once: NCQ, TCQ */
	bool write_cache;		/* volatile cache that FLUSH must empty; off: writes are done when they are on the media */
};

#define DISK_PARAMS(conf, def_depth, def_cache)										\
	{ .name = "depth", .type = PARAM_COUNT, .offset = offsetof(conf, disk.depth), .def = (def_depth),		\
	  .help = "requests the drive takes at once", .min = 1, .max = DISK_DEPTH_MAX },				\
	{ .name = "write_cache", .type = PARAM_BOOL, .offset = offsetof(conf, disk.write_cache), .def = (def_cache),	\
	  .help = "volatile write cache on" }

#define DISK_DEPTH_MAX 256

struct disk_ops {
	struct plug plug;
	/* Capacity comes from the user, not from the profile: a small disk is the same mechanics with its whole
	 * stroke. conf is a struct disk_conf with the model's own after it; it must stay until done(). */
	int (*init)(void *st, const void *conf, uint64_t capacity_bytes, const struct rng *rng, struct err *e);
	void (*done)(void *st);
	unsigned (*room)(const void *st);			/* how many requests it takes now */
	/* Only after room() said so. Everything the disk itself does until `now` happens first, so completion times
	 * depend on the times of submission only, never on how late somebody calls reap(). */
	void (*submit)(void *st, struct rq *rq, nsec_t now);
	nsec_t (*next)(void *st);				/* when reap() will have work or state changes; NSEC_NEVER */
	unsigned (*reap)(void *st, nsec_t now, struct rq **done, unsigned max);	/* in the order of done, then id */
	/* What the profile promises, for tests, `lab disks` and bounds; 0: does not apply. */
	nsec_t (*expect_random_read)(const void *conf, uint64_t capacity_bytes);	/* mean, 4 KiB, depth 1 */
	/* bytes/s of reads at the start of the disk, 1 MiB each, as many as the disk takes */
	uint64_t (*expect_sequential)(const void *conf, uint64_t capacity_bytes);
	bool rotational;
};

/* For models: the list of finished requests, sorted by (done, id). */
void rq_finish(struct rq **list, struct rq *rq, nsec_t done);
unsigned rq_take_finished(struct rq **list, nsec_t now, struct rq **done, unsigned max);

extern const void *const disk_table[];

#endif

/* SPDX-License-Identifier: MIT */
/*
 * A load: background disturbance. (It is not a probe: nothing it does is a
 * sample; it only reports what it achieves each second.) The run starts
 * `workers(conf)` processes of it.
 */
#ifndef LOAD_LOAD_H
#define LOAD_LOAD_H

#include "base/nsec.h"
#include "base/plug.h"
#include "base/rng.h"
#include "op/op.h"

#define LOAD_READS	(1u << 0)
#define LOAD_WRITES	(1u << 1)
#define LOAD_MEMORY	(1u << 2)
#define LOAD_CPU	(1u << 3)
#define LOAD_PROGRAM	(1u << 4)	/* runs a program named in the scenario: shown in the consent */

struct load_tally {		/* in shared memory, one a worker; written by it, read by the controller */
	uint64_t bytes_read, bytes_written, units;	/* units: files, builds, rounds; see unit_name and OPF_UNIT */
	uint64_t state;		/* 0 starting, 1 working, 2 ended by itself, 3 failed */
	int64_t error;
};

/* What a `step` load may use. */
struct load_step {
	int dirfd;
	const char *dir;
	int worker;
	struct rng *rng;
	const volatile int *stop;	/* look at it at least every MiB and every 100 ms */
	struct load_tally *tally;
};

struct load_ops {
	struct plug plug;
	unsigned touches;		/* LOAD_*: shown before it runs */
	const char *unit_name;		/* "files", "builds"; NULL: bytes only */
	unsigned (*workers)(const void *conf);		/* processes; NULL: 1 */
	uint64_t (*space)(const void *conf);		/* bytes on disk at most, all workers */
	/* Shrinks what can be shrunk to `share` (0..1) of its size, never below the useful minimum; says what it
	 * changed in the conf. NULL: cannot be scaled. */
	void (*scale)(void *conf, double share);
	/* Lays out files before the run, as ops; called by worker 0 until it returns 0; the others begin afterwards. */
	int (*prepare)(void *st, const void *conf, struct rng *rng, struct op *ops, int max);
	/* The next ops of this worker (steps are not used); 0 ends it. */
	int (*next)(void *st, const void *conf, int worker, struct rng *rng, struct op *ops, int max);
	/* Instead of next: own code, returns when *stop. Returns 0 or -errno. */
	int (*step)(void *st, const void *conf, struct load_step *s, struct err *e);
	bool (*by_step)(const void *conf);		/* a load with both: true: `step` */
	const char *performer;		/* "posix" or "uring" */
	const char *why_no_sim;		/* for step loads */
	const char *command_param;	/* the parameter that holds a command; while it is set, LOAD_PROGRAM */
};

/* Whether this load with this conf runs by `step`. */
static inline bool load_by_step(const struct load_ops *o, const void *conf)
{
	return o->step && (!o->next || (o->by_step && o->by_step(conf)));
}

extern const void *const load_table[];

#endif

/* SPDX-License-Identifier: MIT */
/*
 * A probe: one foreground measurement. One sample is one user action. (It is
 * not a load: loads disturb, probes measure.)
 *
 * A probe says what to do as ops; the run paces, performs and times them, the
 * simulator plays the same ops against a model. A probe never reads a clock
 * and never sleeps. How to add one: HACKING.md.
 */
#ifndef PROBE_PROBE_H
#define PROBE_PROBE_H

#include "base/nsec.h"
#include "base/plug.h"
#include "base/rng.h"
#include "op/op.h"

enum probe_loop {
	LOOP_OPEN,	/* ticks every `interval`, whether or not the last action is done */
	LOOP_CLOSED,	/* the next action begins `interval` after the last one ended */
};

/* What a `once` probe may use. */
struct probe_once {
	int dirfd;
	const char *dir;		/* the same directory as text, for libraries that need a path */
	struct rng *rng;
	const volatile int *stop;
	/* Begins step i and ends the one before; i < 0 ends the last. The first call starts the sample's clock. */
	void (*step)(void *ctx, int i);
	void *ctx;
	/* filled by the probe */
	uint64_t bytes;
	struct op_proof proof;		/* asked, resident, and read_blocks of its children; the caller adds its own */
};

struct probe_ops {
	struct plug plug;		/* "fsync", "rewrites 1 MiB and fsyncs it" */
	const char *measures;		/* what one sample means; printed beside its numbers */
	enum probe_loop loop;
	nsec_t interval;		/* open: 1/rate; closed: the pause. Scenario key `rate` or `pause` overrides */
	nsec_t limit;			/* longer than this is "stuck" */
	bool interactive;		/* a person waits: counts for the grade */
	bool wants_cold;		/* samples that were warm are counted and said */
	const char *const *steps;	/* NULL-terminated, at most SAMPLE_STEPS */

	uint64_t (*space)(const void *conf);	/* bytes on disk at most; NULL: none */
	/* Shrinks the files to `share` (0..1), never below what is useful. NULL: cannot be scaled. */
	void (*scale)(void *conf, double share);
	uint64_t (*writes)(const void *conf);	/* bytes written per action; NULL: none */
	/* Lays out files: fills ops, returns how many; called until it returns 0. The slots it leaves open are there
	 * for the script. NULL: nothing to lay out. */
	int (*prepare)(void *st, const void *conf, struct rng *rng, struct op *ops, int max);
	/* One action as ops; returns how many, or -errno. An action that does not fit ends with OP_MORE and goes on
	 * at the next call, in the same sample; op_goes_on(ops) tells the two apart. */
	int (*script)(void *st, const void *conf, struct rng *rng, struct op *ops, int max);
	/* Only where ops cannot say it (SQLite, exec); why_no_sim says so. Here, and only here, memory may be allocated
	 * inside the measured time, by what is measured: SQLite's pages, fork of a command. Returns 0 or -errno; -EINTR: stopped. */
	int (*once)(void *st, const void *conf, struct probe_once *p, struct err *e);
	bool (*by_once)(const void *conf);	/* a probe with both: true: `once`, and nothing to prepare */
	/* A probe whose rate is of interest: how many actions make an iteration (stats/fsmark.h), and what one makes. */
	uint64_t (*iteration)(const void *conf);
	const char *makes;			/* "files" */
	/* Sets up and tears down what `once` needs, outside the measured time. May be NULL. */
	int (*open)(void *st, const void *conf, struct probe_once *p, struct err *e);
	void (*close)(void *st);	/* accepts a half-opened state */
	const char *why_no_sim;
	const char *command_param;	/* runs a program: the parameter that holds the command, shown in the consent */
};

#define PROBE_OPS_MAX 64		/* one batch */

/* Whether this probe with this conf is performed by `once`. */
static inline bool probe_by_once(const struct probe_ops *o, const void *conf)
{
	return o->once && (!o->script || (o->by_once && o->by_once(conf)));
}

extern const void *const probe_table[];

#endif

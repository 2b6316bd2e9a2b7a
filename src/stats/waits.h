/* SPDX-License-Identifier: MIT */
/*
 * The waits of one probe in one run, in time order: what every statistic reads.
 * Borrowed memory; nothing here owns or frees. Waits are in nanoseconds.
 *
 * A wait is exact or a lower bound (still in flight at the end, ended by a
 * limit, or a tick that was due and never performed). Failed actions are not
 * waits: the caller leaves them out and counts them.
 */
#ifndef STATS_WAITS_H
#define STATS_WAITS_H

#include "base/nsec.h"

#include <math.h>
#include <stdbool.h>

enum wait_kind {
	WAIT_EXACT,
	WAIT_LOWER,	/* it took at least this long */
	WAIT_MISSED,	/* as WAIT_LOWER, and never performed */
};

struct waits {
	const nsec_t *x;
	const uint8_t *kind;	/* enum wait_kind of each; NULL: all exact */
	const nsec_t *cycle;	/* closed loop: from the begin of each action to the begin of the next; NULL: x + pause */
	size_t n;
	nsec_t pause;		/* closed loop without `cycle`: what the probe sleeps between two actions */
	bool open_loop;		/* every tick is a sample; x is the response from the intended time */
	bool no_cycle;		/* closed loop, and nobody knows the time between the waits: no stuck share */
	bool unordered;		/* came as counted buckets: the order in time is not known */
};

/* Shorter waits are not told apart where logarithms count: clocks, rounded texts and zeros. */
#define WAIT_SHORTEST	NSEC_PER_USEC

static inline double wait_log(nsec_t x)
{
	return log((double)(x > WAIT_SHORTEST ? x : WAIT_SHORTEST));
}

static inline enum wait_kind wait_kind_of(const struct waits *w, size_t i)
{
	return w->kind ? (enum wait_kind)w->kind[i] : WAIT_EXACT;
}

static inline nsec_t wait_cycle(const struct waits *w, size_t i)
{
	return w->cycle ? w->cycle[i] : nsec_add(w->x[i], w->pause);
}

#endif

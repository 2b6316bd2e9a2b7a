/* SPDX-License-Identifier: MIT */
/*
 * The stuck share S(w): how likely a request at a random moment waits longer
 * than w.
 *
 *	open loop	share of the ticks with a response over w
 *	closed loop	sum of max(0, x - w) / T, T = the time the probe covered: a
 *			request falls into a wait of x with more than w still to go
 *			for x - w of the time. The continuous limit of HdrHistogram's
 *			correction for coordinated omission, without an invented interval.
 *
 * Lower bounds count at their bound.
 */
#ifndef STATS_STUCK_H
#define STATS_STUCK_H

#include "stats/waits.h"

struct stuck {
	bool known;
	double share;		/* 0..1 */
	double se, df;		/* of one run, from its long-run variance; unordered waits: too small */
	double covered_s;	/* T; open loop: 0 */
};

void stuck_share(const struct waits *w, nsec_t limit, struct stuck *ret);

/* As stuck_share over several runs: every tick, or every second, weighs the same. SE from the joined series. */
void stuck_share_all(const struct waits *runs, size_t nruns, nsec_t limit, struct stuck *ret);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Shares ("18 of 23 waits took over 1 s") with 95 % intervals: Wilson 1927 for
 * one, Newcombe 1998 (method 10) for the difference of two. n may be an
 * effective number of independent waits, not whole.
 */
#ifndef STATS_SHARE_H
#define STATS_SHARE_H

#include <stddef.h>

struct share {
	double p, lo, hi;
};

/* share p of n > 0; n = 0 gives 0..1 */
struct share share_wilson(double p, double n);

struct share_diff {
	double diff, lo, hi;	/* b - a */
};

struct share_diff share_newcombe(struct share a, struct share b);

#endif

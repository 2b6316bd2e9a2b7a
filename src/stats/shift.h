/* SPDX-License-Identifier: MIT */
/*
 * The typical ratio of two single runs: Hodges & Lehmann's shift of the
 * logarithms, exp(median of ln b - ln a over all pairs), found by counting
 * pairs (n log n, no table of pairs). Its 95 % interval holds the ratios r for
 * which the test of theta (placement scores, long-run variance) does not
 * reject A * r against B: every gap between pairs is tried for small samples,
 * bisection outwards from the estimate finds the limits of large ones.
 */
#ifndef STATS_SHIFT_H
#define STATS_SHIFT_H

#include "base/nsec.h"

#include <stdbool.h>

struct shift {
	bool known;
	double ratio;
	double lo, hi;		/* 95 %; 0 and INFINITY: not bounded on that side */
	double lo90, hi90;
};

/* Waits in time order; those below 1 us count as 1 us. */
void shift_of(const nsec_t *a, size_t n_a, const nsec_t *b, size_t n_b, struct shift *ret);

#endif

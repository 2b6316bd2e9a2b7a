/* SPDX-License-Identifier: MIT */
/*
 * Two kinds of wait: "about half took 0.09 s and half 20 s". The median of such
 * data is a coin toss, so it must be said.
 *
 * The best split of the log waits into two groups (least squares, as Otsu's
 * threshold) counts as two kinds when the centres are at least 4 pooled
 * deviations apart (Ashman's D; a normal distribution cut in half has 2.7, a
 * uniform one 3.5), a factor of 4 apart, and the smaller group holds at least
 * a sixth of the waits and three of them.
 */
#ifndef STATS_MODES_H
#define STATS_MODES_H

#include "base/nsec.h"

#include <stdbool.h>

struct modes {
	bool two;
	nsec_t low, high;	/* geometric centres of the groups */
	double share_high;	/* of the waits in the slow group */
};

void modes_of(const nsec_t *sorted, size_t n, struct modes *ret);

#endif

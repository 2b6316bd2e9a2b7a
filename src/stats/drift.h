/* SPDX-License-Identifier: MIT */
/*
 * Did something change inside a run (a load ended, a cache filled)? Pettitt's
 * test (1979): U_k = 2 sum of the first k ranks - k (n + 1), K = max |U_k|,
 * p = 2 exp(-6 K^2 / (n^3 + n^2)). It takes waits for independent, which they
 * are not: from 40 waits on, K^2 is divided by (1 + r)/(1 - r), r the lag-one
 * correlation of the ranks inside the two parts. A warning, never part of a
 * verdict.
 */
#ifndef STATS_DRIFT_H
#define STATS_DRIFT_H

#include "base/nsec.h"

#include <stdbool.h>

struct drift {
	bool noticed;		/* p < .05 and n >= 8 */
	size_t at;		/* the first wait of the second part */
	double p;		/* at most 1 */
};

void drift_of(const nsec_t *x, size_t n, struct drift *ret);

#endif

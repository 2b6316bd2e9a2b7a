/* SPDX-License-Identifier: MIT */
/*
 * Quantiles that were really waited, with what the sample can say about them.
 *
 * Nearest rank, x_(ceil(n p)), never interpolated and never above the maximum.
 * A quantile that the sample cannot bound from above is a lower bound: too few
 * independent waits (an upper 95 % limit needs n_eff >= ln .025 / ln p: 6 for
 * the median, 36 for p90, 368 for p99), or a rank that rests on waits which
 * are lower bounds themselves.
 */
#ifndef STATS_QUANTILE_H
#define STATS_QUANTILE_H

#include "stats/waits.h"

struct quantile {
	double p;
	bool known;		/* false: no waits */
	bool at_least;		/* `value` is a lower bound: print ">=" */
	bool censored;		/* ... because it rests on waits that are lower bounds */
	nsec_t value;
	bool has_lo, has_hi;	/* the 95 % limits exist */
	nsec_t lo, hi;
	double tau;		/* from the indicator x > value */
};

/* 1-based nearest rank of p among n values; 0 when n is 0. */
size_t quantile_rank(size_t n, double p);

/* How many independent waits bound quantile p from above (95 %). */
size_t quantile_need(double p);

/*
 * p of all waits of `runs`, joined in their order. sorted: their values ascending
 * (sum of n); exact: the values that are not lower bounds, ascending, nexact of
 * them (NULL when every wait is exact).
 */
void quantile_of(const struct waits *runs, size_t nruns, const nsec_t *sorted, const nsec_t *exact, size_t nexact,
		 double p, struct quantile *ret);

#endif

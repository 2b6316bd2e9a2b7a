/* SPDX-License-Identifier: MIT */
/*
 * How much a series of correlated numbers really says about its mean.
 *
 * Waits of one run follow each other: a slow one is followed by slow ones. The
 * variance of their mean is therefore larger than variance / n. The long-run
 * variance v replaces it: SE^2(mean) = v / n. It is the larger of an AR(1)
 * estimate (lag-one correlation with the small-sample correction
 * rho + (1 + 3 rho)/n) and, from 40 numbers on, of batch means.
 * `n_eff` = n * v0 / v is the number of independent waits that would say as much.
 */
#ifndef STATS_LONGRUN_H
#define STATS_LONGRUN_H

#include <stdbool.h>
#include <stddef.h>

struct longrun {
	size_t n;
	double mean;
	double v0;	/* plain variance, n - 1 */
	double v;	/* long-run variance, >= v0 */
	double rho;	/* lag-one correlation, uncorrected */
	double n_eff, tau;	/* n / tau = n_eff; tau >= 1 */
	double df;	/* degrees of freedom of v, at least 2 */
};

/* s[0..n) in time order, finite. n < 2 or all equal: v = v0 = 0, n_eff = n, tau = 1. */
void longrun(const double *s, size_t n, struct longrun *ret);

/* The same for a series of yes and no, from counts, without an array: begin, add n times in time order, end. */
struct indicator {
	size_t n, over, pairs;		/* pairs: neighbours that are both over */
	bool first, last;
	size_t batch[32];		/* values over the limit in each batch */
	size_t batches, len;		/* set by indicator_begin */
};
void indicator_begin(struct indicator *i, size_t n);
static inline void indicator_add(struct indicator *i, bool over)
{
	if (!i->n)
		i->first = over;
	i->pairs += over && i->last && i->n;
	i->over += over;
	i->last = over;
	if (i->len && i->n / i->len < i->batches)
		i->batch[i->n / i->len] += over;
	i->n++;
}
void indicator_end(const struct indicator *i, struct longrun *ret);

/* Degrees of freedom of the sum of two variances of means (Welch-Satterthwaite); INFINITY when both are 0. */
double welch_df(double q_a, double df_a, double q_b, double df_b);

#endif

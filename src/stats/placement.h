/* SPDX-License-Identifier: MIT */
/*
 * Placement scores and theta: where each wait of one side stands among the
 * waits of the other.
 *
 *	s(a) = [#{b < a} + #{b = a}/2] / n_B	for a in A
 *	s(b) = [#{a < b} + #{a = b}/2] / n_A	for b in B
 *	theta = mean of s over B = P(A < B) + P(A = B)/2: "B is slower"
 *
 * Bounded between 0 and 1, so heavy tails and two kinds of wait do no harm; no
 * equal variances assumed; ties are fine (the relative effect of Brunner &
 * Munzel 2000).
 */
#ifndef STATS_PLACEMENT_H
#define STATS_PLACEMENT_H

#include "base/nsec.h"

/* Mean score of `mine` (ascending) among `other` (ascending); both not empty. Linear time. */
double placement_mean(const nsec_t *mine, size_t n, const nsec_t *other, size_t nother);

/* The score of each of x[0..n), in its order; `order` sorts x (sort_order); other ascending. */
void placement_scores(const nsec_t *x, const uint32_t *order, size_t n, const nsec_t *other, size_t nother,
		      double *ret_score);

#endif

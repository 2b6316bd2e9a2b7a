/* SPDX-License-Identifier: MIT */
#include "stats/drift.h"
#include "base/cleanup.h"
#include "base/mem.h"
#include "stats/sort.h"

#include <math.h>

#define DRIFT_P		0.05
#define DRIFT_MIN_N	8
#define CORRECT_FROM	40

/* How much the ranks follow each other once the step between the two parts is taken out; at least 1. */
static double stickiness(const double *rank, size_t n, size_t at)
{
	double mean[2] = { 0 }, ss = 0, cross = 0, before = 0, r;

	if (n < CORRECT_FROM)
		return 1;
	for (size_t i = 0; i < n; i++)
		mean[i >= at] += rank[i] / (double)(i >= at ? n - at : at);
	for (size_t i = 0; i < n; i++) {
		double d = rank[i] - mean[i >= at];

		ss += d * d;
		cross += before * d;
		before = d;
	}
	r = ss > 0 ? MIN(0.97, cross / ss) : 0;
	return MAX(1.0, (1 + r) / (1 - r));
}

void drift_of(const nsec_t *x, size_t n, struct drift *ret)
{
	struct drift d = { .p = 1 };
	cleanup_free uint32_t *order = NULL;
	cleanup_free double *rank = NULL;
	double u = 0, k = 0, nn = (double)n;

	*ret = d;
	if (n < DRIFT_MIN_N)
		return;
	order = mem_array(n, sizeof(*order));
	rank = mem_array(n, sizeof(*rank));
	sort_order(x, n, order);
	for (size_t i = 0, j; i < n; i = j) {
		for (j = i + 1; j < n && x[order[j]] == x[order[i]]; j++)
			;
		for (size_t m = i; m < j; m++)
			rank[order[m]] = (double)(i + 1 + j) / 2;	/* ties share the middle rank */
	}
	for (size_t i = 0; i + 1 < n; i++) {
		u += 2 * rank[i] - (nn + 1);
		if (fabs(u) > k) {
			k = fabs(u);
			d.at = i + 1;
		}
	}
	d.p = MIN(1.0, 2 * exp(-6 * k * k / (nn * nn * nn + nn * nn) / stickiness(rank, n, d.at)));
	d.noticed = d.p < DRIFT_P;
	*ret = d;
}

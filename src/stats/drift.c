/* SPDX-License-Identifier: MIT */
#include "stats/drift.h"
#include "base/cleanup.h"
#include "base/mem.h"
#include "stats/sort.h"

#include <math.h>

#define DRIFT_P		0.05
#define DRIFT_MIN_N	8

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
	d.p = MIN(1.0, 2 * exp(-6 * k * k / (nn * nn * nn + nn * nn)));
	d.noticed = d.p < DRIFT_P;
	*ret = d;
}

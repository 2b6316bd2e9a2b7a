/* SPDX-License-Identifier: MIT */
#include "stats/placement.h"

double placement_mean(const nsec_t *mine, size_t n, const nsec_t *other, size_t nother)
{
	size_t below = 0, upto = 0;
	double sum = 0;

	for (size_t i = 0; i < n; i++) {
		while (below < nother && other[below] < mine[i])
			below++;
		if (upto < below)
			upto = below;
		while (upto < nother && other[upto] <= mine[i])
			upto++;
		sum += (double)(below + upto) / 2;
	}
	return sum / (double)n / (double)nother;
}

void placement_scores(const nsec_t *x, const uint32_t *order, size_t n, const nsec_t *other, size_t nother,
		      double *ret_score)
{
	size_t below = 0, upto = 0;

	for (size_t k = 0; k < n; k++) {
		nsec_t v = x[order[k]];

		while (below < nother && other[below] < v)
			below++;
		if (upto < below)
			upto = below;
		while (upto < nother && other[upto] <= v)
			upto++;
		ret_score[order[k]] = (double)(below + upto) / 2 / (double)nother;
	}
}

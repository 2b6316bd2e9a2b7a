/* SPDX-License-Identifier: MIT */
#include "stats/modes.h"
#include "base/cleanup.h"
#include "base/mem.h"
#include "stats/waits.h"

#include <math.h>

#define APART_DEVIATIONS	4.0
#define APART_FACTOR		4.0
#define SMALLER_SHARE		(1.0 / 6)
#define SMALLER_COUNT		3
#define LOOK_AT			20000	/* evenly spaced ranks of larger samples say the same */

static nsec_t *thin(const nsec_t *sorted, size_t n)
{
	nsec_t *t = mem_array(LOOK_AT, sizeof(*t));

	for (size_t i = 0; i < LOOK_AT; i++)
		t[i] = sorted[(size_t)((double)i / (LOOK_AT - 1) * (double)(n - 1))];
	return t;
}

void modes_of(const nsec_t *sorted, size_t n, struct modes *ret)
{
	double sum = 0, sq = 0, ls = 0, lq = 0, best = INFINITY;
	double m1 = 0, m2 = 0, v1 = 0, v2 = 0, base;
	struct modes m = { 0 };
	cleanup_free nsec_t *thinned = NULL;
	size_t split = 0;

	*ret = m;
	if (n < 2 * SMALLER_COUNT)
		return;
	if (n > LOOK_AT) {
		sorted = thinned = thin(sorted, n);
		n = LOOK_AT;
	}
	base = wait_log(sorted[n / 2]);	/* sums of squares stay small */
	for (size_t i = 0; i < n; i++) {
		double x = wait_log(sorted[i]) - base;

		sum += x;
		sq += x * x;
	}
	for (size_t i = 0; i + 1 < n; i++) {
		double x = wait_log(sorted[i]) - base, n1 = (double)(i + 1), n2 = (double)(n - i - 1), within;

		ls += x;
		lq += x * x;
		if (sorted[i] == sorted[i + 1])
			continue;
		within = lq - ls * ls / n1 + (sq - lq) - (sum - ls) * (sum - ls) / n2;
		if (within >= best)
			continue;
		best = within;
		split = i + 1;
		m1 = ls / n1;
		m2 = (sum - ls) / n2;
		v1 = MAX(0.0, lq / n1 - m1 * m1);
		v2 = MAX(0.0, (sq - lq) / n2 - m2 * m2);
	}
	if (!split)
		return;
	m.low = (nsec_t)exp(m1 + base);
	m.high = (nsec_t)exp(m2 + base);
	m.share_high = (double)(n - split) / (double)n;
	m.two = MIN(split, n - split) >= SMALLER_COUNT &&
		(double)MIN(split, n - split) >= SMALLER_SHARE * (double)n &&
		m2 - m1 >= log(APART_FACTOR) && m2 - m1 > APART_DEVIATIONS * sqrt((v1 + v2) / 2);
	*ret = m;
}

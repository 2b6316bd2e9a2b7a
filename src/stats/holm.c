/* SPDX-License-Identifier: MIT */
#include "stats/holm.h"
#include "base/cleanup.h"
#include "base/mem.h"

#include <math.h>

struct test {
	double p;
	size_t i;
};

static int by_p(const void *x, const void *y)
{
	const struct test *a = x, *b = y;

	return (a->p > b->p) - (a->p < b->p);
}

void holm(const double *p, size_t m, double *ret_adjusted)
{
	cleanup_free struct test *t = mem_array(m ? m : 1, sizeof(*t));
	double floor_p = 0;
	size_t n = 0;

	for (size_t i = 0; i < m; i++) {
		ret_adjusted[i] = NAN;
		if (!isnan(p[i]))
			t[n++] = (struct test){ p[i], i };
	}
	qsort(t, n, sizeof(*t), by_p);
	for (size_t k = 0; k < n; k++) {
		floor_p = MAX(floor_p, MIN(1.0, t[k].p * (double)(n - k)));
		ret_adjusted[t[k].i] = floor_p;
	}
}

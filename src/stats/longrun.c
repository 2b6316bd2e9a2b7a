/* SPDX-License-Identifier: MIT */
#include "stats/longrun.h"
#include "base/cleanup.h"

#include <math.h>

#define BATCHES_FROM	40
#define BATCHES_MIN	5
#define BATCHES_MAX	32

static double batch_variance(const double *s, size_t n, size_t *ret_batches)
{
	size_t k = (size_t)floor(cbrt((double)n) + 0.5), len;
	double sum = 0, ss = 0, mean;
	double m[BATCHES_MAX];

	k = MAX((size_t)BATCHES_MIN, MIN(k, (size_t)BATCHES_MAX));
	len = n / k;
	for (size_t j = 0; j < k; j++) {
		double t = 0;

		for (size_t i = 0; i < len; i++)
			t += s[j * len + i];
		m[j] = t / (double)len;
		sum += m[j];
	}
	mean = sum / (double)k;
	for (size_t j = 0; j < k; j++)
		ss += (m[j] - mean) * (m[j] - mean);
	*ret_batches = k;
	return (double)len * ss / (double)(k - 1);
}

void longrun(const double *s, size_t n, struct longrun *ret)
{
	double sum = 0, ss = 0, cross = 0, rho, lim;
	struct longrun l = { .n = n, .n_eff = (double)n, .tau = 1, .df = 2 };

	for (size_t i = 0; i < n; i++)
		sum += s[i];
	l.mean = n ? sum / (double)n : 0;
	for (size_t i = 0; i < n; i++) {
		double d = s[i] - l.mean;

		ss += d * d;
		if (i + 1 < n)
			cross += d * (s[i + 1] - l.mean);
	}
	lim = (double)n - 1;
	/* differences of rounding only are no variance */
	if (n >= 2 && ss > (double)n * 1e-28 * (1 + l.mean * l.mean)) {
		l.v0 = ss / ((double)n - 1);
		l.rho = cross / ss;
		rho = MIN(0.97, l.rho + (1 + 3 * l.rho) / (double)n);
		l.v = MAX(l.v0, l.v0 * (1 + rho) / (1 - rho));
		if (n >= BATCHES_FROM) {
			size_t k;
			double vb = batch_variance(s, n, &k);

			if (vb > l.v) {
				l.v = vb;
				lim = (double)k - 1;
			}
		}
		l.n_eff = (double)n * l.v0 / l.v;
		l.tau = l.v / l.v0;
	}
	l.df = MAX(2.0, MIN(l.n_eff - 1, lim));
	*ret = l;
}

double welch_df(double q_a, double df_a, double q_b, double df_b)
{
	double q = q_a + q_b;

	if (!(q > 0))
		return INFINITY;
	return q * q / (q_a * q_a / df_a + q_b * q_b / df_b);
}

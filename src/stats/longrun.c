/* SPDX-License-Identifier: MIT */
#include "stats/longrun.h"
#include "base/cleanup.h"

#include <math.h>

#define BATCHES_FROM	40
#define BATCHES_MIN	5
#define BATCHES_MAX	32

static size_t batch_count(size_t n)
{
	size_t k = (size_t)floor(cbrt((double)n) + 0.5);

	return MAX((size_t)BATCHES_MIN, MIN(k, (size_t)BATCHES_MAX));
}

/* Variance between the means of k batches, times their length. */
static double batch_variance(const double *mean, size_t k, size_t len)
{
	double sum = 0, ss = 0;

	for (size_t j = 0; j < k; j++)
		sum += mean[j] / (double)k;
	for (size_t j = 0; j < k; j++)
		ss += (mean[j] - sum) * (mean[j] - sum);
	return (double)len * ss / (double)(k - 1);
}

static double batches_of(const double *s, size_t n, size_t k)
{
	size_t len = n / k;
	double m[BATCHES_MAX];

	for (size_t j = 0; j < k; j++) {
		double t = 0;

		for (size_t i = 0; i < len; i++)
			t += s[j * len + i];
		m[j] = t / (double)len;
	}
	return batch_variance(m, k, len);
}

/* From sums of squares and of neighbours' products; batch: variance by batches, 0 when there are too few values. */
static void finish(struct longrun *l, double ss, double cross, double batch)
{
	double n = (double)l->n, lim = n - 1, rho;

	l->n_eff = n;
	l->tau = 1;
	/* differences of rounding only are no variance */
	if (l->n >= 2 && ss > n * 1e-28 * (1 + l->mean * l->mean)) {
		l->v0 = ss / (n - 1);
		l->rho = cross / ss;
		rho = MIN(0.97, l->rho + (1 + 3 * l->rho) / n);
		l->v = MAX(l->v0, l->v0 * (1 + rho) / (1 - rho));
		if (batch > l->v) {
			l->v = batch;
			lim = (double)batch_count(l->n) - 1;
		}
		l->n_eff = n * l->v0 / l->v;
		l->tau = l->v / l->v0;
	}
	l->df = MAX(2.0, MIN(l->n_eff - 1, lim));
}

void longrun(const double *s, size_t n, struct longrun *ret)
{
	double sum = 0, ss = 0, cross = 0;
	struct longrun l = { .n = n };

	for (size_t i = 0; i < n; i++)
		sum += s[i];
	l.mean = n ? sum / (double)n : 0;
	for (size_t i = 0; i < n; i++) {
		double d = s[i] - l.mean;

		ss += d * d;
		if (i + 1 < n)
			cross += d * (s[i + 1] - l.mean);
	}
	finish(&l, ss, cross, n >= BATCHES_FROM ? batches_of(s, n, batch_count(n)) : 0);
	*ret = l;
}

void indicator_begin(struct indicator *i, size_t n)
{
	*i = (struct indicator){ 0 };
	if (n >= BATCHES_FROM) {
		i->batches = batch_count(n);
		i->len = n / i->batches;
	}
}

void indicator_end(const struct indicator *i, struct longrun *ret)
{
	double n = (double)i->n, k = (double)i->over, ends = (double)i->first + (double)i->last, m[BATCHES_MAX];
	struct longrun l = { .n = i->n, .mean = i->n ? k / n : 0 };

	for (size_t j = 0; j < i->batches; j++)
		m[j] = (double)i->batch[j] / (double)i->len;
	/* sum of (s - m)^2 and of (s_i - m)(s_(i+1) - m), multiplied out */
	finish(&l, k * (1 - l.mean), (double)i->pairs - l.mean * (2 * k - ends) + (n - 1) * l.mean * l.mean,
	       i->batches ? batch_variance(m, i->batches, i->len) : 0);
	*ret = l;
}

double welch_df(double q_a, double df_a, double q_b, double df_b)
{
	double q = q_a + q_b;

	if (!(q > 0))
		return INFINITY;
	return q * q / (q_a * q_a / df_a + q_b * q_b / df_b);
}

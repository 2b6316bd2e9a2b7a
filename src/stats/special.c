/* SPDX-License-Identifier: MIT */
#include "stats/special.h"
#include "base/cleanup.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>

/* lgamma() writes the global signgam; the _r form does not. */
static double log_gamma(double x)
{
	int sign;

	return lgamma_r(x, &sign);
}

static double beta_fraction(double a, double b, double x)
{
	const double tiny = 1e-300;
	double c = 1, d = 1 - (a + b) * x / (a + 1), h;

	if (fabs(d) < tiny)
		d = tiny;
	d = 1 / d;
	h = d;
	for (int m = 1; m <= 10000; m++) {
		double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
		double step;

		d = 1 + even * d;
		c = 1 + even / c;
		d = fabs(d) < tiny ? tiny : d;
		c = fabs(c) < tiny ? tiny : c;
		d = 1 / d;
		h *= d * c;
		d = 1 + odd * d;
		c = 1 + odd / c;
		d = fabs(d) < tiny ? tiny : d;
		c = fabs(c) < tiny ? tiny : c;
		d = 1 / d;
		step = d * c;
		h *= step;
		if (fabs(step - 1) < 4 * DBL_EPSILON)
			break;
	}
	return h;
}

double beta_inc(double a, double b, double x)
{
	double front;

	if (isnan(x) || !(a > 0) || !(b > 0))
		return NAN;
	if (x <= 0)
		return 0;
	if (x >= 1)
		return 1;
	front = exp(log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * log(x) + b * log1p(-x));
	/* the fraction converges fast on this side of the mean; the other side by symmetry */
	if (x < (a + 1) / (a + b + 2))
		return front * beta_fraction(a, b, x) / a;
	return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

double t_two_sided(double t, double df)
{
	if (isnan(t) || isnan(df) || !(df > 0))
		return NAN;
	if (isinf(t))
		return 0;
	if (isinf(df) || df > 1e10)
		return erfc(fabs(t) / sqrt(2));
	return beta_inc(df / 2, 0.5, df / (df + t * t));
}

double t_quantile(double p, double df)
{
	double lo = 0, hi = 1, tail;
	bool low = p < 0.5;

	if (isnan(p) || isnan(df) || p <= 0 || p >= 1 || !(df > 0))
		return NAN;
	tail = 2 * (low ? p : 1 - p);
	if (tail >= 1)
		return 0;
	while (t_two_sided(hi, df) > tail && hi < 1e300)
		hi *= 2;
	for (int i = 0; i < 200 && hi - lo > hi * DBL_EPSILON; i++) {
		double mid = lo + (hi - lo) / 2;

		if (t_two_sided(mid, df) > tail)
			lo = mid;
		else
			hi = mid;
	}
	return low ? -(lo + hi) / 2 : (lo + hi) / 2;
}

double normal_quantile(double p)
{
	return t_quantile(p, INFINITY);
}

double permutation_floor(unsigned a, unsigned b)
{
	double ways = exp(log_gamma(a + b + 1.0) - log_gamma(a + 1.0) - log_gamma(b + 1.0));

	return MIN(1.0, 2 / rint(ways));
}

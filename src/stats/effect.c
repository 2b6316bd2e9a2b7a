/* SPDX-License-Identifier: MIT */
#include "stats/effect.h"
#include "base/cleanup.h"
#include "stats/special.h"

#include <math.h>

void effect_make(double est, double centre, double q, double df, double floor_p, struct effect *ret)
{
	struct effect e = { .known = true, .est = est, .df = df, .lo = est, .hi = est, .lo90 = est, .hi90 = est };

	if (!isfinite(est) || isnan(q)) {
		*ret = (struct effect){ 0 };
		return;
	}
	/* sums of equal numbers leave a last bit behind */
	if (q > 1e-24 * (1 + est * est)) {
		e.se = sqrt(q);
		e.t = (est - centre) / e.se;
		e.p = t_two_sided(e.t, df);
		e.lo = est - t_quantile(0.975, df) * e.se;
		e.hi = est + t_quantile(0.975, df) * e.se;
		e.lo90 = est - t_quantile(0.95, df) * e.se;
		e.hi90 = est + t_quantile(0.95, df) * e.se;
	} else {
		e.no_spread = true;
		e.p = fabs(est - centre) < 1e-12 ? 1 : floor_p;
	}
	*ret = e;
}

static double mean_of(const double *y, size_t n)
{
	double s = 0;

	for (size_t i = 0; i < n; i++)
		s += y[i];
	return s / (double)n;
}

/* variance of the mean of n runs */
static double mean_variance(const double *y, size_t n)
{
	double m = mean_of(y, n), ss = 0;

	for (size_t i = 0; i < n; i++)
		ss += (y[i] - m) * (y[i] - m);
	return ss / ((double)n - 1) / (double)n;
}

static void by_runs(const double *y_a, size_t n_a, const double *y_b, size_t n_b, bool theta, struct effect *ret)
{
	double q_a, q_b, est;

	*ret = (struct effect){ 0 };
	if (n_a < 2 || n_b < 2)
		return;
	q_a = mean_variance(y_a, n_a);
	q_b = mean_variance(y_b, n_b);
	est = mean_of(y_b, n_b) - (theta ? 0 : mean_of(y_a, n_a));
	effect_make(est, theta ? 0.5 : 0, q_a + q_b, welch_df(q_a, (double)n_a - 1, q_b, (double)n_b - 1),
		    permutation_floor((unsigned)n_a, (unsigned)n_b), ret);
	ret->n_a = (double)n_a;
	ret->n_b = (double)n_b;
}

static void by_series(const double *s_a, size_t n_a, const double *s_b, size_t n_b, bool theta, struct effect *ret)
{
	struct longrun a, b;
	double q_a, q_b;

	*ret = (struct effect){ 0 };
	if (!n_a || !n_b)
		return;
	longrun(s_a, n_a, &a);
	longrun(s_b, n_b, &b);
	q_a = a.v / (double)n_a;
	q_b = b.v / (double)n_b;
	effect_make(b.mean - (theta ? 0 : a.mean), theta ? 0.5 : 0, q_a + q_b, welch_df(q_a, a.df, q_b, b.df),
		    permutation_floor((unsigned)MIN(a.n_eff, 1e6), (unsigned)MIN(b.n_eff, 1e6)), ret);
	ret->n_a = a.n_eff;
	ret->n_b = b.n_eff;
}

void effect_runs(const double *y_a, size_t n_a, const double *y_b, size_t n_b, struct effect *ret)
{
	by_runs(y_a, n_a, y_b, n_b, false, ret);
}

void effect_series(const double *s_a, size_t n_a, const double *s_b, size_t n_b, struct effect *ret)
{
	by_series(s_a, n_a, s_b, n_b, false, ret);
}

static void clamp_theta(struct effect *e)
{
	e->lo = MAX(0.0, e->lo);
	e->lo90 = MAX(0.0, e->lo90);
	e->hi = MIN(1.0, e->hi);
	e->hi90 = MIN(1.0, e->hi90);
}

void effect_theta_runs(const double *y_a, size_t n_a, const double *y_b, size_t n_b, struct effect *ret)
{
	by_runs(y_a, n_a, y_b, n_b, true, ret);
	clamp_theta(ret);
}

void effect_theta_series(const double *s_a, size_t n_a, const double *s_b, size_t n_b, struct effect *ret)
{
	by_series(s_a, n_a, s_b, n_b, true, ret);
	clamp_theta(ret);
}

void effect_exp(struct effect *e)
{
	if (!e->known)
		return;
	e->est = exp(e->est);
	e->lo = exp(e->lo);
	e->hi = exp(e->hi);
	e->lo90 = exp(e->lo90);
	e->hi90 = exp(e->hi90);
}

bool effect_within(const struct effect *e, double margin)
{
	return e->known && e->lo90 >= -margin && e->hi90 <= margin;
}

bool effect_ratio_within(const struct effect *e, double margin)
{
	return e->known && e->lo90 >= 1 / (1 + margin) && e->hi90 <= 1 + margin;
}

double effect_single_cv(double a, double b)
{
	if (!(a > 0) || !(b > 0))
		return NAN;
	/* |ln b - ln a| > z sqrt(2) cv */
	return fabs(log(b / a)) / (sqrt(2) * normal_quantile(0.975));
}

/* SPDX-License-Identifier: MIT */
#include "stats/plan.h"
#include "base/cleanup.h"
#include "stats/special.h"

#include <math.h>

#define RUNS_MAX 10000

static double needed(double ratio2, unsigned n, double alpha, double power)
{
	double df = 2.0 * n - 2, t = t_quantile(1 - alpha / 2, df) + t_quantile(power, df);

	return 2 * ratio2 * t * t;
}

unsigned plan_runs(double cv, double change, double alpha, double power)
{
	double effect = log1p(change), ratio2;
	unsigned lo = 1, hi = 2;

	if (!(cv >= 0) || !(fabs(effect) > 0))
		return 0;
	ratio2 = log1p(cv * cv) / (effect * effect);
	while (needed(ratio2, hi, alpha, power) > hi) {
		lo = hi;
		hi *= 2;
		if (hi > 2 * RUNS_MAX)
			return 0;
	}
	while (hi - lo > 1) {
		unsigned mid = (lo + hi) / 2;

		if (needed(ratio2, mid, alpha, power) > mid)
			lo = mid;
		else
			hi = mid;
	}
	return hi > RUNS_MAX ? 0 : hi;
}

void plan_variance(const double *y, const double *se2, size_t runs, double waits_per_run, struct plan_variance *ret)
{
	double m = 0, s2 = 0, inside = 0;

	*ret = (struct plan_variance){ 0 };
	if (!runs)
		return;
	for (size_t i = 0; i < runs; i++) {
		m += y[i] / (double)runs;
		inside += se2[i] / (double)runs;
	}
	for (size_t i = 0; i < runs && runs > 1; i++)
		s2 += (y[i] - m) * (y[i] - m) / ((double)runs - 1);
	ret->within = inside * waits_per_run;
	ret->between = MAX(0.0, s2 - inside);
}

double plan_waits(const struct plan_variance *v, double cost_wait, double cost_run)
{
	if (!(v->between > 0))
		return INFINITY;
	return MAX(1.0, sqrt(cost_run / cost_wait * v->within / v->between));
}

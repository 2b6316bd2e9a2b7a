/* SPDX-License-Identifier: MIT */
/*
 * How many runs, and how long ones?
 *
 * Runs a side for a two-sided test of a ratio with the given run-to-run
 * variation: the smallest n with n >= 2 sigma^2 (t(1 - alpha/2) + t(power))^2 /
 * ln(1 + change)^2, t with 2n - 2 degrees of freedom, sigma^2 = ln(1 + cv^2).
 * Agrees with simulation within one run.
 *
 * Length: two levels of variance (Kalibera & Jones 2013). T1^2 = variance within
 * a run times tau, T2^2 = max(0, S2^2 - T1^2/n) between runs; a wait costs c1,
 * setting up a run c2; best n = sqrt(c2/c1 * T1^2/T2^2).
 */
#ifndef STATS_PLAN_H
#define STATS_PLAN_H

#include <stddef.h>

/* change: 0.25 for +25 %. At least 2; 0: more than 10,000. */
unsigned plan_runs(double cv, double change, double alpha, double power);

struct plan_variance {
	double within;		/* T1^2 */
	double between;		/* T2^2 */
};

/* From pilot runs: y = one number a run (log scale), its squared standard error from inside each run, n waits a run. */
void plan_variance(const double *y, const double *se2, size_t runs, double waits_per_run, struct plan_variance *ret);

/* Waits a run; INFINITY when runs do not differ by more than their waits do: make one run long. */
double plan_waits(const struct plan_variance *v, double cost_wait, double cost_run);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * A difference between two sides with its uncertainty: Student's t on means.
 *
 * The unit of evidence is the run. With three runs or more on both sides each
 * run gives one number y and the variance is taken between runs (Welch). With
 * fewer, the variance of a mean is the long-run variance of its series
 * (longrun.h), and the result speaks about these two runs only.
 */
#ifndef STATS_EFFECT_H
#define STATS_EFFECT_H

#include "stats/longrun.h"

#include <stdbool.h>
#include <stddef.h>

struct effect {
	bool known;
	double est;			/* B - A, or theta, or B / A after effect_exp */
	double se, df, t, p;		/* of the difference, before effect_exp; p two-sided */
	double lo, hi;			/* 95 % */
	double lo90, hi90;		/* for equivalence: both inside the margin = shown to be the same */
	double n_a, n_b;		/* runs, or independent waits */
	bool no_spread;			/* no variance at all: p is the permutation floor, or 1 when the sides are equal */
};

/* est - centre with variance q and df degrees of freedom. q = 0: p = floor_p, or 1 when est equals centre. */
void effect_make(double est, double centre, double q, double df, double floor_p, struct effect *ret);

/* Means of y over runs, B - A; known when both sides have two runs and all y are finite. */
void effect_runs(const double *y_a, size_t n_a, const double *y_b, size_t n_b, struct effect *ret);

/* Means of two series in time order, B - A. */
void effect_series(const double *s_a, size_t n_a, const double *s_b, size_t n_b, struct effect *ret);

/* theta from the mean placement of each run, or from the scores of one run. est = mean over B, tested against 1/2. */
void effect_theta_runs(const double *y_a, size_t n_a, const double *y_b, size_t n_b, struct effect *ret);
void effect_theta_series(const double *s_a, size_t n_a, const double *s_b, size_t n_b, struct effect *ret);

/* A difference of logarithms becomes a ratio: est and limits through exp(). */
void effect_exp(struct effect *e);

/* The 90 % interval lies inside [-margin, margin], or for ratios inside [1/(1 + margin), 1 + margin] (TOST). */
bool effect_within(const struct effect *e, double margin);
bool effect_ratio_within(const struct effect *e, double margin);

/* Ratio of two single numbers: the run-to-run variation (sd over mean) below which it would be outside chance. */
double effect_single_cv(double a, double b);

#endif

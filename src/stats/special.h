/* SPDX-License-Identifier: MIT */
/*
 * The few special functions the statistics need, so that results are the same
 * on every machine and need only libm.
 *
 * Sources: the regularised incomplete beta function by its continued fraction
 * (Abramowitz & Stegun 26.5.8, evaluated by Lentz's method); Student t through
 * it (26.7.1); inverses by bisection. tests/long compares them with GSL.
 */
#ifndef STATS_SPECIAL_H
#define STATS_SPECIAL_H

/* I_x(a, b) for a, b > 0 and 0 <= x <= 1. */
double beta_inc(double a, double b, double x);

/* Two-sided p of Student's t with df > 0 (not necessarily whole). NAN in, NAN out; infinite t gives 0. */
double t_two_sided(double t, double df);

/* x with P(T <= x) = p, for 0 < p < 1. df may be INFINITY: the normal distribution. */
double t_quantile(double p, double df);

/* x with P(Z <= x) = p of the standard normal distribution. */
double normal_quantile(double p);

/* 2 / C(a + b, a): the smallest p that an exact permutation of a + b runs can give. */
double permutation_floor(unsigned a, unsigned b);

#endif

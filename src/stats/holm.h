/* SPDX-License-Identifier: MIT */
/*
 * Several tests at once without more false alarms: Holm 1979. Sorted ascending,
 * p_(k) is rejected while p_(k) <= alpha / (m - k + 1).
 */
#ifndef STATS_HOLM_H
#define STATS_HOLM_H

#include <stddef.h>

/* Adjusted p of each: rejected at alpha if and only if <= alpha. NAN: not a test, stays NAN and is not counted. */
void holm(const double *p, size_t m, double *ret_adjusted);

#endif

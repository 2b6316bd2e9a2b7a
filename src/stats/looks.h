/* SPDX-License-Identifier: MIT */
/*
 * Stopping early without fooling oneself. Looking after every round and
 * stopping at the first p < .05 calls identical systems different far more
 * often than 5 %. So: looks are fixed in advance, after 5, 10 and 20 runs a
 * side, and each tests at p < .022 (Pocock 1977, three looks, 5 % in all).
 */
#ifndef STATS_LOOKS_H
#define STATS_LOOKS_H

#include <stdbool.h>

#define LOOKS 3
extern const unsigned look_runs[LOOKS];		/* 5, 10, 20 */

bool look_is_due(unsigned runs_a_side);		/* exactly at a look */
unsigned look_next(unsigned runs_a_side);	/* the next look after that many runs; 0: none left */
double look_alpha(double alpha);		/* what one look may spend: .022 of .05 */

#endif

/* SPDX-License-Identifier: MIT */
/*
 * "Dirty each second": dirty and writeback memory against their limits, and how
 * many journal commits ran, around the worst stall; all of it in JSON.
 */
#ifndef ANALYZE_EXPLAIN_SECONDS_H
#define ANALYZE_EXPLAIN_SECONDS_H

#include "analyze/explain.h"

/* Adds the table when the record has the counters. a, b: the stall to show (both 0: the beginning of the run). */
void explain_seconds(struct node *parent, const struct trace *t, nsec_t a, nsec_t b);

#endif

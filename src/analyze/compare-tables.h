/* SPDX-License-Identifier: MIT */
/* Cells and tables of the comparison's page, shared by compare-page.c and compare-tables.c. */
#ifndef ANALYZE_COMPARE_TABLES_H
#define ANALYZE_COMPARE_TABLES_H

#include "analyze/compare-parts.h"

struct value compare_bound(const struct quantile *q);
struct value compare_worst(const struct summary *s);
struct value compare_maybe(bool known, double x, enum unit u);	/* null when unknown or not finite */
void compare_effect(struct node *parent, const char *key, const struct effect *e, enum unit unit);

void compare_numbers(const struct compared *k, struct node *root);	/* files/s, counts of a trace */
void compare_runs_table(const struct compared *k, struct node *root);	/* every run in absolute times */
void compare_setup(const struct compared *k, struct node *root);	/* what a maintainer wants to know before believing */

#endif

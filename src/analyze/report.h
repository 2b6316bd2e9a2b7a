/* SPDX-License-Identifier: MIT */
/*
 * The pictures of one or two runs for `stallmark report`: how stuck (S(w)),
 * when (heat map of each probe), and what the machine did meanwhile, all on
 * one time axis. The numbers come from show, compare and explain, which cmd
 * joins to the same page.
 */
#ifndef ANALYZE_REPORT_H
#define ANALYZE_REPORT_H

#include "base/err.h"
#include "page/page.h"
#include "record/record.h"

struct report_side {
	struct rec *rec;
	const char *name;		/* "A", "B"; "" when there is only one */
};

/* S(w) of every probe: one chart a probe, the sides on one scale. */
int report_stuck(struct node *parent, const struct report_side *sides, size_t n, struct err *e);
/* Heat map of each probe of one side and the machine's counters below, one axis. group joins their zoom. */
int report_timeline(struct node *parent, const struct report_side *side, const char *group, struct err *e);
/* Stuck operations with their stacks; anchors "stall-N" that the marks of the heat maps point to. */
int report_stalls(struct node *parent, const struct report_side *side, struct err *e);
/* One dot a run of each probe's usual and worst wait, in the order of the runs. */
int report_strips(struct node *parent, const struct report_side *sides, size_t n, struct err *e);
/* Every fact of the environment. */
void report_environment(struct node *parent, const struct report_side *sides, size_t n);

#endif

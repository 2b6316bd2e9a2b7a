/* SPDX-License-Identifier: MIT */
/*
 * Rows for slices of time so that slices in one row never overlap partly: a
 * slice goes to the first row of its group that is free when it begins, a new
 * row is opened when none is. Slices of a group come in order of their begin.
 */
#ifndef FORMAT_LANES_H
#define FORMAT_LANES_H

#include "base/nsec.h"
#include "base/vec.h"

#include <stdbool.h>

#define LANES_MAX 64			/* rows of one group; what finds no place is left out */

struct lane_group {
	uint64_t key;
	bool used;
	int row[LANES_MAX];		/* numbers of its rows */
	nsec_t end[LANES_MAX];
	int n;
};

struct lanes {				/* starts zeroed */
	struct lane_group *group;	/* a hash table */
	size_t cap, n;
	int rows;			/* in all; numbers count from 1 */
};

/* The row for a slice of the group; 0: no place. *ret_nth: which row of its group, *ret_new: it was opened just now. */
int lane_for(struct lanes *l, uint64_t key, nsec_t begin, nsec_t end, int *ret_nth, bool *ret_new);
void lanes_done(struct lanes *l);

#endif

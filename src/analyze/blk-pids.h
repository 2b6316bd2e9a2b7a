/* SPDX-License-Identifier: MIT */
/* Per-process cells and names while blkparse's rules are followed; used by blk-totals.c and blk-stream.c. */
#ifndef ANALYZE_BLK_PIDS_H
#define ANALYZE_BLK_PIDS_H

#include "analyze/blk-totals.h"

/*
 * blkparse reads ahead in batches; a name counts if its batch was read before
 * the pid was first counted. `when` numbers the batches in reading order.
 */
struct blk_pid_entry {
	uint32_t pid;
	bool used, counted, named;
	char name[16];
	uint64_t named_when, counted_when;
	struct blk_cells *cells;	/* NULL until counted */
};

struct blk_pids {
	struct blk_pid_entry *slot;	/* open addressing, power of two */
	size_t nslots, n;
	struct blk_pid_entry *last;	/* of the last look-up */
};

void blk_pids_name(struct blk_pids *p, uint32_t pid, const uint8_t *comm, size_t n, uint64_t when);
struct blk_cells *blk_pids_cells(struct blk_pids *p, uint32_t pid, uint64_t when);
/* Moves what was counted into t->pids, sorted, and empties p. */
void blk_pids_finish(struct blk_pids *p, struct blk_totals *t);

#endif

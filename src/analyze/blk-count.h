/* SPDX-License-Identifier: MIT */
/* One record into the cells, by blkparse's rules: the innermost step of blk-totals.c and blk-stream.c. */
#ifndef ANALYZE_BLK_COUNT_H
#define ANALYZE_BLK_COUNT_H

#include "analyze/blk-pids.h"

/* What is kept for a device while its records pass by in order. */
struct blk_running {
	uint64_t events, first, last;
	struct blk_depth depth[2];
};

#define BLK_COUNTED_PC	(1u << BLK_Q | 1u << BLK_R | 1u << BLK_D | 1u << BLK_C)
#define BLK_COUNTED_FS	(BLK_COUNTED_PC | 1u << BLK_M | 1u << BLK_F | 1u << BLK_U | 1u << BLK_UT)

/* blkparse passes a completion's size as an int: 2 GiB and more count as negative. */
#define BLK_NEGATIVE_KIB ((uint64_t)1 << 22)

static inline void blk_cell_add(struct blk_cell *c, uint32_t bytes)
{
	c->n++;
	c->kib += bytes >> 10;
	c->b += bytes & 1023;
}

/* pids NULL: not asked for; `when`: see blk-pids.h. */
static inline void blk_count(const struct blk_rec *r, struct blk_cells *cells, struct blk_running *d,
			     struct blk_pids *pids, uint64_t when)
{
	unsigned act = r->act, pc = r->tc >> 9 & 1, w = r->tc >> 1 & 1, i;

	cells->seen++;
	d->last = r->time;
	if (__builtin_expect(!r->tc, 0))
		return;
	if (__builtin_expect(!d->events++, 0))
		d->first = r->time;
	if (__builtin_expect(act >= BLK_CELL_ACTS || r->tc & BLK_TC_NOTIFY, 0)) {
		cells->flagged += act & BLK_CGROUP && !(r->tc & BLK_TC_NOTIFY);
		act = 0;
	}
	i = act * 4 + pc * 2 + w;
	blk_cell_add(&cells->c[i], r->bytes);
	if (act == BLK_D) {
		blk_depth_up(&d->depth[w]);
		cells->empty_reads += r->tc & BLK_TC_FLUSH && !w && !r->bytes;
	} else if (act == BLK_C || act == BLK_R) {
		blk_depth_down(&d->depth[w]);
		if (__builtin_expect(act == BLK_C && r->bytes >> 31, 0))
			cells->c[i].kib -= BLK_NEGATIVE_KIB;
	}
	if (pids && (pc ? BLK_COUNTED_PC : BLK_COUNTED_FS) >> act & 1) {
		struct blk_cell *c = &blk_pids_cells(pids, r->pid, when)->c[i];

		blk_cell_add(c, r->bytes);
		if (act == BLK_C && r->bytes >> 31)
			c->kib -= BLK_NEGATIVE_KIB;
	}
}

#endif

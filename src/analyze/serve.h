/* SPDX-License-Identifier: MIT */
/*
 * What a disk did during an interval, second by second: requests in service
 * share its time equally, so that N requests in flight each carry 1/N of it.
 *
 *	busy	requests were in service; divided over those they were for
 *	flush	a cache flush was in service
 *	silent	requests were in service but none completed for unusually long
 *	held	requests were queued, none was in service: scheduler or throttle
 *	idle	the disk had nothing to do
 *
 * The five sum to the interval.
 */
#ifndef ANALYZE_SERVE_H
#define ANALYZE_SERVE_H

#include "analyze/blame.h"

enum serve_how {
	SERVE_DISK,	/* in service: issued to completed */
	SERVE_SLOTS,	/* holds a request slot: allocated to completed; for waits before a request exists */
};

struct served {
	double busy, flush, silent, held, idle;		/* ns */
	struct bill bill, flush_bill;
	uint64_t reads, sync_writes, async_writes, meta, flushes, bytes;	/* requests in service for a part of it */
};

void serve(const struct trace *t, uint32_t disk, nsec_t a, nsec_t b, enum serve_how how, struct served *ret);
void served_done(struct served *s);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Every record of a block trace in the order of time, whatever its files are
 * like: CPU files with gaps, merged dumps, streams, both versions and byte
 * orders mixed, foreign bytes in the middle. What had to be passed over is
 * counted, never silent.
 *
 * Times are handed out from the start of the trace. A time that is 30 days or
 * more away from its neighbour's cannot be: it is replaced by that of the record
 * before it and counted as absurd.
 */
#ifndef ANALYZE_BLK_READ_H
#define ANALYZE_BLK_READ_H

#include "analyze/blk-input.h"
#include "event/blktrace.h"

struct blk_seen {
	uint64_t records, bytes;
	uint64_t skipped_bytes, resyncs;	/* foreign bytes, and how often reading began again behind them */
	uint64_t torn;				/* files that end within a record */
	uint64_t absurd, backwards;		/* times that cannot be; times before their predecessor in one file */
	uint64_t lost;				/* gaps in the sequence numbers of a CPU, records */
	uint64_t version[2];			/* 7, 8 */
	uint64_t swapped, wrong_cpu;
	uint64_t genesis;			/* time of the first record, in the trace's clock */
	uint64_t wall;				/* ns since 1970 of genesis, 0: not in the trace */
	bool stream, stopped;
};

/* Gets each record, notifies too; the record is valid during the call. */
typedef void (*blk_reader)(void *ctx, const struct blk_rec *r);

int blk_read(const struct blk_input *in, blk_reader fn, void *ctx, const volatile int *stop, struct blk_seen *ret,
	     struct err *e);

#endif

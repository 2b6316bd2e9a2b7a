/* SPDX-License-Identifier: MIT */
/*
 * Follows each bio of a trace through the block layer and sums up what
 * happened to it, one struct blk_device a device.
 *
 * A bio is queued (Q), then merged into a waiting request (M, F) or given a
 * request of its own (G), which is inserted (I), issued (D) and completed (C).
 * The phases are btt's, per bio: Q2G, G2I, Q2M, I2D, M2D (a merged bio), D2C,
 * Q2C. A request is the bios that lie end to end in the range of its event, so
 * nothing but the range is needed to find them; several bios at one place
 * (generations) are told apart by what already happened to them. Flushes carry
 * no sector: they are a class of their own, matched in order. A bio that is
 * split counts once a piece.
 */
#ifndef ANALYZE_BLK_TRACK_H
#define ANALYZE_BLK_TRACK_H

#include "analyze/blk-dist.h"
#include "base/nsec.h"
#include "event/blktrace.h"

enum blk_phase { BLK_Q2G, BLK_G2I, BLK_Q2M, BLK_I2D, BLK_M2D, BLK_D2C, BLK_Q2C, BLK_PHASES };
enum blk_kind { BLK_READS, BLK_WRITES, BLK_DISCARDS, BLK_KINDS };

struct blk_amount {
	uint64_t n, bytes;
};

#define BLK_BINS 96

struct blk_bin {		/* of one stretch of time, all from completions but depth */
	uint64_t bytes[BLK_KINDS], n[BLK_KINDS], flushes;
	double depth_ns;	/* requests at the device, times how long */
	uint32_t depth_max;
};

struct blk_device {
	uint32_t dev;
	uint64_t first, last;			/* time of its records */
	uint64_t acts[20];			/* records by act */
	struct blk_amount queued[BLK_KINDS], issued[BLK_KINDS], completed[BLK_KINDS], merged[BLK_KINDS];
	struct blk_amount sync, async;		/* of queued writes */
	struct blk_amount ahead, meta;		/* of all queued */
	uint64_t front_merges, fua, requeued[BLK_KINDS], errors, passthrough, remapped, messages;
	uint64_t flush_queued, flush_issued, flush_done;
	/* where the queued bios went: pieces = queued + splits = merged + own request + gone + open */
	uint64_t splits, got_request, reissued, unmatched_done, gone;
	struct blk_dist phase[BLK_PHASES];	/* all kinds but flushes */
	struct blk_dist q2c[BLK_KINDS], d2c[BLK_KINDS], flush;
	struct blk_dist size_queued[2], size_issued[2];	/* bytes; reads, writes */
	struct blk_dist plug;			/* how long a task held back its requests */
	uint64_t unplugs, unplugs_sleep, unplugged;	/* by itself, because the task slept; requests in both */
	uint64_t seq, near, far;		/* issued where the last one ended; within 1 MiB; elsewhere */
	double seek_sectors;			/* sum of distances of the others */
	uint32_t depth[2], depth_max[2];
	struct blk_bin bins[BLK_BINS];
	uint64_t bin_ns;			/* width of a bin */
};

struct blk_proc {
	uint32_t pid;
	char name[16];
	struct blk_amount queued[BLK_KINDS], sync, async, ahead, meta;
	uint64_t merges, flushes;
	uint64_t waits, wait_max;		/* Q2C of its bios */
	double wait_sum;
	uint64_t plugged_at;
};

/* A bio that completed, for those who want each one. */
struct blk_done {
	enum blk_kind kind;
	uint64_t queued, issued, done;		/* ns from the start; issued 0: not seen */
	uint32_t dev, pid, bytes;
};

struct blk_filter {
	uint64_t from, to;		/* only records in [from, to), ns from the start; to 0: no end */
	uint32_t dev;			/* 0: all */
	const char *process;		/* name or pid; NULL: all */
	void (*each)(void *ctx, const struct blk_done *b);	/* in the order of completion, once each; may be NULL */
	void *ctx;
};

struct blk_track;

struct blk_track *blk_track_new(const struct blk_filter *filter);
void blk_track_record(struct blk_track *t, const struct blk_rec *r);
/* Ends the pass; what is still under way is counted as open (blk_device.gone holds what was forgotten). */
void blk_track_end(struct blk_track *t);
bool blk_track_counted(const struct blk_track *t);	/* quantiles need a second pass to be exact */
void blk_track_again(struct blk_track *t);	/* begins it: the same records once more, for the distributions only */
struct blk_device *blk_track_devices(struct blk_track *t, size_t *ret_n);	/* by bytes, most first, after the end */
struct blk_proc *blk_track_procs(struct blk_track *t, size_t *ret_n);		/* by bytes queued, most first */
uint64_t blk_track_open(const struct blk_track *t, uint32_t dev);		/* bios still under way at the end */
void blk_track_free(struct blk_track *t);

#endif

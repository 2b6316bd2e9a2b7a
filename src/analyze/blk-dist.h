/* SPDX-License-Identifier: MIT */
/*
 * A distribution of 64-bit values (nanoseconds, bytes) in bounded memory whose
 * quantiles are still those of an exact sort.
 *
 * Up to BLK_DIST_EXACT values are kept. Above that only counts in buckets of
 * 1/4096 of the value are; then a second pass over the same values
 * (blk_dist_again, blk_dist_add for each, blk_dist_quantile) counts the few
 * buckets that hold the wanted quantiles value by value. Without a second pass
 * a quantile is the middle of its bucket, at most 1/8192 off.
 *
 * Starts zeroed; blk_dist_done() frees it and leaves it zeroed.
 */
#ifndef ANALYZE_BLK_DIST_H
#define ANALYZE_BLK_DIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BLK_DIST_EXACT	(1u << 18)
#define BLK_DIST_SUB	4096u
#define BLK_DIST_OCTAVES 52

enum blk_quantile { BLK_P50, BLK_P90, BLK_P99, BLK_P999, BLK_QUANTILES };

struct blk_dist_bucket {
	uint64_t lo, width;	/* values in [lo, lo + width) */
	uint64_t below;		/* how many values lie under lo */
	uint32_t *cells;	/* one a value, where that is not too many */
	uint64_t *values;	/* the values themselves otherwise */
	size_t n, cap;
};

struct blk_dist {
	uint64_t n, min, max;
	double sum;
	unsigned exact_max;	/* 0: BLK_DIST_EXACT */
	uint64_t *exact;	/* NULL once there are too many */
	size_t cap;
	bool sorted;
	uint32_t *octave[BLK_DIST_OCTAVES];	/* BLK_DIST_SUB counts each; [0] has twice as many */
	struct blk_dist_bucket again[BLK_QUANTILES];
	bool second;		/* in the second pass */
};

void blk_dist_add(struct blk_dist *d, uint64_t x);
bool blk_dist_counted(const struct blk_dist *d);	/* a second pass would make it exact */
void blk_dist_again(struct blk_dist *d);		/* begins the second pass */
/* The value of rank ceil(q * n) (the smallest that at least a share q does not exceed); 0 when there is none. */
uint64_t blk_dist_quantile(struct blk_dist *d, enum blk_quantile q);
double blk_dist_mean(const struct blk_dist *d);
void blk_dist_done(struct blk_dist *d);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * A histogram of bounded size for waits that are not kept one by one: 1 us to
 * 24 h with two or three significant digits (237 kB at three). Bucket layout
 * as HdrHistogram's (lowest 1000 ns, highest 24 h), so its counts can be
 * written to and read from HDR logs as they are. The exact smallest and
 * largest wait are kept apart: no printed maximum above a real one. Waits
 * over 24 h are counted in the top bucket and in `clipped`, never dropped.
 */
#ifndef STATS_HIST_H
#define STATS_HIST_H

#include "base/nsec.h"

#define HIST_LOWEST	INT64_C(1000)
#define HIST_HIGHEST	(INT64_C(24) * 3600 * NSEC_PER_SEC)

struct hist {
	int digits;		/* 2 or 3 */
	int half_bits, unit_bits;
	size_t buckets;		/* counts in p */
	uint64_t *p;
	uint64_t n, clipped;
	nsec_t min, max;	/* exact; 0 while n is 0 */
	double sum_s;		/* seconds */
};

void hist_init(struct hist *h, int digits);
void hist_done(struct hist *h);
void hist_clear(struct hist *h);
void hist_add(struct hist *h, nsec_t x, uint64_t times);	/* negative counts as 0 */
void hist_merge(struct hist *h, const struct hist *other);	/* same digits */

size_t hist_index(const struct hist *h, nsec_t x);
nsec_t hist_bucket_lo(const struct hist *h, size_t i);
nsec_t hist_bucket_hi(const struct hist *h, size_t i);		/* the largest wait that falls into it */

/* Nearest rank, the upper end of its bucket but never above the exact maximum; 0 while empty. */
nsec_t hist_quantile(const struct hist *h, double p);
/* Share of waits over w, to the bucket. */
double hist_share_over(const struct hist *h, nsec_t w);

#endif

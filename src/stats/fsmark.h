/* SPDX-License-Identifier: MIT */
/*
 * Files a second as fs_mark 3.3 counts them: an iteration is `files` files;
 * its time runs from before the first create to after the last close, with what
 * the program itself needs in between, without unlinks and without what lies
 * between iterations; the result is the mean of the iterations' rates
 * (do_run() and main() of fs_mark.c).
 */
#ifndef STATS_FSMARK_H
#define STATS_FSMARK_H

#include "base/nsec.h"

struct fsmark {
	size_t iterations;	/* complete ones */
	double files_per_s;	/* mean of their rates; 0 without a complete one */
	double slowest, quickest;
};

/*
 * start and end of n files in their order, the first being number `first` of its series (counted from 0). `pause` is the
 * pause between two files, which fs_mark does not make, and is taken off. Files of incomplete iterations are not used.
 */
struct fsmark fsmark_rate(const nsec_t *start, const nsec_t *end, size_t n, uint64_t first, uint64_t files, nsec_t pause);

#endif

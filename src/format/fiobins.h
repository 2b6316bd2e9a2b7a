/* SPDX-License-Identifier: MIT */
/*
 * fio's latency histogram (stat.c, plat_idx_to_val, fio 2.1 to 3.x): 64 buckets
 * an octave. A bucket is known by its middle. Below 128 units a bucket is one
 * value. The last bucket holds everything above it: 17.1 s in nanoseconds with
 * 29 groups (fio 3), 16.7 s in microseconds with 19 groups (fio 2).
 */
#ifndef FORMAT_FIOBINS_H
#define FORMAT_FIOBINS_H

#include "base/nsec.h"

#include <stdbool.h>

#define FIOBINS_NS	(29 * 64)	/* buckets of fio 3 and later */
#define FIOBINS_US	(19 * 64)	/* of fio 2 */

struct fiobin {
	uint64_t lo, hi;	/* in its unit, both inclusive */
	bool clipped;		/* the last bucket: hi is only where it would end */
};

/* Bucket number idx of `total`. */
struct fiobin fiobin_of_index(unsigned idx, unsigned total);
/* The bucket whose middle (as fio prints it) is mid. False: no bucket has this middle. */
bool fiobin_of_middle(uint64_t mid, unsigned total, struct fiobin *ret);

#endif

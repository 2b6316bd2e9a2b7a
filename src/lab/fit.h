/* SPDX-License-Identifier: MIT */
/*
 * lab fit: measures a real disk and writes a profile for it.
 *
 * A device is opened read-only: random 4 KiB reads over several distances and
 * at depth 1 and 32, sequential reads at its start and end. It turns when the
 * kernel says so and its reads are not too quick for that. Seeks are the part of the reads that grows with the
 * distance, fitted by least squares; the rotation is half a turn of the speed
 * that fits best. A directory gives one file in a sub-folder of ours, and with
 * it writes and flushes. What cannot be seen stays "assumed".
 */
#ifndef LAB_FIT_H
#define LAB_FIT_H

#include "base/err.h"
#include "base/nsec.h"
#include "base/strbuf.h"

#include <stdbool.h>
#include <stdint.h>

#define FIT_DISTANCES 7

struct fit {
	bool rotational, writes;	/* writes: the second half was measured */
	uint64_t bytes;			/* of the device or file that was read */
	struct {
		double share;		/* of the whole stroke */
		nsec_t mean;
		unsigned n;
	} read[FIT_DISTANCES];
	nsec_t random_read, random_error;	/* mean over the whole, 95 % half width */
	double iops_deep;		/* 32 readers */
	double outer, inner;		/* bytes/s */
	nsec_t cached_write, flush_empty, flush_each;	/* median write; fsync of one block; each of 32 scattered ones */
	char what[200];			/* "/dev/sdb" or the folder */
};

/* Opened O_RDONLY, never written. -EBUSY, -EACCES, ... */
int fit_device(const char *device, nsec_t time, struct fit *ret, struct err *e);
/* One file of at most `bytes` in a sub-folder of ours in dir; removed again. */
int fit_dir(const char *dir, nsec_t time, struct fit *ret, struct err *e);
/* The profile as text, each value with what it rests on. *ret_error: how far the model's random read is off, a share. */
int fit_profile(const struct fit *f, struct strbuf *out, double *ret_error, struct err *e);

#endif

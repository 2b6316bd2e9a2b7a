/* SPDX-License-Identifier: MIT */
/*
 * Block trace records of this machine as they happen, through the ftrace `blk`
 * tracer: it works where lockdown forbids the relay files of blktrace(8).
 *
 *	blk_tap_open	claims the tracer and switches the devices on, everything through the undo log
 *	blk_tap_read	hands on what came, by CPU, each CPU in order of time
 *	blk_tap_close	switches off, hands on the rest, puts everything back
 *
 * There is one blk tracer in a machine: when another tracer is active, open
 * refuses. Records have times of CLOCK_MONOTONIC and, since the kernel gives
 * none here, sequence numbers that we count; lost records leave a gap in them.
 * Costs about 11 us of CPU for each I/O (the kernel formats every record).
 * Source: kernel/trace/blktrace.c, kernel/trace/trace.c (print_bin_fmt).
 */
#ifndef COLLECT_BLK_TAP_H
#define COLLECT_BLK_TAP_H

#include "base/err.h"
#include "base/nsec.h"
#include "event/blktrace.h"
#include "sys/undo.h"

#include <sys/types.h>

struct blk_tap_conf {
	const dev_t *devices;		/* whole disks or partitions */
	int ndevices;
	unsigned buffer_kib;		/* for each CPU; 0: 8192 */
	struct undo *undo;
	/* Each record, also the names of tasks (BLK_TN_PROCESS) before the first record of a task on a CPU. */
	void (*record)(void *ctx, const struct blk_rec *r);
	void *ctx;
};

struct blk_tap;

/* 0, or -ENOTSUP and why it cannot be done here. Changes nothing. */
int blk_tap_supported(struct err *why);
int blk_tap_open(const struct blk_tap_conf *conf, struct blk_tap **ret, struct err *e);
int blk_tap_cpus(const struct blk_tap *t);
/* Everything that is there now; returns the number of bytes read, or -errno. Never waits. */
ssize_t blk_tap_read(struct blk_tap *t, struct err *e);
uint64_t blk_tap_lost(const struct blk_tap *t);		/* records the kernel had no room for */
uint64_t blk_tap_records(const struct blk_tap *t);
uint64_t blk_tap_skipped(const struct blk_tap *t);	/* bytes in the stream that were no records */
/* t is gone afterwards. What could not be put back is left to `stallmark clean`, and said in e. */
int blk_tap_close(struct blk_tap *t, uint64_t *ret_lost, struct err *e);

#endif

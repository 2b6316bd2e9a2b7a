/* SPDX-License-Identifier: MIT */
/*
 * Counts of a block trace exactly as blkparse 1.2.0 makes them, at memory
 * speed: files are mapped, merged by time, and each record costs one indexed
 * addition. What blkparse prints is derived from the cells afterwards
 * (blk-blkparse.c).
 *
 * Its rules, kept here on purpose: CPU files from 0 until one is missing; a
 * file ends at the first record it cannot read (bad magic, version other than
 * 7, torn tail); records of another CPU than the file's are dropped, and a batch
 * of 512 of nothing else ends the file; on equal times the file that is being
 * read goes on; an act with the cgroup bit is an event and nothing more; the
 * first name of a pid stays, unless it was counted before it had one.
 */
#ifndef ANALYZE_BLK_TOTALS_H
#define ANALYZE_BLK_TOTALS_H

#include "analyze/blk-input.h"
#include "event/blktrace.h"

#define BLK_CELL_ACTS 20

struct blk_cell {
	uint64_t n, kib, b;	/* records, sum of bytes >> 10, sum of bytes & 1023 */
};

/* [act * 4 + passthrough * 2 + write]; act 0: everything that counts as an event only. */
struct blk_cells {
	struct blk_cell c[BLK_CELL_ACTS * 4];
	uint64_t seen;		/* records, those that count nowhere else too */
	uint64_t flagged;	/* with a cgroup id: an event and nothing more */
	uint64_t empty_reads;	/* dispatched flushes, which count as reads */
};

static inline const struct blk_cell *blk_cell(const struct blk_cells *c, enum blk_act act, bool pc, bool write)
{
	return &c->c[(unsigned)act * 4 + pc * 2 + write];
}

/*
 * Depth in one direction as a function of the depth x it started with:
 * now = max(x + add, floor), highest = max(x + top, top_floor). So parts of a trace
 * can be counted apart and joined, though depth never goes below 0.
 */
struct blk_depth {
	int64_t add, floor, top, top_floor;
};

#define BLK_DEPTH_INIT { 0, 0, INT64_MIN / 2, 0 }

static inline void blk_depth_up(struct blk_depth *d)
{
	d->add++;
	d->floor++;
	d->top = d->add > d->top ? d->add : d->top;
	d->top_floor = d->floor > d->top_floor ? d->floor : d->top_floor;
}

static inline void blk_depth_down(struct blk_depth *d)
{
	d->add--;
	d->floor -= d->floor > 0;
}

struct blk_depth blk_depth_join(struct blk_depth first, struct blk_depth then);
uint64_t blk_depth_max(const struct blk_depth *d);	/* when it began at 0 */

struct blk_cpu_totals {
	int cpu;
	struct blk_cells cells;
};

struct blk_set_totals {
	const char *name;	/* of the input's set, or "8,0" of a stream (owned by the totals) */
	struct blk_cpu_totals *cpus;	/* ascending */
	unsigned ncpus;
	uint64_t events;
	uint64_t first, last;	/* ns from the start of the trace; first accepted, last read */
	struct blk_depth depth[2];
	uint64_t skips, skipped;	/* streams: gaps in the sequence numbers, and records in them */
};

struct blk_pid_totals {
	uint32_t pid;
	char name[16];
	struct blk_cells cells;
};

struct blk_totals {
	struct blk_set_totals *sets;
	unsigned nsets;
	struct blk_pid_totals *pids;	/* by name (strverscmp), then pid; only when asked for */
	size_t npids;
	uint64_t records;	/* read, notifies included */
	uint64_t wrong_cpu, bad_files;	/* records dropped; files that ended early */
	bool driver_data;	/* there were records of a driver */
	char **names;		/* owned names of a stream's devices */
};

struct blk_totals_conf {
	bool by_pid;
	unsigned threads;	/* 0: as many as CPUs; more than 1 only where the result is the same to the byte */
	unsigned batch;		/* streams: records blkparse reads at once (512) */
	const volatile int *stop;
};

int blk_totals(const struct blk_input *in, const struct blk_totals_conf *conf, struct blk_totals *ret, struct err *e);
/* The same for one stream, as `blkparse -i -` counts it (blk-stream.c). */
int blk_totals_stream(int fd, const struct blk_totals_conf *conf, struct blk_totals *ret, struct err *e);
void blk_totals_done(struct blk_totals *t);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Block traces: everything `stallmark blk` says by default, and the rows by
 * which two traces are compared.
 *
 *	blk_load() reads the files once or twice (exact quantiles of long traces);
 *	blk_page() makes the page of it, blk_rows() the rows; blk_free().
 */
#ifndef ANALYZE_BLK_H
#define ANALYZE_BLK_H

#include "analyze/blk-input.h"
#include "analyze/blk-read.h"
#include "analyze/blk-track.h"
#include "page/page.h"

struct blk_trace {
	char *name;			/* "sda", "sda sdb" */
	struct blk_seen seen;
	struct blk_filter filter;
	struct blk_device *devs;	/* most bytes first */
	size_t ndevs;
	uint64_t *open;			/* of each device: bios still under way at the end */
	struct blk_proc *procs;		/* most bytes first */
	size_t nprocs;
	double seconds;			/* from the first to the last record, or of the window */
	bool exact;			/* quantiles are those of an exact sort */
	char **said;			/* what the input was like, one finished sentence each */
	size_t nsaid;
	struct blk_track *track;	/* owns devs and procs */
};

int blk_load(const struct blk_input *in, const struct blk_filter *filter, const volatile int *stop,
	     struct blk_trace **ret, struct err *e);
/* Opens what one argument names (a set, file, folder or "-"), loads it whole and closes it. */
int blk_load_path(const char *path, struct blk_trace **ret, struct err *e);
void blk_free(struct blk_trace *t);

/* stallmark.blk/1 */
struct page *blk_page(const struct blk_trace *t);

/* ---- comparing two traces ---- */

struct blk_row {
	char key[48];		/* "write.dispatches", "process.fs_mark.written" */
	char label[64];		/* "write dispatches" */
	enum unit unit;
	int better;		/* +1 more is better, -1 less, 0 neither */
	double value;
	bool known;
	const struct blk_dist *dist;	/* Q2C and D2C: the distribution behind it; NULL for plain numbers */
};

struct blk_rows {
	struct blk_row *p;
	size_t n;
	double seconds;
};

/* Rows of the busiest device and its processes: dispatches, mean sizes, merges, unplugs, sync share, bytes per
 * process name, Q2C and D2C. Valid until blk_free(t). */
void blk_rows(const struct blk_trace *t, struct blk_rows *ret);
/* The same from blkparse totals as text, as far as they go ("Total (sde):" with or without what blkparse prints
 * around it). -EBADMSG: no totals in it. */
int blk_rows_text(const char *text, size_t n, struct blk_rows *ret, struct err *e);
void blk_rows_done(struct blk_rows *r);
const struct blk_row *blk_row_find(const struct blk_rows *r, const char *key);

/* Sentences about two sides that the rows alone do not say: bytes are the same but dispatches are not, times are not
 * the same length, merges fell, a process wrote what it did not before. Each ends in a newline. */
struct strbuf;
void blk_rows_consistency(const struct blk_rows *a, const struct blk_rows *b, struct strbuf *out);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Block traces: everything `stallmark blk` says by default.
 *
 *	blk_load() reads the files once or twice (exact quantiles of long traces);
 *	blk_page() makes the page of it; blk_free().
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

#endif

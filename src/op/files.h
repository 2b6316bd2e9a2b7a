/* SPDX-License-Identifier: MIT */
/*
 * A generated set of files, known by number: paths and sizes follow from a few
 * parameters, so nothing has to be remembered. Probes and loads lay it out
 * with files_lay_out() and name its members in their scripts.
 *
 *	src/d0/f0 src/d0/f1 ... src/d1/f20 ...		(per_dir = 20)
 */
#ifndef OP_FILES_H
#define OP_FILES_H

#include "op/op.h"

struct files {
	const char *prefix;	/* directory of the set */
	uint64_t n, per_dir;
	uint64_t size;		/* of each, or the mean when mixed */
	bool mixed;		/* as in a source tree: an eighth to 3.75 times the mean */
};

struct files_cursor {		/* zeroed at the start */
	uint64_t at, offset;
	int stage;
	bool open;
};

#define FILES_SLOT (OP_SLOTS - 1)	/* used while laying out and dropping */
#define FILES_DROP_OPS 4

uint64_t files_size(const struct files *f, uint64_t i);
uint64_t files_bytes(const struct files *f);		/* all together, each rounded up to 4 KiB, and its directories */
uint64_t files_dirs(const struct files *f);
uint64_t files_in_dir(const struct files *f, uint64_t dir);
void files_path(const struct files *f, uint64_t i, char path[OP_PATH_MAX]);
void files_dir(const struct files *f, uint64_t dir, char path[OP_PATH_MAX]);

/* Creates the set, syncs the filesystem and drops the data from the page cache. Returns how many ops; 0: all done. */
int files_lay_out(const struct files *f, struct files_cursor *c, struct op *ops, int max);

/* Appends what makes file i cold again and asks whether it is, outside the measured time. Returns the new n. */
int files_drop(const struct files *f, uint64_t i, struct op *ops, int n);

/* The size of a set shrunk to `share`: fewer files first, down to `least`. */
uint64_t files_scaled(uint64_t n, double share, uint64_t least);

#endif

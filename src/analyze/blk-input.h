/* SPDX-License-Identifier: MIT */
/*
 * The files of a block trace: sets NAME.blktrace.CPU, merged dumps
 * (`blkparse -d`), directories of sets, and streams.
 *
 * Files are mapped, not read: a trace is often larger than memory, so whoever
 * walks a mapping drops the pages behind it (blk_input_window). A file that
 * shrinks while it is mapped reads as zeroes from there on.
 */
#ifndef ANALYZE_BLK_INPUT_H
#define ANALYZE_BLK_INPUT_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BLK_ANY_CPU	(-1)

struct blk_file {
	char *path;
	unsigned set;		/* index into sets */
	int cpu;		/* from its name; BLK_ANY_CPU: a merged dump */
	const uint8_t *map;	/* NULL: empty, unreadable, or a stream */
	size_t size;
	int fd;			/* a stream to read(); else -1 */
	int error;		/* -errno when it could not be opened: said, then passed over */
};

struct blk_set {
	char *name;		/* "sda": what blkparse prints */
	unsigned first, n;	/* its files, by CPU */
	int missing_cpu;	/* the first CPU number below the highest without a file, -1: none */
};

struct blk_input {
	struct blk_file *files;
	struct blk_set *sets;
	unsigned nfiles, nsets;
	uint64_t bytes;		/* of all mapped files */
	bool stream;		/* one of the files is a stream */
};

/*
 * Finds and opens what the arguments name. `strict`: as blkparse does (a name
 * is cut at ".blktrace.", CPUs count from 0 and end at the first missing file).
 */
int blk_input_open(const char *const *args, size_t nargs, bool strict, struct blk_input *ret, struct err *e);
void blk_input_close(struct blk_input *in);

/* How many bytes behind the reading position a walk over nfiles mappings may keep mapped. */
size_t blk_input_window(unsigned nfiles);
/* Drops whole pages of [from, to); returns where the next drop begins. */
const uint8_t *blk_input_drop(const uint8_t *from, const uint8_t *to);

/* The number behind ".blktrace." at the end of a name, -1 when it is not such a name. */
int blk_input_cpu(const char *path);

#endif

/* SPDX-License-Identifier: MIT */
/* What is mounted where and on which disk, as FS and DISK rows, so that a record can be read on another machine. */
#ifndef COLLECT_FS_ROWS_H
#define COLLECT_FS_ROWS_H

#include "base/err.h"
#include "record/record.h"

int fs_rows(struct rec *rec, int run, int series, int clock, struct err *e);

/* One line of /proc/self/mountinfo -> its filesystem; false: not on a block device or not understood. */
struct fs_line {
	uint32_t dev;		/* st_dev of files on it */
	char folder[256], type[32], source[256];
};
bool fs_parse_line(const char *line, struct fs_line *ret);

#endif

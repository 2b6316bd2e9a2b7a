/* SPDX-License-Identifier: MIT */
/*
 * A block trace as an import: its waits (Q2C and D2C of reads and writes,
 * flushes), the totals by the names blkparse's text has in the importer
 * blkparse-total, and bytes by process. `stallmark import` makes a record of it,
 * `stallmark compare` a side.
 */
#ifndef CMD_BLK_IMPORT_H
#define CMD_BLK_IMPORT_H

#include "format/format.h"

/* A file that begins with a trace record, or the name of a set NAME.blktrace.CPU. */
bool blk_import_is_trace(const char *path);
int blk_import(const char *path, const struct import_sink *sink, struct err *e);

#endif

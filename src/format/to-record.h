/* SPDX-License-Identifier: MIT */
/*
 * An import_sink that writes a run record: what `stallmark import` uses.
 *
 * A record holds one side, so a file of several sides needs one chosen. Waits
 * become samples of the measured phase. Where the file says when they began,
 * the samples lie there, moved by TO_RECORD_BASE; where it does not they lie
 * one after another with the pause the format knows, and the series says
 * "time" = "order": order and length are true, the distances are not.
 *
 * A bucket becomes as many samples with the middle of the bucket, in an order
 * shuffled always alike ("time" = "none", "bucket_width" = the widest as a share
 * of its value); a clipped bucket becomes censored samples at its lower bound. Numbers become facts "result.NAME" = "307.288 /s". Series of more than
 * a million waits are thinned evenly, with a note.
 *
 * Life: to_record_begin -> format_read with its sink -> to_record_end.
 */
#ifndef FORMAT_TO_RECORD_H
#define FORMAT_TO_RECORD_H

#include "format/thin.h"

#define TO_RECORD_BASE NSEC_PER_SEC	/* time 0 of the file in the record: 0 there means "never started" */

struct to_record_conf {
	const char *file;	/* named in the record */
	const char *format;
	const char *command;	/* the command line; NULL: none */
	const char *version;	/* of stallmark */
	int side;		/* 1...: which one; 0: there must be only one */
	nsec_t limit;		/* "stuck" is longer than this, where the file says nothing */
};

struct to_record;

/* Creates the record at `path`. */
int to_record_begin(const char *path, const struct to_record_conf *conf, struct to_record **ret, struct err *e);
void to_record_sink(struct to_record *t, struct import_sink *ret_sink);

struct to_record_sum {
	unsigned runs, sides;
	uint64_t waits, numbers;
};

/* result of format_read: below 0 ends the record without a trace and puts its sentence into e when there is none.
 * Else writes what is pending and moves the record to target. t is gone afterwards. */
int to_record_end(struct to_record *t, int result, bool truncated, const char *target, struct to_record_sum *ret_sum,
		  struct err *e);

#endif

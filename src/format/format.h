/* SPDX-License-Identifier: MIT */
/*
 * Foreign files: one file per format, reading and/or writing. Input is hostile
 * and may be cut, concatenated, CRLF, quoted mail or mixed with progress lines.
 * What a format cannot know is unknown, never zero.
 */
#ifndef FORMAT_FORMAT_H
#define FORMAT_FORMAT_H

#include "base/plug.h"
#include "base/strbuf.h"
#include "record/record.h"

#include <stdio.h>

/* The bytes of one foreign file, read in order; holds at most a window of it in memory. */
struct input {
	FILE *f;
	const char *name;		/* for messages */
	const uint8_t *head;		/* the first head_n bytes, as sniffed; still to be read from f */
	size_t head_n;
	uint64_t line;			/* of the last line read */
	bool truncated;			/* set by a reader that cut at the last complete value */
};

/* Where an importer puts what it found. A writer of records and a collector in memory both implement it. */
struct import_sink {
	void *ctx;
	/* A series of waits (`limit` 0: unknown). Returns its number for the other calls. */
	int (*series)(void *ctx, const char *name, const char *meaning, bool open_loop, nsec_t limit);
	/* One wait; t_start NSEC_NEVER: unknown. status: enum sample_status. */
	int (*wait)(void *ctx, int series, nsec_t t_start, nsec_t wait, uint8_t status, uint64_t bytes);
	/* A counted bucket: n waits between lo and hi; clipped: the top bucket that holds everything above. */
	int (*bucket)(void *ctx, int series, nsec_t lo, nsec_t hi, uint64_t n, bool clipped);
	/* One number that is not a wait: "files_per_s" = 307.288 in `unit`; better: +1 more is better, -1 less, 0 neither. */
	int (*number)(void *ctx, const char *name, const char *unit, double value, int better);
	/* A fact of the environment or the job. */
	int (*fact)(void *ctx, const char *key, const char *value);
	/* Something to say: rounding, clipping, truncation. */
	int (*note)(void *ctx, enum note_kind kind, const char *text);
	/* A second column or a concatenated document begins: the next side or run. */
	int (*next_run)(void *ctx, const char *label);
};

struct format_ops {
	struct plug plug;		/* name as in --as: "fio-json", "fsync-tester", "csv", ... */
	/* 0 no ... 100 certain. May be NULL: never sniffed. */
	int (*sniff)(const uint8_t *head, size_t n, const char *name);
	int (*import)(struct input *in, const struct import_sink *sink, struct err *e);	/* NULL: cannot be read */
	/* Writes what it can of the record; NULL: cannot be written. */
	int (*export_)(struct rec *r, FILE *out, struct err *e);
};

extern const void *const format_table[];

#endif

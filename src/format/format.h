/* SPDX-License-Identifier: MIT */
/*
 * Foreign files: one file per format, reading and/or writing. Input is hostile
 * and may be cut, concatenated, CRLF, quoted mail or mixed with progress lines.
 * What a format cannot know is unknown, never zero.
 *
 * An importer reads a struct input (format/input.h) to its end and tells a sink
 * what it found; it holds at most a bounded part of the file in memory. A file
 * in which it finds nothing is an error (-ENODATA), never an empty success.
 */
#ifndef FORMAT_FORMAT_H
#define FORMAT_FORMAT_H

#include "base/plug.h"
#include "base/strbuf.h"
#include "format/input.h"
#include "record/record.h"

#include <stdio.h>

/*
 * Where an importer puts what it found. A writer of records and a collector in
 * memory (format/memory.h) both implement it. Every call returns 0 (series: a
 * number) or -errno, which ends the import; the sink keeps the sentence.
 */
struct import_sink {
	void *ctx;
	/* A series of waits (`limit` 0: unknown). Returns its number for the other calls, valid until next_run. */
	int (*series)(void *ctx, const char *name, const char *meaning, bool open_loop, nsec_t limit);
	/* Something known about a series: "interval_ns", the pause between two actions of a closed loop. */
	int (*series_fact)(void *ctx, int series, const char *key, const char *value);
	/* One wait; t_start NSEC_NEVER: unknown. status: enum sample_status. bytes 0: unknown. */
	int (*wait)(void *ctx, int series, nsec_t t_start, nsec_t wait, uint8_t status, uint64_t bytes);
	/* A counted bucket: n waits of lo to hi; clipped: the top bucket, which holds everything above lo (hi: the
	 * longest that is known, NSEC_NEVER: unknown). */
	int (*bucket)(void *ctx, int series, nsec_t lo, nsec_t hi, uint64_t n, bool clipped);
	/* One number that is not a wait: "files_per_s" = 307.288 in `unit`; better: +1 more is better, -1 less, 0 neither.
	 * The same name again in a run is another measurement of the same thing (an iteration). */
	int (*number)(void *ctx, const char *name, const char *unit, double value, int better);
	/* A fact of the environment or the job. */
	int (*fact)(void *ctx, const char *key, const char *value);
	/* Something to say: rounding, clipping, truncation. */
	int (*note)(void *ctx, enum note_kind kind, const char *text);
	/*
	 * Another run begins (a concatenated document), or with other_side another side (the second column of a
	 * paste). While the present run is empty it only gets the label. Series have to be asked for again.
	 */
	int (*next_run)(void *ctx, const char *label, bool other_side);
};

struct export_conf {
	const char *series;		/* only this one; NULL: all */
	bool scrub;			/* without host names, paths and command lines */
	const char *version;		/* of stallmark */
};

struct format_ops {
	struct plug plug;		/* name as in --as: "fio-json", "fsync-tester", "csv", ... */
	/* 0 no ... 100 certain, of the first n bytes (format/input.h: INPUT_HEAD). May be NULL: never sniffed. */
	int (*sniff)(const uint8_t *head, size_t n, const char *name);
	int (*import)(struct input *in, const struct import_sink *sink, struct err *e);	/* NULL: cannot be read */
	/* Writes what it can of the record; NULL: cannot be written. Reading errors of damaged parts are passed over
	 * (rec_damaged), so it fails only when the record holds nothing for this format. */
	int (*export_)(struct rec *r, const struct export_conf *conf, FILE *out, struct err *e);
};

extern const void *const format_table[];

/* The importer that is most certain of this head, or NULL with a sentence that says what to do. */
const struct format_ops *format_sniff(const uint8_t *head, size_t n, const char *name, struct err *e);

/* Finds the importer of `in`: the one named `as`, or by sniffing when NULL. */
int format_choose(struct input *in, const char *as, const struct format_ops **ret_ops, struct err *e);
/* Opens path ("-": standard input) and finds its importer. */
int format_open(const char *path, const char *as, struct input **ret_in, const struct format_ops **ret_ops,
		struct err *e);

/* Reads all of `in` into the sink and says in notes what the reader had to leave out (cut lines, truncation). */
int format_read(struct input *in, const struct format_ops *ops, const struct import_sink *sink, struct err *e);

/* "csv, fio-json, ..." of all that can be imported or exported, appended. */
void format_names(struct strbuf *out, bool for_export);

#endif

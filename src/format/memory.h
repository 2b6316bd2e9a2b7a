/* SPDX-License-Identifier: MIT */
/*
 * What an importer found, collected in memory: runs with their series of waits
 * and buckets, numbers, facts and notes. For readers that need all of a foreign
 * file at once (compare); a record is written without it (format/to-record.h).
 *
 * Life: import_mem_read(), or import_mem_new() and a sink of it -> read the
 * members -> import_mem_free(). There is always at least one run. All text and
 * arrays belong to it.
 */
#ifndef FORMAT_MEMORY_H
#define FORMAT_MEMORY_H

#include "format/thin.h"

#define IMPORT_MEM_MAX 10000000		/* series, buckets and numbers in all; more are refused with -E2BIG */

struct import_bucket {
	nsec_t lo, hi;			/* as in import_sink.bucket */
	uint64_t n;
	bool clipped;
};

struct import_fact {
	char *key, *value;
};

struct import_series {
	char *name, *meaning;
	bool open_loop;
	nsec_t limit;			/* 0: unknown */
	struct import_waits waits;	/* in the order of the file; above a million thinned evenly (a note says so) */
	struct thin thin;		/* .seen: how many there were */
	VEC(struct import_bucket) buckets;
	VEC(struct import_fact) facts;	/* of the series: "interval_ns" */
};

struct import_number {
	char *name, *unit;
	double value;
	int better;			/* +1 more is better, -1 less, 0 neither */
};

struct import_note {
	enum note_kind kind;
	char *text;
};

struct import_run {
	char *label;			/* "" when the file says none */
	unsigned side;			/* 0, or which column of a paste it came from */
	VEC(struct import_series) series;
	VEC(struct import_number) numbers;
	VEC(struct import_fact) facts;
	VEC(struct import_note) notes;
};

struct import_mem {
	VEC(struct import_run) runs;
	const char *format;		/* name of the importer that read it; NULL when used as a bare sink */
	bool truncated;
	uint64_t things;		/* counted against IMPORT_MEM_MAX */
};

struct import_mem *import_mem_new(void);
void import_mem_free(struct import_mem *m);
void import_mem_sink(struct import_mem *m, struct import_sink *ret_sink);

/* Opens, sniffs (or takes `as`) and reads a whole file; path "-" is standard input. unit: see struct input. */
int import_mem_read(const char *path, const char *as, nsec_t unit, struct import_mem **ret, struct err *e);

/* As import_mem_read, of an input that is open already and stays the caller's. */
int import_mem_take(struct input *in, const char *as, struct import_mem **ret, struct err *e);

static inline void import_mem_freep(struct import_mem **m)
{
	import_mem_free(*m);
}
#define cleanup_import_mem __attribute__((cleanup(import_mem_freep)))

#endif

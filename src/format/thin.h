/* SPDX-License-Identifier: MIT */
/*
 * Keeps the waits of one series in bounded memory: all of them up to a million,
 * then every 2nd, 4th, 8th ... of the whole file, evenly, so that quantiles and
 * stuck shares stay unbiased, and always the longest. Who uses it says so when
 * `stride` is above 1.
 */
#ifndef FORMAT_THIN_H
#define FORMAT_THIN_H

#include "base/vec.h"
#include "format/format.h"

#define THIN_MAX 1000000

struct import_wait {
	nsec_t t_start;			/* NSEC_NEVER: unknown */
	nsec_t wait;
	uint64_t bytes;			/* 0: unknown */
	uint8_t status;			/* enum sample_status */
};

struct import_waits {			/* a VEC, with a name to hand it around */
	struct import_wait *p;
	size_t n, cap;
};

struct thin {				/* starts zeroed */
	uint64_t seen;			/* waits offered */
	uint64_t stride;		/* every so many-th is kept; 0 or 1: all */
	uint64_t longest_at;
	struct import_wait longest;
};

void thin_put(struct thin *t, struct import_waits *w, const struct import_wait *x);
/* After the last one: puts the longest to its place if it was left out. */
void thin_end(struct thin *t, struct import_waits *w);
/* What to say when stride is above 1; the caller frees. */
char *thin_words(const struct thin *t, const struct import_waits *w, const char *series);

#endif

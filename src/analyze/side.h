/* SPDX-License-Identifier: MIT */
/*
 * One side of a comparison, wherever it came from: runs, each with the waits of
 * its probes, its load each second, single numbers and facts. Records fill it
 * through side_add_record(); cmd/ fills it from foreign files.
 *
 * Life: side_new() -> side_add_record() or side_run() and friends ->
 * analyze_compare() -> side_free(). Pointers to runs and series stay valid until
 * the next one is added. Arrays are the side's: hand them over with side_own().
 */
#ifndef ANALYZE_SIDE_H
#define ANALYZE_SIDE_H

#include "base/vec.h"
#include "record/record.h"
#include "stats/waits.h"

struct side_series {			/* the measured waits of one probe in one run */
	char *name, *measures;
	struct waits w;
	const nsec_t *t;		/* when each was intended, from the begin of the run; NULL: unknown */
	nsec_t limit;			/* 0: unknown */
	bool interactive, wants_cold, clipped;
	size_t warm, cold, errors;
};

struct side_number {			/* one number that is not a wait */
	char *name, *unit;		/* "files_per_s", "/s"; "bytes", "bytes/s", "s", "count" */
	double value;
	int better;			/* +1 more is better, -1 less, 0 neither */
};

struct side_fact {
	char *key, *value;
	bool counts;			/* a difference is a difference of environments (design, rule 8) */
};

struct side_run {
	char *source;			/* "base.smk, run 2" */
	char *producer;			/* "run", "lab", "sim", "import" ... */
	char *command, *version, *scenario, *scenario_text, *cell;	/* may be "" */
	bool partial;
	nsec_t length;			/* of the measured window; 0: unknown */
	VEC(struct side_series) series;
	VEC(struct side_number) numbers;
	VEC(struct side_fact) facts;
	double *load;			/* bytes/s of all loads, each second; NULL: no load was counted */
	size_t nload;
};

struct side {
	char *label;			/* the path as it was given */
	VEC(struct side_run) runs;
	VEC(char *) notes;		/* what could not be read, was clipped, was cut */
	VEC(struct { void *p; void (*done)(void *); }) owned;
};

struct side *side_new(const char *label);
void side_free(struct side *s);

struct side_run *side_run(struct side *s, const char *source, const char *producer);
struct side_series *side_series(struct side_run *r, const char *name, const char *measures);
void side_number(struct side_run *r, const char *name, const char *unit, double value, int better);
void side_fact(struct side_run *r, const char *key, const char *value, bool counts);
void side_note(struct side *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* p lives as long as the side; done: free() when NULL. Returns p. */
void *side_own(struct side *s, void *p, void (*done)(void *));

const struct side_series *side_series_find(const struct side_run *r, const char *name);
const char *side_fact_find(const struct side_run *r, const char *key);	/* NULL when absent */

/* Every run of the record is a run of the side. The record is read whole and may be closed afterwards. */
int side_add_record(struct side *s, struct rec *r, const char *name, struct err *e);

#endif

/* SPDX-License-Identifier: MIT */
/* What the files compare-*.c share: rows, differences and checks of one comparison. */
#ifndef ANALYZE_COMPARE_PARTS_H
#define ANALYZE_COMPARE_PARTS_H

#include "analyze/compare.h"
#include "base/strbuf.h"
#include "stats/comparison.h"
#include "stats/drift.h"

enum row_kind { ROW_PROBE, ROW_LOAD, ROW_NUMBER };

struct row_drift {
	bool noticed;
	size_t run, at;			/* index of the run on its side, first wait of the second part */
	nsec_t t;			/* since the run began; NSEC_NEVER: unknown */
	double p;
};

struct row {
	enum row_kind kind;
	const char *name, *unit;
	size_t side;			/* compared with side 0 */
	int better;
	nsec_t limit;
	struct comparison c;		/* ROW_PROBE */
	struct rate_comparison rate;	/* the others */
	struct row_drift drift[2];	/* the most certain one of each side */
	size_t warm[2], errors[2];
	bool clipped;
	bool felt;
};

typedef VEC(struct row) row_list;
typedef VEC(char *) text_list;

struct compared {
	struct side *const *sides;
	size_t n;
	const struct compare_conf *conf;
	row_list rows;			/* probes, then loads, then numbers; side by side */
	text_list only;			/* "cold-read: only in A" */
};

/* compare-rows.c */
void rows_make(struct compared *k);
static inline struct decision *row_decision(struct row *r)
{
	return r->kind == ROW_PROBE ? &r->c.decision : &r->rate.decision;
}

/* compare-env.c: facts that count and differ. */
struct env_difference {
	char *key, *a, *b;
	size_t side;
	bool inside;			/* differs between the runs of one side */
};
struct env_report {
	VEC(struct env_difference) p;
	size_t factors;			/* the most that any side differs in from A */
	text_list same;			/* facts that are equal on all sides, for "Same:" */
	bool simulated_against_real, lab_against_real;
};
void env_compare(const struct compared *k, struct env_report *ret);
void env_done(struct env_report *r);
int env_refuse(const struct env_report *r, const struct compare_conf *conf, struct err *e);

/* compare-check.c: figures that cannot all be true together, in words. */
void checks_make(const struct compared *k, text_list *ret);

/* compare-words.c */
char side_letter(size_t i);		/* A, B, C ... */
void words_headline(const struct compared *k, enum verdict v, enum strength s, bool felt, struct strbuf *out);
void words_row(const struct compared *k, const struct row *r, struct strbuf *out);	/* "" when there is nothing to say */

void words_number(const struct row *r, struct strbuf *out);

struct hint {
	bool known;
	double change;			/* 0.25: what the rounds would settle */
	unsigned rounds;
	nsec_t length;			/* of one run; 0: unknown */
	nsec_t in_all;
	double cv;
	bool cv_is_least;		/* from single runs: runs differ at least that much */
};
void hint_make(const struct compared *k, struct hint *ret);

/* compare-page.c */
struct page *compare_page(const struct compared *k, const struct env_report *env, const text_list *checks,
			  const struct hint *hint, struct compare_outcome *out, struct err *e);

static inline void text_list_done(text_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		free(l->p[i]);
	vec_done(l);
}

#endif

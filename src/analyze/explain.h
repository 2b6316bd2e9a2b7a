/* SPDX-License-Identifier: MIT */
/*
 * `stallmark explain`: which stalls there were, each down to its leaves and to
 * who is behind them, schema stallmark.explain/1.
 *
 * A stall is an action of a probe that took at least the threshold, or a
 * stretch of waits of any other program's thread with less than 50 ms between
 * them that sums to the threshold. Waits for input, timers and other programs
 * are none.
 */
#ifndef ANALYZE_EXPLAIN_H
#define ANALYZE_EXPLAIN_H

#include "analyze/trace.h"
#include "analyze/walk.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "page/page.h"
#include "record/record.h"

struct stall {
	nsec_t a, b;
	uint32_t tid, pid;
	const char *probe;		/* the probe whose action it was; NULL: another program */
	char operation[64];		/* "fsync"; "" unknown */
	bool open;			/* had not ended when the recording did: seconds are a lower bound */
	struct walk_node *tree;		/* not merged: intervals in order */
	double leaf_ns[LEAF_MAX];
	struct bill bill;		/* of all leaves */
	double own, nobody;		/* charged to its own process; to nobody */
	/* the answer in short: along the heaviest branch */
	const char *cause;		/* of the heaviest wait of the waiter itself; "" none */
	uint32_t class;			/* its wait class */
	enum walk_leaf leaf;		/* the heaviest leaf of all */
	uint32_t culprit;		/* pid with the largest charge besides itself; 0: nobody */
	double culprit_ns;
};

struct stalls {
	VEC(struct stall) v;		/* longest first */
	size_t found;			/* before the limit of how many are explained */
	nsec_t threshold;
};

struct explain_conf {
	int run;			/* 0: the first */
	nsec_t threshold;		/* 0: the collector's */
	int stall;			/* 1..: only this one, in full; 0: the worst few */
	const char *probe;		/* only this probe's; NULL all */
	int show;			/* how many on the screen; 0: 5 */
};

/* Stalls of the trace, each explained. Free with stalls_done(). */
void stalls_find(const struct trace *t, const struct explain_conf *c, struct stalls *ret);
void stalls_done(struct stalls *s);

/* "fsync of editor (pid 12) took 6.01 s: 6.00 s it waited for ..." */
void stall_sentence(const struct trace *t, const struct stall *s, struct strbuf *out);

int analyze_explain(struct rec *r, const struct explain_conf *c, struct page **ret, struct err *e);
/* Flame graph input: one line a path, weight in microseconds. */
int analyze_explain_folded(struct rec *r, const struct explain_conf *c, struct strbuf *out, struct err *e);
/* The JSON array format of the Chrome tracing tools, which Perfetto opens: slices, flows, counters. */
int analyze_explain_chrome(struct rec *r, const struct explain_conf *c, struct strbuf *out, struct err *e);

#endif

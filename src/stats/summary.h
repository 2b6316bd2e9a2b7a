/* SPDX-License-Identifier: MIT */
/*
 * The numbers of one probe: what `show` prints, what gates read, what the grade
 * is made of. From the waits of 1..n runs with one loop kind; no units but
 * nanoseconds and shares, no allocation left behind.
 */
#ifndef STATS_SUMMARY_H
#define STATS_SUMMARY_H

#include "stats/modes.h"
#include "stats/quantile.h"
#include "stats/stuck.h"
#include "stats/waits.h"

/* 0.1, 1 and 10 s: instant, flow of thought kept, attention kept (Miller 1968, Nielsen 1993). */
#define BANDS 3
extern const nsec_t band_limit[BANDS];

struct summary {
	size_t runs, n;		/* n counts lower bounds too */
	size_t censored;	/* of n: lower bounds, missed ones included */
	size_t missed;		/* of n: ticks never performed */
	bool open_loop;
	struct quantile usual, p75, p90, p99, p999;	/* usual = the median */
	nsec_t best, worst;
	bool worst_at_least;	/* the worst wait is a lower bound */
	size_t worst_run, worst_index;			/* of it, in runs[] and x[] */
	double mean_s;		/* seconds; a lower bound when censored > 0 */
	nsec_t limit;		/* the probe's own; 0: none, then `stuck` is unknown */
	struct stuck stuck;	/* S(limit) */
	struct stuck band[BANDS];			/* S(0.1 s), S(1 s), S(10 s) */
	double n_eff;		/* independent waits, of the logarithms */
	struct modes modes;
};

void summary_of(const struct waits *runs, size_t nruns, nsec_t limit, struct summary *ret);
/* As summary_of, for callers that have all the values ascending already. */
void summary_of_sorted(const struct waits *runs, size_t nruns, nsec_t limit, const nsec_t *sorted, struct summary *ret);

/*
 * The printed grade, from the worst interactive probe; never used to compare.
 *	A  S(0.1 s) < 1 %			you would not notice
 *	B  S(0.1 s) < 5 % and S(1 s) < 0.1 %	noticeable
 *	C  S(1 s) < 1 %				annoying
 *	D  S(1 s) < 10 %			slow
 *	E  S(1 s) < 50 % and S(10 s) < 10 %	barely usable
 *	F  more					stuck
 */
char grade_of(const double share[BANDS]);		/* 'A'..'F' */
const char *grade_word(char grade);
/* From a summary; 0 when it has no stuck shares. */
char grade_of_summary(const struct summary *s);

#endif

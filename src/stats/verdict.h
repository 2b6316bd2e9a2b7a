/* SPDX-License-Identifier: MIT */
/*
 * From tests to verdicts. Each row of a comparison (a probe, the load, a rate)
 * brings up to three tests, and gets one of five words, never a bare p:
 *
 *	BETTER	some test shows it better by the margin or more, none worse
 *	WORSE	the other way round
 *	MIXED	both
 *	SAME	every difference is shown to lie inside the margin (90 % intervals, TOST)
 *	UNCLEAR	everything else
 *
 * Many tests, no more false alarms: Holm over the rows. The three tests of a row
 * look at the same waits and mostly agree, so within a row a closed test by
 * weighted Simes (Hochberg & Liberman 1994; weights below) replaces Holm, which
 * would give away a third of the power: bench/verdicts measures both promises.
 *
 * A row of single runs needs p < alpha/5 and eight independent waits on both
 * sides; with less, but p < alpha in one direction, it is only suggestive.
 */
#ifndef STATS_VERDICT_H
#define STATS_VERDICT_H

#include <stdbool.h>
#include <stddef.h>

enum verdict { VERDICT_UNCLEAR, VERDICT_SAME, VERDICT_BETTER, VERDICT_WORSE, VERDICT_MIXED };
enum strength {
	STRENGTH_NONE,		/* one number a side: no verdict */
	STRENGTH_SUGGESTIVE,	/* of single runs, not firm */
	STRENGTH_ONE_RUN,	/* "these two runs differ" */
	STRENGTH_RUNS,
};

#define TESTS_A_ROW 3	/* the first, theta, weighs .7; the others .15 each */

struct decision {
	/* filled before decide() */
	enum strength best;		/* what the data allow: RUNS, ONE_RUN, SUGGESTIVE (order in time unknown) or NONE */
	double p[TESTS_A_ROW];		/* NAN: not a test */
	int sign[TESTS_A_ROW];		/* of the effect if it is real and at least the margin: -1 better, +1 worse, else 0 */
	bool enough;			/* eight independent waits on both sides; runs: always */
	bool inside;			/* every 90 % interval inside its margin */
	/* results */
	double adjusted[TESTS_A_ROW];	/* p after all that; NAN: not a test */
	bool shown[TESTS_A_ROW];	/* significant and at least the margin */
	enum verdict verdict;
	enum strength strength;
};

/* alpha: 0.05, or what one look may spend. */
void decide(struct decision *rows, size_t n, double alpha);

/*
 * The verdict over all rows. Firm rows count before suggestive ones. Better and
 * worse rows together (a fix that starves the load) are MIXED; SAME only if all are.
 */
void decide_overall(const struct decision *rows, size_t n, enum verdict *ret_verdict, enum strength *ret_strength);

const char *verdict_name(enum verdict v);	/* "BETTER" */
const char *strength_name(enum strength s);	/* "runs", "one-run", "suggestive"; NULL for none */

#endif

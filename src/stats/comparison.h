/* SPDX-License-Identifier: MIT */
/*
 * Two sides of one probe, or of one rate, with every number the verdict and the
 * screen need. decide() (verdict.h) turns the decisions of all rows into words.
 *
 * Three runs or more with waits on both sides: one number a run, Welch between
 * runs. Fewer: the waits of each side joined in order, long-run variance, and
 * the result speaks about these runs only.
 */
#ifndef STATS_COMPARISON_H
#define STATS_COMPARISON_H

#include "stats/effect.h"
#include "stats/share.h"
#include "stats/summary.h"
#include "stats/verdict.h"

#define RUNS_NEEDED 3

struct cmp_conf {
	nsec_t limit;		/* of the probe; 0: 1 s */
	double margin;		/* on ratios: 0.10 */
	double share_margin;	/* on shares: 0.01 */
};

enum { TEST_THETA, TEST_STUCK, TEST_TAIL };

struct comparison {
	struct summary a, b;
	size_t runs_a, runs_b;		/* with at least one wait */
	bool by_runs;
	struct effect theta;		/* P(B slower); B is quicker in 1 - est of the pairs */
	struct effect typical;		/* B/A: geometric mean of the runs, or Hodges-Lehmann of single runs */
	struct effect usual;		/* B/A of the medians; for information: with two kinds of wait a coin toss */
	struct effect stuck;		/* S(limit) B - A */
	struct effect tail;		/* B/A of quantile tail_p; of several waits a run too few: the typical wait */
	double tail_p;			/* 0.99, 0.9, 0.75; 0: no quantile is supported */
	struct share_diff over;		/* waits over the limit, B - A; for information */
	double over_a, over_b;
	double shift_rules_out_slower;	/* 0.03: B more than 3 % slower is ruled out (95 %); NAN: nothing below a doubling is */
	double shift_rules_out_quicker;	/* 0.10: B more than 10 % quicker is ruled out; NAN: as above */
	struct decision decision;
	bool felt;			/* after felt_of() */
};

void comparison_of(const struct waits *a, size_t runs_a, const struct waits *b, size_t runs_b,
		   const struct cmp_conf *conf, struct comparison *ret);

/* Would a person notice? S(limit) was shown to change by the margin, or the usual wait crossed 0.1, 1 or 10 s. */
void felt_of(struct comparison *c, double alpha);

/* A rate: MB/s of the load, files/s. One number a run; below three runs a side there is no verdict. */
struct rate_comparison {
	double a, b;			/* means over the runs */
	size_t n_a, n_b;
	struct effect ratio;		/* B/A */
	double single_cv;		/* one number a side: the variation below which it would be outside chance */
	struct decision decision;
};

/* better: +1 more is better, -1 less is better, 0 neither (no verdict, for information). */
void rates_of(const double *a, size_t n_a, const double *b, size_t n_b, int better, double margin,
	      struct rate_comparison *ret);
/* One run a side with a value each second: the means by their long-run variance. */
void rate_series_of(const double *a, size_t n_a, const double *b, size_t n_b, int better, double margin,
		    struct rate_comparison *ret);

#endif

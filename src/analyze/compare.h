/* SPDX-License-Identifier: MIT */
/*
 * `stallmark compare`: two sides or more become a page, schema
 * stallmark.compare/1. The first side is A; each other is compared with it, and
 * the correction for many tests runs over all rows of all sides.
 */
#ifndef ANALYZE_COMPARE_H
#define ANALYZE_COMPARE_H

#include "analyze/side.h"
#include "base/err.h"
#include "page/page.h"
#include "stats/gate.h"
#include "stats/verdict.h"

struct compare_conf {
	double alpha;			/* 0.05; at a look of `ab`: what it may spend */
	double margin, share_margin;	/* 0.10, 0.01 */
	bool allow_different;
	bool mail;			/* absolute seconds of every run on the screen too */
	const struct gate *gates;
	size_t ngates;
};

struct compare_outcome {
	enum verdict verdict;
	enum strength strength;
	bool felt;
	bool gate_failed;		/* a crossed limit, or `worse` */
	bool undecided;			/* UNCLEAR, or a gate that could not be answered */
};

/*
 * -EINVAL with a sentence: nothing in common, environments that differ in more than one thing (or simulated against real)
 * without allow_different, a gate on a probe that is not there.
 */
int analyze_compare(struct side *const *sides, size_t n, const struct compare_conf *conf, struct page **ret,
		    struct compare_outcome *ret_outcome, struct err *e);

#endif

/* SPDX-License-Identifier: MIT */
#include "stats/verdict.h"
#include "base/cleanup.h"
#include "base/mem.h"
#include "stats/holm.h"

#include <math.h>

#define ONE_RUN_SHARE	5	/* single runs: alpha / 5, p < .01 for the usual .05 */

static enum verdict word(bool better, bool worse)
{
	return better && worse ? VERDICT_MIXED : better ? VERDICT_BETTER : worse ? VERDICT_WORSE : VERDICT_UNCLEAR;
}

static void decide_row(struct decision *d, double alpha)
{
	bool firm = d->best == STRENGTH_RUNS || (d->best == STRENGTH_ONE_RUN && d->enough);
	double limit = d->best == STRENGTH_RUNS ? alpha : alpha / ONE_RUN_SHARE;
	bool better = false, worse = false;

	d->strength = d->best;
	for (int k = 0; k < TESTS_A_ROW; k++) {
		d->shown[k] = firm && d->adjusted[k] <= limit && d->sign[k];
		better |= d->shown[k] && d->sign[k] < 0;
		worse |= d->shown[k] && d->sign[k] > 0;
	}
	d->verdict = word(better, worse);
	if (d->verdict != VERDICT_UNCLEAR || d->best == STRENGTH_NONE)
		return;
	if (d->inside && d->enough) {
		d->verdict = VERDICT_SAME;
		return;
	}
	if (d->best == STRENGTH_RUNS)
		return;
	for (int k = 0; k < TESTS_A_ROW; k++) {
		better |= d->p[k] < alpha && d->sign[k] < 0;
		worse |= d->p[k] < alpha && d->sign[k] > 0;
	}
	if (better != worse) {
		d->verdict = word(better, worse);
		d->strength = STRENGTH_SUGGESTIVE;
	}
}

static const double weight[TESTS_A_ROW] = { 0.7, 0.15, 0.15 };

/* Weighted Simes over the tests in `set` (bits): the smallest p_(k) / (sum of the weights of the k smallest). */
static double simes(const double *p, unsigned set)
{
	unsigned order[TESTS_A_ROW], n = 0;
	double total = 0, sum = 0, best = 1;

	for (unsigned k = 0; k < TESTS_A_ROW; k++) {
		unsigned at = n;

		if (!(set >> k & 1))
			continue;
		total += weight[k];
		for (n++; at > 0 && p[order[at - 1]] > p[k]; at--)
			order[at] = order[at - 1];
		order[at] = k;
	}
	for (unsigned i = 0; i < n; i++) {
		sum += weight[order[i]] / total;
		best = MIN(best, p[order[i]] / sum);
	}
	return best;
}

/* The closed test: the largest Simes p of all sets that hold test k. */
static double closed(const double *p, unsigned all, unsigned k)
{
	double worst = 0;

	for (unsigned set = 1; set <= all; set++)
		if ((set & all) == set && (set >> k & 1))
			worst = MAX(worst, simes(p, set));
	return worst;
}

static unsigned tests_of(const struct decision *d)
{
	unsigned set = 0;

	for (unsigned k = 0; k < TESTS_A_ROW; k++)
		if (d->best != STRENGTH_NONE && !isnan(d->p[k]))
			set |= 1u << k;
	return set;
}

void decide(struct decision *rows, size_t n, double alpha)
{
	cleanup_free double *p = mem_array(n + 1, sizeof(*p)), *adjusted = mem_array(n + 1, sizeof(*adjusted));

	for (size_t i = 0; i < n; i++) {
		unsigned set = tests_of(&rows[i]);

		p[i] = set ? simes(rows[i].p, set) : NAN;
	}
	holm(p, n, adjusted);
	for (size_t i = 0; i < n; i++) {
		unsigned set = tests_of(&rows[i]);

		for (unsigned k = 0; k < TESTS_A_ROW; k++) {
			double c;

			rows[i].adjusted[k] = NAN;
			if (!(set >> k & 1))
				continue;
			/* the row's own multiple for its other tests, and never below the row */
			c = closed(rows[i].p, set, k);
			rows[i].adjusted[k] = MIN(1.0, MAX(adjusted[i], p[i] > 0 ? c * adjusted[i] / p[i] : c));
		}
		decide_row(&rows[i], alpha);
	}
}

void decide_overall(const struct decision *rows, size_t n, enum verdict *ret_verdict, enum strength *ret_strength)
{
	bool firm_better = false, firm_worse = false, better = false, worse = false, all_same = n > 0;
	enum strength weakest = STRENGTH_NONE;
	enum verdict v;

	for (size_t i = 0; i < n; i++) {
		bool b = rows[i].verdict == VERDICT_BETTER || rows[i].verdict == VERDICT_MIXED;
		bool w = rows[i].verdict == VERDICT_WORSE || rows[i].verdict == VERDICT_MIXED;
		bool firm = rows[i].strength > STRENGTH_SUGGESTIVE;

		firm_better |= b && firm;
		firm_worse |= w && firm;
		better |= b;
		worse |= w;
		all_same &= rows[i].verdict == VERDICT_SAME;
	}
	v = word(firm_better, firm_worse);
	if (v == VERDICT_UNCLEAR && better != worse) {
		*ret_verdict = word(better, worse);
		*ret_strength = STRENGTH_SUGGESTIVE;
		return;
	}
	if (v == VERDICT_UNCLEAR && all_same)
		v = VERDICT_SAME;
	/* as strong as the weakest row that carries it; without a verdict, the strongest there is */
	for (size_t i = 0; i < n; i++) {
		bool carries = v == VERDICT_SAME ||
			       (v != VERDICT_UNCLEAR && rows[i].verdict != VERDICT_UNCLEAR && rows[i].verdict != VERDICT_SAME &&
				rows[i].strength > STRENGTH_SUGGESTIVE);

		if (v == VERDICT_UNCLEAR)
			weakest = MAX(weakest, rows[i].strength);
		else if (carries)
			weakest = weakest == STRENGTH_NONE ? rows[i].strength : MIN(weakest, rows[i].strength);
	}
	*ret_verdict = v;
	*ret_strength = weakest;
}

const char *verdict_name(enum verdict v)
{
	static const char *const names[] = { "UNCLEAR", "SAME", "BETTER", "WORSE", "MIXED" };

	return names[v];
}

const char *strength_name(enum strength s)
{
	static const char *const names[] = { NULL, "suggestive", "one-run", "runs" };

	return names[s];
}

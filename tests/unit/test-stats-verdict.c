/* SPDX-License-Identifier: MIT */
#include "unit.h"

#include "base/rng.h"
#include "stats/comparison.h"
#include "stats/verdict.h"

#include <math.h>

#define RUNS	5
#define WAITS	200

static nsec_t store[2][RUNS][WAITS];

static double inside = 0.5;	/* spread of the waits of one run */

static void fill(uint64_t seed, double scale, double between, struct waits *w, nsec_t (*x)[WAITS])
{
	struct rng r;

	rng_seed(&r, seed);
	for (int i = 0; i < RUNS; i++) {
		double level = scale * exp(between * rng_normal(&r));

		for (int k = 0; k < WAITS; k++)
			x[i][k] = nsec_from_seconds(level * exp(inside * rng_normal(&r)));
		w[i] = (struct waits){ .x = x[i], .n = WAITS, .pause = NSEC_PER_SEC };
	}
}

static const struct cmp_conf conf = { .limit = NSEC_PER_SEC, .margin = 0.10, .share_margin = 0.01 };

static void judge(double scale, double between, int runs, struct comparison *c)
{
	struct waits a[RUNS], b[RUNS];

	fill(1, 1, between, a, store[0]);
	fill(2, scale, between, b, store[1]);
	comparison_of(a, runs, b, runs, &conf, c);
	decide(&c->decision, 1, 0.05);
	felt_of(c, 0.05);
}

static void runs_give_each_of_the_plain_verdicts(void **state)
{
	struct comparison c;

	judge(0.3, 0.1, RUNS, &c);
	assert_int_equal(c.decision.verdict, VERDICT_BETTER);
	assert_int_equal(c.decision.strength, STRENGTH_RUNS);
	assert_true(c.felt);
	judge(3, 0.1, RUNS, &c);
	assert_int_equal(c.decision.verdict, VERDICT_WORSE);
	judge(1, 0.3, RUNS, &c);
	assert_int_equal(c.decision.verdict, VERDICT_UNCLEAR);
	/* waits far below the limit and steady runs: shown to be the same */
	struct waits a[RUNS], b[RUNS];

	inside = 0.1;
	fill(3, 0.01, 0.005, a, store[0]);
	fill(4, 0.01, 0.005, b, store[1]);
	inside = 0.5;
	comparison_of(a, RUNS, b, RUNS, &conf, &c);
	decide(&c.decision, 1, 0.05);
	assert_int_equal(c.decision.verdict, VERDICT_SAME);
}

static void complete_separation_is_left_to_the_quantile_ratio(void **state)
{
	struct comparison c;

	judge(100, 0.1, RUNS, &c);
	assert_true(c.theta.no_spread);
	assert_true(isnan(c.decision.p[TEST_THETA]));
	assert_int_equal(c.decision.verdict, VERDICT_WORSE);
	/* separated, but by less than the margin: not worse */
	struct waits a[RUNS], b[RUNS];

	for (int i = 0; i < RUNS; i++)
		for (int k = 0; k < WAITS; k++) {
			store[0][i][k] = 10000000 + (i * 7 + k * 13) % 100 * 100;
			store[1][i][k] = 10200000 + (i * 5 + k * 17) % 100 * 100;
		}
	for (int i = 0; i < RUNS; i++) {
		a[i] = (struct waits){ .x = store[0][i], .n = WAITS, .pause = NSEC_PER_SEC };
		b[i] = (struct waits){ .x = store[1][i], .n = WAITS, .pause = NSEC_PER_SEC };
	}
	comparison_of(a, RUNS, b, RUNS, &conf, &c);
	decide(&c.decision, 1, 0.05);
	assert_true(c.theta.est == 1);
	assert_int_equal(c.decision.verdict, VERDICT_SAME);
}

static void fewer_than_three_runs_speak_about_themselves_only(void **state)
{
	struct comparison c;

	judge(0.3, 0.1, 2, &c);
	assert_false(c.by_runs);
	assert_int_equal(c.decision.verdict, VERDICT_BETTER);
	assert_int_equal(c.decision.strength, STRENGTH_ONE_RUN);
}

static void buckets_without_order_are_suggestive_at_most(void **state)
{
	struct waits a[1], b[1];
	struct comparison c;

	fill(1, 1, 0, (struct waits[RUNS]){ 0 }, store[0]);
	fill(2, 0.1, 0, (struct waits[RUNS]){ 0 }, store[1]);
	a[0] = (struct waits){ .x = store[0][0], .n = WAITS, .no_cycle = true, .unordered = true };
	b[0] = (struct waits){ .x = store[1][0], .n = WAITS, .no_cycle = true, .unordered = true };
	comparison_of(a, 1, b, 1, &conf, &c);
	decide(&c.decision, 1, 0.05);
	assert_int_equal(c.decision.verdict, VERDICT_BETTER);
	assert_int_equal(c.decision.strength, STRENGTH_SUGGESTIVE);
	assert_false(c.stuck.known);	/* and no stuck share out of nothing */
}

static void nothing_or_one_wait_is_no_ground_for_a_verdict(void **state)
{
	nsec_t x = NSEC_PER_SEC;
	struct waits one = { .x = &x, .n = 1, .pause = NSEC_PER_SEC }, none = { .x = NULL, .n = 0 };
	struct comparison c;

	comparison_of(NULL, 0, NULL, 0, &conf, &c);
	decide(&c.decision, 1, 0.05);
	assert_int_equal(c.decision.verdict, VERDICT_UNCLEAR);
	assert_int_equal(c.decision.strength, STRENGTH_NONE);
	comparison_of(&one, 1, &one, 1, &conf, &c);
	assert_false(c.theta.known);
	comparison_of(&none, 1, &one, 1, &conf, &c);
	assert_int_equal(c.runs_a, 0);
	assert_int_equal(c.runs_b, 1);
}

static struct decision row(double p0, double p1, double p2, int sign)
{
	return (struct decision){ .best = STRENGTH_RUNS, .enough = true, .p = { p0, p1, p2 }, .sign = { sign, sign, sign } };
}

static void many_rows_need_smaller_p(void **state)
{
	struct decision d[10];

	for (int i = 0; i < 10; i++)
		d[i] = row(0.5, 0.6, 0.7, -1);
	d[3] = row(0.02, 0.6, 0.7, -1);
	decide(d, 10, 0.05);
	assert_int_equal(d[3].verdict, VERDICT_UNCLEAR);
	d[3] = row(0.02, 0.6, 0.7, -1);
	decide(&d[3], 1, 0.05);
	assert_int_equal(d[3].verdict, VERDICT_BETTER);
	assert_true(d[3].shown[0] && !d[3].shown[1]);
	/* the three tests of a row agree: Simes lets them support each other */
	d[0] = row(0.045, 0.04, 0.03, 1);
	decide(d, 1, 0.05);
	assert_int_equal(d[0].verdict, VERDICT_WORSE);
	assert_true(d[0].shown[0] && d[0].shown[1] && d[0].shown[2]);
	/* adjusted p never undercut the plain ones */
	for (int k = 0; k < TESTS_A_ROW; k++)
		assert_true(d[0].adjusted[k] >= d[0].p[k]);
}

static void a_fix_that_starves_the_load_is_mixed(void **state)
{
	struct decision d[2] = { row(1e-5, 1e-5, 1e-5, -1), row(1e-5, NAN, NAN, 1) };
	enum strength s;
	enum verdict v;

	decide(d, 2, 0.05);
	decide_overall(d, 2, &v, &s);
	assert_int_equal(v, VERDICT_MIXED);
	assert_int_equal(s, STRENGTH_RUNS);
	d[1].best = STRENGTH_NONE;	/* one number a side: no say */
	decide(d, 2, 0.05);
	decide_overall(d, 2, &v, &s);
	assert_int_equal(v, VERDICT_BETTER);
	decide_overall(d, 0, &v, &s);
	assert_int_equal(v, VERDICT_UNCLEAR);
}

static void rates_of_single_runs_give_no_verdict(void **state)
{
	struct rate_comparison r;
	double a[] = { 307.288 }, b[] = { 278.587 }, a5[] = { 100, 101, 99, 100, 102 }, b5[] = { 80, 81, 79, 80, 82 };

	rates_of(a, 1, b, 1, 1, 0.10, &r);
	assert_int_equal(r.decision.best, STRENGTH_NONE);
	assert_float_equal(r.single_cv, 0.0354, 0.0001);
	rates_of(a5, 5, b5, 5, 1, 0.10, &r);
	decide(&r.decision, 1, 0.05);
	assert_int_equal(r.decision.verdict, VERDICT_WORSE);
	rates_of(a5, 5, b5, 5, -1, 0.10, &r);
	decide(&r.decision, 1, 0.05);
	assert_int_equal(r.decision.verdict, VERDICT_BETTER);
	rates_of(a5, 5, b5, 5, 0, 0.10, &r);
	assert_int_equal(r.decision.best, STRENGTH_NONE);
	a5[0] = 0;
	rates_of(a5, 5, b5, 5, 1, 0.10, &r);	/* a run with a rate of zero has no logarithm */
	assert_false(r.ratio.known);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(runs_give_each_of_the_plain_verdicts),
		cmocka_unit_test(complete_separation_is_left_to_the_quantile_ratio),
		cmocka_unit_test(fewer_than_three_runs_speak_about_themselves_only),
		cmocka_unit_test(buckets_without_order_are_suggestive_at_most),
		cmocka_unit_test(nothing_or_one_wait_is_no_ground_for_a_verdict),
		cmocka_unit_test(many_rows_need_smaller_p),
		cmocka_unit_test(a_fix_that_starves_the_load_is_mixed),
		cmocka_unit_test(rates_of_single_runs_give_no_verdict),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

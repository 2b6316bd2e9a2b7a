/* SPDX-License-Identifier: MIT */
/* Holm, looks, planning, gates and the histogram. */
#include "unit.h"

#include "base/cleanup.h"
#include "base/rng.h"
#include "stats/gate.h"
#include "stats/hist.h"
#include "stats/holm.h"
#include "stats/looks.h"
#include "stats/plan.h"
#include "stats/quantile.h"
#include "stats/sort.h"

#include <errno.h>
#include <math.h>
#include <string.h>

static void holm_adjusts_in_order_and_skips_what_is_no_test(void **state)
{
	double p[] = { 0.01, 0.04, NAN, 0.03, 0.005 }, a[5];

	holm(p, 5, a);
	assert_float_equal(a[4], 0.02, 1e-12);
	assert_float_equal(a[0], 0.03, 1e-12);
	assert_float_equal(a[3], 0.06, 1e-12);
	assert_float_equal(a[1], 0.06, 1e-12);	/* never below the one before it */
	assert_true(isnan(a[2]));
	holm(p, 0, a);
	holm((double[]){ 0.9, 0.8 }, 2, a);
	assert_float_equal(a[0], 1, 1e-12);
}

static void looks_are_fixed(void **state)
{
	assert_true(look_is_due(5) && look_is_due(10) && look_is_due(20));
	assert_false(look_is_due(4) || look_is_due(6) || look_is_due(0));
	assert_int_equal(look_next(0), 5);
	assert_int_equal(look_next(5), 10);
	assert_int_equal(look_next(12), 20);
	assert_int_equal(look_next(20), 0);
	assert_float_equal(look_alpha(0.05), 0.022, 1e-12);
}

static void plans_agree_with_the_simulated_table(void **state)
{
	/* runs a side, 80 % power, two-sided 5 %, found by simulation; the largest are rounded there */
	static const double change[] = { 0.05, 0.10, 0.25, 0.50, 1.0 };
	static const struct { double cv; unsigned n[5]; } row[] = {
		{ 0.02, { 4, 3, 2, 2, 2 } }, { 0.05, { 18, 6, 3, 2, 2 } }, { 0.10, { 67, 19, 5, 3, 2 } },
		{ 0.20, { 260, 69, 14, 5, 3 } }, { 0.30, { 570, 150, 29, 10, 5 } },
	};

	for (size_t i = 0; i < ARRAY_SIZE(row); i++)
		for (int k = 0; k < 5; k++) {
			unsigned n = plan_runs(row[i].cv, change[k], 0.05, 0.8), want = row[i].n[k];

			assert_in_range(n, want - want / 60, want + want / 60);
		}
	assert_int_equal(plan_runs(0, 0.1, 0.05, 0.8), 2);
	assert_int_equal(plan_runs(0.1, 0, 0.05, 0.8), 0);
	assert_int_equal(plan_runs(NAN, 0.1, 0.05, 0.8), 0);
	assert_int_equal(plan_runs(5, 0.01, 0.05, 0.8), 0);
}

static void longer_runs_are_advised_when_waits_vary_more_than_runs(void **state)
{
	struct plan_variance v;
	double y[] = { 1.0, 1.2, 0.8, 1.1 }, se2[] = { 0.01, 0.01, 0.01, 0.01 };

	plan_variance(y, se2, 4, 60, &v);
	assert_float_equal(v.within, 0.6, 1e-12);
	assert_float_equal(v.between, 0.0875 / 3 - 0.01, 1e-12);
	assert_float_equal(plan_waits(&v, 1, 30), sqrt(30 * v.within / v.between), 1e-9);
	v.between = 0;
	assert_true(isinf(plan_waits(&v, 1, 30)));
	plan_variance(NULL, NULL, 0, 60, &v);
}

static void gates_are_read_and_mistakes_explained(void **state)
{
	static const char *const bad[] = { "", "better", "fsync.stuck", "fsync > 5%", ".stuck > 5%", "fsync.stcuk > 5%",
					   "fsync.stuck >", "fsync.stuck => 5%", "fsync.stuck > 5ms", "fsync.p99 > 5",
					   "fsync.n > 5%", "fsync.p99 > nan", "fsync. > 5ms" };
	struct err e = { 0 };
	struct gate g;

	assert_int_equal(gate_parse("editor-save.stuck > 5%", &g, &e), 0);
	assert_string_equal(g.probe, "editor-save");
	assert_true(g.metric == GATE_STUCK && g.op == GATE_GT && !g.worse);
	assert_float_equal(g.value, 0.05, 1e-12);
	assert_int_equal(gate_parse("  wal@usb.2.p99<=10ms ", &g, &e), 0);
	assert_string_equal(g.probe, "wal@usb.2");
	assert_true(g.metric == GATE_P99 && g.op == GATE_LE);
	assert_float_equal(g.value, 0.01, 1e-12);
	assert_int_equal(gate_parse(" worse ", &g, &e), 0);
	assert_true(g.worse);
	assert_int_equal(gate_parse("tick.missed == 0", &g, &e), 0);
	assert_true(g.op == GATE_EQ && g.metric == GATE_MISSED);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_equal(gate_parse(bad[i], &g, &e), -EINVAL);
	assert_int_equal(gate_parse("fsync.stuk > 5%", &g, &e), -EINVAL);
	assert_non_null(strstr(e.msg, "did you mean 'stuck'"));
}

static void a_lower_bound_decides_only_what_holds_for_all_above_it(void **state)
{
	struct summary s = { .n = 20, .p99 = { .known = true, .at_least = true, .value = 8 * NSEC_PER_MSEC } };
	struct gate_result r;
	struct gate g;

	gate_parse("x.p99 < 10ms", &g, NULL);
	gate_test(&g, &s, &r);
	assert_int_equal(r.answer, GATE_UNKNOWN);
	assert_true(r.at_least);
	gate_parse("x.p99 < 5ms", &g, NULL);
	gate_test(&g, &s, &r);
	assert_int_equal(r.answer, GATE_FALSE);
	gate_parse("x.p99 > 5ms", &g, NULL);
	gate_test(&g, &s, &r);
	assert_int_equal(r.answer, GATE_TRUE);
	gate_parse("x.p99 > 10ms", &g, NULL);
	gate_test(&g, &s, &r);
	assert_int_equal(r.answer, GATE_UNKNOWN);
	s.p99.at_least = false;
	gate_test(&g, &s, &r);
	assert_int_equal(r.answer, GATE_FALSE);
	gate_parse("x.stuck > 1%", &g, NULL);
	gate_test(&g, &s, &r);		/* the probe has no limit */
	assert_int_equal(r.answer, GATE_UNKNOWN);
}

static void histogram_has_the_layout_of_hdr(void **state)
{
	struct hist h;

	hist_init(&h, 3);
	assert_int_equal(h.buckets, 29696);
	for (size_t i = 0; i < h.buckets; i++) {
		assert_int_equal(hist_index(&h, hist_bucket_lo(&h, i)), i);
		assert_int_equal(hist_index(&h, hist_bucket_hi(&h, i)), i);
		if (i)
			assert_int_equal(hist_bucket_lo(&h, i), hist_bucket_hi(&h, i - 1) + 1);
	}
	assert_true(hist_bucket_hi(&h, h.buckets - 1) >= HIST_HIGHEST);
	hist_done(&h);
}

static void histogram_quantiles_are_within_a_thousandth_and_never_above_the_maximum(void **state)
{
	enum { N = 20000 };
	static nsec_t x[N];
	struct hist h, k;
	struct rng r;

	hist_init(&h, 3);
	hist_init(&k, 3);
	rng_seed(&r, 7);
	for (int i = 0; i < N; i++) {
		x[i] = (nsec_t)(1e6 * exp(3 * rng_normal(&r)));
		hist_add(i % 2 ? &h : &k, x[i], 1);
	}
	hist_merge(&h, &k);
	sort_nsec(x, N);
	assert_int_equal(h.n, N);
	assert_int_equal(h.max, x[N - 1]);
	assert_int_equal(h.min, x[0]);
	for (double p = 0.01; p <= 1; p += 0.01) {
		nsec_t want = x[quantile_rank(N, p) - 1], got = hist_quantile(&h, p);

		assert_true(got >= want && got <= MAX((nsec_t)((double)want * 1.001), want + 512) && got <= h.max);
	}
	hist_clear(&h);
	assert_int_equal(hist_quantile(&h, 0.5), 0);
	hist_add(&h, -5, 1);
	hist_add(&h, 48 * 3600 * NSEC_PER_SEC, 2);
	hist_add(&h, 5, 0);
	assert_int_equal(h.n, 3);
	assert_int_equal(h.clipped, 2);
	assert_int_equal(hist_quantile(&h, 0.99), 48 * 3600 * NSEC_PER_SEC);
	assert_float_equal(hist_share_over(&h, NSEC_PER_SEC), 2.0 / 3, 1e-12);
	hist_done(&h);
	hist_done(&k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(holm_adjusts_in_order_and_skips_what_is_no_test),
		cmocka_unit_test(looks_are_fixed),
		cmocka_unit_test(plans_agree_with_the_simulated_table),
		cmocka_unit_test(longer_runs_are_advised_when_waits_vary_more_than_runs),
		cmocka_unit_test(gates_are_read_and_mistakes_explained),
		cmocka_unit_test(a_lower_bound_decides_only_what_holds_for_all_above_it),
		cmocka_unit_test(histogram_has_the_layout_of_hdr),
		cmocka_unit_test(histogram_quantiles_are_within_a_thousandth_and_never_above_the_maximum),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

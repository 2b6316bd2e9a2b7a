/* SPDX-License-Identifier: MIT */
#include "unit.h"
#include "vectors.h"

#include "base/cleanup.h"
#include "base/rng.h"
#include "stats/drift.h"
#include "stats/effect.h"
#include "stats/placement.h"
#include "stats/quantile.h"
#include "stats/share.h"
#include "stats/shift.h"
#include "stats/sort.h"
#include "stats/special.h"
#include "stats/stuck.h"

#include <string.h>

static void theta_of(const nsec_t *a, size_t na, const nsec_t *b, size_t nb, struct effect *ret)
{
	cleanup_free uint32_t *oa = mem_array(na, 4), *ob = mem_array(nb, 4);
	cleanup_free nsec_t *sa = sort_copy(a, na), *sb = sort_copy(b, nb);
	cleanup_free double *ya = mem_array(na, 8), *yb = mem_array(nb, 8);

	sort_order(a, na, oa);
	sort_order(b, nb, ob);
	placement_scores(a, oa, na, sb, nb, ya);
	placement_scores(b, ob, nb, sa, na, yb);
	effect_theta_series(ya, na, yb, nb, ret);
}

static struct share exceeds(const nsec_t *x, size_t n, nsec_t w)
{
	cleanup_free double *s = mem_array(n, 8);
	struct longrun l;

	for (size_t i = 0; i < n; i++)
		s[i] = x[i] > w;
	longrun(s, n, &l);
	return share_wilson(l.mean, l.n_eff);
}

static void published_single_runs_give_the_expected_digits(void **state)
{
	json_t *all = vectors_load();

	for (int i = 0; i < VECTORS; i++) {
		const json_t *set = json_object_get(all, vector_names[i]), *ci, *over, *v;
		size_t na, nb;
		cleanup_free nsec_t *a = vector_waits(set, "a", &na), *b = vector_waits(set, "b", &nb);
		struct effect e;
		struct shift h;
		const char *key;

		theta_of(a, na, b, nb, &e);
		assert_near(e.est, vector_number(set, "theta"));
		assert_near(e.se, vector_number(set, "se"));
		assert_near(e.df, vector_number(set, "df"));
		assert_near(e.t, vector_number(set, "t"));
		assert_near(e.p, vector_number(set, "p"));
		assert_near(e.n_a, vector_number(set, "neff_a"));
		assert_near(e.n_b, vector_number(set, "neff_b"));
		shift_of(a, na, b, nb, &h);
		assert_near(h.ratio, vector_number(set, "hl_ratio"));
		ci = json_object_get(set, "hl_ci95");
		assert_near(h.lo, json_number_value(json_array_get(ci, 0)));
		assert_near(h.hi, json_number_value(json_array_get(ci, 1)));
		over = json_object_get(set, "share_over");
		json_object_foreach((json_t *)over, key, v) {
			nsec_t w = nsec_from_seconds(atof(key));
			struct share sa = exceeds(a, na, w), sb = exceeds(b, nb, w);
			struct share_diff d = share_newcombe(sa, sb);

			assert_near(sa.p, vector_number(v, "a"));
			assert_near(sb.p, vector_number(v, "b"));
			assert_near(d.diff, vector_number(v, "diff"));
			assert_near(d.lo, vector_number(v, "lo"));
			assert_near(d.hi, vector_number(v, "hi"));
		}
	}
	json_decref(all);
}

#define RUNS	5
#define WAITS	40

/* the generator that the vectors' note describes */
static void generate(uint64_t seed, double mult, nsec_t run[RUNS][WAITS])
{
	uint64_t s = seed;

	for (int r = 0; r < RUNS; r++) {
		double re, prev = 0.5;

		s = (1103515245 * s + 12345) % (UINT64_C(1) << 31);
		re = exp(0.2 * (((double)s + 0.5) / 2147483648.0 - 0.5));
		for (int i = 0; i < WAITS; i++) {
			s = (1103515245 * s + 12345) % (UINT64_C(1) << 31);
			prev = 0.5 * prev + 0.5 * (((double)s + 0.5) / 2147483648.0);
			run[r][i] = (nsec_t)(1e12 * mult * re * exp(4 * (prev - 0.5)) + 0.5);
		}
	}
}

static void several_runs_give_the_expected_digits(void **state)
{
	json_t *all = vectors_load(), *ci;
	const json_t *set = json_object_get(all, "_multi_run_lcg");
	static nsec_t a[RUNS][WAITS], b[RUNS][WAITS];
	nsec_t *pa, *pb;
	double ya[RUNS], yb[RUNS];
	struct effect e;

	generate(1, 1, a);
	generate(2, 0.7, b);
	pa = sort_copy(a[0], RUNS * WAITS);
	pb = sort_copy(b[0], RUNS * WAITS);
	for (int r = 0; r < RUNS; r++) {
		sort_nsec(a[r], WAITS);
		sort_nsec(b[r], WAITS);
		ya[r] = placement_mean(a[r], WAITS, pb, RUNS * WAITS);
		yb[r] = placement_mean(b[r], WAITS, pa, RUNS * WAITS);
	}
	effect_theta_runs(ya, RUNS, yb, RUNS, &e);
	assert_near(e.est, vector_number(set, "theta"));
	assert_near(e.t, vector_number(set, "t"));
	assert_near(e.df, vector_number(set, "df"));
	assert_near(e.p, vector_number(set, "p"));
	for (int r = 0; r < RUNS; r++) {
		ya[r] = log((double)a[r][quantile_rank(WAITS, 0.9) - 1]);
		yb[r] = log((double)b[r][quantile_rank(WAITS, 0.9) - 1]);
	}
	effect_runs(ya, RUNS, yb, RUNS, &e);
	effect_exp(&e);
	ci = json_object_get(set, "p90_ci95");
	assert_near(e.est, vector_number(set, "p90_ratio"));
	assert_near(e.lo, json_number_value(json_array_get(ci, 0)));
	assert_near(e.hi, json_number_value(json_array_get(ci, 1)));
	free(pa);
	free(pb);
	json_decref(all);
}

static void the_vanilla_ext3_run_changed_half_way(void **state)
{
	json_t *all = vectors_load();
	size_t n;
	nsec_t *x = vector_waits(json_object_get(all, "ext3"), "a", &n);
	struct drift d;

	drift_of(x, n, &d);
	assert_true(d.noticed);
	assert_int_equal(d.at, 13);
	assert_true(d.p > 0.0145 && d.p < 0.0155);
	free(x);
	x = vector_waits(json_object_get(all, "xfs"), "b", &n);
	drift_of(x, n, &d);
	assert_false(d.noticed);
	drift_of(x, 0, &d);
	assert_false(d.noticed);
	free(x);
	json_decref(all);
}

static void no_spread_is_separation_or_identity(void **state)
{
	double lo[5] = { 0 }, hi[5] = { 1, 1, 1, 1, 1 }, same[5] = { 3, 3, 3, 3, 3 };
	struct effect e;

	effect_theta_runs(lo, 5, hi, 5, &e);
	assert_true(e.no_spread);
	assert_near(e.p, 2.0 / 252);
	effect_theta_runs(lo, 3, hi, 3, &e);
	assert_near(e.p, 0.1);
	effect_runs(same, 5, same, 5, &e);
	assert_true(e.no_spread && effect_within(&e, 1e-9));
	assert_near(e.p, 1);
	effect_runs(same, 1, same, 5, &e);
	assert_false(e.known);
	effect_runs(same, 0, same, 0, &e);
	assert_false(e.known);
	effect_runs((double[]){ 1, NAN }, 2, same, 2, &e);
	assert_false(e.known);
	effect_series(same, 1, same, 1, &e);
	assert_near(e.p, 1);
	effect_theta_series(lo, 1, hi, 1, &e);
	assert_near(e.p, 1);	/* one wait against one says nothing */
}

static void one_number_a_side_tells_the_variation_it_would_need(void **state)
{
	assert_true(fabs(effect_single_cv(307.288, 278.587) - 0.0354) < 0.0001);	/* fs_mark, "3.5 %" */
	assert_true(fabs(effect_single_cv(249, 482) - 0.238) < 0.001);			/* tar, "24 %" */
	assert_true(isnan(effect_single_cv(0, 1)));
}

static void special_functions_agree_with_printed_tables(void **state)
{
	/* Abramowitz & Stegun, tables 26.10 and 26.1 */
	assert_near(t_quantile(0.975, 1), 12.7062047361747);
	assert_near(t_quantile(0.975, 10), 2.2281388519649);
	assert_near(t_quantile(0.025, 10), -2.2281388519649);
	assert_near(t_quantile(0.95, 4), 2.1318467863266);
	assert_near(normal_quantile(0.975), 1.9599639845401);
	assert_near(normal_quantile(0.5), 0);
	assert_near(t_two_sided(0, 3), 1);
	assert_near(t_two_sided(INFINITY, 3), 0);
	assert_near(beta_inc(2, 3, 0.5), 0.6875);
	assert_near(beta_inc(0.5, 0.5, 0.25), 1.0 / 3);
	assert_true(isnan(t_two_sided(NAN, 3)) && isnan(t_quantile(0, 3)) && isnan(beta_inc(0, 1, 0.5)));
	for (double df = 1; df < 200; df *= 1.7)
		for (double p = 0.001; p < 0.5; p *= 1.9)
			assert_near(t_two_sided(t_quantile(p, df), df) / 2, p);
}

static void shares_at_the_ends_stay_shares(void **state)
{
	struct share s = share_wilson(0, 23), t = share_wilson(1, 23);

	assert_near(s.lo, 0);
	assert_near(s.hi, 0.14311662038507353);
	assert_near(t.lo, 1 - s.hi);
	assert_near(t.hi, 1);
	s = share_wilson(0, 0);
	assert_near(s.hi, 1);
}

static void random_walks_count_as_few_waits(void **state)
{
	double s[1000] = { 0 };
	struct longrun l;
	struct rng r;

	rng_seed(&r, 1);
	for (int i = 1; i < 1000; i++)
		s[i] = s[i - 1] + rng_normal(&r);
	longrun(s, 1000, &l);
	assert_true(l.n_eff < 40 && l.tau > 25 && l.df >= 2);
	longrun(s, 0, &l);
	assert_near(l.n_eff, 0);
	longrun(s, 1, &l);
	assert_near(l.n_eff, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(published_single_runs_give_the_expected_digits),
		cmocka_unit_test(several_runs_give_the_expected_digits),
		cmocka_unit_test(the_vanilla_ext3_run_changed_half_way),
		cmocka_unit_test(no_spread_is_separation_or_identity),
		cmocka_unit_test(one_number_a_side_tells_the_variation_it_would_need),
		cmocka_unit_test(special_functions_agree_with_printed_tables),
		cmocka_unit_test(shares_at_the_ends_stay_shares),
		cmocka_unit_test(random_walks_count_as_few_waits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

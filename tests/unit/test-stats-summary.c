/* SPDX-License-Identifier: MIT */
#include "unit.h"
#include "vectors.h"

#include "base/cleanup.h"
#include "stats/sort.h"
#include "stats/summary.h"

#include <string.h>

#define S(x) ((nsec_t)((x) * 1e9 + 0.5))

static void published_quantiles_have_the_expected_limits(void **state)
{
	json_t *all = vectors_load();

	for (int i = 0; i < VECTORS; i++) {
		const json_t *set = json_object_get(all, vector_names[i]);

		for (int side = 0; side < 2; side++) {
			const char *key = side ? "b" : "a";
			size_t n;
			cleanup_free nsec_t *x = vector_waits(set, key, &n);
			struct waits w = { .x = x, .n = n, .pause = NSEC_PER_SEC };
			struct summary s;

			summary_of(&w, 1, NSEC_PER_SEC, &s);
			for (int p = 0; p < 2; p++) {
				const json_t *want = json_object_get(json_object_get(json_object_get(set, "quantiles"),
									p ? "0.9" : "0.5"), key);
				const struct quantile *q = p ? &s.p90 : &s.usual;

				assert_near(nsec_seconds(q->value), json_number_value(json_array_get(want, 0)));
				assert_int_equal(q->has_lo, !json_is_null(json_array_get(want, 1)));
				if (q->has_lo)
					assert_near(nsec_seconds(q->lo), json_number_value(json_array_get(want, 1)));
				assert_int_equal(q->has_hi, !json_is_null(json_array_get(want, 2)));
				if (q->has_hi)
					assert_near(nsec_seconds(q->hi), json_number_value(json_array_get(want, 2)));
				assert_near(q->tau, json_number_value(json_array_get(want, 3)));
			}
			assert_true(s.p90.at_least);	/* 23 waits cannot bound "1 in 10" */
			for (int b = 0; b < BANDS; b++) {
				static const char *const band[] = { "0.1", "1.0", "10.0" };
				const json_t *m = json_object_get(json_object_get(set, "moment_over"), band[b]);

				assert_near(s.band[b].share, vector_number(m, key));
			}
			assert_int_equal(s.modes.two, !strcmp(vector_names[i], "ext4"));
		}
	}
	json_decref(all);
}

static void no_waits_give_nothing_known(void **state)
{
	struct summary s;

	summary_of(NULL, 0, NSEC_PER_SEC, &s);
	assert_int_equal(s.n, 0);
	assert_false(s.usual.known);
	assert_false(s.stuck.known);
	assert_int_equal(grade_of_summary(&s), 0);
	assert_false(s.modes.two);
}

static void one_wait_is_a_lower_bound_of_everything(void **state)
{
	nsec_t x = S(2);
	struct waits w = { .x = &x, .n = 1, .pause = S(1) };
	struct summary s;

	summary_of(&w, 1, S(1), &s);
	assert_true(s.usual.known && s.usual.at_least && s.p99.at_least);
	assert_int_equal(s.usual.value, S(2));
	assert_int_equal(s.worst, S(2));
	assert_false(s.worst_at_least);
	assert_near(s.stuck.share, 1.0 / 3);
}

static void equal_waits_have_no_spread_and_no_kinds(void **state)
{
	nsec_t x[50];
	struct waits w = { .x = x, .n = 50 };
	struct summary s;

	for (int i = 0; i < 50; i++)
		x[i] = S(0.25);
	summary_of(&w, 1, S(1), &s);
	assert_false(s.usual.at_least || s.p90.at_least);
	assert_true(s.p99.at_least);
	assert_int_equal(s.p90.value, S(0.25));
	assert_near(s.n_eff, 50);
	assert_near(s.stuck.share, 0);
	assert_false(s.modes.two);
	assert_int_equal(grade_of_summary(&s), 'C');	/* S(0.1 s) is 60 %, S(1 s) is 0 */
}

static void a_freeze_fills_the_open_loop_with_sixty_ticks(void **state)
{
	nsec_t x[1200];
	struct waits w = { .x = x, .n = 1200, .open_loop = true };
	struct summary s;

	/* 60 s at 20/s; a 3 s freeze: responses of 3.00, 2.95 ... 0.05 s */
	for (int i = 0; i < 1200; i++)
		x[i] = i >= 400 && i < 460 ? S(3) - (i - 400) * S(0.05) : S(0.001);
	summary_of(&w, 1, S(0.1), &s);
	assert_near(s.stuck.share, 58.0 / 1200);	/* 0.10 and 0.05 s are not over 0.1 s */
	assert_int_equal(s.worst, S(3));
	assert_int_equal(s.worst_index, 400);
}

static void lower_bounds_count_and_no_quantile_rests_on_them(void **state)
{
	nsec_t x[100];
	uint8_t kind[100];
	struct waits w = { .x = x, .kind = kind, .n = 100, .open_loop = true };
	struct summary s;

	for (int i = 0; i < 100; i++) {
		x[i] = S(0.01) + i * 37 % 100 * 1000;
		kind[i] = i >= 70 ? (i >= 90 ? WAIT_MISSED : WAIT_LOWER) : WAIT_EXACT;
	}
	x[99] = S(5);
	summary_of(&w, 1, S(1), &s);
	assert_int_equal(s.n, 100);
	assert_int_equal(s.censored, 30);
	assert_int_equal(s.missed, 10);
	assert_true(s.worst_at_least);
	assert_int_equal(s.worst, S(5));
	assert_false(s.usual.at_least);
	assert_true(s.p90.at_least && s.p90.censored);
	assert_near(s.stuck.share, 0.01);
	/* one wait in flight among a thousand short ones moves no quantile */
	nsec_t y[1000];
	uint8_t k2[1000] = { 0 };

	for (int i = 0; i < 1000; i++)
		y[i] = S(0.01) + i * 377 % 1000 * 1000;
	k2[3] = WAIT_LOWER;
	w = (struct waits){ .x = y, .kind = k2, .n = 1000, .open_loop = true };
	summary_of(&w, 1, S(1), &s);
	assert_false(s.usual.at_least || s.p90.at_least);
	assert_false(s.worst_at_least);
}

static void quantiles_never_pass_the_maximum(void **state)
{
	nsec_t x[7] = { 5, 3, 9, 1, 7, 2, 8 };
	struct waits w = { .x = x, .n = 7, .open_loop = true };
	struct summary s;

	summary_of(&w, 1, 0, &s);
	assert_int_equal(s.p999.value, 9);
	assert_int_equal(s.usual.value, 5);
	assert_false(s.stuck.known);	/* no limit, no stuck share */
	assert_int_equal(quantile_need(0.5), 6);
	assert_int_equal(quantile_need(0.75), 13);
	assert_int_equal(quantile_need(0.9), 36);
	assert_int_equal(quantile_need(0.95), 72);
	assert_int_equal(quantile_need(0.99), 368);
	assert_int_equal(quantile_need(0.999), 3688);
	assert_int_equal(quantile_need(0.9999), 36887);
}

static void the_grade_table_is_the_printed_one(void **state)
{
	static const struct { double s[BANDS]; char g; } row[] = {
		{ { 0.009, 0, 0 }, 'A' }, { { 0.04, 0.0009, 0 }, 'B' }, { { 0.04, 0.002, 0 }, 'C' },
		{ { 0.5, 0.009, 0 }, 'C' }, { { 0.5, 0.09, 0 }, 'D' }, { { 0.32, 0.22, 0 }, 'E' },
		{ { 0.78, 0.62, 0 }, 'F' }, { { 0.88, 0.45, 0.43 }, 'F' },
	};

	for (size_t i = 0; i < ARRAY_SIZE(row); i++)
		assert_int_equal(grade_of(row[i].s), row[i].g);
	assert_string_equal(grade_word('F'), "stuck");
	assert_string_equal(grade_word('A'), "you would not notice");
	assert_string_equal(grade_word('x'), "");
}

static void sorting_is_right_for_all_sizes(void **state)
{
	for (size_t n = 0; n < 400; n += 7) {
		nsec_t x[400] = { 0 }, y[400] = { 0 };
		uint32_t order[400];
		uint64_t r = 12345 + n;

		for (size_t i = 0; i < n; i++) {
			r = r * 6364136223846793005u + 1442695040888963407u;
			x[i] = (nsec_t)(r >> 20) % (n % 2 ? 50 : INT64_C(90000000000000)) - (n % 3 ? 0 : 25);
			y[i] = x[i];
		}
		sort_order(x, n, order);
		sort_nsec(y, n);
		for (size_t i = 1; i < n; i++) {
			assert_true(y[i - 1] <= y[i]);
			assert_true(x[order[i - 1]] < x[order[i]] ||
				    (x[order[i - 1]] == x[order[i]] && order[i - 1] < order[i]));
		}
		for (size_t i = 0; i < n; i++)
			assert_int_equal(y[i], x[order[i]]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(published_quantiles_have_the_expected_limits),
		cmocka_unit_test(no_waits_give_nothing_known),
		cmocka_unit_test(one_wait_is_a_lower_bound_of_everything),
		cmocka_unit_test(equal_waits_have_no_spread_and_no_kinds),
		cmocka_unit_test(a_freeze_fills_the_open_loop_with_sixty_ticks),
		cmocka_unit_test(lower_bounds_count_and_no_quantile_rests_on_them),
		cmocka_unit_test(quantiles_never_pass_the_maximum),
		cmocka_unit_test(the_grade_table_is_the_printed_one),
		cmocka_unit_test(sorting_is_right_for_all_sizes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

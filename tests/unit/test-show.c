/* SPDX-License-Identifier: MIT */
/* The screen's numbers from records that were made by hand: no cap, lower bounds, the sentence, limits. */
#include "unit.h"

#include "analyze/analyze.h"
#include "base/mem.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define S NSEC_PER_SEC

static char path[64];

/* A record of one probe: closed loop, pause 1 s, limit 1 s, 1000 s measured. */
static struct rec *new_record(int *series, bool open_loop, const char *limit)
{
	struct rec_series s = { .kind = SERIES_SAMPLES, .name = "fsync", .unit = "ns", .meaning = "a save", .group = "probe" };
	struct rec *r = NULL;
	struct err e = { 0 };
	int run;

	snprintf(path, sizeof(path), "/dev/shm/test-show.%d", (int)getpid());
	unlink(path);
	assert_int_equal(rec_create(path, &r, &e), 0);
	assert_int_equal(rec_run_begin(r, &(struct rec_run){ .scenario = "t", .scenario_text = "", .command = "", .producer = "run",
					.cell = "", .version = "1", .t0 = S, .partial = true }, &run, &e), 0);
	assert_int_equal(rec_series(r, &s, series, &e), 0);
	rec_series_attr(r, *series, "loop", open_loop ? "open" : "closed", &e);
	rec_series_attr(r, *series, "limit_ns", "1000000000", &e);
	rec_series_attr(r, *series, "interval_ns", open_loop ? "50000000" : "1000000000", &e);
	rec_series_attr(r, *series, "interactive", "1", &e);
	rec_series_attr(r, *series, "steps", "write,fsync", &e);
	if (limit)
		rec_note(r, run, NOTE_LIMIT, S, limit, "a test", &e);
	rec_run_window(r, run, S, 1001 * S, &e);
	return r;
}

static void add(struct rec *r, int series, uint64_t id, nsec_t intended, nsec_t wait, uint8_t status)
{
	struct sample s = { .id = id, .intended = intended, .start = intended, .end = intended + wait, .status = status,
			    .phase = PHASE_MEASURE, .nsteps = 2, .step = { wait / 10, wait - wait / 10 }, .runq = -1 };
	struct err e = { 0 };

	assert_int_equal(rec_samples(r, 1, series, 0, &s, 1, &e), 0);
}

static struct page *shown(struct rec *r)
{
	struct page *p = NULL;
	struct err e = { 0 };

	assert_int_equal(rec_run_end(r, 1, 1001 * S, false, "", &e), 0);
	assert_int_equal(rec_commit(r, &e), 0);
	rec_close(r);
	r = NULL;
	assert_int_equal(rec_open(path, &r, &e), 0);
	assert_int_equal(analyze_show(r, &p, &e), 0);
	rec_close(r);
	unlink(path);
	return p;
}

static struct value cell(struct page *p, const char *at)
{
	struct node *n = page_find(p, at);

	assert_non_null(n);
	return n->v;
}

static void a_wait_of_any_length_is_shown_as_it_was(void **state)
{
	static const nsec_t waits[] = { 120 * S, 24 * 3600 * S, 17 * S + 180000000, 5000 };

	for (size_t i = 0; i < 4; i++) {
		int series;
		struct rec *r = new_record(&series, false, NULL);
		struct page *p;

		add(r, series, 0, 2 * S, 1000000, SAMPLE_OK);
		add(r, series, 1, 4 * S, waits[i], SAMPLE_OK);
		p = shown(r);
		if (waits[i] > 1000000)
			assert_true(cell(p, "probes/0/worst").x == nsec_seconds(waits[i]));
		assert_int_equal(cell(p, "probes/0/worst").kind, VALUE_NUMBER);
		page_free(p);
	}
}

static void what_was_in_flight_is_a_lower_bound(void **state)
{
	int series;
	struct rec *r = new_record(&series, false, NULL);
	struct page *p;

	add(r, series, 0, 2 * S, S / 100, SAMPLE_OK);
	add(r, series, 1, 900 * S, 101 * S, SAMPLE_CENSORED);
	p = shown(r);
	assert_int_equal(cell(p, "probes/0/worst").kind, VALUE_AT_LEAST);
	assert_true(cell(p, "probes/0/worst").x == 101);
	assert_true(cell(p, "probes/0/n").x == 2 && cell(p, "probes/0/censored").x == 1);
	assert_true(cell(p, "answer/stuck").x > 0.05);
	page_free(p);
}

static void the_stuck_share_of_a_freeze_is_its_closed_form(void **state)
{
	int series;
	struct rec *r = new_record(&series, true, NULL);
	struct page *p;
	double share;

	for (uint64_t i = 0; i < 1200; i++) {	/* 60 s at 20/s, frozen from 30 s for 3 s */
		nsec_t t = S + (nsec_t)i * S / 20, free_at = 34 * S;

		add(r, series, i, t, t >= 31 * S && t < free_at ? free_at - t : 0, SAMPLE_OK);
	}
	p = shown(r);
	share = cell(p, "probes/0/stuck").x;
	assert_true(share > (3 - 1) / 60.0 * 0.97 && share < (3 - 1) / 60.0 * 1.03);
	assert_true(cell(p, "probes/0/worst").x == 3);
	page_free(p);
}

static void limits_hold_fail_or_are_open(void **state)
{
	static const struct { const char *limit, *verdict; } cases[] = {
		{ "limit:fsync.worst < 2s", "PASS" }, { "limit:fsync.worst < 1ms", "FAIL" }, { "limit:fsync.p99 < 10s", "UNDECIDED" },
	};

	for (size_t i = 0; i < 3; i++) {
		int series;
		struct rec *r = new_record(&series, false, cases[i].limit);
		struct page *p;

		for (uint64_t k = 0; k < 40; k++)
			add(r, series, k, (nsec_t)(2 + k) * S, S / 100 + (nsec_t)(k * 7919 % 40) * 100000, SAMPLE_OK);
		p = shown(r);
		assert_string_equal(cell(p, "limits/0/verdict").text, cases[i].verdict);
		assert_string_equal(cell(p, "answer/limits").text, cases[i].verdict);
		page_free(p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_wait_of_any_length_is_shown_as_it_was),
		cmocka_unit_test(what_was_in_flight_is_a_lower_bound),
		cmocka_unit_test(the_stuck_share_of_a_freeze_is_its_closed_form),
		cmocka_unit_test(limits_hold_fail_or_are_open),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

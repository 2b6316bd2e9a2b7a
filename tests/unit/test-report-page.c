/* SPDX-License-Identifier: MIT */
/* The report's sections from a record: what is in the record is on the page, and nothing else. */
#include "unit.h"

#include "analyze/report.h"
#include "base/cleanup.h"
#include "base/mem.h"
#include "page/chart.h"
#include "record/record.h"
#include "report/report.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SECOND NSEC_PER_SEC

static char path[64];

/* Two probes, 10 s idle and 60 s measured; a fsync that grows to 12 s in the middle; one caught in flight. */
static void write_record(void)
{
	struct err e = { 0 };
	struct rec *r;
	int run, clock, fsync_series, key_series, counter[3];
	uint64_t id = 0;

	snprintf(path, sizeof(path), "/dev/shm/test-report-%d.smk", getpid());
	unlink(path);
	assert_int_equal(rec_create(path, &r, &e), 0);
	assert_int_equal(rec_run_begin(r, &(struct rec_run){ .scenario = "quick", .scenario_text = "", .command = "stallmark run quick",
		.producer = "run", .cell = "", .version = "0", .wall_start = 1700000000 * SECOND, .t0 = 100 * SECOND }, &run, &e), 0);
	assert_int_equal(rec_clock(r, run, "monotonic", 0, 0, &clock, &e), 0);
	rec_env(r, run, "kernel", "6.1.0-<b>test</b>", true, &e);
	assert_int_equal(rec_series(r, &(struct rec_series){ .kind = SERIES_SAMPLES, .name = "fsync", .unit = "ns", .meaning = "an fsync", .group = "probe" }, &fsync_series, &e), 0);
	assert_int_equal(rec_series(r, &(struct rec_series){ .kind = SERIES_SAMPLES, .name = "keystroke", .unit = "ns", .meaning = "a key", .group = "probe" }, &key_series, &e), 0);
	rec_series_attr(r, fsync_series, "loop", "closed", &e);
	rec_series_attr(r, fsync_series, "limit_ns", "1000000000", &e);
	rec_series_attr(r, fsync_series, "interval_ns", "1000000000", &e);
	rec_series_attr(r, key_series, "loop", "open", &e);
	rec_series_attr(r, key_series, "limit_ns", "100000000", &e);
	for (nsec_t t = 100 * SECOND; t < 170 * SECOND;) {
		nsec_t w = t < 110 * SECOND ? SECOND / 50 : t > 130 * SECOND && t < 140 * SECOND ? 12 * SECOND : SECOND / 3;
		struct sample s = { .id = id++, .intended = t, .start = t, .end = t + w, .pid = 1, .tid = 1, .nsteps = 1,
				    .phase = t < 110 * SECOND ? PHASE_IDLE : PHASE_MEASURE, .runq = -1, .step = { w } };

		assert_int_equal(rec_samples(r, run, fsync_series, clock, &s, 1, &e), 0);
		t = s.end + SECOND;
	}
	for (int i = 0; i < 70 * 20; i++) {
		nsec_t t = 100 * SECOND + i * SECOND / 20;
		struct sample s = { .id = (uint64_t)i, .intended = t, .start = t, .end = t + SECOND / 5000 * (1 + i % 7), .pid = 2, .tid = 2,
				    .nsteps = 1, .phase = t < 110 * SECOND ? PHASE_IDLE : PHASE_MEASURE, .runq = 0 };

		assert_int_equal(rec_samples(r, run, key_series, clock, &s, 1, &e), 0);
	}
	rec_series(r, &(struct rec_series){ .kind = SERIES_COUNTER, .name = "vm.dirty", .unit = "bytes", .meaning = "Dirty", .group = "system" }, &counter[0], &e);
	rec_series(r, &(struct rec_series){ .kind = SERIES_COUNTER, .name = "vm.dirty_threshold", .unit = "bytes", .meaning = "limit", .group = "system" }, &counter[1], &e);
	rec_series(r, &(struct rec_series){ .kind = SERIES_COUNTER, .name = "load.write.bytes", .unit = "bytes/s", .meaning = "achieved", .group = "load" }, &counter[2], &e);
	for (int i = 0; i < 70; i++) {
		rec_counter(r, run, counter[0], (100 + i) * SECOND, i < 10 ? 1 << 20 : (int64_t)(i % 9) << 27, &e);
		rec_counter(r, run, counter[1], (100 + i) * SECOND, (int64_t)9 << 27, &e);
		rec_counter(r, run, counter[2], (100 + i) * SECOND, i < 10 ? 0 : 100000000 + i * 100000, &e);
	}
	{
		const char *frames[] = { "jbd2_log_wait_commit", "ext4_sync_file", "__x64_sys_fsync" };

		rec_stall(r, &(struct rec_stall){ .run = run, .series = fsync_series, .sample_id = 25, .t = 135 * SECOND, .waited = 4 * SECOND, .pid = 1, .tid = 1,
			.comm = "evil</pre><script>", .state = "D", .wchan = "jbd2_log_wait_commit", .syscall = "fsync", .stack = rec_stack(r, frames, 3) }, &e);
	}
	assert_int_equal(rec_run_window(r, run, 110 * SECOND, 170 * SECOND, &e), 0);
	assert_int_equal(rec_run_end(r, run, 175 * SECOND, false, NULL, &e), 0);
	rec_close(r);
}

static struct page *make(size_t sides_n)
{
	struct report_side sides[2] = { { .name = sides_n > 1 ? "A" : "" }, { .name = "B" } };
	struct page *p = page_new("stallmark.report/1");
	struct err e = { 0 };

	for (size_t i = 0; i < sides_n; i++)
		assert_int_equal(rec_open(path, &sides[i].rec, &e), 0);
	assert_int_equal(report_stuck(page_group(p->root, NULL, "How stuck"), sides, sides_n, &e), 0);
	for (size_t i = 0; i < sides_n; i++)
		assert_int_equal(report_timeline(page_group(p->root, NULL, "Over time"), &sides[i], "time", &e), 0);
	assert_int_equal(report_stalls(page_group(p->root, NULL, "Stalls"), &sides[0], &e), 0);
	assert_int_equal(report_strips(page_group(p->root, NULL, "Run by run"), sides, sides_n, &e), 0);
	report_environment(page_group(p->root, NULL, "Environment"), sides, sides_n);
	for (size_t i = 0; i < sides_n; i++)
		rec_close(sides[i].rec);
	return p;
}

static size_t charts(const struct node *n, enum chart_kind kind)
{
	size_t k = n->kind == NODE_CHART && n->chart->kind == kind;

	for (size_t i = 0; i < n->nkids; i++)
		k += charts(n->kids[i], kind);
	return k;
}

static void every_probe_and_counter_has_its_picture(void **state)
{
	struct page *p = make(1);

	assert_int_equal(charts(p->root, CHART_HEAT), 2);
	assert_int_equal(charts(p->root, CHART_LINES), 2 + 2);	/* S(w) twice; Dirty with its threshold; the load */
	page_free(p);
}

static void a_heat_map_counts_every_wait_and_marks_the_stall(void **state)
{
	struct page *p = make(1);
	struct node *g = p->root->kids[1];
	struct chart *heat = NULL;
	size_t sum = 0;

	for (size_t i = 0; i < g->nkids && !heat; i++)
		if (g->kids[i]->kind == NODE_CHART && !strncmp(g->kids[i]->label, "keystroke", 9))
			heat = g->kids[i]->chart;
	assert_non_null(heat);
	for (size_t i = 0; i < heat->cols * heat->rows; i++)
		sum += heat->cell[i];
	assert_int_equal(sum, 1400);
	heat = NULL;
	for (size_t i = 0; i < g->nkids && !heat; i++)
		if (g->kids[i]->kind == NODE_CHART && !strncmp(g->kids[i]->label, "fsync", 5))
			heat = g->kids[i]->chart;
	assert_int_equal(heat->nmarks, 2);	/* the longest and the one caught in flight */
	assert_float_equal(heat->marks[1].x, 35, 1e-6);
	page_free(p);
}

static void the_html_holds_it_and_hostile_names_do_nothing(void **state)
{
	struct page *p = make(2);
	struct report_conf conf = { 0 };
	cleanup_strbuf struct strbuf out = STRBUF_INIT;
	const char *keep = getenv("REPORT_OUT");

	((const struct report_ops *)plug_find(report_table, "html"))->write(p, &conf, &out);
	assert_non_null(strstr(out.s, "evil&lt;/pre&gt;&lt;script&gt;"));
	assert_non_null(strstr(out.s, "6.1.0-&lt;b&gt;test"));
	assert_non_null(strstr(out.s, "jbd2_log_wait_commit"));
	assert_true(out.len < 600000);
	if (keep) {
		cleanup_file FILE *f = fopen(keep, "w");

		assert_int_equal(fwrite(out.s, 1, out.len, f), out.len);
	}
	page_free(p);
}

static int remove_record(void **state)
{
	unlink(path);
	return 0;
}

static int make_record(void **state)
{
	write_record();
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_probe_and_counter_has_its_picture),
		cmocka_unit_test(a_heat_map_counts_every_wait_and_marks_the_stall),
		cmocka_unit_test(the_html_holds_it_and_hostile_names_do_nothing),
	};

	return cmocka_run_group_tests(tests, make_record, remove_record);
}

/* SPDX-License-Identifier: MIT */
/* Into a record and into bounded memory: what becomes of unknown times, buckets, clipped buckets, too many waits. */
#include "import-help.h"

#include "format/to-record.h"

#include <stdio.h>
#include <unistd.h>

struct seen {
	size_t n, censored;
	nsec_t last_end, longest;
	bool in_order;
};

static int look(void *ctx, int run, const struct sample *rows, uint32_t n)
{
	struct seen *s = ctx;

	for (uint32_t i = 0; i < n; i++) {
		s->in_order &= rows[i].intended >= s->last_end || !s->n;
		s->last_end = rows[i].end;
		s->n++;
		s->censored += rows[i].status == SAMPLE_CENSORED;
		if (sample_wait(&rows[i]) > s->longest)
			s->longest = sample_wait(&rows[i]);
		assert_int_equal(rows[i].phase, PHASE_MEASURE);
		assert_int_equal(rows[i].runq, -1);
	}
	return 0;
}

/* The text as a record; the caller closes it and it is gone from the disk then. */
static struct rec *record_of(const char *text)
{
	struct to_record_conf conf = { .file = "test", .version = "0", .limit = NSEC_PER_SEC };
	struct input *in = input_of_memory(text, strlen(text), "test");
	const struct format_ops *ops;
	struct to_record_sum sum;
	struct import_sink sink;
	struct to_record *t;
	struct rec *rec;
	char path[64], target[80];
	struct err e = { 0 };
	int r;

	snprintf(path, sizeof(path), "/dev/shm/test-import-record.%d", (int)getpid());
	snprintf(target, sizeof(target), "%s.smk", path);
	assert_int_equal(format_choose(in, NULL, &ops, &e), 0);
	conf.format = ops->plug.name;
	assert_int_equal(to_record_begin(path, &conf, &t, &e), 0);
	to_record_sink(t, &sink);
	r = format_read(in, ops, &sink, &e);
	if (to_record_end(t, r, in->truncated, target, &sum, &e))
		fail_msg("%s", e.msg);
	assert_int_equal(rec_open(target, &rec, &e), 0);
	unlink(target);
	input_close(in);
	return rec;
}

static struct seen seen_of(struct rec *rec, const char *series)
{
	struct seen s = { .in_order = true };
	int id = rec_series_find(rec, SERIES_SAMPLES, series);

	assert_true(id > 0);
	assert_int_equal(rec_samples_each(rec, 0, id, look, &s, NULL), 0);
	return s;
}

static void order_only(void **state)
{
	struct rec *rec = record_of("fsync time: 3.0\nfsync time: 0.5\n");
	int id = rec_series_find(rec, SERIES_SAMPLES, "fsync");
	struct seen s = seen_of(rec, "fsync");
	struct rec_run run;

	assert_int_equal(s.n, 2);
	assert_true(s.in_order);
	/* begins at 1 s; 3 s, a pause of 1 s that the tester makes, 0.5 s */
	assert_int_equal(s.last_end, 5500000000);
	assert_string_equal(rec_series_attr_get(rec, id, "time"), "order");
	assert_string_equal(rec_series_attr_get(rec, id, "loop"), "closed");
	assert_string_equal(rec_series_attr_get(rec, id, "interval_ns"), "1000000000");
	assert_int_equal(rec_run_get(rec, 0, &run), 0);
	assert_string_equal(run.producer, "import");
	assert_int_equal(run.measure_t1, 5500000000);
	assert_false(run.partial);
	rec_close(rec);
}

static void buckets_and_clipped(void **state)
{
	struct rec *rec = record_of(
		"{ \"fio version\" : \"fio-3.1\", \"jobs\" : [ { \"jobname\" : \"j\", \"read\" : { \"total_ios\" : 9, \"iops\" : 7.5,\n"
		"\"clat_ns\" : { \"max\" : 20000000000, \"N\" : 9, \"bins\" : { \"64\" : 4, \"262144\" : 0, \"17112760320\" : 5 } } } } ] }");
	struct seen s = seen_of(rec, "read");

	assert_int_equal(s.n, 9);
	assert_int_equal(s.censored, 5);		/* lower bounds, not waits of 17 s */
	assert_int_equal(s.longest, 17045651456);
	assert_string_equal(rec_env_get(rec, 1, "result.read.iops"), "7.5 /s, more is better");
	rec_close(rec);
}

static void cut_file_is_partial(void **state)
{
	struct rec *rec = record_of("{ \"fio version\" : \"fio-3.1\", \"jobs\" : [ { \"jobname\" : \"j\", \"read\" : "
				    "{ \"total_ios\" : 9, \"iops\" : 7.5, \"clat_ns\" : { \"N\" : 9, \"bins\" : { \"64\" : 4, \"65\" : ");
	struct rec_run run;

	assert_int_equal(rec_run_get(rec, 0, &run), 0);
	assert_true(run.partial);
	assert_int_equal(seen_of(rec, "read").n, 4);
	rec_close(rec);
}

static void runs_stay_runs(void **state)
{
	struct rec *rec = record_of("run,probe,wait_ms\n1,fsync,5\n1,fsync,6\n2,fsync,7\n");

	assert_int_equal(rec_run_count(rec), 2);
	assert_int_equal(seen_of(rec, "fsync").n, 3);
	rec_close(rec);
}

static void thinned_evenly(void **state)
{
	struct thin t = { 0 };
	struct import_waits w = { 0 };
	uint64_t sum = 0, n = 5000000, longest = 3333333;

	for (uint64_t i = 0; i < n; i++) {
		struct import_wait x = { .t_start = (nsec_t)i, .wait = i == longest ? 1000000000 : (nsec_t)(i % 1000) };

		thin_put(&t, &w, &x);
	}
	thin_end(&t, &w);
	assert_int_equal(t.seen, n);
	assert_true(w.n > THIN_MAX / 2 && w.n <= THIN_MAX + 1);
	for (size_t i = 1; i < w.n; i++)
		assert_true(w.p[i].t_start > w.p[i - 1].t_start);
	for (size_t i = 0; i < w.n; i++)
		sum += w.p[i].wait == 1000000000;
	assert_int_equal(sum, 1);
	vec_done(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(order_only),
		cmocka_unit_test(buckets_and_clipped),
		cmocka_unit_test(cut_file_is_partial),
		cmocka_unit_test(runs_stay_runs),
		cmocka_unit_test(thinned_evenly),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

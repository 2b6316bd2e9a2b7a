/* SPDX-License-Identifier: MIT */
/* Importers of what other tools print; samples in tests/data/import are real, the broken ones are made here. */
#include "import-help.h"

#include "format/fiobins.h"
#include "format/hdr.h"

#include <errno.h>
#include <math.h>

static uint64_t in_buckets(const struct import_series *s)
{
	uint64_t n = 0;

	for (size_t i = 0; i < s->buckets.n; i++)
		n += s->buckets.p[i].n;
	return n;
}

static void near(double a, double b)
{
	if (fabs(a - b) > 1e-9 * fabs(b))
		fail_msg("%.12g is not %.12g", a, b);
}

static void fio_bins(void **state)
{
	struct fiobin b;

	/* every bucket is found by its middle, and buckets follow each other without a gap */
	for (unsigned i = 0; i < FIOBINS_NS; i++) {
		struct fiobin a = fiobin_of_index(i, FIOBINS_NS);
		uint64_t mid = i < 128 ? i : a.lo + (a.hi + 1 - a.lo) / 2;

		assert_true(fiobin_of_middle(mid, FIOBINS_NS, &b));
		assert_int_equal(a.lo, b.lo);
		assert_int_equal(a.hi, b.hi);
		if (i)
			assert_int_equal(fiobin_of_index(i - 1, FIOBINS_NS).hi + 1, a.lo);
	}
	assert_true(fiobin_of_middle(17112760320, FIOBINS_NS, &b));
	assert_true(b.clipped);
	assert_false(fiobin_of_middle(17112760320 + 1, FIOBINS_NS, &b));
	assert_false(fiobin_of_middle(17180000000, FIOBINS_NS, &b));
	assert_true(fiobin_of_middle(16711680, FIOBINS_US, &b));
	assert_true(b.clipped);
}

static void fio_jsonplus(void **state)
{
	struct import_mem *m = import_data("import/fio-jsonplus.json", NULL);
	const struct import_run *r = &m->runs.p[0];
	const struct import_series *s = find_series(r, "read");

	assert_string_equal(m->format, "fio-json");
	assert_int_equal(in_buckets(s), 242);
	assert_int_equal(in_buckets(find_series(r, "write")), 270);
	assert_int_equal(in_buckets(find_series(r, "sync")), 61);
	assert_int_equal(s->buckets.p[0].lo, 51898);		/* the exact minimum and maximum */
	assert_int_equal(s->buckets.p[s->buckets.n - 1].hi, 458897);
	near(find_number(r, "read.iops")->value, 6368.421053);
	assert_string_equal(find_fact(r, "fio.rw"), "randrw");
	import_mem_free(m);
}

static void fio_status_interval(void **state)
{
	struct import_mem *m = import_data("import/fio-status.txt", NULL);

	assert_int_equal(m->runs.n, 1);
	assert_int_equal(m->runs.p[0].series.n, 0);		/* plain JSON: no waits are made up */
	assert_true(has_note(m, "2 documents are interim"));
	assert_true(has_note(m, "there are no buckets"));
	near(find_number(&m->runs.p[0], "sync.max")->value, 0.004291194);
	import_mem_free(m);
}

/* A small document with the given start and count, like fio's. */
#define DOC(ts, elapsed, ios, bins) \
	"{\n  \"fio version\" : \"fio-3.33\",\n  \"timestamp_ms\" : " #ts ",\n  \"jobs\" : [\n    {\n" \
	"      \"jobname\" : \"j\",\n      \"elapsed\" : " #elapsed ",\n" \
	"      \"write\" : {\n        \"total_ios\" : " #ios ",\n        \"clat_ns\" : {\n" \
	"          \"min\" : 100,\n          \"max\" : 20000000000,\n          \"N\" : " #ios ",\n" \
	"          \"bins\" : {\n" bins "          }\n        }\n      }\n    }\n  ]\n}\n"
#define BINS "            \"100\" : 3,\n            \"17112760320\" : 2\n"

static void fio_garbage_and_runs(void **state)
{
	struct import_mem *m = import_text(
		"fio: this platform does not support something\r\n"
		"Jobs: 1 (f=1): [w(1)][50.0%][eta 00m:07s]\rJobs: 1 (f=1): [w(1)][60.0%][eta 00m:06s]\n"
		DOC(100000, 1, 5, BINS)
		"Jobs: 1 (f=1): [w(1)][99.0%][eta 00m:00s]\n"
		DOC(200000, 1, 5, BINS)
		"> fio-3.33 done\n", NULL);
	const struct import_series *s = find_series(&m->runs.p[0], "write");

	assert_int_equal(m->runs.n, 2);
	assert_int_equal(m->runs.p[1].side, 0);
	assert_int_equal(in_buckets(s), 5);
	assert_int_equal(s->buckets.p[0].lo, 100);
	assert_true(s->buckets.p[1].clipped);
	assert_int_equal(s->buckets.p[1].hi, 20000000000);	/* the maximum is exact though the bucket is clipped */
	assert_true(has_note(m, "ends at 17.0 s"));
	assert_true(has_note(m, "are messages"));
	assert_false(m->truncated);
	import_mem_free(m);
}

static void fio_garbage_inside(void **state)
{
	struct import_mem *m = import_text(
		"{\n  \"fio version\" : \"fio-3.1\",\nfio: io_u error on file x: No space left on device\n"
		"  \"jobs\" : [ { \"jobname\" : \"j\", \"error\" : 28,\n"
		"  \"read\" : { \"total_ios\" : 2, \"clat_ns\" : { \"mean\" : -nan, \"N\" : 2, \"bins\" : { \"64\" : 2 } } } } ] }", NULL);

	assert_int_equal(in_buckets(find_series(&m->runs.p[0], "read")), 2);
	assert_true(has_note(m, "ended with error 28"));
	import_mem_free(m);
}

/* Wherever it is cut: an error with a sentence, or at most the values that are there, and never more waits than N. */
static void fio_cut_anywhere(void **state)
{
	static const char doc[] = DOC(100000, 1, 9, BINS);
	size_t read = 0;

	for (size_t n = 1; n < sizeof(doc) - 1; n++) {
		struct input *in = input_of_memory(doc, n, "cut");
		struct import_mem *m = NULL;
		struct err e = { 0 };

		if (import_mem_take(in, "fio-json", &m, &e)) {
			assert_true(e.msg[0]);
		} else {
			read++;
			if (n < sizeof(doc) - 2)	/* only the last newline is missing there */
				assert_true(m->truncated);
			if (m->runs.p[0].series.n)
				assert_true(in_buckets(&m->runs.p[0].series.p[0]) <= 9);
		}
		import_mem_free(m);
		input_close(in);
	}
	assert_true(read > 40);
}

static void fio_cut_bins_keep_the_count(void **state)
{
	static const char doc[] = DOC(100000, 1, 9, BINS);
	struct import_mem *m = import_bytes(doc, (size_t)(strstr(doc, "\"17112760320\"") - doc), "cut", NULL);
	const struct import_series *s = find_series(&m->runs.p[0], "write");

	assert_true(m->truncated);
	assert_int_equal(s->buckets.n, 2);
	assert_int_equal(s->buckets.p[1].lo, 101);
	assert_int_equal(s->buckets.p[1].hi, 20000000000);
	assert_int_equal(s->buckets.p[1].n, 6);
	assert_true(has_note(m, "cut off; 6 waits lie between"));
	assert_true(has_note(m, "the last complete value"));
	import_mem_free(m);
}

static void fio_old_microseconds(void **state)
{
	struct import_mem *m = import_text(
		"{ \"fio version\" : \"fio-2.2.10\", \"jobs\" : [ { \"jobname\" : \"j\", \"read\" : { \"bw\" : 10, \"total_ios\" : 1,\n"
		"\"clat\" : { \"min\" : 300, \"max\" : 300, \"bins\" : { \"302\" : 1 } } } } ] }", NULL);
	const struct import_series *s = find_series(&m->runs.p[0], "read");

	assert_int_equal(s->buckets.p[0].lo, 300000);
	assert_int_equal(s->buckets.p[0].hi, 300999);
	near(find_number(&m->runs.p[0], "read.bandwidth")->value, 10240);
	import_mem_free(m);
}

static void fio_logs(void **state)
{
	struct import_mem *m = import_data("import/job_clat.1.log", NULL);
	const struct import_series *s = find_series(&m->runs.p[0], "read");

	assert_string_equal(m->format, "fio-lat");
	assert_int_equal(s->waits.p[0].wait, 458897);
	assert_int_equal(s->waits.p[0].bytes, 4096);
	assert_int_equal(s->waits.n + find_series(&m->runs.p[0], "write")->waits.n, 60);
	import_mem_free(m);

	m = import_data("import/job_clat_hist.1.log", NULL);
	assert_string_equal(m->format, "fio-hist");
	assert_int_equal(in_buckets(find_series(&m->runs.p[0], "write")), 2567);
	import_mem_free(m);

	m = import_text("10, 500, 0, 4096, 0, 0x4001, 9000000\r\n12, 600, 1, 512, 0, 0, 11000000\n", "fio-lat");
	assert_int_equal(find_series(&m->runs.p[0], "read")->waits.p[0].t_start, 9000000);
	import_mem_free(m);
}

static void fio_logs_that_are_none(void **state)
{
	struct input *in = input_of_memory("1, 5000, 0, 4096\n", 17, "x/job_bw.1.log");
	struct import_mem *m = NULL;
	struct err e = { 0 };

	assert_int_equal(import_mem_take(in, NULL, &m, &e), -EINVAL);
	assert_non_null(strstr(e.msg, "bandwidth, not latencies"));
	input_close(in);
	import_refused("500, 170939, 0, 0, 0\n1001, 97983, 0, 0, 0\n", NULL, "averages over intervals");
	m = import_text("500, 170939, 0, 0, 0\n1001, 97983, 0, 0, 0\n", "fio-lat");
	assert_true(has_note(m, "averages over intervals"));
	import_mem_free(m);
}

static void fs_mark_both_columns(void **state)
{
	struct import_mem *m = import_data("import/fs_mark.txt", NULL);
	const struct import_run *r = &m->runs.p[0];
	unsigned rates = 0;

	assert_string_equal(m->format, "fs-mark");
	near(find_number(r, "files_per_s")->value, 1552.8);
	for (size_t i = 0; i < r->numbers.n; i++)
		rates += !strcmp(r->numbers.p[i].name, "files_per_s");
	assert_int_equal(rates, 3);
	import_mem_free(m);

	m = import_data("import/fs_mark-v.txt", NULL);
	near(find_number(&m->runs.p[0], "fsync.max")->value, 0.001327);
	for (size_t i = 0; i < m->runs.p[0].numbers.n; i++)	/* SYNC was not used: unknown, not 0 */
		assert_string_not_equal(m->runs.p[0].numbers.p[i].name, "sync.mean");
	import_mem_free(m);

	m = import_text("FSUse%        Count         Size    Files/sec\r\n     7        10000        51200        307.3\r\n", NULL);
	near(find_number(&m->runs.p[0], "files_per_s")->value, 307.3);
	assert_int_equal(m->runs.p[0].numbers.n, 2);
	import_mem_free(m);
}

static void ioping_three_ways(void **state)
{
	struct import_mem *m = import_data("import/ioping.txt", NULL);

	assert_string_equal(m->format, "ioping");
	assert_int_equal(find_series(&m->runs.p[0], "read")->waits.n, 4);
	assert_int_equal(find_series(&m->runs.p[0], "read")->waits.p[0].wait, 335300);
	assert_int_equal(find_series(&m->runs.p[0], "read")->waits.p[0].bytes, 4096);
	import_mem_free(m);
	m = import_data("import/ioping-p.txt", NULL);
	assert_int_equal(find_series(&m->runs.p[0], "write")->waits.n, 5);
	assert_int_equal(find_series(&m->runs.p[0], "write")->waits.p[2].wait, 2630000);
	import_mem_free(m);
	m = import_data("import/ioping-B.txt", NULL);
	assert_string_equal(m->format, "ioping-raw");
	near(find_number(&m->runs.p[0], "max")->value, 0.001164799);
	assert_int_equal(m->runs.p[0].series.n, 0);
	import_mem_free(m);
	m = import_data("import/ioping-Bp.txt", NULL);
	near(find_number(&m->runs.p[0], "requests")->value, 5);
	import_mem_free(m);
	m = import_data("import/ioping-J.txt", NULL);
	assert_string_equal(m->format, "ioping-json");
	assert_int_equal(find_series(&m->runs.p[0], "read")->waits.n, 2);
	assert_int_equal(find_series(&m->runs.p[0], "read")->waits.p[1].wait, 342817);
	import_mem_free(m);
}

static void pg_and_sysbench(void **state)
{
	struct import_mem *m = import_data("import/pg_test_fsync.txt", NULL);
	const struct import_run *r = &m->runs.p[0];

	assert_string_equal(m->format, "pg-test-fsync");
	near(find_number(r, "fdatasync (one 8kB write)")->value, 3177.689);
	near(find_number(r, "fdatasync (one 8kB write).mean")->value, 1 / 3177.689);
	for (size_t i = 0; i < r->numbers.n; i++)
		assert_null(strstr(r->numbers.p[i].name, "writethrough"));	/* n/a */
	import_mem_free(m);

	m = import_data("import/sysbench.txt", NULL);
	r = &m->runs.p[0];
	assert_string_equal(m->format, "sysbench");
	assert_int_equal(in_buckets(find_series(r, "event")), 26309);
	near(find_number(r, "fsyncs_per_s")->value, 336.2);
	near(find_number(r, "max")->value, 0.01602);
	for (size_t i = 0; i < r->numbers.n; i++)
		assert_string_not_equal(r->numbers.p[i].name, "min");		/* printed as 0.00 */
	import_mem_free(m);
}

static void times(void **state)
{
	static const nsec_t want[] = { 14000000, 10000000, 10000000, 10000000 };
	struct import_mem *m = import_data("import/time.txt", NULL);
	const struct import_series *s = find_series(&m->runs.p[0], "real");

	assert_int_equal(s->waits.n, 4);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(s->waits.p[i].wait, want[i]);
	import_mem_free(m);

	m = import_text("$ time tar cf /dev/zero tree\n\nreal\t4m9.1s\nuser\t0m0,5s\n"
			"0.61user 5.02system 8:02.12elapsed 70%CPU\n"
			"tar cf  0.61s user 5.02s system 2% cpu 1:04:09 total\n"
			"real\t0m1,250s\n", NULL);
	s = find_series(&m->runs.p[0], "real");
	assert_int_equal(s->waits.n, 4);
	assert_int_equal(s->waits.p[0].wait, 249100000000);
	assert_int_equal(s->waits.p[1].wait, 482120000000);
	assert_int_equal(s->waits.p[2].wait, 3849000000000);
	assert_int_equal(s->waits.p[3].wait, 1250000000);
	assert_true(has_note(m, "rounded to 1 s"));
	import_mem_free(m);
}

static void blkparse_totals(void **state)
{
	struct import_mem *m = import_data("2011-03-fsmark-fio/vanilla.blkparse-total.txt", NULL);
	const struct import_run *r = &m->runs.p[0];

	assert_string_equal(m->format, "blkparse-total");
	near(find_number(r, "write_dispatches")->value, 648046);
	near(find_number(r, "writes_queued")->value, 1561000);
	/* one "MiB" is 1000 KiB: 1,561 K writes of 4 KiB */
	near(find_number(r, "writes_queued_bytes")->value, 6244.0 * 1000 * 1024);
	near(find_number(r, "fs_mark.files_per_s")->value, 307.288);
	assert_true(has_note(m, "1 counts end in K"));
	import_mem_free(m);

	m = import_text("CPU0 (sda):\n Reads Queued:       1.234,     4.936KiB\t Writes Queued:           2,        8KiB\n"
			"Throughput (R/W): 5KiB/s / 1.000KiB/s\n", NULL);
	near(find_number(&m->runs.p[0], "reads_queued")->value, 1234);
	near(find_number(&m->runs.p[0], "write_throughput")->value, 1024000);
	import_mem_free(m);
	import_refused("CPU0 (sda):\n Reads Queued: 1, 4KiB\t Writes Queued: 2, 8KiB\nCPU1 (sda):\n Reads Queued: 1, 4KiB\n",
		       NULL, "single CPUs");
}

static void hdr_codec(void **state)
{
	static const struct hdr_layout l = { .lowest = 1, .highest = INT64_C(86400000000000), .digits = 3 };
	static const uint64_t values[] = { 0, 1, 2047, 2048, 4095, 4096, 1000000, 25100000000, 86400000000000 };
	cleanup_strbuf struct strbuf text = STRBUF_INIT, log = STRBUF_INIT;
	uint32_t n = hdr_counts(&l);
	uint64_t *counts = mem_array(n, sizeof(*counts)), lo, hi, last = 0;
	struct import_mem *m;
	const struct import_series *s;

	for (uint32_t i = 0; i < n; i++) {
		hdr_range(&l, i, &lo, &hi);
		assert_int_equal(lo, last);
		assert_int_equal(hdr_index(&l, lo), i);
		assert_int_equal(hdr_index(&l, hi), i);
		last = hi + 1;
	}
	for (size_t i = 0; i < 9; i++)
		counts[hdr_index(&l, values[i])] += i + 1;
	hdr_encode(&l, counts, n, &text);
	strbuf_addf(&log, "#[Histogram log format version 1.3]\r\n\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\","
		    "\"Interval_Compressed_Histogram\"\nTag=fsync.ext4,0.127,1.007,2.769,%s\n0.2,1.0,2.7,%s\n0.3,1.0,2.7,HIST!\n",
		    text.s, text.s);
	m = import_text(log.s, NULL);
	assert_string_equal(m->format, "hdr");
	s = find_series(&m->runs.p[0], "fsync.ext4");
	assert_int_equal(in_buckets(s), 45);
	for (size_t i = 0; i < s->buckets.n; i++)
		assert_true((double)(s->buckets.p[i].hi - s->buckets.p[i].lo) <= 1e-3 * (double)s->buckets.p[i].lo);
	assert_int_equal(in_buckets(find_series(&m->runs.p[0], "wait")), 45);
	assert_true(has_note(m, "1 lines are damaged"));
	import_mem_free(m);
	free(counts);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fio_bins),
		cmocka_unit_test(fio_jsonplus),
		cmocka_unit_test(fio_status_interval),
		cmocka_unit_test(fio_garbage_and_runs),
		cmocka_unit_test(fio_garbage_inside),
		cmocka_unit_test(fio_cut_anywhere),
		cmocka_unit_test(fio_cut_bins_keep_the_count),
		cmocka_unit_test(fio_old_microseconds),
		cmocka_unit_test(fio_logs),
		cmocka_unit_test(fio_logs_that_are_none),
		cmocka_unit_test(fs_mark_both_columns),
		cmocka_unit_test(ioping_three_ways),
		cmocka_unit_test(pg_and_sysbench),
		cmocka_unit_test(times),
		cmocka_unit_test(blkparse_totals),
		cmocka_unit_test(hdr_codec),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* fsync-tester, columns, plain numbers and CSV; the line reader beneath them. */
#include "import-help.h"

#include "format/text.h"

static void check_waits(const struct import_series *s, size_t n, const nsec_t *want)
{
	assert_int_equal(s->waits.n, n);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(s->waits.p[i].wait, want[i]);
		assert_true(s->waits.p[i].t_start == NSEC_NEVER);	/* unknown, not 0 */
	}
}

static void fsync_tester_published(void **state)
{
	struct import_mem *m = import_data("2010-07-cfq-fsync/ext3_vanilla.fsync-tester.log", NULL);
	struct import_mem *csv = import_data("2010-07-cfq-fsync/ext3_vanilla.csv", NULL);
	const struct import_series *a = find_series(&m->runs.p[0], "fsync");
	const struct import_series *b = find_series(&csv->runs.p[0], "wait");

	assert_string_equal(m->format, "fsync-tester");
	assert_string_equal(csv->format, "csv");
	assert_int_equal(m->runs.n, 1);
	assert_int_equal(a->waits.n, 23);
	assert_int_equal(b->waits.n, 23);
	for (size_t i = 0; i < 23; i++)
		assert_int_equal(a->waits.p[i].wait, b->waits.p[i].wait);
	assert_int_equal(a->waits.p[0].wait, 3417300000);
	assert_int_equal(a->waits.p[14].wait, 15100000);
	assert_non_null(find_fact(&csv->runs.p[0], "comment"));
	import_mem_free(m);
	import_mem_free(csv);
}

static void fsync_tester_quoted_columns(void **state)
{
	struct import_mem *m = import_text(
		"> > ext3:\r\n"
		"> > vanilla\t\t\tpatched\r\n"
		"> > fsync time: 3.4173\tfsync time: 0.0171\r\n"
		"> > fsync time: 0.8831\tfsync time: 0,0951\r\n"
		">>\r\n"
		"> > fsync time: 0.6985\r\n", NULL);

	assert_string_equal(m->format, "fsync-tester");
	assert_int_equal(m->runs.n, 2);
	assert_int_equal(m->runs.p[0].side, 0);
	assert_int_equal(m->runs.p[1].side, 1);
	assert_string_equal(m->runs.p[0].label, "vanilla");
	assert_string_equal(m->runs.p[1].label, "patched");
	check_waits(find_series(&m->runs.p[0], "fsync"), 3, (nsec_t[]){ 3417300000, 883100000, 698500000 });
	check_waits(find_series(&m->runs.p[1], "fsync"), 2, (nsec_t[]){ 17100000, 95100000 });
	assert_string_equal(find_fact(&m->runs.p[0], "heading"), "ext3");
	import_mem_free(m);
}

static void fsync_tester_second_column_only(void **state)
{
	struct import_mem *m = import_text(
		"fsync time: 1.0000   fsync time: 2.0000\n"
		"                     fsync time: 3.0000\n", NULL);

	check_waits(find_series(&m->runs.p[0], "fsync"), 1, (nsec_t[]){ 1000000000 });
	check_waits(find_series(&m->runs.p[1], "fsync"), 2, (nsec_t[]){ 2000000000, 3000000000 });
	import_mem_free(m);
}

static void fsync_tester_several_tables(void **state)
{
	struct import_mem *m = import_text(
		"Here are the numbers you asked for, all on the same disk.\n"
		"ext3\n"
		"old new\n"
		"fsync time: 1.0 fsync time: 0.1\n"
		"sorry, I had to restart the writer once here\n"
		"fsync time: 2.0 fsync time: 0.2\n"
		"== xfs ==\n"
		"old new\n"
		"fsync time: 5.0 fsync time: 6.0\n", NULL);

	assert_int_equal(m->runs.n, 2);
	assert_string_equal(m->runs.p[1].label, "new");
	check_waits(find_series(&m->runs.p[0], "fsync@ext3"), 2, (nsec_t[]){ 1000000000, 2000000000 });
	check_waits(find_series(&m->runs.p[1], "fsync@xfs"), 1, (nsec_t[]){ 6000000000 });
	assert_true(has_note(m, "1 lines are not fsync times"));
	import_mem_free(m);
}

static void columns_of_numbers(void **state)
{
	struct import_mem *m = import_text("before  after\n3.4 s   95 ms\n2.5\t | 0.5\n-  0.7\n", NULL);

	assert_string_equal(m->format, "columns");
	assert_string_equal(m->runs.p[0].label, "before");
	check_waits(find_series(&m->runs.p[0], "wait"), 2, (nsec_t[]){ 3400000000, 2500000000 });
	check_waits(find_series(&m->runs.p[1], "wait"), 3, (nsec_t[]){ 95000000, 500000000, 700000000 });
	assert_true(has_note(m, "1 cells hold no value"));
	assert_true(has_note(m, "carry no unit"));
	import_mem_free(m);
}

static void plain_numbers(void **state)
{
	struct import_mem *m = import_text("# one a line\n0.25\n12 ms\n7us\n", NULL);

	assert_string_equal(m->format, "plain");
	check_waits(find_series(&m->runs.p[0], "wait"), 3, (nsec_t[]){ 250000000, 12000000, 7000 });
	import_mem_free(m);
	import_refused("1.5\n-3\n2\n", NULL, "line 2: -3 is not a wait");
	import_refused("12,34\n15,60\n", NULL, "may be");
	m = import_text("12,5\n15,25\n", "plain");
	check_waits(find_series(&m->runs.p[0], "wait"), 2, (nsec_t[]){ 12500000000, 15250000000 });
	import_mem_free(m);
}

static void unit_from_caller(void **state)
{
	struct input *in = input_of_memory("5\n6\n", 4, "test");
	struct import_mem *m = NULL;

	in->unit = NSEC_PER_MSEC;
	assert_int_equal(import_mem_take(in, NULL, &m, NULL), 0);
	check_waits(find_series(&m->runs.p[0], "wait"), 2, (nsec_t[]){ 5000000, 6000000 });
	assert_false(has_note(m, "carry no unit"));
	import_mem_free(m);
	input_close(in);
}

static void csv_names_and_units(void **state)
{
	struct import_mem *m = import_text(
		"time_s;fsync_ms;\"read (us)\";host\n"
		"0,5;1,5;20;a\n"
		"1,5;nan;30;b\n", NULL);
	const struct import_series *f = find_series(&m->runs.p[0], "fsync");

	assert_string_equal(m->format, "csv");
	assert_int_equal(f->waits.n, 1);
	assert_int_equal(f->waits.p[0].wait, 1500000);
	assert_int_equal(f->waits.p[0].t_start, 500000000);
	assert_int_equal(find_series(&m->runs.p[0], "read")->waits.p[1].wait, 30000);
	assert_true(has_note(m, "1 cells hold no value"));
	import_mem_free(m);
}

static void csv_long(void **state)
{
	struct import_mem *m = import_text(
		"run,probe,t,wait,status,bytes\n"
		"1,fsync,0.1,0.2,ok,4096\n"
		"1,tick,0.1,0.001,ok,0\n"
		"2,fsync,0.3,9.5,censored,0\n", NULL);

	assert_int_equal(m->runs.n, 2);
	assert_string_equal(m->runs.p[1].label, "2");
	assert_int_equal(m->runs.p[0].side, m->runs.p[1].side);
	assert_int_equal(find_series(&m->runs.p[0], "fsync")->waits.p[0].bytes, 4096);
	assert_int_equal(find_series(&m->runs.p[1], "fsync")->waits.p[0].status, SAMPLE_CENSORED);
	import_mem_free(m);
	import_refused("run,wait\n1,2\n2,3\n1,4\n", "csv", "run 1 begins again");
}

static void csv_sides(void **state)
{
	struct import_mem *m = import_text("vanilla,patched\n3.4,0.1\n2.5,\n", NULL);

	assert_int_equal(m->runs.n, 2);
	assert_string_equal(m->runs.p[1].label, "patched");
	assert_int_equal(m->runs.p[1].side, 1);
	check_waits(find_series(&m->runs.p[0], "wait"), 2, (nsec_t[]){ 3400000000, 2500000000 });
	check_waits(find_series(&m->runs.p[1], "wait"), 1, (nsec_t[]){ 100000000 });
	import_mem_free(m);
}

static void csv_published(void **state)
{
	struct import_mem *m = import_data("2009-04-ext3-kernel-build/cold_read_2.6.29.csv", NULL);
	const struct import_series *s = find_series(&m->runs.p[0], "wait");

	assert_int_equal(s->waits.n, 21);
	assert_int_equal(s->waits.p[17].wait, 11520000000);
	assert_int_equal(s->waits.p[17].bytes, 253560);
	import_mem_free(m);
}

static void csv_refuses(void **state)
{
	import_refused("second,dirty_kb\n0,118376\n", "csv", "no column of waits");
	import_refused("1,2\n3,4\n", "csv", "no line of names");
	import_refused("seconds\n", "csv", "holds no rows");
	import_refused("seconds\n0.1\nabc\n", "csv", "line 3: 'abc' is not a number");
	import_refused("seconds\n0.1\n-1\n", "csv", "is not a wait");
}

static void sniff_refuses(void **state)
{
	import_refused("", NULL, "is empty");
	import_refused("Dear list,\nmy disk is slow.\n", NULL, "cannot tell what");
	import_refused("0.1\n0.2\n", "fsync-tester", "holds no fsync times");
	import_refused("0.1\n", "fsync-testr", "did you mean 'fsync-tester'");
	import_refused("\x1f\x8b\x08 xyz", NULL, "compressed");
}

static void line_reader(void **state)
{
	static const char text[] = "\xef\xbb\xbf" "a\r\n> >b\n 10%\r 20%\rdone\r\n\x1b[1mbold\x1b[0m\nlast";
	static char big[INPUT_LINE_MAX + 5000];
	struct input *in;
	char *line;

	in = input_of_memory(text, sizeof(text) - 1, "t");
	assert_true(input_line(in, &line));
	assert_string_equal(line, "a");
	assert_true(input_line(in, &line));
	assert_string_equal(line, "b");
	assert_true(input_line(in, &line));
	assert_string_equal(line, "done");
	assert_true(input_line(in, &line));
	assert_string_equal(line, "bold");
	assert_true(input_line(in, &line));
	assert_string_equal(line, "last");
	assert_false(input_line(in, &line));
	assert_int_equal(in->line, 5);
	input_close(in);

	memset(big, 'x', sizeof(big));
	memcpy(big + sizeof(big) - 4, "\nend", 4);
	in = input_of_memory(big, sizeof(big), "t");
	assert_true(input_line(in, &line));
	assert_int_equal(strlen(line), INPUT_LINE_MAX);
	assert_true(in->long_line);
	assert_true(input_line(in, &line));
	assert_string_equal(line, "end");
	input_close(in);
}

static void numbers(void **state)
{
	static const struct { const char *s; double x; const char *rest; } t[] = {
		{ "3.41", 3.41, "" }, { "3,41", 3.41, "" }, { "1,234.5", 1234.5, "" }, { "1,234,567", 1234567, "" },
		{ "1e-3x", 1e-3, "x" }, { "-2 s", -2, " s" }, { "5,", 5, "," }, { "7.", 7, "" }, { ".5", .5, "" },
	};
	uint64_t n;
	double x;
	const char *s;

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		s = t[i].s;
		assert_true(text_number(&s, &x));
		assert_true(x == t[i].x);
		assert_string_equal(s, t[i].rest);
	}
	s = "1e999";
	assert_false(text_number(&s, &x));
	s = "345,407K";
	assert_true(text_grouped(&s, &n));
	assert_int_equal(n, 345407);
	assert_string_equal(s, "K");
	s = "99999999999999999999";
	assert_false(text_grouped(&s, &n));
	assert_int_equal(text_unit("\xc2\xb5s", 3), 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fsync_tester_published),
		cmocka_unit_test(fsync_tester_quoted_columns),
		cmocka_unit_test(fsync_tester_second_column_only),
		cmocka_unit_test(fsync_tester_several_tables),
		cmocka_unit_test(columns_of_numbers),
		cmocka_unit_test(plain_numbers),
		cmocka_unit_test(unit_from_caller),
		cmocka_unit_test(csv_names_and_units),
		cmocka_unit_test(csv_long),
		cmocka_unit_test(csv_sides),
		cmocka_unit_test(csv_published),
		cmocka_unit_test(csv_refuses),
		cmocka_unit_test(sniff_refuses),
		cmocka_unit_test(line_reader),
		cmocka_unit_test(numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

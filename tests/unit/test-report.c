/* SPDX-License-Identifier: MIT */
#include "unit.h"

#include "report/report.h"
#include "report/text.h"
#include "page/chart.h"

#include <jansson.h>
#include <string.h>

static struct page *sample_page(void)
{
	struct page *p = page_new("stallmark.test/1");
	struct node *g, *t, *r;
	double x[] = { 0, 1, 2 }, y[] = { 1, 4, 2 };

	page_text(p->root, "Stuck 43%% of the time: a save begun at a random moment took over 1 s, and this sentence goes on until it must wrap.");
	g = page_group(p->root, "run", "Run");
	page_cell(g, "kernel", "kernel", val_text("6.1.0 \033[31mred\xff"));
	page_cell(g, "n", "waits", val(60, UNIT_COUNT));
	t = page_table(p->root, "probes", "Probes");
	page_column(t, "name", "probe", 0);
	page_column(t, "worst", "worst", NODE_RIGHT);
	r = page_row(t);
	page_cell(r, "name", NULL, val_text("fsync"));
	page_flag(page_cell(r, "worst", NULL, val_at_least(25.1, UNIT_SECONDS)), NODE_BOUND);
	r = page_row(t);
	page_cell(r, "name", NULL, val_text("a|b `c` =cmd"));
	page_flag(page_cell(r, "worst", NULL, val(0.0002, UNIT_SECONDS)), NODE_BOUND);
	page_flag(page_cell(p->root, "secret", "secret", val_bool(true)), NODE_JSON_ONLY);
	page_series(p->root, "dirty", "Dirty", x, UNIT_SECONDS, y, UNIT_BYTES, 3);
	return p;
}

static void the_screen_fits_wraps_and_shows_no_control_bytes(void **state)
{
	struct page *p = sample_page();
	struct report_conf conf = { .width = 78 };
	cleanup_strbuf struct strbuf out = STRBUF_INIT;

	text_write(p, &conf, &out);
	for (const char *s = strbuf_str(&out); *s; s += strcspn(s, "\n") + 1) {
		cleanup_strbuf struct strbuf line = STRBUF_INIT;

		strbuf_add(&line, s, strcspn(s, "\n"));
		assert_true(text_width(strbuf_str(&line)) <= 78);
		assert_null(strchr(strbuf_str(&line), '\033'));
	}
	assert_non_null(strstr(out.s, "\\x1b[31mred\\xff"));
	assert_non_null(strstr(out.s, "  fsync         >=25.1 s\n"));
	assert_non_null(strstr(out.s, "  a|b `c` =cmd    0.2 ms\n"));
	assert_null(strstr(out.s, "secret"));
	page_free(p);
}

static void json_is_one_document_with_the_schema_first(void **state)
{
	struct page *p = sample_page();
	const struct report_ops *ops = plug_find(report_table, "json");
	struct report_conf conf = { 0 };
	cleanup_strbuf struct strbuf out = STRBUF_INIT;
	json_t *j, *worst;

	ops->write(p, &conf, &out);
	assert_int_equal(strncmp(out.s, "{\n \"schema\": \"stallmark.test/1\"", 31), 0);
	j = json_loads(out.s, 0, NULL);
	assert_non_null(j);
	worst = json_object_get(json_array_get(json_object_get(j, "probes"), 0), "worst");
	assert_true(json_is_null(json_object_get(worst, "seconds")));
	assert_float_equal(json_real_value(json_object_get(worst, "at_least")), 25.1, 1e-9);
	assert_true(json_is_true(json_object_get(j, "secret")));
	assert_int_equal(json_integer_value(json_object_get(json_object_get(j, "run"), "n")), 60);
	json_decref(j);
	page_free(p);
}

static void markdown_and_csv_escape_what_their_readers_would_act_on(void **state)
{
	struct page *p = sample_page();
	struct report_conf conf = { 0 };
	cleanup_strbuf struct strbuf md = STRBUF_INIT, csv = STRBUF_INIT;

	((const struct report_ops *)plug_find(report_table, "md"))->write(p, &conf, &md);
	assert_non_null(strstr(md.s, "| a\\|b \\`c\\` =cmd | 0.2 ms |"));
	((const struct report_ops *)plug_find(report_table, "csv"))->write(p, &conf, &csv);
	assert_non_null(strstr(csv.s, "probes/0/worst,,25.1,s\n"));
	assert_non_null(strstr(csv.s, "dirty/1,4,,B\n"));
	page_free(p);
}

static void html_runs_nothing_of_what_a_record_holds(void **state)
{
	static const char evil[] = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\"' &\033[2J";
	struct page *p = sample_page();
	struct report_conf conf = { 0 };
	cleanup_strbuf struct strbuf out = STRBUF_INIT;
	double x[] = { 0, 1, 2, 3 }, y[] = { 0.001, 1, 120, 0.01 };
	struct chart *c;
	size_t scripts = 0;

	page_text(p->root, "%s", evil);
	page_pre(p->root, "%s", evil);
	page_cell(p->root, "evil", evil, val_text(evil));
	page_group(p->root, evil, evil);
	c = page_chart(p->root, evil, CHART_LINES, evil);
	chart_axis_x(c, evil, UNIT_SECONDS, 0, 0, false);
	chart_axis_y(c, evil, UNIT_SECONDS, 0, 0, true);
	chart_line(c, evil, x, y, 4, false);
	chart_band(c, 1, 2, evil, 1);
	chart_mark(c, 2, 120, evil, evil);
	((const struct report_ops *)plug_find(report_table, "html"))->write(p, &conf, &out);
	for (const char *s = out.s; (s = strstr(s, "<script")); s++)
		scripts++;
	assert_int_equal(scripts, 2);		/* the chart's data block and our own script */
	assert_null(strstr(out.s, "<img"));
	assert_null(strchr(out.s, '\033'));
	assert_non_null(strstr(out.s, "default-src 'none'; style-src 'sha256-"));
	assert_null(strstr(out.s, " style="));	/* the policy forbids style attributes */
	page_free(p);
}

static void values_read_as_people_write_them(void **state)
{
	static const struct {
		struct value v;
		const char *s;
	} t[] = {
		{ { VALUE_NUMBER, UNIT_SHARE, 0.43, NULL, 0 }, "43%" },
		{ { VALUE_NUMBER, UNIT_SHARE, 0.043, NULL, 0 }, "4.3%" },
		{ { VALUE_NUMBER, UNIT_SHARE, 0, NULL, 0 }, "0%" },
		{ { VALUE_NUMBER, UNIT_SHARE, 0.0001, NULL, 0 }, "<0.1%" },
		{ { VALUE_NUMBER, UNIT_RATIO, 0.04, NULL, 0 }, "x0.04" },
		{ { VALUE_NUMBER, UNIT_RATIO, 25, NULL, 0 }, "x25" },
		{ { VALUE_NUMBER, UNIT_BYTES_S, 112e6, NULL, 0 }, "112 MB/s" },
		{ { VALUE_AT_LEAST, UNIT_SECONDS, 8.8, NULL, 0 }, ">=8.80 s" },
		{ { VALUE_NUMBER, UNIT_SECONDS, 120, NULL, 0 }, "2 min 0 s" },
		{ { VALUE_NULL, UNIT_SECONDS, 0, NULL, 0 }, "-" },
	};
	char buf[VALUE_STR];

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++)
		assert_string_equal(value_str(&t[i].v, buf), t[i].s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_screen_fits_wraps_and_shows_no_control_bytes),
		cmocka_unit_test(json_is_one_document_with_the_schema_first),
		cmocka_unit_test(markdown_and_csv_escape_what_their_readers_would_act_on),
		cmocka_unit_test(html_runs_nothing_of_what_a_record_holds),
		cmocka_unit_test(values_read_as_people_write_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

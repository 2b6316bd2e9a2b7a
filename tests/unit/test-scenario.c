/* SPDX-License-Identifier: MIT */
#include "unit.h"

#include "base/cleanup.h"
#include "base/mem.h"
#include "scenario/scenario.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct scenario *parse(const char *text)
{
	struct scenario *s = NULL;
	struct err e = { 0 };

	assert_int_equal(scenario_parse(text, strlen(text), "t.scenario", &s, &e), 0);
	return s;
}

static void refuses(const char *text, const char *sentence)
{
	struct scenario *s = NULL;
	struct err e = { 0 };

	assert_true(scenario_parse(text, strlen(text), "t.scenario", &s, &e) < 0);
	assert_string_equal(e.msg, sentence);
}

static void sections_keys_and_the_question_are_read(void **state)
{
	struct scenario *s = parse("# SPDX-License-Identifier: MIT\n# Does it hang?\n# Cost: 1 GiB\n#\n# risk\ntime = 60s\n"
				   "[probe fsync]\r\nsize= 1M ; not a comment\n[load write:second]\nn = 16\n[probe fsync]\npause = 1s");

	assert_string_equal(s->question, "Does it hang? Cost: 1 GiB");
	assert_int_equal(s->nsections, 3);
	assert_string_equal(scenario_get(scenario_section(s, "global", ""), "time", ""), "60s");
	assert_string_equal(scenario_get(scenario_section(s, "probe", "fsync"), "size", ""), "1M ; not a comment");
	assert_string_equal(scenario_get(scenario_section(s, "probe", "fsync"), "pause", ""), "1s");
	assert_string_equal(scenario_section(s, "load", "second")->name, "write");
	scenario_free(s);
}

static void mistakes_have_a_file_a_line_and_a_way_out(void **state)
{
	struct scenario *s;
	struct err e = { 0 };
	const char *known[] = { "size", "pause", NULL };

	refuses("a\n", "t.scenario:1: 'a' is neither 'key = value' nor a [section] nor a # comment");
	refuses("\n[prob x]\n", "t.scenario:2: there is no kind of section 'prob'; did you mean 'probe'?");
	refuses("[probe fsync\n", "t.scenario:1: this section has no closing ']'");
	refuses("[probe]\n", "t.scenario:1: which probe? Write [probe NAME]");
	refuses("x = 1\nx = 2\n", "t.scenario:2: key 'x' was given before in line 1");
	refuses("x = \x1b[1m\n", "t.scenario:1: a control byte (0x1b), not a scenario");
	refuses("[load a:l]\n[load b:l]\n", "t.scenario:2: the label 'l' is taken by [load a] (line 1)");
	s = parse("[probe fsync]\nsizze = 1M\n");
	assert_int_equal(scenario_unused(s, known, &e), -EINVAL);
	assert_string_equal(e.msg, "t.scenario:2: unknown key 'sizze' in [probe fsync]; did you mean 'size'?");
	scenario_get(scenario_section(s, "probe", "fsync"), "sizze", NULL);
	assert_int_equal(scenario_unused(s, known, &e), 0);
	scenario_free(s);
}

static void limits_add_up_in_the_global_section(void **state)
{
	struct scenario *s = parse("limit = a < 1s\nlimit = b < 2s\n");

	assert_int_equal(s->sections[0].nkeys, 2);
	scenario_free(s);
}

static void the_text_is_the_same_however_it_was_written(void **state)
{
	struct scenario *a = parse("time=1s\n[load b]\ny = 1\nx=2\n[probe a]\n"), *b = parse("# hm\ntime = 1s\n[probe a]\n[load b]\nx = 2\ny= 1\n");
	cleanup_strbuf struct strbuf ta = STRBUF_INIT, tb = STRBUF_INIT, tc = STRBUF_INIT;
	struct scenario *c;

	scenario_text(a, &ta);
	scenario_text(b, &tb);
	assert_string_equal(ta.s, tb.s);
	c = parse(ta.s);
	scenario_text(c, &tc);
	assert_string_equal(ta.s, tc.s);
	scenario_free(a);
	scenario_free(b);
	scenario_free(c);
}

static void put(const char *dir, const char *name, const char *text)
{
	cleanup_free char *p = mem_printf("%s/%s", dir, name);
	cleanup_file FILE *f = fopen(p, "w");

	assert_non_null(f);
	fputs(text, f);
}

static void includes_variables_and_overrides_meet_in_that_order(void **state)
{
	char dir[] = "/tmp/test-scenario.XXXXXX";
	const char *dirs[] = { mkdtemp(dir), NULL };
	struct scn_override over[] = { { "SIZE=4M" }, { "fsync.pause=2s" }, { "load.fsync.n=3" }, { "time=5s" } };
	cleanup_free char *own = mem_printf("%s/own.scenario", dir);
	cleanup_strbuf struct strbuf text = STRBUF_INIT;
	struct scenario *s = NULL;
	struct err e = { 0 };

	put(dir, "basis.scenario", "# basis\ntime = 60s\n[probe fsync]\nsize = ${SIZE}\npause = 1s\n");
	put(dir, "own.scenario", "# own\ninclude = basis\n[probe fsync]\nrule = $${x}\n[load fsync]\nn = 1\n");
	put(dir, "loop.scenario", "include = loop.scenario\n");
	assert_int_equal(scenario_load(own, dirs, over, 1, &s, &e), 0);
	scenario_free(s);
	assert_int_equal(scenario_load("own", dirs, over, 4, &s, &e), -EINVAL);	/* fsync. names two sections */
	over[1].text = "probe.fsync.pause=2s";
	assert_int_equal(scenario_load("own", dirs, over, 4, &s, &e), 0);
	scenario_text(s, &text);
	assert_string_equal(text.s, "time = 5s\n\n[load fsync]\nn = 3\n\n[probe fsync]\npause = 2s\nrule = ${x}\nsize = 4M\n");
	assert_string_equal(s->question, "own");
	scenario_free(s);
	assert_int_equal(scenario_load("own", dirs, NULL, 0, &s, &e), -EINVAL);
	assert_non_null(strstr(e.msg, "basis.scenario:4: ${SIZE} is not defined"));
	assert_int_equal(scenario_load("bassis", dirs, NULL, 0, &s, &e), -ENOENT);
	assert_string_equal(e.msg, "there is no scenario 'bassis'; did you mean 'basis'?");
	assert_int_equal(scenario_load("loop", dirs, NULL, 0, &s, &e), -EINVAL);
	assert_non_null(strstr(e.msg, "includes go more than 8 deep"));
	for (size_t i = 0; i < 3; i++) {
		cleanup_free char *p = mem_printf("%s/%s.scenario", dir, (const char *[]){ "basis", "own", "loop" }[i]);

		unlink(p);
	}
	rmdir(dir);
}

static void lists_become_cells_in_the_order_of_the_file(void **state)
{
	struct scenario *s = parse("matrix.fsync.size = 4k, 1M\n[probe fsync]\n[lab usb]\nfs = ext4, xfs\nmount = data=ordered\n");
	struct scn_cell *c = NULL;
	struct err e = { 0 };
	size_t n = 0;

	assert_int_equal(scenario_cells(s, &c, &n, &e), 0);
	assert_int_equal(n, 4);
	assert_string_equal(c[0].label, "size=4k fs=ext4");
	assert_string_equal(c[1].label, "size=4k fs=xfs");
	assert_string_equal(c[3].label, "size=1M fs=xfs");
	assert_string_equal(scenario_get(scenario_section(c[2].s, "probe", "fsync"), "size", ""), "1M");
	assert_string_equal(scenario_get(scenario_section(c[2].s, "lab", "usb"), "fs", ""), "ext4");
	scenario_cells_free(c, n);
	scenario_free(s);
	s = parse("[probe x]\na = 1, 2\n");
	assert_int_equal(scenario_cells(s, &c, &n, &e), 0);
	assert_int_equal(n, 1);
	assert_string_equal(c[0].label, "");
	scenario_cells_free(c, n);
	scenario_free(s);
	s = parse("matrix.nobody.size = 1, 2\n");
	assert_int_equal(scenario_cells(s, &c, &n, &e), -EINVAL);
	scenario_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sections_keys_and_the_question_are_read),
		cmocka_unit_test(mistakes_have_a_file_a_line_and_a_way_out),
		cmocka_unit_test(limits_add_up_in_the_global_section),
		cmocka_unit_test(the_text_is_the_same_however_it_was_written),
		cmocka_unit_test(includes_variables_and_overrides_meet_in_that_order),
		cmocka_unit_test(lists_become_cells_in_the_order_of_the_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* Every shipped scenario can be planned: all its keys are understood, its limits parse, and its comments say what one must know. */
#include "unit.h"

#include "base/cleanup.h"
#include "base/mem.h"
#include "run/plan.h"
#include "stats/gate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char dir[512];
static const char *dirs[2];
static char **names;
static size_t n;

static int find_them(void **state)
{
	snprintf(dir, sizeof(dir), "%s/scenarios", getenv("SOURCE_DIR"));
	dirs[0] = dir;
	return scenario_names(dirs, &names, &n, NULL);
}

static int free_them(void **state)
{
	for (size_t i = 0; i < n; i++)
		free(names[i]);
	free(names);
	return 0;
}

static struct scenario *load(const char *name)
{
	struct scenario *s = NULL;
	struct err e = { 0 };

	if (scenario_load(name, dirs, NULL, 0, &s, &e))
		print_message("%s: %s\n", name, e.msg);
	assert_non_null(s);
	return s;
}

static void all_are_there(void **state)
{
	static const char *const must[] = {
		"kernel-build", "osync-tar", "torture-fsync", "fsmark-fio", "copy-storm", "copy-storm-16w", "copy-storm-16rw",
		"copy-storm-1rw", "copy-storm-1w", "quick", "database", "etcd", "wal-beside-backup", "desktop", "usb-copy",
		"package-upgrade", "container-pull", "backup",
	};

	for (size_t i = 0; i < ARRAY_SIZE(must); i++)
		scenario_free(load(must[i]));
}

static void every_key_is_understood(void **state)
{
	char work[] = "/dev/shm/stallmark-test.XXXXXX";

	assert_non_null(mkdtemp(work));
	for (size_t i = 0; i < n; i++) {
		struct scenario *s = load(names[i]);
		struct plan_conf c = { .scenario = s, .dir = work, .scale = "0.001", .allow_commands = true };
		struct plan *p = NULL;
		struct err e = { 0 };

		if (plan_make(&c, &p, &e))
			print_message("%s: %s\n", names[i], e.msg);
		assert_non_null(p);
		assert_true(p->probes.n > 0 && p->loads.n > 0);
		for (size_t k = 0; k < p->limits.n; k++) {
			struct gate g;
			bool found = false;

			if (gate_parse(p->limits.p[k].text, &g, &e))
				print_message("%s: %s\n", names[i], e.msg);
			assert_int_equal(e.code, 0);
			for (size_t m = 0; m < p->probes.n; m++)
				found |= !strcmp(p->probes.p[m].name, g.probe);
			assert_true(found);
			assert_true(strlen(p->limits.p[k].source) > 10);
		}
		plan_free(p);
		scenario_free(s);
	}
	assert_int_equal(rmdir(work), 0);		/* planning wrote nothing */
}

static void comments_say_question_cost_and_risk(void **state)
{
	for (size_t i = 0; i < n; i++) {
		cleanup_free char *path = mem_printf("%s/%s.scenario", dir, names[i]);
		cleanup_file FILE *f = fopen(path, "re");
		struct scenario *s = load(names[i]);
		char text[8192];
		size_t got = fread(text, 1, sizeof(text) - 1, f);

		text[got] = 0;
		assert_non_null(s->question);
		if (strlen(s->question) > 130)
			print_message("%s: the question has %zu characters\n", names[i], strlen(s->question));
		assert_in_range(strlen(s->question), 20, 130);
		if (!strstr(text, "# Cost") || (!strstr(text, "# Risk") && !strstr(text, "# Cost and risk")))
			print_message("%s: no cost or no risk\n", names[i]);
		assert_true(strstr(text, "# Cost and risk: ") || (strstr(text, "# Cost: ") && strstr(text, "# Risk: ")));
		scenario_free(s);
	}
}

static const char *value(struct scenario *s, const char *kind, const char *label, const char *key)
{
	return scenario_get(scenario_section(s, kind, label), key, "");
}

/* The published parameters, as the archive of measurements has them. */
static void published_parameters_are_as_published(void **state)
{
	struct scenario *s = load("kernel-build");

	assert_string_equal(value(s, "load", "compile", "jobs"), "32");
	assert_string_equal(value(s, "probe", "cold-read", "files"), "1000");
	assert_string_equal(value(s, "probe", "cold-read", "size"), "253560");
	scenario_free(s);
	s = load("osync-tar");
	assert_string_equal(value(s, "load", "write", "bs"), "1M");
	assert_string_equal(value(s, "load", "write", "size"), "32000M");
	assert_string_equal(value(s, "load", "write", "oflag"), "sync");
	scenario_free(s);
	s = load("torture-fsync");
	assert_string_equal(value(s, "probe", "fsync", "size"), "1M");
	assert_string_equal(value(s, "probe", "fsync", "pause"), "1s");
	assert_string_equal(value(s, "load", "overwrite", "piece"), "8M");
	scenario_free(s);
	s = load("torture-fsync-in-place-range");
	assert_string_equal(value(s, "load", "overwrite", "place"), "in-place");
	assert_string_equal(value(s, "load", "overwrite", "sync_file_range"), "yes");
	scenario_free(s);
	s = load("fsmark-fio");
	assert_string_equal(value(s, "probe", "small-create", "size"), "64k");
	assert_string_equal(value(s, "probe", "small-create", "bs"), "4k");
	assert_string_equal(value(s, "probe", "small-create", "sync"), "yes");
	assert_string_equal(scenario_get(scenario_section(s, "global", ""), "time", ""), "300s");
	scenario_free(s);
	s = load("copy-storm-16rw");
	assert_string_equal(value(s, "load", "copy", "n"), "16");
	assert_null(scenario_section(s, "load", "write"));
	scenario_free(s);
	s = load("copy-storm-1w");
	assert_string_equal(value(s, "load", "write", "n"), "1");
	scenario_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_are_there),
		cmocka_unit_test(every_key_is_understood),
		cmocka_unit_test(comments_say_question_cost_and_risk),
		cmocka_unit_test(published_parameters_are_as_published),
	};

	return cmocka_run_group_tests(tests, find_them, free_them);
}

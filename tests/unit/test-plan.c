/* SPDX-License-Identifier: MIT */
/* A scenario and the plug-ins become a plan, or a sentence. */
#include "unit.h"

#include "base/cleanup.h"
#include "run/consent.h"
#include "run/plan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char dir[] = "/var/tmp/test-plan.XXXXXX";

static int plan(const char *text, struct scenario **s, struct plan **p, struct err *e)
{
	struct plan_conf conf = { .dir = dir };

	assert_int_equal(scenario_parse(text, strlen(text), "t.scenario", s, e), 0);
	conf.scenario = *s;
	return plan_make(&conf, p, e);
}

static void refused(const char *text, const char *words)
{
	struct scenario *s = NULL;
	struct plan *p = NULL;
	struct err e = { 0 };

	assert_true(plan(text, &s, &p, &e) < 0);
	if (!strstr(e.msg, words))
		fail_msg("'%s' does not say '%s'", e.msg, words);
	scenario_free(s);
}

static void defaults_and_overrides_are_decided(void **state)
{
	struct scenario *s = NULL;
	struct plan *p = NULL;
	struct err e = { 0 };

	assert_int_equal(plan("time = 90s\nlimit = wal.p99 < 10ms (etcd's guide (old))\n[probe wal]\nrate = 50/s\n[probe fsync]\n"
			      "[probe fsync:big]\nsize = 8M\npause = 3s\nlimit = 2s\n[load write]\nn = 3\nsize = 32M\n[lab x]\ndisk = y\n",
			      &s, &p, &e), 0);
	assert_int_equal(p->time, 90 * NSEC_PER_SEC);
	assert_int_equal(p->idle, 10 * NSEC_PER_SEC);
	assert_int_equal(p->probes.n, 3);
	assert_int_equal(p->probes.p[0].interval, 20 * NSEC_PER_MSEC);
	assert_string_equal(p->probes.p[1].name, "fsync");
	assert_string_equal(p->probes.p[2].name, "fsync@big");
	assert_int_equal(p->probes.p[2].interval, 3 * NSEC_PER_SEC);
	assert_int_equal(p->probes.p[2].limit, 2 * NSEC_PER_SEC);
	assert_int_equal(p->loads.p[0].workers, 3);
	assert_int_equal(p->loads.p[0].space, 96 << 20);
	assert_string_equal(p->limits.p[0].text, "wal.p99 < 10ms");
	assert_string_equal(p->limits.p[0].source, "etcd's guide (old)");
	assert_int_equal(p->dirs.n, 1);
	plan_free(p);
	scenario_free(s);
}

static void short_runs_have_short_idle_phases(void **state)
{
	struct scenario *s = NULL;
	struct plan *p = NULL;
	struct err e = { 0 };

	assert_int_equal(plan("time = 2s\n[probe tick]\n", &s, &p, &e), 0);
	assert_int_equal(p->idle, 2 * NSEC_PER_SEC);
	plan_free(p);
	scenario_free(s);
}

static void mistakes_name_the_line_and_the_way_out(void **state)
{
	refused("[probe fsnc]\n", "t.scenario:1: there is no probe 'fsnc'; did you mean 'fsync'?");
	refused("[probe fsync]\n[load wrte]\n", "t.scenario:2: there is no load 'wrte'; did you mean 'write'?");
	refused("[probe fsync]\npaus = 1s\n", "t.scenario:2: probe fsync has no key 'paus'; did you mean 'pause'?");
	refused("[probe fsync]\npause = 1\n", "t.scenario:2: pause: ");
	refused("[probe fsync]\nrate = 3/s\n", "is a closed loop, which has a pause");
	refused("[probe tick]\nrate = 0\n", "t.scenario:2: rate: from 0.001/s");
	refused("time = 0\n[probe tick]\n", "a run measures for 0.1 s at least");
	refused("scale = 7\n[probe tick]\n", "is neither 'auto' nor a share");
	refused("[probe tick]\n[load write]\nn = 600\n", "are 600 processes; at most 512");
	refused("[probe fsync]\nsize = 800T\n", "too little space in /var/tmp");
	refused("[probe fsync]\ndir = /nonexistent\n", "cannot work in /nonexistent");
	refused("[load write]\n", "has no [probe NAME] section");
}

static void loads_shrink_to_the_free_space_and_say_so(void **state)
{
	struct scenario *s = NULL;
	struct plan *p = NULL;
	struct err e = { 0 };

	assert_int_equal(plan("[probe fsync]\n[load write]\nsize = 900T\n", &s, &p, &e), 0);
	assert_true(p->loads.p[0].space + p->probes.p[0].space <= p->dirs.p[0].free_bytes);
	assert_true(p->scaled.n >= 1);
	assert_non_null(strstr(p->scaled.p[0], "load write: size 900T -> "));
	assert_non_null(strstr(p->scaled.p[0], "(free space)"));
	plan_free(p);
	scenario_free(s);
}

static void the_consent_names_place_programs_and_time(void **state)
{
	struct scenario *s = NULL;
	struct plan *p = NULL;
	struct err e = { 0 };
	cleanup_strbuf struct strbuf out = STRBUF_INIT;
	struct plan_conf conf = { .dir = dir, .allow_commands = true };
	const char *text = "# Is it so?\n[probe tick]\n[load command]\ncommand = /bin/true --all\n";

	assert_int_equal(scenario_parse(text, strlen(text), "t.scenario", &s, &e), 0);
	conf.scenario = s;
	assert_int_equal(plan_make(&conf, &p, &e), 0);
	consent_text(p, 2, "x.smk", &out);
	assert_non_null(strstr(out.s, dir));
	assert_non_null(strstr(out.s, "load command runs: /bin/true --all"));
	assert_non_null(strstr(out.s, "2 times"));
	assert_non_null(strstr(out.s, "Is it so?"));
	assert_non_null(strstr(out.s, "record  x.smk"));
	for (const char *l = out.s; *l; l += strcspn(l, "\n") + 1)
		assert_true(strcspn(l, "\n") <= 78);
	plan_free(p);
	if (geteuid() == 0) {	/* as root nobody's commands without --allow-commands */
		conf.allow_commands = false;
		assert_int_equal(plan_make(&conf, &p, &e), -EPERM);
		assert_non_null(strstr(e.msg, "--allow-commands"));
	}
	scenario_free(s);
}

static int setup(void **state)
{
	return mkdtemp(dir) ? 0 : -1;
}

static int teardown(void **state)
{
	return rmdir(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(defaults_and_overrides_are_decided),
		cmocka_unit_test(short_runs_have_short_idle_phases),
		cmocka_unit_test(mistakes_name_the_line_and_the_way_out),
		cmocka_unit_test(loads_shrink_to_the_free_space_and_say_so),
		cmocka_unit_test(the_consent_names_place_programs_and_time),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}

/* SPDX-License-Identifier: MIT */
#include "unit.h"

#include "trial/order.h"
#include "trial/plan-file.h"
#include "trial/setting.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void rounds_alternate_and_balance(void **state)
{
	static const int first[] = { 0, 1, 1, 0, 1, 0, 0, 1 };
	long place[2] = { 0 };

	for (unsigned round = 0; round < 8; round++) {
		assert_int_equal(order_side(2 * round), first[round]);
		assert_int_equal(order_side(2 * round + 1), !first[round]);
	}
	for (unsigned i = 0; i < 32; i++)	/* neither side comes later on the whole */
		place[order_side(i)] += i;
	assert_int_equal(place[0], place[1]);
}

static void settings_are_typed_and_mistakes_explained(void **state)
{
	static const char *const bad[] = { "scheduler", "scheduler=", "=bfq", "schedulr=bfq", "vm.dirty_byte=1M", "vm.swappiness=1",
					   "queue.../x=1", "queue.a/b=1", "scheduler.=1", "fs=xfs", "mount=nobarrier", "disk=x",
					   "lab.disk=x", "cmd=true", "vm.dirty_bytes=x" };
	struct ab_settings s;
	struct err e = { 0 };

	assert_int_equal(ab_settings_parse("scheduler=bfq,scheduler.low_latency=0,queue.nr_requests=64,vm.dirty_bytes=64M,write.n=16",
					   &s, &e), 0);
	assert_int_equal(s.p.n, 5);
	assert_int_equal(s.p.p[0].kind, SETTING_QUEUE);
	assert_string_equal(s.p.p[0].attr, "scheduler");
	assert_string_equal(s.p.p[1].attr, "iosched/low_latency");
	assert_string_equal(s.p.p[2].attr, "nr_requests");
	assert_string_equal(s.p.p[3].attr, "dirty_bytes");
	assert_string_equal(s.p.p[3].value, "67108864");
	assert_int_equal(s.p.p[4].kind, SETTING_SCENARIO);
	assert_true(ab_settings_need_root(&s) && ab_settings_machine_wide(&s));
	assert_null(ab_settings_kernel(&s));
	ab_settings_done(&s);
	assert_int_equal(ab_settings_parse("", &s, &e), 0);
	assert_int_equal(s.p.n, 0);
	assert_int_equal(ab_settings_parse("kernel=6.1.0", &s, &e), 0);
	assert_string_equal(ab_settings_kernel(&s), "6.1.0");
	assert_false(ab_settings_need_root(&s));
	ab_settings_done(&s);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		if (ab_settings_parse(bad[i], &s, &e) != -EINVAL)
			fail_msg("'%s' was taken", bad[i]);
	ab_settings_parse("schedulr=bfq", &s, &e);
	assert_non_null(strstr(e.msg, "did you mean 'scheduler'"));
	ab_settings_parse("fs=xfs", &s, &e);
	assert_non_null(strstr(e.msg, "lab"));
}

static void a_plan_goes_on_where_it_was_cut(void **state)
{
	char dir[] = "/tmp/stallmark-trial.XXXXXX", path[64];
	struct ab_plan p = { .scenario = (char *)"quick", .dir = (char *)"/data dir", .a = (char *)"", .b = (char *)"scheduler=bfq",
			     .time = (char *)"", .rounds = 20, .until_decided = true }, q;
	struct err e = { 0 };
	FILE *f;

	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/plan", dir);
	vec_push(&p.define, strdup("write.n=4"));
	assert_int_equal(ab_plan_create(path, &p, &e), 0);
	assert_int_equal(ab_plan_create(path, &p, &e), -EEXIST);
	assert_int_equal(ab_plan_add_run(path, &p, 'a', "a-001.smk", "6.1.0", &e), 0);
	assert_int_equal(ab_plan_add_run(path, &p, 'b', "b-001.smk", "6.2.0 x", &e), 0);
	assert_int_equal(ab_plan_add_look(path, &p, 5, "UNCLEAR", false, &e), 0);
	f = fopen(path, "a");
	fputs("run a a-00", f);			/* the machine went down here */
	fclose(f);
	assert_int_equal(ab_plan_read(path, &q, &e), 0);
	assert_string_equal(q.dir, "/data dir");
	assert_string_equal(q.a, "");
	assert_string_equal(q.b, "scheduler=bfq");
	assert_int_equal(q.rounds, 20);
	assert_true(q.until_decided && !q.ended);
	assert_int_equal(q.done.n, 2);
	assert_string_equal(q.done.p[1].kernel, "6.2.0 x");
	assert_string_equal(q.define.p[0], "write.n=4");
	assert_int_equal(q.looks, 1);
	ab_plan_done(&q);
	/* somebody else may write it: not followed */
	chmod(path, 0666);
	assert_int_equal(ab_plan_read(path, &q, &e), -EPERM);
	chmod(path, 0600);
	f = fopen(path, "w");
	fputs("stallmark-ab 1\nscenario quick\ndir /x\na \nb \ntime \nrounds 5\nrun a ../../etc/passwd 6.1\n", f);
	fclose(f);
	assert_int_equal(ab_plan_read(path, &q, &e), -EINVAL);
	assert_non_null(strstr(e.msg, "line 8"));
	f = fopen(path, "w");
	fputs("stallmark-ab 1\nscenario quick\n", f);
	fclose(f);
	assert_int_equal(ab_plan_read(path, &q, &e), -EINVAL);
	unlink(path);
	rmdir(dir);
	for (size_t i = 0; i < p.done.n; i++) {
		free(p.done.p[i].record);
		free(p.done.p[i].kernel);
	}
	vec_done(&p.done);
	free(p.define.p[0]);
	vec_done(&p.define);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rounds_alternate_and_balance),
		cmocka_unit_test(settings_are_typed_and_mistakes_explained),
		cmocka_unit_test(a_plan_goes_on_where_it_was_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

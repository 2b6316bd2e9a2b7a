/* SPDX-License-Identifier: MIT */
/* The sources without tracing, on this machine's own /proc: what they store must agree with what the kernel says. */
#include "unit.h"

#include "base/cleanup.h"
#include "base/mem.h"
#include "collect/source.h"
#include "sys/kfile.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define OK(call) do {									\
	int ok_ = (call);								\
	if (ok_)									\
		fail_msg("%s: %d %s", #call, ok_, e.msg);				\
} while (0)

static char dir[] = "/tmp/test-collect-XXXXXX", path[64];
static struct rec *rec;
static int run;

static int setup(void **state)
{
	struct rec_run info = { .scenario = "t", .producer = "run" };

	if (!mkdtemp(dir))
		return -1;
	snprintf(path, sizeof(path), "%s/a.smk", dir);
	return rec_create(path, &rec, NULL) || rec_run_begin(rec, &info, &run, NULL);
}

static int teardown(void **state)
{
	rec_close(rec);
	unlink(path);
	return rmdir(dir);
}

struct points {
	int n;
	int64_t min, max, sum;
};

static int see(void *ctx, int r, const nsec_t *t, const int64_t *value, uint32_t n)
{
	struct points *p = ctx;

	for (uint32_t i = 0; i < n; i++) {
		p->min = p->n ? MIN(p->min, value[i]) : value[i];
		p->max = p->n ? MAX(p->max, value[i]) : value[i];
		p->sum += value[i];
		p->n++;
	}
	return 0;
}

static struct points points(const char *series)
{
	struct points p = { 0 };
	struct err e = { 0 };
	int id = rec_series_find(rec, SERIES_COUNTER, series);

	if (!id)
		fail_msg("there is no series %s", series);
	OK(rec_counter_each(rec, run, id, see, &p, &e));
	return p;
}

struct opened {
	const struct source_ops *ops;
	void *st, *conf;
};

static struct opened start(const char *name, const struct source_env *env)
{
	struct opened o = { .ops = plug_find(source_table, name) };
	struct err e = { 0 };

	assert_non_null(o.ops);
	o.st = mem_alloc(o.ops->plug.state_size + 1);
	o.conf = mem_alloc(o.ops->plug.conf_size + 1);
	param_defaults(o.ops->plug.params, o.conf);
	OK(o.ops->open(o.st, o.conf, env, &e));
	OK(o.ops->start(o.st, &e));
	return o;
}

static void play(struct opened *o, nsec_t until)
{
	struct err e = { 0 };

	while (nsec_now() < until) {
		nsec_sleep_until(MIN(o->ops->due(o->st, nsec_now()), until), NULL);
		OK(o->ops->drain(o->st, nsec_now(), &e));
	}
}

static void stop(struct opened *o)
{
	struct err e = { 0 };

	OK(o->ops->stop(o->st, &e));
	assert_int_equal(o->ops->lost(o->st), 0);
	o->ops->close(o->st);
	free(o->st);
	free(o->conf);
}

static void proc_counts_dirty_memory_and_the_cpu_of_a_process(void **state)
{
	const pid_t pids[] = { getpid() };
	const char *const names[] = { "probe fsync" };
	struct source_env env = { .rec = rec, .run = run, .period = 10 * NSEC_PER_MSEC, .pids = pids, .pid_names = names, .npids = 1 };
	struct opened o = start("proc", &env);
	cleanup_strbuf struct strbuf vm = STRBUF_INIT;
	uint64_t limit;
	struct points p;

	play(&o, nsec_now() + 300 * NSEC_PER_MSEC);
	stop(&o);
	p = points("vm.dirty_limit");
	assert_true(p.n >= 5 && p.n <= 32);		/* one every 10 ms, fewer on a busy machine, never more */
	assert_int_equal(file_read("/proc/vmstat", &vm, NULL), 0);
	assert_true(file_field(strbuf_str(&vm), "nr_dirty_threshold", &limit));
	limit *= (uint64_t)sysconf(_SC_PAGESIZE);
	assert_true(p.max > 0 && (uint64_t)p.max < limit * 2 && (uint64_t)p.max > limit / 2);
	assert_true(points("vm.dirty").n == p.n);
	assert_true(points("load.average").n == 1);	/* jiffies: once a second at most */
	p = points("process.probe.fsync.runq");
	assert_true(p.n >= 4 && p.min >= 0 && p.max <= 1000000 * 2);
}

static void psi_shares_are_shares(void **state)
{
	struct source_env env = { .rec = rec, .run = run, .period = 20 * NSEC_PER_MSEC };
	const struct source_ops *psi = plug_find(source_table, "psi");
	struct err e = { 0 };
	struct opened o;
	struct points p;

	if (psi->supported(&e)) {
		assert_non_null(strstr(e.msg, "pressure stall information"));
		print_message("%s\n", e.msg);
		skip();
	}
	o = start("psi", &env);
	play(&o, nsec_now() + 200 * NSEC_PER_MSEC);
	stop(&o);
	p = points("psi.io.some");
	assert_true(p.n >= 2 && p.min >= 0 && p.max <= 1100000);
}

static uint32_t sleeper_tid;

static void *sleeper(void *arg)
{
	char c;

	__atomic_store_n(&sleeper_tid, (uint32_t)syscall(SYS_gettid), __ATOMIC_RELEASE);
	return (void *)(intptr_t)read(*(int *)arg, &c, 1);
}

struct stalls {
	int n;
	bool wrong;
	nsec_t last;
};

static int see_stall(void *ctx, const struct rec_stall *s)
{
	struct stalls *t = ctx;
	char name[REC_DIGEST];

	if (!s->series)
		return 0;
	snprintf(name, sizeof(name), "%s", s->syscall);
	t->wrong |= s->tid != sleeper_tid || s->pid != (uint32_t)getpid() || s->sample_id != 7 || strcmp(s->state, "S") ||
		    strcmp(name, "read") || s->waited < 250 * NSEC_PER_MSEC || s->waited <= t->last;
	t->last = s->waited;
	t->n++;
	return 0;
}

static void stacks_sees_where_a_stuck_action_sleeps(void **state)
{
	struct in_flight slot = { .id = 7 }, idle = { 0 };
	const struct in_flight *const slots[] = { &slot, &idle };
	const char *const names[] = { "wal", "tick" };
	struct rec_series series = { .kind = SERIES_SAMPLES, .name = "wal", .unit = "ns", .group = "probe" };
	struct source_env env = { .rec = rec, .run = run, .in_flight = slots, .in_flight_series = names, .nin_flight = 2 };
	struct err e = { 0 };
	struct stalls seen = { 0 };
	struct opened o;
	pthread_t th;
	int p[2], id;

	OK(rec_series(rec, &series, &id, &e));
	assert_int_equal(pipe(p), 0);
	assert_int_equal(pthread_create(&th, NULL, sleeper, &p[0]), 0);
	while (!__atomic_load_n(&sleeper_tid, __ATOMIC_ACQUIRE))
		nsec_sleep_until(nsec_now() + NSEC_PER_MSEC, NULL);
	slot.tid = sleeper_tid;
	o = start("stacks", &env);
	slot.started = nsec_now() - 240 * NSEC_PER_MSEC;
	OK(o.ops->drain(o.st, nsec_now(), &e));
	OK(rec_stalls_each(rec, run, see_stall, &seen));
	assert_int_equal(seen.n, 0);			/* not yet long enough */
	play(&o, nsec_now() + 1000 * NSEC_PER_MSEC);
	OK(rec_stalls_each(rec, run, see_stall, &seen));
	assert_false(seen.wrong);
	assert_in_range(seen.n, 1, 3);			/* at 0.25 s, then at twice the wait each time */
	stop(&o);
	assert_int_equal(write(p[1], "x", 1), 1);
	pthread_join(th, NULL);
	close(p[0]);
	close(p[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(proc_counts_dirty_memory_and_the_cpu_of_a_process),
		cmocka_unit_test(psi_shares_are_shares),
		cmocka_unit_test(stacks_sees_where_a_stuck_action_sleeps),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}

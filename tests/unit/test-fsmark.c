/* SPDX-License-Identifier: MIT */
/* Our files/s of the small-create probe against fs_mark's own arithmetic, on the same calls. */
#include "play.h"

#include "base/cleanup.h"
#include "probe/probe.h"
#include "stats/fsmark.h"

#include <math.h>
#include <sys/time.h>

#define FILES 200
#define ITERATIONS 3

struct rig {
	struct play p;
	const struct probe_ops *probe;
	void *conf, *st;
	bool preparing;
};

static int script(void *ctx, struct op *ops, int max)
{
	struct rig *r = ctx;

	return r->preparing ? r->probe->prepare(r->st, r->conf, &r->p.rng, ops, max) :
			      r->probe->script(r->st, r->conf, &r->p.rng, ops, max);
}

static double now_usec(void)
{
	struct timeval tv;

	gettimeofday(&tv, NULL);
	return (double)tv.tv_sec * 1e6 + (double)tv.tv_usec;
}

/* fs_mark: files_per_sec = num_files / (loop_usecs / 1000000.0), loop_usecs from before the first file to after the last
 * close; its average is the mean over the iterations. */
static void agrees_with_fs_mark(void **state)
{
	static const char *const set[] = { "files", "200", "dirs", "4", "sync", "no" };
	static nsec_t start[FILES * ITERATIONS], end[FILES * ITERATIONS];
	double sum = 0, theirs, loop_start = 0;
	struct fsmark ours;
	struct actor a;
	struct action out;
	struct err e = { 0 };
	struct rig r = { .probe = plug_find(probe_table, "small-create") };
	int n = 0;

	r.conf = mem_alloc(r.probe->plug.conf_size);
	r.st = mem_alloc(r.probe->plug.state_size);
	param_defaults(r.probe->plug.params, r.conf);
	for (size_t i = 0; i < ARRAY_SIZE(set); i += 2)
		assert_int_equal(param_set(r.probe->plug.params, r.conf, "small-create", set[i], set[i + 1], &e), 0);
	play_open(&r.p, "/dev/shm", NULL);
	a = (struct actor){ .perform = &perform_posix, .st = r.p.st, .script = script, .ctx = &r };
	r.preparing = true;
	assert_int_equal(action_prepare(&a, &out, NULL), 0);
	r.preparing = false;
	for (int k = 0; k < ITERATIONS; k++) {
		loop_start = now_usec();
		for (int i = 0; i < FILES; i++, n++) {
			assert_int_equal(action_before(&a, &out), 0);
			assert_int_equal(action_perform(&a, &out), 0);
			start[n] = out.start;
			end[n] = out.end;
			if (i == FILES - 1)
				sum += FILES / ((now_usec() - loop_start) / 1e6);
			assert_int_equal(action_after(&a, &out), 0);	/* the last one unlinks all: not in fs_mark's time */
		}
	}
	theirs = sum / ITERATIONS;
	ours = fsmark_rate(start, end, (size_t)n, 0, FILES, 0);
	print_message("files/s: %.1f ours, %.1f by fs_mark's formula\n", ours.files_per_s, theirs);
	assert_int_equal(ours.iterations, ITERATIONS);
	assert_true(fabs(ours.files_per_s - theirs) < 0.02 * theirs);
	assert_true(ours.slowest <= ours.files_per_s && ours.files_per_s <= ours.quickest);

	/* a window that begins in the middle of an iteration uses only whole ones */
	assert_int_equal(fsmark_rate(start + 50, end + 50, (size_t)n - 50, 50, FILES, 0).iterations, ITERATIONS - 1);
	assert_int_equal(fsmark_rate(start, end, FILES - 1, 0, FILES, 0).iterations, 0);
	play_close(&r.p);
	param_done(r.probe->plug.params, r.conf);
	free(r.conf);
	free(r.st);
}

static void pauses_are_taken_off(void **state)
{
	nsec_t start[10], end[10];

	for (int i = 0; i < 10; i++) {
		start[i] = i * 110 * NSEC_PER_MSEC;
		end[i] = start[i] + 10 * NSEC_PER_MSEC;
	}
	/* ten files of 10 ms each, 100 ms apart: 100 files/s */
	assert_float_equal(fsmark_rate(start, end, 10, 0, 10, 100 * NSEC_PER_MSEC).files_per_s, 100, 1e-6);
	assert_int_equal(fsmark_rate(start, end, 10, 0, 0, 0).iterations, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(agrees_with_fs_mark),
		cmocka_unit_test(pauses_are_taken_off),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

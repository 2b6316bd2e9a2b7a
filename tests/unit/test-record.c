/* SPDX-License-Identifier: MIT */
#include "unit.h"

#include "base/cleanup.h"
#include "base/rng.h"
#include "base/sha256.h"
#include "record/record.h"
#include "record/truth.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef __has_feature
#if __has_feature(address_sanitizer)
#define SANITIZED
#endif
#endif

static char dir[REC_DIR_MAX + 32], path[REC_DIR_MAX + 64];

static int setup(void **state)
{
	char base[REC_DIR_MAX];

	if (rec_dir(NULL, base, NULL))
		snprintf(base, sizeof(base), "/tmp");
	snprintf(dir, sizeof(dir), "%s/test-record-XXXXXX", base);
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/a.smk", dir);
	return 0;
}

static int teardown(void **state)
{
	cleanup_free char *target = NULL;

	unlink(path);
	if (asprintf(&target, "%s-journal", path) > 0)
		unlink(target);
	return rmdir(dir);
}

#define OK(call) do {									\
	int ok_ = (call);								\
	if (ok_)									\
		fail_msg("%s: %d %s", #call, ok_, e.msg);				\
} while (0)

static struct sample make(uint64_t i)
{
	struct sample s = { .id = i, .intended = (nsec_t)i * 10 * NSEC_PER_MSEC, .pid = 10, .tid = 11, .phase = PHASE_MEASURE,
			    .nsteps = 2, .bytes = 4096, .runq = -1 };

	s.start = s.intended + 1000;
	s.end = s.start + 5000 + (nsec_t)(i % 97) * 13;
	s.step[0] = 4000;
	s.step[1] = s.end - s.start - 4000;
	return s;
}

static struct rec *begin(int *run, int *fsync_series)
{
	struct rec *r;
	struct err e = { 0 };
	struct rec_run info = { .scenario = "t", .scenario_text = "[probe fsync]\n", .producer = "run", .version = "0",
				.wall_start = 1700000000 * NSEC_PER_SEC, .t0 = 0 };
	struct rec_series s = { .kind = SERIES_SAMPLES, .name = "fsync", .unit = "ns", .meaning = "a save", .group = "probe" };

	OK(rec_create(path, &r, &e));
	OK(rec_run_begin(r, &info, run, &e));
	OK(rec_series(r, &s, fsync_series, &e));
	return r;
}

struct seen {
	uint64_t n, chunks;
	int64_t last;
	bool wrong;
};

static int see_samples(void *ctx, int run, const struct sample *rows, uint32_t n)
{
	struct seen *s = ctx;

	for (uint32_t i = 0; i < n; i++) {
		struct sample want = make(s->n + i);

		s->wrong |= memcmp(&want, &rows[i], sizeof(want)) != 0;
	}
	s->n += n;
	s->chunks++;
	return 0;
}

static int see_counter(void *ctx, int run, const nsec_t *t, const int64_t *value, uint32_t n)
{
	struct seen *s = ctx;

	for (uint32_t i = 0; i < n; i++)
		s->wrong |= t[i] != (nsec_t)(s->n + i) * NSEC_PER_SEC || value[i] != -(int64_t)(s->n + i);
	s->n += n;
	return 0;
}

static void what_is_written_comes_back_whatever_the_rhythm(void **state)
{
	/* rows a commit: one piece a second, bursts, exactly full chunks, far over a chunk */
	static const int rhythm[] = { 1, 20, 100, 2048, 5000 };

	for (size_t k = 0; k < ARRAY_SIZE(rhythm); k++) {
		struct err e = { 0 };
		struct seen s = { 0 }, c = { 0 };
		int run, series, dirty, total = 0;
		struct rec *r = begin(&run, &series);
		struct rec_series ds = { .kind = SERIES_COUNTER, .name = "vm.dirty", .unit = "bytes", .group = "system" };

		OK(rec_series(r, &ds, &dirty, &e));
		for (int sec = 0; sec < (rhythm[k] < 100 ? 900 : 30); sec++) {
			for (int i = 0; i < rhythm[k]; i++, total++) {
				struct sample one = make((uint64_t)total);

				OK(rec_samples(r, run, series, 0, &one, 1, &e));
			}
			OK(rec_counter(r, run, dirty, sec * NSEC_PER_SEC, -sec, &e));
			OK(rec_commit(r, &e));
		}
		OK(rec_run_end(r, run, total * NSEC_PER_SEC, false, NULL, &e));
		rec_close(r);
		OK(rec_open(path, &r, &e));
		OK(rec_samples_each(r, run, series, see_samples, &s, &e));
		assert_int_equal(s.n, total);
		assert_false(s.wrong);
		assert_true(s.chunks <= s.n / 2048 + 1);	/* the pieces are gone */
		OK(rec_counter_each(r, 0, rec_series_find(r, SERIES_COUNTER, "vm.dirty"), see_counter, &c, &e));
		assert_int_equal(c.n, rhythm[k] < 100 ? 900 : 30);
		assert_false(c.wrong);
		assert_int_equal(rec_damaged(r), 0);
		rec_close(r);
		unlink(path);
	}
}

static int count_text(void *ctx, int run, enum note_kind kind, nsec_t t, const char *key, const char *text)
{
	++*(int *)ctx;
	assert_int_equal(kind, NOTE_WARNING);
	assert_string_equal(key, "cache-cold");
	assert_string_equal(text, "it's; \"warm\"");
	return 0;
}

static int see_stall(void *ctx, const struct rec_stall *s)
{
	++*(int *)ctx;
	assert_string_equal(s->wchan, "jbd2_log_wait_commit");
	assert_int_equal(s->waited, 300 * NSEC_PER_MSEC);
	assert_int_equal(s->stack, 1);
	return 0;
}

static int see_event(void *ctx, int run, const struct event *rows, uint32_t n)
{
	struct seen *s = ctx;

	for (uint32_t i = 0; i < n; i++) {
		s->wrong |= rows[i].t < s->last;
		s->last = rows[i].t;
	}
	s->n += n;
	return 0;
}

static int see_truth(void *ctx, const struct truth *t)
{
	++*(int *)ctx;
	assert_string_equal(t->kind, "freeze");
	assert_int_equal(t->culprit_pid, 77);
	return 0;
}

static void every_table_keeps_what_it_gets(void **state)
{
	static const char *const frames[] = { "io_schedule", "bit\nwait", "vfs_fsync" };
	struct err e = { 0 };
	struct seen s = { 0 };
	struct rec_run info;
	struct event ev = { .kind = EV_WAIT, .dur = 5, .pid = 3 };
	const char *f[8];
	int run, series, events, clock, n = 0;
	struct rec *r = begin(&run, &series);
	struct rec_series es = { .kind = SERIES_EVENTS, .name = "fsync", .unit = "", .group = "trace" };

	OK(rec_env(r, run, "kernel", "6.1", true, &e));
	OK(rec_env(r, run, "kernel", "6.2", true, &e));
	OK(rec_clock(r, run, "trace", 1000, 50, &clock, &e));
	OK(rec_series(r, &es, &events, &e));	/* another kind may have the same name */
	assert_int_not_equal(events, series);
	OK(rec_series_attr(r, series, "steps", "write,fsync", &e));
	ev.name = rec_string(r, "/a/b");
	assert_int_equal(rec_string(r, "/a/b"), ev.name);
	assert_int_equal(rec_string(r, ""), 0);
	ev.stack = rec_stack(r, frames, 3);
	assert_int_equal(rec_stack(r, frames, 3), ev.stack);
	for (int i = 0; i < 10000; i++) {
		ev.t = i * 1000;
		OK(rec_events(r, run, events, clock, &ev, 1, &e));
	}
	OK(rec_stall(r, &(struct rec_stall){ .run = run, .series = series, .sample_id = 4, .t = 9, .waited = 300 * NSEC_PER_MSEC,
		.pid = 1, .tid = 2, .comm = "x", .state = "D", .wchan = "jbd2_log_wait_commit", .stack = ev.stack }, &e));
	OK(rec_note(r, run, NOTE_WARNING, 5, "cache-cold", "it's; \"warm\"", &e));
	OK(rec_truth(r, run, &(struct truth){ .t = 1, .dur = 2, .kind = "freeze", .culprit_pid = 77, .text = "" }, &e));
	OK(rec_run_window(r, run, 10, 20, &e));
	assert_int_equal(rec_samples(r, run, events, 0, NULL, 1, &e), -EINVAL);
	es.unit = "bytes";
	assert_int_equal(rec_series(r, &es, &n, &e), -EEXIST);
	n = 0;
	rec_close(r);

	OK(rec_open(path, &r, &e));
	assert_int_equal(rec_run_count(r), 1);
	OK(rec_run_get(r, 0, &info));
	assert_int_equal(rec_run_get(r, 1, &info), -ENOENT);
	assert_true(info.partial);
	assert_string_equal(info.why_partial, "the run did not end");
	assert_int_equal(info.measure_t1, 20);
	assert_int_equal(info.t1, 9999 * 1000 + 5 + 1000);	/* no end was written: the last thing seen */
	assert_string_equal(rec_env_get(r, run, "kernel"), "6.2");
	assert_null(rec_env_get(r, run, "none"));
	assert_string_equal(rec_series_attr_get(r, series, "steps"), "write,fsync");
	OK(rec_events_each(r, run, events, 0, NSEC_NEVER, see_event, &s, &e));
	assert_int_equal(s.n, 10000);
	assert_false(s.wrong);
	assert_int_equal(s.last, 9999 * 1000 + 1000);		/* the clock's offset */
	s = (struct seen){ 0 };
	OK(rec_events_each(r, run, events, 9900 * 1000, NSEC_NEVER, see_event, &s, &e));
	assert_in_range(s.n, 100, 4096);			/* only the last chunk */
	assert_string_equal(rec_string_get(r, ev.name), "/a/b");
	assert_string_equal(rec_string_get(r, 999), "");
	assert_int_equal(rec_stack_get(r, ev.stack, f, 8), 3);
	assert_string_equal(f[0], "io_schedule");
	assert_string_equal(f[1], "bit wait");
	assert_int_equal(rec_stack_get(r, ev.stack, f, 2), 2);
	OK(rec_notes_each(r, 0, count_text, &n));
	OK(rec_stalls_each(r, run, see_stall, &n));
	OK(rec_truth_each(r, run, see_truth, &n));
	assert_int_equal(n, 3);
	assert_int_equal(rec_note(r, run, NOTE_INFO, 0, "k", "t", &e), -EROFS);
	rec_close(r);

	OK(rec_append(path, &r, &e));
	assert_int_equal(rec_string(r, "/a/b"), ev.name);	/* names go on where they were */
	assert_int_equal(rec_string(r, "new"), ev.name + 1);
	OK(rec_run_end(r, run, 5, true, "killed", &e));
	rec_close(r);
	OK(rec_open(path, &r, &e));
	OK(rec_run_get(r, 0, &info));
	assert_string_equal(info.why_partial, "killed");
	rec_close(r);
	unlink(path);
}

static void a_time_may_be_a_day_and_a_digest_does_not_see_chunks(void **state)
{
	char hex[3][REC_DIGEST];
	struct err e = { 0 };

	for (int k = 0; k < 3; k++) {
		int run, series;
		struct rec *r = begin(&run, &series);

		for (uint64_t i = 0; i < 3000; i++) {
			struct sample s = make(i);

			if (i == 2999 && k < 2)
				s.end = s.intended + 24 * 3600 * NSEC_PER_SEC;
			OK(rec_samples(r, run, series, 0, &s, 1, &e));
			if (k && i % 7 == 0)
				OK(rec_commit(r, &e));
		}
		OK(rec_env(r, run, "host", k ? "a" : "b", true, &e));
		OK(rec_note(r, run, NOTE_INFO, 0, "k", k ? "a" : "b", &e));
		OK(rec_run_end(r, run, 1, false, NULL, &e));
		OK(rec_digest(r, run, hex[k], &e));
		rec_close(r);
		unlink(path);
	}
	assert_int_equal(strlen(hex[0]), 64);
	assert_string_equal(hex[0], hex[1]);
	assert_string_not_equal(hex[0], hex[2]);
}

static void sha256_is_the_standard_one(void **state)
{
	struct sha256 s;
	char hex[SHA256_HEX];

	sha256_start(&s);
	sha256_add(&s, "abc", 3);
	sha256_end_hex(&s, hex);
	assert_string_equal(hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	sha256_start(&s);
	sha256_end_hex(&s, hex);
	assert_string_equal(hex, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
	sha256_start(&s);
	for (int i = 0; i < 1000000; i++)
		sha256_add(&s, "a", 1);
	sha256_end_hex(&s, hex);
	assert_string_equal(hex, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

static void finish_puts_the_record_in_its_place_or_says_where_it_is(void **state)
{
	cleanup_free char *target = NULL, *nowhere = NULL, *tmp = NULL;
	struct err e = { 0 };
	struct rec *r;
	int run, series;

	assert_true(asprintf(&target, "%s/done.smk", dir) > 0 && asprintf(&nowhere, "%s/none/x.smk", dir) > 0 &&
		    asprintf(&tmp, "%s.tmp", target) > 0);
	/* a link that waits at the temporary name is not followed */
	assert_int_equal(symlink("/etc/passwd-of-nobody", tmp), 0);
	r = begin(&run, &series);
	OK(rec_run_end(r, run, 5, false, NULL, &e));
	OK(rec_finish(r, target, &e));
	assert_int_equal(access(path, F_OK), -1);
	assert_int_equal(access(tmp, F_OK), -1);
	OK(rec_open(target, &r, &e));
	rec_close(r);
	unlink(target);

	r = begin(&run, &series);
	assert_int_equal(rec_finish(r, nowhere, &e), -ENOENT);
	assert_non_null(strstr(e.msg, path));
	OK(rec_open(path, &r, &e));
	rec_close(r);
	unlink(path);
}

static void only_folders_in_memory_are_taken(void **state)
{
	char got[REC_DIR_MAX];
	struct err e = { 0 };

	assert_int_equal(rec_dir("/proc", got, &e), -ENOTSUP);
	assert_non_null(strstr(e.msg, "not in memory"));
	assert_int_equal(rec_dir("/nonexistent-folder", got, &e), -ENOENT);
	assert_int_equal(rec_dir("/proc/version", got, &e), -ENOTDIR);
	if (!rec_dir("/dev/shm", got, &e))
		assert_string_equal(got, "/dev/shm");
}

static void a_record_in_the_making_is_left_alone(void **state)
{
	struct err e = { 0 };
	struct rec *r, *other;
	int run, series, status;

	r = begin(&run, &series);
	OK(rec_commit(r, &e));
	if (!fork()) {
		bool busy = rec_open(path, &other, &e) == -EBUSY && rec_append(path, &other, &e) == -EBUSY;

		_exit(busy ? 0 : 1);
	}
	assert_true(wait(&status) > 0);
	assert_int_equal(status, 0);
	assert_int_equal(rec_create(path, &other, &e), -EEXIST);
	rec_close(r);
	unlink(path);
}

/* A writer that is killed at any moment leaves all it committed. It says through the pipe what that is. */
static void a_killed_writer_leaves_what_it_committed(void **state)
{
	struct rng rng;

	rng_seed(&rng, 20260101);
	for (int k = 0; k < 25; k++) {
		cleanup_free char *journal = NULL;
		struct err e = { 0 };
		struct seen s = { 0 };
		struct rec_run info;
		uint64_t said = 0, x;
		struct rec *r;
		int p[2];
		pid_t pid;

		assert_int_equal(pipe2(p, O_CLOEXEC | O_NONBLOCK), 0);
		pid = fork();
		if (!pid) {
			int run, series;

			r = begin(&run, &series);
			for (uint64_t i = 0; ; i++) {
				struct sample one = make(i);

				if (rec_samples(r, run, series, 0, &one, 1, &e))
					_exit(1);
				if (i % 113 == 112) {
					if (rec_commit(r, &e))
						_exit(1);
					x = i + 1;
					if (write(p[1], &x, sizeof(x)) < 0 && errno != EAGAIN)
						_exit(1);
				}
			}
		}
		/* at any moment after its first commit */
		assert_int_equal(poll(&(struct pollfd){ .fd = p[0], .events = POLLIN }, 1, 60000), 1);
		nsec_sleep_until(nsec_now() + (nsec_t)rng_below(&rng, 40 * NSEC_PER_MSEC), NULL);
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		while (read(p[0], &x, sizeof(x)) == sizeof(x))
			said = x;
		close(p[0]);
		close(p[1]);
		assert_true(said > 0);
		OK(rec_append(path, &r, &e));	/* rolls back what was not committed */
		rec_close(r);
		OK(rec_open(path, &r, &e));
		OK(rec_run_get(r, 0, &info));
		assert_true(info.partial);
		OK(rec_samples_each(r, 1, rec_series_find(r, SERIES_SAMPLES, "fsync"), see_samples, &s, &e));
		assert_false(s.wrong);
		assert_true(s.n >= said);
		rec_close(r);
		unlink(path);
		assert_true(asprintf(&journal, "%s-journal", path) > 0);
		unlink(journal);
	}
}

static int count_events(void *ctx, int run, const struct event *rows, uint32_t n)
{
	*(uint64_t *)ctx += n;
	return 0;
}

/* A million events are 150 MB as rows; neither side may hold them. */
static void memory_does_not_grow_with_the_number_of_events(void **state)
{
	static struct event ev[1000];
	struct err e = { 0 };
	struct rusage before, after;
	uint64_t x = 1, n = 0;
	int run, series, id;
	struct rec *r = begin(&run, &series);
	struct rec_series s = { .kind = SERIES_EVENTS, .name = "blk", .unit = "", .group = "trace" };

	OK(rec_series(r, &s, &id, &e));
	getrusage(RUSAGE_SELF, &before);
	for (uint64_t i = 0; i < 1000000; i += 1000) {
		for (uint64_t k = 0; k < 1000; k++) {
			x = x * 6364136223846793005u + 1;
			ev[k] = (struct event){ .t = (nsec_t)(i + k) * 1000, .dur = (nsec_t)(x >> 40), .kind = EV_BLK_RQ, .a = x >> 30 };
		}
		OK(rec_events(r, run, id, 0, ev, 1000, &e));
		if (i % 100000 == 0)
			OK(rec_commit(r, &e));
	}
	rec_close(r);
	OK(rec_open(path, &r, &e));
	OK(rec_events_each(r, run, id, 0, NSEC_NEVER, count_events, &n, &e));
	rec_close(r);
	getrusage(RUSAGE_SELF, &after);
	assert_int_equal(n, 1000000);
#if !defined(__SANITIZE_ADDRESS__) && !defined(SANITIZED)	/* which keeps what was freed */
	assert_true(after.ru_maxrss - before.ru_maxrss < 16 * 1024);
#endif
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_written_comes_back_whatever_the_rhythm),
		cmocka_unit_test(every_table_keeps_what_it_gets),
		cmocka_unit_test(a_time_may_be_a_day_and_a_digest_does_not_see_chunks),
		cmocka_unit_test(sha256_is_the_standard_one),
		cmocka_unit_test(finish_puts_the_record_in_its_place_or_says_where_it_is),
		cmocka_unit_test(only_folders_in_memory_are_taken),
		cmocka_unit_test(a_record_in_the_making_is_left_alone),
		cmocka_unit_test(a_killed_writer_leaves_what_it_committed),
		cmocka_unit_test(memory_does_not_grow_with_the_number_of_events),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}

/* SPDX-License-Identifier: MIT */
/* The laws of open and closed loops on a clock of our own, and the ring between probe and controller. */
#include "unit.h"

#include "base/cleanup.h"
#include "base/mem.h"
#include "run/pace.h"
#include "run/ring.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define MS NSEC_PER_MSEC

/* Plays a probe at `interval` for `T`, whose action takes no time but at `at`, when it takes `freeze`. */
static size_t play(bool open_loop, nsec_t interval, nsec_t backlog, nsec_t T, nsec_t at, nsec_t freeze,
		   struct sample *out, size_t max)
{
	struct pace p;
	nsec_t now = 1;
	bool frozen = false;
	size_t n = 0;

	pace_start(&p, open_loop, interval, backlog, 1);
	while (p.due <= T && n < max) {
		struct sample s = { .id = p.id, .intended = p.due };

		switch (pace_look(&p, now)) {
		case PACE_WAIT:
			now = p.due;
			continue;
		case PACE_GIVE_UP:
			s.status = SAMPLE_CENSORED;
			s.end = now;
			break;
		case PACE_GO:
			s.start = now;
			if (!open_loop)
				s.intended = now;
			if (!frozen && now >= at) {
				frozen = true;
				now += freeze;
			}
			s.end = now;
			break;
		}
		out[n++] = s;
		pace_done(&p, now);
	}
	return n;
}

static void a_freeze_of_3_s_at_20_a_second_makes_60_late_responses(void **state)
{
	static struct sample s[2000];
	const nsec_t T = 60 * NSEC_PER_SEC, w = 100 * MS;
	size_t n = play(true, 50 * MS, 10 * NSEC_PER_SEC, T, 20 * NSEC_PER_SEC, 3 * NSEC_PER_SEC, s, 2000);
	size_t late = 0, stuck = 0;
	double share;

	assert_int_equal(n, 1200);
	for (size_t i = 0; i < n; i++) {
		nsec_t wait = sample_wait(&s[i]);

		if (wait > 0) {
			assert_int_equal(wait, 3 * NSEC_PER_SEC - (nsec_t)late * 50 * MS);
			late++;
		}
		stuck += wait > w;
		assert_int_equal(s[i].id, i);
	}
	assert_int_equal(late, 60);
	share = (double)stuck / (double)n;
	assert_true(share > (3 - 0.1) / 60 * 0.98 && share < (3 - 0.1) / 60 * 1.02);
}

static void past_the_backlog_ticks_are_given_up_and_kept(void **state)
{
	static struct sample s[2000];
	size_t n = play(true, 50 * MS, 10 * NSEC_PER_SEC, 60 * NSEC_PER_SEC, 10 * NSEC_PER_SEC, 30 * NSEC_PER_SEC, s, 2000);
	size_t given_up = 0, late = 0;

	assert_int_equal(n, 1200);
	for (size_t i = 0; i < n; i++) {
		given_up += s[i].status == SAMPLE_CENSORED;
		late += sample_wait(&s[i]) > 0;
		if (s[i].status == SAMPLE_CENSORED)
			assert_true(sample_wait(&s[i]) > 10 * NSEC_PER_SEC);
		else if (i && s[i - 1].status == SAMPLE_CENSORED)
			assert_true(sample_wait(&s[i]) <= 10 * NSEC_PER_SEC);
	}
	assert_int_equal(late, 600);
	assert_int_equal(given_up, 399);	/* of the 600 ticks: the performed one, and the last 10 s, are not */
}

static void a_closed_loop_waits_once_and_goes_on(void **state)
{
	static struct sample s[2000];
	size_t n = play(false, NSEC_PER_SEC, 10 * NSEC_PER_SEC, 60 * NSEC_PER_SEC, 20 * NSEC_PER_SEC, 24 * 3600 * NSEC_PER_SEC, s, 2000);

	assert_int_equal(n, 21);
	assert_int_equal(sample_wait(&s[20]), 24 * 3600 * NSEC_PER_SEC);
	n = play(false, NSEC_PER_SEC, 10 * NSEC_PER_SEC, 60 * NSEC_PER_SEC, 20 * NSEC_PER_SEC, 3 * NSEC_PER_SEC, s, 2000);
	assert_int_equal(n, 57);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(sample_wait(&s[i]), i == 20 ? 3 * NSEC_PER_SEC : 0);
}

static struct ring *new_ring(char *path, size_t size)
{
	struct ring *r = NULL;
	struct err e = { 0 };

	snprintf(path, size, "/dev/shm/test-ring.%d", (int)getpid());
	unlink(path);
	assert_int_equal(ring_create(path, "fsync", &r, &e), 0);
	return r;
}

static void samples_pass_between_processes_and_a_full_ring_counts(void **state)
{
	char path[64];
	struct ring *r = new_ring(path, sizeof(path)), *c = NULL;
	struct sample *got = mem_array(RING_ENTRIES, sizeof(*got));
	struct err e = { 0 };
	pid_t pid = fork();

	if (!pid) {
		if (ring_open(path, &c, &e))
			_exit(1);
		for (uint64_t i = 0; i < RING_ENTRIES + 5; i++)
			ring_put(c, &(struct sample){ .id = i, .end = (nsec_t)i });
		ring_begin(c, 77, 10, 11, 5);
		ring_step(c, 3, 12);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(r->lost, 5);
	assert_int_equal(ring_take(r, got, 10), 10);
	assert_int_equal(ring_take(r, got, RING_ENTRIES), RING_ENTRIES - 10);
	assert_int_equal(got[0].id, 10);
	assert_int_equal(got[RING_ENTRIES - 11].id, RING_ENTRIES - 1);
	assert_int_equal(ring_now(r).id, 77);
	assert_int_equal(ring_now(r).step, 3);
	ring_end(r);
	assert_int_equal(ring_now(r).started, 0);
	r->head += RING_ENTRIES + 1;
	assert_int_equal(ring_take(r, got, 10), 0);
	assert_int_equal(ring_open(path, &c, &e), -EBADMSG);
	free(got);
	ring_close(r);
	unlink(path);
}

static void what_is_owed_at_the_end_is_censored_not_lost(void **state)
{
	char path[64];
	struct ring *r = new_ring(path, sizeof(path));
	struct sample s[200];
	struct in_flight fl;

	ring_set_phase(r, PHASE_IDLE, 100);
	ring_set_phase(r, PHASE_MEASURE, 1000);
	assert_int_equal(ring_phase_at(r, 50), PHASE_PREPARE);
	assert_int_equal(ring_phase_at(r, 999), PHASE_IDLE);
	assert_int_equal(ring_phase_at(r, 1000), PHASE_MEASURE);
	ring_begin(r, 5, 2000, 2010, 1);
	ring_step(r, 2, 2500);
	fl = ring_now(r);
	assert_int_equal(ring_owed(r, &fl, 122000, s, 200), 1);
	assert_int_equal(sample_wait(&s[0]), 120000);
	assert_int_equal(s[0].step[2], 119500);
	assert_int_equal(s[0].phase, PHASE_MEASURE);
	r->interval = 1000;
	assert_int_equal(ring_owed(r, &fl, 122000, s, 200), 120);	/* ticks at 2000, 3000, ... 121000 */
	assert_int_equal(sample_wait(&s[119]), 1000);
	assert_int_equal(s[119].start, 0);
	assert_int_equal(ring_owed(r, &fl, 2000, s, 200), 0);
	ring_end(r);
	fl = ring_now(r);
	assert_int_equal(ring_owed(r, &fl, 122000, s, 200), 0);
	ring_close(r);
	unlink(path);
}

static void above_a_million_only_stalls_and_a_tenth_are_kept(void **state)
{
	char path[64];
	struct ring *r = new_ring(path, sizeof(path));
	struct sample got[64];

	r->limit = 100;
	r->put = RING_KEEP_ALL;
	for (int i = 0; i < 100; i++)
		ring_put(r, &(struct sample){ .end = 50 });
	ring_put(r, &(struct sample){ .end = 101 });
	ring_put(r, &(struct sample){ .end = 50, .status = SAMPLE_CENSORED });
	assert_int_equal(ring_take(r, got, 64), 12);
	assert_int_equal(r->thinned, 90);
	ring_close(r);
	unlink(path);
}

static void waiting_ends_at_the_time_or_when_told(void **state)
{
	volatile int stop = 0;
	nsec_t t = nsec_now() + 3 * MS;
	int fds[2];

	assert_true(pace_wait(t, &stop, -1));
	assert_true(nsec_now() >= t);
	stop = 1;
	assert_false(pace_wait(nsec_now() + 3600 * NSEC_PER_SEC, &stop, -1));
	stop = 0;
	assert_int_equal(pipe(fds), 0);
	close(fds[1]);
	assert_false(pace_wait(nsec_now() + 3600 * NSEC_PER_SEC, &stop, fds[0]));
	close(fds[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_freeze_of_3_s_at_20_a_second_makes_60_late_responses),
		cmocka_unit_test(past_the_backlog_ticks_are_given_up_and_kept),
		cmocka_unit_test(a_closed_loop_waits_once_and_goes_on),
		cmocka_unit_test(samples_pass_between_processes_and_a_full_ring_counts),
		cmocka_unit_test(what_is_owed_at_the_end_is_censored_not_lost),
		cmocka_unit_test(above_a_million_only_stalls_and_a_tenth_are_kept),
		cmocka_unit_test(waiting_ends_at_the_time_or_when_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

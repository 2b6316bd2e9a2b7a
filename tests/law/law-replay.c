/* SPDX-License-Identifier: MIT */
/*
 * The same requests through the model in virtual time and on the wall clock: completion times are equal to the nanosecond.
 *
 *	law-replay				serves a list in this process, sleeping until each is done
 *	law-replay LOG PROFILE SIZE SEED	against what a lab's server said (tests/root/lab-equals-model.sh)
 */
#include "law.h"

#include "base/cleanup.h"
#include "base/mem.h"
#include "base/units.h"
#include "lab/log.h"
#include "model/drive.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char **args;

static struct profile *shipped(const char *name)
{
	char dir[512];
	const char *dirs[] = { dir, NULL };
	struct profile *p = NULL;
	struct err e = { 0 };

	snprintf(dir, sizeof(dir), "%s/profiles", getenv("SOURCE_DIR"));
	if (profile_load(name, dirs, &p, &e))
		fail_msg("%s", e.msg);
	return p;
}

/* Submits each at its time in virtual time; how many end at another time than `due` says. */
static unsigned differ(const struct profile *p, uint64_t size, uint64_t seed, struct log_entry *x, unsigned n)
{
	struct rq *rq = mem_array(n, sizeof(*rq)), *done[16];
	struct drive *d;
	unsigned bad = 0;
	nsec_t t = 0;

	assert_int_equal(drive_new(p, size, seed, &d, NULL), 0);
	for (unsigned i = 0; i < n; i++) {
		rq[i] = (struct rq){ .op = (enum rq_op)x[i].op, .sector = x[i].sector, .bytes = x[i].bytes };
		drive_submit(d, &rq[i], x[i].submitted);
		while (drive_reap(d, x[i].submitted, done, ARRAY_SIZE(done)))
			;
	}
	for (unsigned k; drive_queued(d) && (t = drive_next(d)) != NSEC_NEVER;)
		do
			k = drive_reap(d, t, done, ARRAY_SIZE(done));
		while (k);
	for (unsigned i = 0; i < n; i++)
		bad += rq[i].done != x[i].due;
	drive_free(d);
	free(rq);
	return bad;
}

static void in_this_process(void **state)
{
	static const char *const names[] = { "hdd7200_2009", "usb_stick", "ssd_sata_2009" };
	enum { N = 60 };

	for (size_t k = 0; k < ARRAY_SIZE(names); k++) {
		struct profile *p = shipped(names[k]);
		struct rq rq[N], *done[16];
		struct log_entry x[N];
		nsec_t worst = 0;
		struct drive *d;
		struct rng r;
		int got = 0;

		rng_seed(&r, 9);
		assert_int_equal(drive_new(p, 8 * GIB, 5, &d, NULL), 0);
		for (int i = 0; got < N;) {
			unsigned n;

			if (i < N && drive_queued(d) < 4) {
				nsec_t now = nsec_now();

				rq[i] = (struct rq){ .op = rng_below(&r, 3) ? RQ_READ : RQ_WRITE, .bytes = 4096,
						     .sector = rng_below(&r, GIB / 4096) * 8, .owner = &x[i] };
				x[i] = (struct log_entry){ .submitted = now, .sector = rq[i].sector, .bytes = 4096,
							   .op = (uint16_t)rq[i].op };
				drive_submit(d, &rq[i++], now);
				continue;
			}
			nsec_sleep_until(drive_next(d), NULL);
			n = drive_reap(d, nsec_now(), done, ARRAY_SIZE(done));
			for (unsigned j = 0; j < n; j++, got++) {
				((struct log_entry *)done[j]->owner)->due = done[j]->done;
				worst = MAX(worst, nsec_now() - done[j]->done);
			}
		}
		printf("%s: %d requests on the wall clock, at most %.3f ms late\n", names[k], N, (double)worst / 1e6);
		assert_int_equal(differ(p, 8 * GIB, 5, x, N), 0);
		drive_free(d);
		profile_free(p);
	}
}

static int by_submission(const void *a, const void *b)
{
	const struct log_entry *x = a, *y = b;

	return x->submitted < y->submitted ? -1 : x->submitted > y->submitted;
}

static void against_a_server(void **state)
{
	struct log_entry *x = mem_array(LOG_ENTRIES, sizeof(*x));
	const struct lab_log *log;
	struct lateness late;
	struct profile *p;
	struct err e = { 0 };
	uint64_t size = 0, tail = 0, lost;
	unsigned n;

	if (!args[1]) {
		skip();
		return;
	}
	if (log_open(args[1], &log, &e) || units_size(args[3], &size, &e))
		fail_msg("%s", e.msg);
	n = log_take(log, &tail, x, LOG_ENTRIES, &lost);
	assert_int_equal(lost, 0);
	assert_true(n > 10);
	qsort(x, n, sizeof(*x), by_submission);
	p = shipped(args[2]);
	log_lateness(log, 0, &late);
	printf("%u requests of a server; late %.3f ms as a rule, %.3f ms at 1 in 100\n", n, (double)late.p50 / 1e6, (double)late.p99 / 1e6);
	assert_int_equal(differ(p, size, strtoull(args[4], NULL, 10), x, n), 0);
	profile_free(p);
	free(x);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(in_this_process), cmocka_unit_test(against_a_server) };

	args = argv;
	return cmocka_run_group_tests(tests, NULL, NULL);
}

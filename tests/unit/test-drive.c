/* SPDX-License-Identifier: MIT */
/* Profiles, the bent clock of planted faults, and that being called late changes nothing. */
#include "unit.h"

#include "base/cleanup.h"
#include "base/mem.h"
#include "model/drive.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const char *profile_dir(void)
{
	static char dir[512];

	snprintf(dir, sizeof(dir), "%s/profiles", getenv("SOURCE_DIR"));
	return dir;
}

static struct profile *shipped(const char *name)
{
	const char *dirs[] = { profile_dir(), NULL };
	struct profile *p = NULL;
	struct err e = { 0 };

	if (profile_load(name, dirs, &p, &e))
		fail_msg("%s", e.msg);
	return p;
}

/* Every shipped profile parses, gives every key of its model, and each with a source. */
static void profiles_are_complete(void **state)
{
	const char *dirs[] = { profile_dir(), NULL };
	char **names;
	size_t n;

	assert_int_equal(profile_names(dirs, &names, &n, NULL), 0);
	assert_true(n >= 13);
	for (size_t i = 0; i < n; i++) {
		struct profile *p = shipped(names[i]);
		size_t keys = 0;

		while (p->ops->plug.params[keys].name)
			keys++;
		if (keys != p->nlines)
			fail_msg("%s gives %zu of %zu keys", names[i], p->nlines, keys);
		for (size_t k = 0; k < p->nlines; k++)
			assert_true(strlen(p->lines[k].source) >= 3);
		assert_true(strlen(p->about) > 10);
		profile_free(p);
	}
	profile_names_free(names, n);
}

static void bad(const char *text, const char *want)
{
	struct profile *p;
	struct err e = { 0 };

	assert_true(profile_parse(text, strlen(text), "x.profile", "x", &p, &e) < 0);
	if (!strstr(e.msg, want))
		fail_msg("'%s' does not hold '%s'", e.msg, want);
}

static void nonsense_is_refused_with_its_line(void **state)
{
	bad("", "no 'model");
	bad("rpm = 7200\n", "x.profile:1");
	bad("# a\n\nmodel = hhd\n", "x.profile:3");
	bad("model = hdd\nrpn = 7200\n", "did you mean 'rpm'");
	bad("model = hdd\nrpm = 7200\nrpm = 5400 # again\n", "x.profile:3: rpm is given twice, first in line 2");
	bad("model = hdd\n\nrpm = fast\n", "x.profile:3");
	bad("model = hdd\nrpm = 1\n", "out of range");
	bad("model = hdd\nrpm\n", "x.profile:2");
	bad("model = hdd\n= 3\n", "x.profile:2");
	bad("model = hdd\nmodel = ssd\n", "x.profile:2: model is given twice");
	bad("model = hdd\n\001\n", "control character");
}

/* Serves n requests at given times; reaps every `late` ns; keeps the completion times. */
static void serve(const char *profile, const char *fault, nsec_t fault_at, nsec_t late, nsec_t *ret_done, int n)
{
	struct profile *p = shipped(profile);
	struct rq *rq = mem_array((size_t)n, sizeof(*rq)), *done[4];
	struct drive *d;
	struct rng rng;
	struct fault f = { 0 };
	nsec_t t = 0, at = 0;
	int sent = 0, got = 0;

	rng_seed(&rng, 5);
	assert_int_equal(drive_new(p, UINT64_C(4) << 30, 1, &d, NULL), 0);
	if (fault)
		assert_int_equal(fault_parse(fault, &f, NULL), 0);
	while (got < n) {
		unsigned k;

		if (f.kind && at >= fault_at && t >= fault_at) {
			drive_fault(d, &f, fault_at);
			f.kind = FAULT_NONE;
		}
		if (sent < n && at <= t) {
			uint64_t x = rng_below(&rng, 100);

			rq[sent] = (struct rq){ .op = x == 0 ? RQ_FLUSH : x < 40 ? RQ_READ : RQ_WRITE,
						.sector = rng_below(&rng, UINT64_C(1) << 20) * 8,
						.bytes = 4096 << rng_below(&rng, 6), .owner = &ret_done[sent] };
			if (rq[sent].op == RQ_FLUSH)
				rq[sent].bytes = 0;
			drive_submit(d, &rq[sent], at);
			sent++;
			at += (nsec_t)rng_below(&rng, 20 * NSEC_PER_MSEC);
			continue;
		}
		k = drive_reap(d, t, done, ARRAY_SIZE(done));
		for (unsigned i = 0; i < k; i++, got++)
			*(nsec_t *)done[i]->owner = done[i]->done;
		if (!k) {
			nsec_t next = drive_next(d);

			if (sent < n)
				next = MIN(next, at);
			assert_true(next != NSEC_NEVER);
			t = MAX(t, next) + late;
		}
	}
	assert_int_equal(drive_queued(d), 0);
	drive_free(d);
	profile_free(p);
	free(rq);
}

#define N 1500

static void being_late_changes_nothing(void **state)
{
	static const char *const names[] = { "hdd7200_2009", "hdd15k_2009", "hdd_consumer_bad", "ssd_sata_consumer", "usb_stick",
					     "cloud_gp2", "sd_card" };
	static nsec_t a[N], b[N];

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		serve(names[i], NULL, 0, 0, a, N);
		serve(names[i], NULL, 0, 7 * NSEC_PER_MSEC + 13, b, N);
		assert_memory_equal(a, b, sizeof(a));
		serve(names[i], "freeze=3s", 2 * NSEC_PER_SEC, 0, a, N);
		serve(names[i], "freeze=3s", 2 * NSEC_PER_SEC, 3 * NSEC_PER_MSEC + 1, b, N);
		assert_memory_equal(a, b, sizeof(a));
	}
}

/* One request of 10 ms each 10 ms on a fixed server: the bends can be seen exactly. */
static nsec_t end_of(struct drive *d, nsec_t at)
{
	static struct rq rq;
	struct rq *done;

	rq = (struct rq){ .op = RQ_READ, .bytes = 4096 };
	drive_submit(d, &rq, at);
	while (!drive_reap(d, drive_next(d), &done, 1))
		;
	return rq.done;
}

static void poke(struct drive *d, const char *text, nsec_t at)
{
	struct fault f;
	struct err e = { 0 };

	if (fault_parse(text, &f, &e))
		fail_msg("%s", e.msg);
	drive_fault(d, &f, at);
}

static void faults_are_exact(void **state)
{
	static const char text[] = "model = null\nservice = 10ms\n";
	struct profile *p;
	struct drive *d;
	const nsec_t ms = NSEC_PER_MSEC;

	assert_int_equal(profile_parse(text, strlen(text), "t", "t", &p, NULL), 0);
	assert_int_equal(drive_new(p, 1 << 30, 1, &d, NULL), 0);
	assert_int_equal(end_of(d, 100 * ms), 110 * ms);
	poke(d, "freeze=3s", 200 * ms);
	assert_int_equal(end_of(d, 250 * ms), 3210 * ms);
	poke(d, "slow=10x for=1s", 4000 * ms);
	assert_int_equal(end_of(d, 4000 * ms), 4100 * ms);
	assert_int_equal(end_of(d, 4950 * ms), 5005 * ms);	/* 5 of its 10 ms are done at 5000 */
	assert_int_equal(end_of(d, 5100 * ms), 5110 * ms);
	poke(d, "slow=3x", 6000 * ms);
	assert_in_range(end_of(d, 7000 * ms), 7030 * ms - 3, 7030 * ms);	/* thirds of a ns are cut off */
	poke(d, "freeze=1s", 7500 * ms);			/* frozen while slow */
	assert_in_range(end_of(d, 7600 * ms), 8530 * ms - 3, 8530 * ms);
	poke(d, "slow=1x", 9000 * ms);
	assert_int_equal(end_of(d, 9000 * ms), 9010 * ms);
	drive_free(d);
	profile_free(p);
}

static void flush_depth_and_errors(void **state)
{
	static const char text[] = "model = null\nservice = 10ms\nservers = 4\n";
	struct rq a = { .op = RQ_FLUSH }, b = { .op = RQ_READ, .sector = 96, .bytes = 4096 }, c = b, *done[4];
	struct profile *p;
	struct drive *d;
	const nsec_t ms = NSEC_PER_MSEC;

	assert_int_equal(profile_parse(text, strlen(text), "t", "t", &p, NULL), 0);
	assert_int_equal(drive_new(p, 1 << 30, 1, &d, NULL), 0);
	poke(d, "flush=2s", 0);
	drive_submit(d, &a, 0);
	drive_submit(d, &b, 0);
	assert_int_equal(drive_reap(d, 1999 * ms, done, 4), 0);
	assert_int_equal(drive_reap(d, 2010 * ms, done, 4), 2);
	assert_int_equal(a.done, 2010 * ms);
	poke(d, "flush=0", 3000 * ms);
	poke(d, "error=read at=100", 3000 * ms);
	drive_submit(d, &b, 3000 * ms);
	assert_int_equal(b.error, -EIO);
	c.sector = 104;
	poke(d, "depth=1", 3000 * ms);
	drive_submit(d, &c, 3000 * ms);
	assert_int_equal(c.error, 0);
	assert_int_equal(drive_reap(d, 4000 * ms, done, 4), 2);
	assert_int_equal(b.done, 3010 * ms);
	assert_int_equal(c.done, 3020 * ms);	/* depth 1: one after another, although there are 4 servers */
	poke(d, "error=none", 5000 * ms);
	drive_submit(d, &b, 5000 * ms);
	assert_int_equal(b.error, 0);
	assert_int_equal(drive_reap(d, 6000 * ms, done, 4), 1);
	drive_free(d);
	profile_free(p);
}

static void fault_text(void **state)
{
	static const char *const wrong[] = { "", "frieze=3s", "freeze", "freeze=3", "slow=0.5x", "slow=10x for=5", "error=read",
					     "error=both at=1", "freeze=3s for=5s", "depth=x", "full=maybe", "error=read at=x" };
	struct fault f;

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		struct err e = { 0 };

		if (!fault_parse(wrong[i], &f, &e))
			fail_msg("'%s' was taken", wrong[i]);
		assert_true(e.msg[0]);
	}
	assert_int_equal(fault_parse("full", &f, NULL), 0);
	assert_int_equal(f.kind, FAULT_FULL);
	assert_int_equal(f.amount, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(profiles_are_complete),
		cmocka_unit_test(nonsense_is_refused_with_its_line),
		cmocka_unit_test(being_late_changes_nothing),
		cmocka_unit_test(faults_are_exact),
		cmocka_unit_test(flush_depth_and_errors),
		cmocka_unit_test(fault_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

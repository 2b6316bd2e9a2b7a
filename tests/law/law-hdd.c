/* SPDX-License-Identifier: MIT */
/* The hdd model against what its profile says. */
#include "law.h"

#include "base/cleanup.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const char *const hdds[] = { "hdd7200_2009", "hdd5400_2009", "hdd15k_2009", "hdd7200_now", "hdd_consumer_bad" };

/* Mean of a + b*sqrt(x) below k, c + e*x above, over the distance x of two uniform points (density 2(1-x)). */
static double mean_seek(double a, double b, double c, double e, double k)
{
	return a * (2 * k - k * k) + 2 * b * (pow(k, 1.5) / 1.5 - pow(k, 2.5) / 2.5) +
	       c * (1 - 2 * k + k * k) + e * (1.0 / 3 - k * k + 2 * k * k * k / 3);
}

/* One zone, no read-ahead: the closed form by hand, from the numbers of the data sheet and nothing of the model's code. */
static void random_read_by_hand(void **state)
{
	struct bench_disk d;
	double want = 100e3 + mean_seek(757e3, 13741e3, 4118e3, 13882e3, 0.3) + 60e9 / 7200 / 2 + 4096 / 105e6 * 1e9 + 4096 / 300e6 * 1e9;

	disk_open_text(&d, "model = hdd\nzones = 1\nreadahead = 0\n", 100 * GIB, 1);
	assert_near(1e9 / disk_random(&d, RQ_READ, 1, 20000), want, 0.02);
	disk_close(&d);
}

static void random_read_of_profiles(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(hdds); i++) {
		struct bench_disk d;
		double want;

		disk_open(&d, hdds[i], 8 * GIB, 2);
		want = (double)d.p->ops->expect_random_read(d.p->conf, d.capacity);
		printf("%s: ", hdds[i]);
		assert_near(1e9 / disk_random(&d, RQ_READ, 1, 20000), want, 0.02);
		disk_close(&d);
	}
}

static void sequential_read(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(hdds); i++) {
		struct bench_disk d;
		double want;

		disk_open(&d, hdds[i], 64 * GIB, 3);
		want = (double)d.p->ops->expect_sequential(d.p->conf, d.capacity);
		printf("%s, 1 MiB, depth 8: ", hdds[i]);
		assert_near(disk_sequential(&d, RQ_READ, 0, 1 << 20, 8, 500), want, 0.02);
		printf("%s, 128 KiB, depth 1 (read-ahead): ", hdds[i]);
		assert_near(disk_sequential(&d, RQ_READ, 2 * GIB / 512, 131072, 1, 4000), want, 0.02);
		disk_close(&d);
	}
}

/* A full cache writes at media speed in the long run. */
static void sequential_write(void **state)
{
	struct bench_disk d;

	disk_open(&d, "hdd7200_2009", 64 * GIB, 4);
	assert_near(disk_sequential(&d, RQ_WRITE, 0, 524288, 8, 4000),
		    (double)d.p->ops->expect_sequential(d.p->conf, d.capacity), 0.02);
	disk_close(&d);
}

/* Without a cache each dependent write of a stream misses its sector and waits for the next revolution. */
static void log_without_cache_loses_revolutions(void **state)
{
	struct bench_disk d;

	disk_open_text(&d, "model = hdd\nwrite_cache = no\nzones = 1\n", 8 * GIB, 5);
	disk_one(&d, RQ_WRITE, 0, 4096);
	assert_near(1e9 * 4096 / disk_sequential(&d, RQ_WRITE, 8, 4096, 1, 150), 60e9 / 7200 + 4096 / 105e6 * 1e9, 0.02);
	disk_close(&d);
}

static double gain(const char *profile)
{
	struct bench_disk a, b;
	double one, many;

	disk_open(&a, profile, 64 * GIB, 6);
	disk_open(&b, profile, 64 * GIB, 6);
	one = disk_random(&a, RQ_READ, 1, 8000);
	many = disk_random(&b, RQ_READ, (unsigned)MIN(profile_disk(b.p)->depth, UINT64_C(32)), 8000);
	disk_close(&a);
	disk_close(&b);
	printf("%s: depth 1 %.0f/s, full queue %.0f/s: ", profile, one, many);
	return many / one;
}

/* ublk-disksim reports 2.4 for its enterprise 7K8 model and 1.7 for the ST2000DM006. */
static void queue_gain(void **state)
{
	assert_near(gain("hdd7200_now"), 2.4, 0.15);
	assert_near(gain("hdd_consumer_bad"), 1.7, 0.15);
}

static nsec_t flush_after(struct bench_disk *d, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		disk_one(d, RQ_WRITE, rng_below(&d->rng, d->capacity / 4096) * 8, 4096);
	return disk_one(d, RQ_FLUSH, 0, 0);
}

/* 28 + 9.4 N ms is what ublk-disksim measured on the ST2000DM006; a FLUSH of an empty cache is the 28 ms. */
static void flush_of_cached_writes(void **state)
{
	struct bench_disk d;

	disk_open(&d, "hdd_consumer_bad", 8 * GIB, 7);
	assert_near((double)flush_after(&d, 0), 28e6, 0.001);
	disk_close(&d);
	for (unsigned n = 8; n <= 128; n *= 4) {
		struct bench_disk f;

		disk_open(&f, "hdd_consumer_bad", 8 * GIB, 7 + n);
		assert_near((double)flush_after(&f, n), 28e6 + 9.4e6 * n, 0.02);
		disk_close(&f);
	}
}

/* Destaging by address has a closed form: N writes cut the stroke into N spans; each costs its seek and half a turn. */
static void flush_by_address(void **state)
{
	double sum = 0, want = 0;
	int rounds = 100;

	for (int r = 0; r < rounds; r++) {
		struct bench_disk d;
		double span = 1.0 / 65;

		disk_open_text(&d, "model = hdd\nzones = 1\ndestage_order = elevator\ndestage_delay = 100s\n", 100 * GIB, 100 + (uint64_t)r);
		sum += (double)flush_after(&d, 64);
		disk_close(&d);
		/* spans between 64 uniform points are about exponential: E sqrt(x) = sqrt(pi)/2 * sqrt(mean) */
		want += 64 * (951e3 + 15621e3 * sqrt(M_PI) / 2 * sqrt(span) + 60e9 / 7200 / 2 + 4096 / 105e6 * 1e9);
	}
	assert_near(sum / rounds, want / rounds, 0.02);
}

/* The last write is on the media when FLUSH ends: nothing is left for a second one. */
static void second_flush_is_free(void **state)
{
	struct bench_disk d;

	disk_open(&d, "hdd7200_2009", 8 * GIB, 9);
	flush_after(&d, 200);
	assert_true(disk_one(&d, RQ_FLUSH, 0, 0) < NSEC_PER_MSEC);
	disk_close(&d);
}

/* No request waits (much) longer than the age limit, however near the others are. */
static void age_limit(void **state)
{
	struct bench_disk d;
	struct rq far = { .op = RQ_READ, .sector = 63 * GIB / 512, .bytes = 4096, .id = 0 }, *got;
	nsec_t t = 0;
	struct rq near[8];
	uint64_t at = 0;
	int i;

	disk_open(&d, "hdd7200_2009", 64 * GIB, 10);
	disk_one(&d, RQ_READ, 0, 4096);
	d.next_id = 1;
	for (i = 0; i < 8; i++) {
		near[i] = (struct rq){ .op = RQ_READ, .sector = at += 2048, .bytes = 1 << 20, .id = d.next_id++ };
		d.p->ops->submit(d.st, &near[i], d.now);
	}
	d.p->ops->submit(d.st, &far, d.now);
	for (;;) {
		got = disk_wait(&d);
		if (got == &far)
			break;
		*got = (struct rq){ .op = RQ_READ, .sector = at += 2048, .bytes = 1 << 20, .id = d.next_id++ };
		d.p->ops->submit(d.st, got, d.now);
	}
	t = far.done - far.submitted;
	assert_true(t > 500 * NSEC_PER_MSEC && t < 650 * NSEC_PER_MSEC);
	for (i = 0; i < 8; i++)
		disk_wait(&d);
	disk_close(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_read_by_hand),
		cmocka_unit_test(random_read_of_profiles),
		cmocka_unit_test(sequential_read),
		cmocka_unit_test(sequential_write),
		cmocka_unit_test(log_without_cache_loses_revolutions),
		cmocka_unit_test(queue_gain),
		cmocka_unit_test(flush_of_cached_writes),
		cmocka_unit_test(flush_by_address),
		cmocka_unit_test(second_flush_is_free),
		cmocka_unit_test(age_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

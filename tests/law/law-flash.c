/* SPDX-License-Identifier: MIT */
/* ssd, flash and cloud against their closed forms. */
#include "law.h"

#include "base/cleanup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MIB (UINT64_C(1) << 20)

/* Bytes a second of 256 KiB writes that go round `k` erase blocks. */
static double round_robin(unsigned k)
{
	struct bench_disk d;
	nsec_t t0;
	int n = 0;

	disk_open(&d, "usb_stick", 8 * GIB, 1);
	for (unsigned i = 0; i < k; i++)	/* opened before the clock runs */
		disk_one(&d, RQ_WRITE, i * 2 * 4 * MIB / 512, 262144);
	t0 = d.now;
	for (int piece = 1; piece < 15; piece++)
		for (unsigned i = 0; i < k; i++, n++)
			disk_one(&d, RQ_WRITE, (i * 2 * 4 * MIB + (uint64_t)piece * 262144) / 512, 262144);
	n = n * 262144;
	disk_close(&d);
	return n / nsec_seconds(d.now - t0);
}

/* Inside the open blocks: write rate and command. One block too many: each piece closes a block, which copies 3.75 MiB. */
static void usb_cliff(void **state)
{
	double one = 262144 / 8e6 + 700e-6;

	for (unsigned k = 1; k <= 5; k++)
		assert_near(round_robin(k), 262144 / one, 0.001);
	assert_near(round_robin(6), 262144 / (one + 2e-3 + 3.75 * (double)MIB / 16e6), 0.001);
	assert_near(round_robin(6), 0.9e6, 0.05);	/* what flashbench saw */
	assert_near(round_robin(12), 0.9e6, 0.05);
}

static void flash_reads(void **state)
{
	struct bench_disk d;

	disk_open(&d, "usb_stick", 8 * GIB, 2);
	assert_near((double)disk_one(&d, RQ_READ, 4096, 1024), 750e3, 0.02);	/* flashbench: 0.75 ms */
	disk_close(&d);
}

static void ssd_reads(void **state)
{
	static const char *const names[] = { "ssd_sata_2009", "ssd_sata_consumer", "ssd_sata_plp", "nvme_plp" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct bench_disk d;

		disk_open(&d, names[i], 32 * GIB, 3);
		printf("%s: ", names[i]);
		assert_near(1e9 / disk_random(&d, RQ_READ, 1, 2000), (double)d.p->ops->expect_random_read(d.p->conf, d.capacity), 0.02);
		printf("%s, sequential: ", names[i]);
		assert_near(disk_sequential(&d, RQ_READ, 0, 1 << 20, 32, 2000),
			    (double)d.p->ops->expect_sequential(d.p->conf, d.capacity), 0.02);
		disk_close(&d);
	}
}

/* In the long run random writes cost waf pages each, programmed by all dies, and the erases of the collection. */
static void ssd_amplification(void **state)
{
	struct bench_disk d;
	double page_s = 390e-6, moves = 12.7, want;

	disk_open(&d, "ssd_sata_consumer", 32 * GIB, 4);
	disk_random(&d, RQ_WRITE, 32, 40000);	/* fills the buffer */
	want = 16 * 4 / (page_s + moves * (46e-6 + page_s + 3e-3 / 8));
	assert_near(disk_random(&d, RQ_WRITE, 32, 60000), want, 0.02);
	disk_close(&d);
}

/* FLUSH: capacitors make it nearly free; without them it waits for the programs. */
static void ssd_flush(void **state)
{
	struct bench_disk plp, plain;

	disk_open(&plp, "ssd_sata_plp", 32 * GIB, 5);
	disk_open(&plain, "ssd_sata_consumer", 32 * GIB, 5);
	disk_sequential(&plp, RQ_WRITE, 0, 1 << 20, 4, 16);
	disk_sequential(&plain, RQ_WRITE, 0, 1 << 20, 4, 16);
	assert_near((double)disk_one(&plp, RQ_FLUSH, 0, 0), 18e3, 0.01);
	/* 1024 pages on 16 dies take 25 ms; what was programmed during the transfer is done already */
	assert_in_range(disk_one(&plain, RQ_FLUSH, 0, 0), 3200000, 30000000);
	assert_near((double)disk_one(&plain, RQ_FLUSH, 0, 0), 3203e3, 0.001);
	disk_close(&plp);
	disk_close(&plain);
}

static double iops(const char *key, const char *value, unsigned n)
{
	struct bench_disk d;
	struct err e = { 0 };
	double x;

	disk_open(&d, "cloud_gp2", 32 * GIB, 6);
	if (profile_set(d.p, key, value, &e))
		fail_msg("%s", e.msg);
	d.p->ops->done(d.st);
	memset(d.st, 0, d.p->ops->plug.state_size);
	d.p->ops->init(d.st, d.p->conf, d.capacity, &d.rng, NULL);
	x = disk_random(&d, RQ_READ, 32, n);
	disk_close(&d);
	return x;
}

static void cloud_credits(void **state)
{
	struct bench_disk d;

	assert_near(iops("credits_at_start", "100%", 60000), 3000, 0.02);
	assert_near(iops("credits_at_start", "0", 20000), 300, 0.02);
	/* 30,000 saved: spent in 30,000 / (3000 - 300) s, then 300/s */
	assert_near(iops("credits", "30k", 60000), 60000 / (30000 / 2700.0 + (60000 - 3000 * 30000 / 2700.0) / 300), 0.02);
	disk_open(&d, "cloud_gp3", 32 * GIB, 7);
	assert_near(disk_random(&d, RQ_WRITE, 32, 60000), 3000, 0.02);
	disk_close(&d);
	disk_open(&d, "cloud_gp3", 32 * GIB, 7);
	disk_sequential(&d, RQ_READ, 0, 1 << 20, 32, 1000);	/* the second of burst is spent */
	assert_near(disk_sequential(&d, RQ_READ, 0, 1 << 20, 32, 4000), 125.0 * (double)MIB, 0.02);
	disk_close(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(usb_cliff), cmocka_unit_test(flash_reads), cmocka_unit_test(ssd_reads),
		cmocka_unit_test(ssd_amplification), cmocka_unit_test(ssd_flush), cmocka_unit_test(cloud_credits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

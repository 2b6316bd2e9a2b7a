/* SPDX-License-Identifier: MIT */
/* Hand-made edge cases of block traces; each is a function that writes one small trace. */
#ifndef TESTS_BLK_CASES_H
#define TESTS_BLK_CASES_H

#include "gen.h"

#define Q(w)	(BLK_TC_QUEUE | (w))
#define D(w)	(BLK_TC_ISSUE | BLK_TC_FS | (w))
#define C(w)	(BLK_TC_COMPLETE | BLK_TC_FS | (w))
#define RD	BLK_TC_READ
#define WR	BLK_TC_WRITE
#define SDA	blk_dev(8, 0)

struct gen_case {
	const char *name;
	void (*make)(struct gen *g);
};

/* time, act, category, sector, bytes of pid 100 on CPU 0 */
static void ev(struct gen *g, uint64_t t, uint32_t act, uint32_t tc, uint64_t sector, uint32_t bytes)
{
	gen_put(g, 0, (struct blk_rec){ .time = t, .act = act, .tc = tc, .sector = sector, .bytes = bytes, .pid = 100, .dev = SDA });
}

static void on(struct gen *g, uint32_t cpu, uint64_t t, uint32_t act, uint32_t tc, uint64_t sector, uint32_t bytes)
{
	gen_put(g, cpu, (struct blk_rec){ .time = t, .act = act, .tc = tc, .sector = sector, .bytes = bytes, .pid = 100 + cpu,
					  .dev = SDA, .cpu = cpu });
}

static void with(struct gen *g, uint64_t t, uint32_t act, uint32_t tc, uint64_t sector, const void *pdu, uint16_t n)
{
	gen_put(g, 0, (struct blk_rec){ .time = t, .act = act, .tc = tc, .sector = sector, .bytes = 4096, .pid = 100, .dev = SDA,
					.pdu = pdu, .pdu_len = n });
}

static void case_cgroup(struct gen *g)
{
	static const uint8_t pdu[20] = "\x2a\0\0\0\0\0\0\0hello msg";

	gen_name(g, 0, 0, 100, "aaa");
	with(g, 1, BLK_Q | BLK_CGROUP, Q(WR), 8, pdu, 8);
	with(g, 2, BLK_D | BLK_CGROUP, D(WR), 8, pdu, 8);
	with(g, 3, BLK_C | BLK_CGROUP, C(WR), 8, pdu, 8);
	with(g, 4, BLK_TN_MESSAGE | BLK_CGROUP, BLK_TC_NOTIFY, 0, pdu, 17);
	ev(g, 5, BLK_Q, Q(WR), 20, 4096);
}

static void case_version8(struct gen *g)
{
	g->version = 8;
	ev(g, 0, BLK_Q, Q(WR), 8, 4096);
	ev(g, 1, BLK_D, D(WR), 8, 4096);
	ev(g, 2, BLK_C, C(WR) | BLK_TC_ZEROES, 8, 4096);
	ev(g, 3, BLK_ZPLUG, 0x10000 | WR, 8, 4096);
}

static void case_versions_mixed(struct gen *g)
{
	ev(g, 0, BLK_Q, Q(WR), 8, 4096);
	g->version = 8;
	ev(g, 1, BLK_D, D(WR), 8, 4096);
	g->version = 7;
	ev(g, 2, BLK_C, C(WR), 8, 4096);
	g->version = 8;
	on(g, 1, 3, BLK_Q, Q(RD), 16, 4096);
}

static void case_names(struct gen *g)
{
	gen_name(g, 0, 0, 100, "bash");
	ev(g, 1, BLK_Q, Q(WR), 8, 4096);
	gen_name(g, 0, 2, 100, "cc1");
	ev(g, 3, BLK_Q, Q(WR), 16, 4096);
	on(g, 1, 4, BLK_Q, Q(RD), 24, 4096);
	for (uint64_t i = 0; i < 600; i++)	/* more than a batch: this name comes after its pid was counted */
		on(g, 1, 5 + i, BLK_Q, Q(RD), 32, 512);
	gen_name(g, 1, 700, 101, "late");
	gen_name(g, 1, 701, 102, "never-counted");
	gen_put(g, 0, (struct blk_rec){ .time = 702, .act = BLK_Q, .tc = Q(RD), .bytes = 4096, .pid = 4294967295u, .dev = SDA });
}

static void case_gap(struct gen *g)
{
	on(g, 0, 0, BLK_Q, Q(WR), 8, 4096);
	on(g, 2, 1, BLK_Q, Q(WR), 16, 4096);
}

static void case_flush(struct gen *g)
{
	ev(g, 0, BLK_Q, Q(WR) | BLK_TC_FLUSH | BLK_TC_SYNC, 0, 0);
	ev(g, 1, BLK_D, D(RD) | BLK_TC_FLUSH, 0, 0);
	ev(g, 5, BLK_C, C(RD) | BLK_TC_FLUSH, 0, 0);
	for (uint64_t i = 0; i < 3000; i++)
		ev(g, 10 + i * 1000000, BLK_C, C(RD), i, 512);
}

static void case_driver_data(struct gen *g)
{
	static const uint8_t x[12] = "xxxxxxxxxxx", at[8] = { 0, 0, 0, 0, 0, 0, 0, 77 };

	with(g, 0, BLK_DRV, BLK_TC_DRV_DATA, 0, x, 12);
	ev(g, 1, BLK_B, RD, 8, 4096);
	ev(g, 2, BLK_ABORT, Q(RD), 8, 4096);
	with(g, 3, BLK_X, WR, 5, at, 8);
	ev(g, 4, BLK_S, Q(WR), 5, 4096);
}

static void case_passthrough(struct gen *g)
{
	static const uint8_t cdb[6] = { 0x12, 0, 0, 0, 0x24, 0 };

	for (uint32_t w = RD; w <= WR; w++) {
		ev(g, w * 10, BLK_Q, Q(w) | BLK_TC_PC, 0, 2048 + w);
		ev(g, w * 10 + 1, BLK_G, Q(w) | BLK_TC_PC, 0, 2048);
		with(g, w * 10 + 2, BLK_I, Q(w) | BLK_TC_PC, 0, cdb, 6);
		with(g, w * 10 + 3, BLK_D, BLK_TC_ISSUE | BLK_TC_PC | w, 0, cdb, 6);
		ev(g, w * 10 + 4, BLK_R, BLK_TC_REQUEUE | BLK_TC_PC | w, 0, 2048);
		with(g, w * 10 + 5, BLK_D, BLK_TC_ISSUE | BLK_TC_PC | w, 0, cdb, 6);
		ev(g, w * 10 + 6, BLK_C, BLK_TC_COMPLETE | BLK_TC_PC | w, 0, 2048);
		ev(g, w * 10 + 7, BLK_M, BLK_TC_PC | w, 0, 2048);
	}
}

static void case_big_endian(struct gen *g)
{
	g->swapped = true;
	gen_name(g, 0, 0, 100, "s390");
	ev(g, 1, BLK_Q, Q(WR), 8, 4096);
	ev(g, 2, BLK_D, D(WR), 8, 4096);
	ev(g, 3, BLK_C, C(WR), 8, 4096);
}

static void case_orders_mixed(struct gen *g)
{
	on(g, 0, 1, BLK_Q, Q(WR), 8, 4096);
	on(g, 0, 2, BLK_D, D(WR), 8, 4096);
	g->swapped = true;
	on(g, 0, 3, BLK_C, C(WR), 8, 4096);
	on(g, 1, 4, BLK_Q, Q(RD), 8, 4096);
}

static void case_torn(struct gen *g)
{
	uint8_t half[BLK_V7_BYTES];

	ev(g, 0, BLK_Q, Q(WR), 8, 4096);
	ev(g, 1, BLK_D, D(WR), 8, 4096);
	blk_encode(&(struct blk_rec){ .version = 7, .time = 2, .act = BLK_C, .tc = C(WR), .dev = SDA }, half);
	fwrite(half, 1, 30, gen_file(g, 0));
}

static void case_torn_pdu(struct gen *g)
{
	uint8_t rec[BLK_V7_BYTES + 100];
	static const uint8_t pdu[100];

	ev(g, 0, BLK_Q, Q(WR), 8, 4096);
	blk_encode(&(struct blk_rec){ .version = 7, .time = 2, .act = BLK_C, .tc = C(WR), .dev = SDA, .pdu = pdu, .pdu_len = 100 }, rec);
	fwrite(rec, 1, BLK_V7_BYTES + 20, gen_file(g, 0));
}

/* Foreign bytes in the middle: blkparse ends there, we find the next record. */
static void case_foreign_middle(struct gen *g)
{
	ev(g, 0, BLK_Q, Q(WR), 8, 4096);
	fwrite("these are not the bytes you are looking for; \x07ta nor are these", 1, 61, gen_file(g, 0));
	ev(g, 1, BLK_D, D(WR), 8, 4096);
	ev(g, 2, BLK_C, C(WR), 8, 4096);
	on(g, 1, 3, BLK_Q, Q(RD), 16, 4096);
}

static void case_foreign_start(struct gen *g)
{
	fwrite("#!/bin/sh\necho hello, this is not a trace at all, sorry\n", 1, 55, gen_file(g, 0));
	ev(g, 1, BLK_D, D(WR), 8, 4096);
	on(g, 1, 3, BLK_Q, Q(RD), 16, 4096);
}

static void case_sizes(struct gen *g)
{
	for (uint64_t i = 0; i < 5; i++)
		ev(g, i, BLK_Q, Q(WR), i, 1u << 30);
	for (uint64_t i = 0; i < 300; i++)
		ev(g, 10 + i, BLK_D, D(RD), i, 0xffffffffu);
}

/* Bytes of requeues are taken off: with no issue before, below zero. */
static void case_requeue(struct gen *g)
{
	ev(g, 0, BLK_R, BLK_TC_REQUEUE | BLK_TC_FS | WR, 8, 5000);
	ev(g, 1, BLK_D, D(WR), 8, 4096);
	ev(g, 2, BLK_R, BLK_TC_REQUEUE | BLK_TC_FS | WR, 8, 4096);
	ev(g, 3, BLK_D, D(WR), 8, 4096);
	ev(g, 4, BLK_C, C(WR), 8, 4096);
	ev(g, 5, BLK_C, C(WR), 8, 4096);
	ev(g, 6, BLK_D, D(RD), 8, 4096);
	ev(g, 7, BLK_R, BLK_TC_REQUEUE | BLK_TC_FS | RD, 8, 4097);
}

static void case_remap(struct gen *g)
{
	static const uint8_t from[16] = { 0, 0x80, 0, 1, 0, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 8 };

	ev(g, 0, BLK_Q, Q(WR), 8, 4096);
	with(g, 1, BLK_A, Q(WR), 2056, from, 16);
	with(g, 2, BLK_A, Q(WR), 2056, from, 4);
	ev(g, 3, BLK_G, Q(WR), 2056, 4096);
}

static void case_message(struct gen *g)
{
	with(g, 5, BLK_TN_MESSAGE, BLK_TC_NOTIFY, 0, "cfq sda", 7);
	with(g, 6, BLK_TN_MESSAGE, BLK_TC_NOTIFY | RD, 0, "not one", 7);
	with(g, 7, BLK_TN_TIME, BLK_TC_NOTIFY, 0, "12345678", 8);
	ev(g, 8, BLK_Q, Q(WR), 8, 4096);
	with(g, 5000008, BLK_TN_MESSAGE, BLK_TC_NOTIFY, 0, "", 0);
}

static void case_no_category(struct gen *g)
{
	ev(g, 0, BLK_X, 0, 8, 4096);
	ev(g, 1000000, BLK_Q, Q(WR), 8, 4096);
	ev(g, 9000000, BLK_C, C(WR), 8, 4096);
	ev(g, 20000000, BLK_X, 0, 8, 4096);
}

static void case_wrong_cpu(struct gen *g)
{
	on(g, 0, 0, BLK_Q, Q(WR), 8, 4096);
	for (uint64_t i = 0; i < 1300; i++)
		gen_put(g, 0, (struct blk_rec){ .time = 1 + i, .act = BLK_Q, .tc = Q(WR), .bytes = 4096, .dev = SDA, .cpu = 1 });
	on(g, 0, 2000, BLK_Q, Q(WR), 8, 4096);
	on(g, 1, 2001, BLK_Q, Q(WR), 8, 4096);
}

/* Equal times on three CPUs: who comes first decides the depth. */
static void case_ties(struct gen *g)
{
	for (uint64_t t = 0; t < 40; t++)
		for (uint32_t cpu = 0; cpu < 3; cpu++)
			for (uint32_t i = 0; i < 3; i++)
				on(g, cpu, t / 3, (t * 7 + cpu * 3 + i) % 5 < 3 ? BLK_D : BLK_C, D(cpu == 1 ? RD : WR), 8, 4096);
}

static void case_backwards(struct gen *g)
{
	on(g, 0, 1000, BLK_D, D(WR), 8, 4096);
	on(g, 0, 500, BLK_D, D(WR), 16, 4096);
	on(g, 1, 700, BLK_C, C(WR), 8, 4096);
	on(g, 0, 3000, BLK_C, C(WR), 16, 4096);
	on(g, 1, 100, BLK_D, D(RD), 8, 4096);
}

static void case_absurd(struct gen *g)
{
	ev(g, 1000, BLK_Q, Q(WR), UINT64_MAX - 2, 4096);
	ev(g, UINT64_MAX - 5, BLK_D, D(WR), UINT64_MAX - 2, 4096);
	ev(g, UINT64_C(1) << 63, BLK_C, C(WR), UINT64_MAX - 2, 4096);
	ev(g, 2000, BLK_Q, Q(RD), UINT64_C(1) << 63, 4096);
	ev(g, 3000, BLK_D, D(RD), UINT64_C(1) << 63, 4096);
	ev(g, 4000, BLK_C, C(RD), UINT64_C(1) << 63, 4096);
}

static void case_devices(struct gen *g)
{
	for (uint32_t i = 0; i < 40; i++)
		gen_put(g, i & 1, (struct blk_rec){ .time = i * 1000000, .act = i % 4 < 2 ? BLK_D : BLK_C, .tc = D(WR), .sector = 8 * i,
			.bytes = 4096, .pid = 7, .dev = blk_dev(i % 3 ? 8 : 253, i % 5), .cpu = i & 1 });
}

static void case_cpus64(struct gen *g)
{
	struct gen_conf c = GEN_CONF_DEFAULT;

	c.cpus = 64;
	c.events = 20000;
	gen_requests(g, &c, NULL);
}

static void case_cpus4096(struct gen *g)
{
	for (uint32_t cpu = 0; cpu < GEN_CPUS; cpu++) {
		for (uint32_t i = 0; i < 3; i++)
			on(g, cpu, 1000 * i + cpu % 97, i == 1 ? BLK_D : i ? BLK_C : BLK_Q, D(WR), cpu * 8, 4096);
		if (g->f[cpu])
			fclose(g->f[cpu]);
		g->f[cpu] = NULL;
	}
}

static void case_empty_file(struct gen *g)
{
	gen_file(g, 0);
	on(g, 1, 5, BLK_Q, Q(WR), 8, 4096);
}

static void case_requests(struct gen *g)
{
	struct gen_conf c = GEN_CONF_DEFAULT;

	c.sub_kib = 0.05;
	c.cgroup = 0.01;
	c.remap = 0.02;
	c.devs = 3;
	gen_requests(g, &c, NULL);
}

static void case_unplugs(struct gen *g)
{
	static const uint8_t n[8] = { 0, 0, 0, 0, 0, 0, 0, 9 };

	ev(g, 0, BLK_P, RD, 0, 0);
	with(g, 1, BLK_U, RD, 0, n, 8);
	with(g, 2, BLK_UT, RD, 0, n, 8);
	with(g, 3, BLK_U, RD, 0, n, 2);
	with(g, 4, BLK_UT, WR | BLK_TC_PC, 0, n, 8);
}

static const struct gen_case gen_cases[] = {
	{ "absurd", case_absurd },
	{ "backwards", case_backwards },
	{ "big-endian", case_big_endian },
	{ "cgroup", case_cgroup },
	{ "cpus4096", case_cpus4096 },
	{ "cpus64", case_cpus64 },
	{ "devices", case_devices },
	{ "driver-data", case_driver_data },
	{ "empty-file", case_empty_file },
	{ "flush", case_flush },
	{ "foreign-middle", case_foreign_middle },
	{ "foreign-start", case_foreign_start },
	{ "gap", case_gap },
	{ "message", case_message },
	{ "names", case_names },
	{ "no-category", case_no_category },
	{ "orders-mixed", case_orders_mixed },
	{ "passthrough", case_passthrough },
	{ "remap", case_remap },
	{ "requests", case_requests },
	{ "requeue", case_requeue },
	{ "sizes", case_sizes },
	{ "ties", case_ties },
	{ "torn", case_torn },
	{ "torn-pdu", case_torn_pdu },
	{ "unplugs", case_unplugs },
	{ "version8", case_version8 },
	{ "versions-mixed", case_versions_mixed },
	{ "wrong-cpu", case_wrong_cpu },
	{ 0 }
};

#endif

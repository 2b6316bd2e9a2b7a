/* SPDX-License-Identifier: MIT */
#include "unit.h"

#include "../blk/gen.h"
#include "analyze/blk-blkparse.h"
#include "base/cleanup.h"

#include <unistd.h>

static void records_come_back_in_both_versions_and_orders(void **state)
{
	static uint8_t buf[BLK_V8_BYTES + BLK_PDU_MAX], again[BLK_V8_BYTES + 64];
	struct rng rng;

	rng_seed(&rng, 1);
	for (unsigned i = 0; i < 4000; i++) {
		uint8_t pdu[64];
		struct blk_rec r = {
			.time = rng_next(&rng), .sector = rng_next(&rng), .bytes = (uint32_t)rng_next(&rng),
			.act = (uint32_t)rng_next(&rng) & 0xffff, .tc = (uint32_t)rng_next(&rng) & (i & 1 ? 0x7fffff : 0xffff),
			.pid = (uint32_t)rng_next(&rng), .dev = (uint32_t)rng_next(&rng), .cpu = (uint32_t)rng_next(&rng),
			.seq = (uint32_t)rng_next(&rng), .error = (uint16_t)rng_next(&rng), .pdu_len = (uint16_t)rng_below(&rng, 64),
			.version = i & 1 ? 8 : 7, .swapped = i & 2, .pdu = pdu,
		}, back;
		size_t n;

		rng_fill(&rng, pdu, sizeof(pdu));
		n = blk_encode(&r, buf);
		assert_int_equal(n, (r.version == 8 ? 64 : 48) + r.pdu_len);
		assert_int_equal(blk_decode(buf, n, &back), n);
		assert_true(back.time == r.time && back.sector == r.sector && back.bytes == r.bytes && back.act == r.act &&
			    back.tc == r.tc && back.pid == r.pid && back.dev == r.dev && back.cpu == r.cpu &&
			    back.seq == r.seq && back.error == r.error && back.swapped == r.swapped);
		assert_int_equal(blk_encode(&back, again), n);
		assert_memory_equal(buf, again, n);
		for (size_t cut = 0; cut < n; cut++)
			assert_int_equal(blk_decode(buf, cut, &back), BLK_MORE);
		buf[i & 2 ? 2 : 1] ^= 0x40;
		assert_int_equal(blk_decode(buf, n, &back), BLK_FOREIGN);
	}
}

static void after_foreign_bytes_the_next_whole_record_is_found(void **state)
{
	static uint8_t buf[4096];
	struct blk_rec r = { .version = 7, .act = BLK_Q, .tc = BLK_TC_WRITE };

	for (size_t junk = 1; junk < 300; junk++) {
		for (unsigned v = 0; v < 4; v++) {
			size_t n;

			memset(buf, 0x74, junk);	/* bytes that occur in the magic */
			r.version = v & 1 ? 8 : 7;
			r.swapped = v & 2;
			n = junk + blk_encode(&r, buf + junk);
			n += blk_encode(&r, buf + n);
			assert_int_equal(blk_resync(buf, n), junk);
			/* the same magic with nothing sensible behind it is passed over */
			if (junk > 140) {
				blk_encode(&(struct blk_rec){ .version = 7, .pdu_len = 60, .pdu = buf + 1000 }, buf + 20);
				assert_int_equal(blk_resync(buf, n), junk);
			}
		}
	}
	memset(buf, 0, sizeof(buf));
	assert_int_equal(blk_resync(buf, sizeof(buf)), sizeof(buf));
	assert_int_equal(blk_resync(buf, 3), 3);
}

static void text_of(const char *out, unsigned threads, struct strbuf *text)
{
	struct blk_totals_conf conf = { .threads = threads };
	struct blk_input in;
	struct blk_totals t;
	struct err e = { 0 };

	assert_int_equal(blk_input_open(&out, 1, true, &in, &e), 0);
	assert_int_equal(blk_totals(&in, &conf, &t, &e), 0);
	strbuf_clear(text);
	blk_blkparse_text(&t, false, text);
	blk_totals_done(&t);
	blk_input_close(&in);
}

/* More than one thread cuts the trace into stretches of time: depth, first and last must not show it. */
static void threads_do_not_change_the_result(void **state)
{
	char dir[] = "/tmp/test-blktrace.XXXXXX", out[64], path[96];
	cleanup_strbuf struct strbuf one = STRBUF_INIT, many = STRBUF_INIT;
	static struct gen g;

	assert_non_null(mkdtemp(dir));
	snprintf(out, sizeof(out), "%s/t", dir);
	for (unsigned round = 0; round < 3; round++) {
		struct gen_conf c = GEN_CONF_DEFAULT;

		gen_open(&g, out, 7 + round);
		c.cpus = 1 + round * 2;
		c.devs = 1 + round;
		c.events = 2200000;	/* above 96 MiB: three parts */
		if (round == 2)
			gen_chaos(&g, c.events, 3, 2, true);	/* parts do not fit: counted again in one piece */
		else
			gen_requests(&g, &c, NULL);
		gen_close(&g);
		text_of(out, 1, &one);
		text_of(out, 3, &many);
		assert_string_equal(one.s, many.s);
		for (unsigned cpu = 0; cpu < 6; cpu++) {
			snprintf(path, sizeof(path), "%s.blktrace.%u", out, cpu);
			unlink(path);
		}
	}
	rmdir(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records_come_back_in_both_versions_and_orders),
		cmocka_unit_test(after_foreign_bytes_the_next_whole_record_is_found),
		cmocka_unit_test(threads_do_not_change_the_result),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

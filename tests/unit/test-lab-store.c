/* SPDX-License-Identifier: MIT */
/* The lab's blocks and its log. */
#include "unit.h"

#include "base/cleanup.h"
#include "base/mem.h"
#include "base/rng.h"
#include "lab/log.h"
#include "lab/store.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define CAP (64 * STORE_BLOCK)

static void check(struct store *s, const char *want)
{
	struct iovec iov[CAP / STORE_BLOCK + 2];
	char got[CAP];
	size_t at = 0;
	int n = store_get(s, 0, CAP, iov, (int)ARRAY_SIZE(iov));

	for (int i = 0; i < n; i++) {
		assert_true(at + iov[i].iov_len <= CAP);
		memcpy(got + at, iov[i].iov_base, iov[i].iov_len);
		at += iov[i].iov_len;
	}
	assert_int_equal(at, CAP);
	assert_memory_equal(got, want, CAP);
}

/* Against a plain array: any mix of writes, zeros and discards reads back the same, and blocks are given back. */
static void like_an_array(void **state)
{
	static char mirror[CAP], data[CAP];
	struct store *s;
	struct rng r;

	rng_seed(&r, 3);
	memset(mirror, 0, sizeof(mirror));
	assert_int_equal(store_new(CAP, CAP, NULL, &s, NULL), 0);
	for (int i = 0; i < 4000; i++) {
		uint32_t at = (uint32_t)rng_below(&r, CAP / 512) * 512;
		uint32_t n = (uint32_t)MIN(rng_below(&r, 40) * 512 + 512, (uint64_t)CAP - at);

		switch (rng_below(&r, 4)) {
		case 0:
			store_drop(s, at, n);
			memset(mirror + at, 0, n);
			break;
		case 1:
			memset(data, 0, n);
			assert_int_equal(store_put(s, at, data, n, false), 0);
			memset(mirror + at, 0, n);
			break;
		default:
			rng_fill(&r, data, n);
			assert_int_equal(store_put(s, at, data, n, false), 0);
			memcpy(mirror + at, data, n);
		}
		if (i % 50 == 0)
			check(s, mirror);
	}
	check(s, mirror);
	store_drop(s, 0, CAP);
	assert_int_equal(store_used(s), 0);
	store_free(s);
}

static void a_full_pool_refuses_and_lives(void **state)
{
	static char data[16 * STORE_BLOCK], zero[16 * STORE_BLOCK];
	struct store *s;

	memset(data, 7, sizeof(data));
	assert_int_equal(store_new(CAP, 10 * STORE_BLOCK, NULL, &s, NULL), 0);
	assert_int_equal(store_put(s, 0, data, 8 * STORE_BLOCK, false), 0);
	assert_int_equal(store_put(s, 20 * STORE_BLOCK, data, 3 * STORE_BLOCK, false), -ENOSPC);
	assert_int_equal(store_used(s), 8);			/* all or nothing */
	assert_int_equal(store_put(s, 0, data, 8 * STORE_BLOCK, true), 0);	/* overwriting needs no room */
	assert_int_equal(store_put(s, 30 * STORE_BLOCK, zero, 16 * STORE_BLOCK, true), 0);
	assert_int_equal(store_put(s, 20 * STORE_BLOCK, data, 2 * STORE_BLOCK, true), -ENOSPC);
	assert_int_equal(store_put(s, 20 * STORE_BLOCK, data, 2 * STORE_BLOCK, false), 0);
	store_drop(s, 0, 2 * STORE_BLOCK);
	assert_int_equal(store_put(s, 40 * STORE_BLOCK, data, 2 * STORE_BLOCK, false), 0);
	store_free(s);
}

static void the_log_keeps_the_newest(void **state)
{
	char dir[] = "/tmp/test-lab-log.XXXXXX", path[64];
	struct log_entry *got = mem_array(LOG_ENTRIES, sizeof(*got));
	const struct lab_log *r;
	struct lab_log *l;
	struct lateness late;
	uint64_t tail = 0, lost;

	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/log", dir);
	assert_int_equal(log_create(path, &l, NULL), 0);
	assert_int_equal(log_open(path, &r, NULL), 0);
	unlink(path);
	rmdir(dir);
	for (uint32_t i = 0; i < 1000; i++)
		log_put(l, &(struct log_entry){ .sector = i, .late_ns = i });
	assert_int_equal(log_take(r, &tail, got, LOG_ENTRIES, &lost), 1000);
	assert_int_equal(lost, 0);
	assert_int_equal(got[999].sector, 999);
	log_lateness(r, 0, &late);
	assert_int_equal(late.n, 1000);
	assert_int_equal(late.p50, 499);
	assert_int_equal(late.p99, 989);
	assert_int_equal(late.max, 999);
	for (uint32_t i = 0; i < LOG_ENTRIES + 500; i++)
		log_put(l, &(struct log_entry){ .sector = 1000 + i });
	assert_in_range(log_take(r, &tail, got, LOG_ENTRIES, &lost), LOG_ENTRIES - 1, LOG_ENTRIES);
	assert_in_range(lost, 500, 501);
	assert_int_equal(got[0].sector, 1000 + lost);
	log_close(r);
	log_close(l);
	free(got);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(like_an_array), cmocka_unit_test(a_full_pool_refuses_and_lives),
		cmocka_unit_test(the_log_keeps_the_newest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

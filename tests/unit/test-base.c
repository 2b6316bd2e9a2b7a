/* SPDX-License-Identifier: MIT */
#include "unit.h"

#include "base/heap.h"
#include "base/plug.h"
#include "base/rng.h"
#include "base/units.h"

#include <errno.h>
#include <string.h>

static void sizes_and_times_are_read_as_people_write_them(void **state)
{
	struct err e = { 0 };
	uint64_t u;
	nsec_t t;
	double x;

	assert_int_equal(units_size("4k", &u, &e), 0);
	assert_int_equal(u, 4096);
	assert_int_equal(units_size("1.5GiB", &u, &e), 0);
	assert_int_equal(u, 1610612736);
	assert_int_equal(units_nsec("250ms", &t, &e), 0);
	assert_int_equal(t, 250 * NSEC_PER_MSEC);
	assert_int_equal(units_nsec("0", &t, &e), 0);
	assert_int_equal(units_share("5%", &x, &e), 0);
	assert_float_equal(x, 0.05, 1e-12);
	assert_int_equal(units_nsec("5", &t, &e), -EINVAL);
	assert_non_null(strstr(e.msg, "no unit"));
	assert_int_equal(units_size("-4k", &u, &e), -EINVAL);
	assert_int_equal(units_size("4x", &u, &e), -EINVAL);
	assert_int_equal(units_size("", &u, &e), -EINVAL);
	assert_int_equal(units_size("99999999999T", &u, &e), -ERANGE);
	assert_int_equal(units_nsec("nan", &t, &e), -EINVAL);
}

static void times_are_printed_for_people(void **state)
{
	char b[NSEC_TEXT];

	assert_string_equal(nsec_text(200000, b), "0.2 ms");
	assert_string_equal(nsec_text(17 * NSEC_PER_MSEC, b), "17 ms");
	assert_string_equal(nsec_text(NSEC_PER_SEC - 1, b), "1.00 s");
	assert_string_equal(nsec_text(25100 * NSEC_PER_MSEC, b), "25.1 s");
	assert_string_equal(nsec_text(120 * NSEC_PER_SEC, b), "2 min 0 s");
	assert_string_equal(nsec_text(24 * 3600 * NSEC_PER_SEC, b), "24 h 0 min");
}

struct conf {
	uint64_t size;
	nsec_t pause;
	int mode;
	char *path;
};

static void parameters_land_in_the_conf_and_mistakes_are_explained(void **state)
{
	static const char *const modes[] = { "append", "overwrite", NULL };
	static const struct param params[] = {
		PARAM(struct conf, size, PARAM_SIZE, "1M", "how much"),
		PARAM(struct conf, pause, PARAM_NSEC, "1s", "how long"),
		{ .name = "mode", .type = PARAM_WORD, .offset = offsetof(struct conf, mode), .def = "overwrite", .words = modes },
		PARAM(struct conf, path, PARAM_TEXT, NULL, "where"),
		{ 0 },
	};
	struct conf c = { 0 };
	struct err e = { 0 };
	char buf[64];

	param_defaults(params, &c);
	assert_int_equal(c.size, 1 << 20);
	assert_int_equal(c.mode, 1);
	assert_int_equal(param_set(params, &c, "probe fsync", "sizze", "2M", &e), -ENOENT);
	assert_string_equal(e.msg, "probe fsync has no key 'sizze'; did you mean 'size'?");
	assert_int_equal(param_set(params, &c, "probe fsync", "mode", "apend", &e), -EINVAL);
	assert_non_null(strstr(e.msg, "did you mean 'append'"));
	assert_int_equal(param_set(params, &c, "probe fsync", "size", "many", &e), -EINVAL);
	assert_non_null(strstr(e.msg, "probe fsync: size: 'many' is not a size"));
	assert_int_equal(param_set(params, &c, "probe fsync", "path", "/x", &e), 0);
	assert_string_equal(param_get_text(&params[0], &c, buf, sizeof(buf)), "1M");
	param_done(params, &c);
	assert_null(c.path);
}

static void the_heap_is_ordered_and_ties_keep_their_order(void **state)
{
	struct heap h = { 0 };
	struct heap_item it;
	struct rng r;
	nsec_t last = -1;
	uint64_t tie = 0;

	rng_seed(&r, 7);
	for (uint64_t i = 0; i < 5000; i++)
		heap_push(&h, (nsec_t)rng_below(&r, 100), i, NULL);
	for (int i = 0; i < 5000; i++) {
		assert_true(heap_pop(&h, &it));
		assert_true(it.t > last || (it.t == last && it.tie > tie));
		last = it.t;
		tie = it.tie;
	}
	assert_false(heap_pop(&h, &it));
	heap_done(&h);
}

static void random_numbers_are_the_same_everywhere(void **state)
{
	struct rng r, a, b;
	uint64_t first;

	rng_seed(&r, 42);
	first = rng_next(&r);
	assert_int_equal(first, UINT64_C(1546998764402558742));
	rng_split(&r, "writer", &a);
	rng_split(&r, "reader", &b);
	assert_int_not_equal(rng_next(&a), rng_next(&b));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sizes_and_times_are_read_as_people_write_them),
		cmocka_unit_test(times_are_printed_for_people),
		cmocka_unit_test(parameters_land_in_the_conf_and_mistakes_are_explained),
		cmocka_unit_test(the_heap_is_ordered_and_ties_keep_their_order),
		cmocka_unit_test(random_numbers_are_the_same_everywhere),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

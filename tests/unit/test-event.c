/* SPDX-License-Identifier: MIT */
#include "unit.h"

#include "event/column.h"
#include "event/event.h"
#include "record/sample.h"

#include <errno.h>
#include <string.h>

static void columns_come_back_as_they_were(void **state)
{
	int64_t in[] = { 0, -1, 1, INT64_MAX, INT64_MIN, 5, 5, 5 }, out[8];
	cleanup_strbuf struct strbuf b = STRBUF_INIT;
	const uint8_t *p;

	column_encode(in, 8, &b);
	p = (const uint8_t *)b.s;
	assert_int_equal(column_decode(&p, p + b.len, out, 8), 0);
	assert_memory_equal(in, out, sizeof(in));
	assert_ptr_equal(p, (const uint8_t *)b.s + b.len);
	for (size_t cut = 0; cut < b.len; cut++) {
		p = (const uint8_t *)b.s;
		assert_int_equal(column_decode(&p, p + cut, out, 8), -EBADMSG);
	}
	p = (const uint8_t *)"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01";
	assert_int_equal(column_decode(&p, p + 12, out, 1), -EBADMSG);
}

static void every_kind_and_class_has_a_name_of_its_own(void **state)
{
	for (uint32_t i = 0; i < EV_MAX; i++) {
		assert_non_null(event_name(i));
		assert_int_equal(event_by_name(event_name(i)), i);
	}
	for (uint32_t i = 0; i < WAIT_MAX; i++)
		assert_int_equal(wait_by_name(wait_name(i)), i);
	assert_null(event_name(EV_MAX));
	assert_string_equal(event_arg_name(EV_BLK_RQ, 4), "issue_off");
}

static void events_and_samples_survive_the_columns(void **state)
{
	struct event ev = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, UINT64_MAX, 16, 17, 18, 19 }, ev2;
	struct sample sm = { .id = 1, .intended = 2, .start = 3, .end = 4, .pid = 5, .tid = 6, .status = 1, .cold = 2,
			     .phase = 3, .nsteps = 4, .error = -5, .bytes = 6, .load_bytes_per_s = 7, .runq = -1,
			     .step = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 } }, sm2;
	int64_t store[SAMPLE_COLUMNS], *col[SAMPLE_COLUMNS];

	for (int i = 0; i < SAMPLE_COLUMNS; i++)
		col[i] = &store[i];
	memset(&ev2, 0, sizeof(ev2));
	memset(&sm2, 0, sizeof(sm2));
	event_to_columns(&ev, 1, col);
	event_from_columns(col, 1, &ev2);
	assert_memory_equal(&ev, &ev2, sizeof(ev));
	sample_to_columns(&sm, 1, col);
	sample_from_columns(col, 1, &sm2);
	assert_memory_equal(&sm, &sm2, sizeof(sm));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(columns_come_back_as_they_were),
		cmocka_unit_test(every_kind_and_class_has_a_name_of_its_own),
		cmocka_unit_test(events_and_samples_survive_the_columns),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

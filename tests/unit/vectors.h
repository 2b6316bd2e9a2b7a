/* SPDX-License-Identifier: MIT */
/*
 * tests/data/stats-vectors.json: the published fsync waits of 2010 (linux-kernel
 * list, "cfq fsync patch testing results") with expected statistics, made apart
 * from this program.
 */
#ifndef TESTS_VECTORS_H
#define TESTS_VECTORS_H

#include "unit.h"

#include "base/mem.h"
#include "base/nsec.h"
#include "base/strbuf.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const char *const vector_names[] = { "ext3", "xfs", "ext4", "ext3 barrier=1" };
#define VECTORS 4
#define VECTOR_TOLERANCE 1e-6

static inline json_t *vectors_load(void)
{
	const char *src = getenv("SOURCE_DIR");
	char path[1000];
	json_error_t je;
	json_t *j;

	snprintf(path, sizeof(path), "%s/tests/data/stats-vectors.json", src ? src : ".");
	j = json_load_file(path, 0, &je);
	if (!j)
		fail_msg("%s: %s", path, je.text);
	return j;
}

/* The array under `key` as nanoseconds; the caller frees it. */
static inline nsec_t *vector_waits(const json_t *set, const char *key, size_t *ret_n)
{
	const json_t *a = json_object_get(set, key);
	nsec_t *x;

	*ret_n = json_array_size(a);
	assert_true(*ret_n > 0);
	x = mem_array(*ret_n, sizeof(*x));
	for (size_t i = 0; i < *ret_n; i++)
		x[i] = nsec_from_seconds(json_number_value(json_array_get(a, i)));
	return x;
}

static inline double vector_number(const json_t *set, const char *key)
{
	const json_t *v = json_object_get(set, key);

	if (!json_is_number(v))
		fail_msg("the vectors have no number '%s'", key);
	return json_number_value(v);
}

#define assert_near(got, want) do {								\
	double near_g = (got), near_w = (want);							\
	if (!(fabs(near_g - near_w) <= VECTOR_TOLERANCE * fmax(1, fabs(near_w))))		\
		fail_msg("%s is %.12g, expected %.12g", #got, near_g, near_w);			\
} while (0)

#endif

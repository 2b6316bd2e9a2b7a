/* SPDX-License-Identifier: MIT */
#include "stats/sort.h"
#include "base/cleanup.h"
#include "base/mem.h"

#include <string.h>

#define DIGIT_BITS	11
#define DIGITS		(1u << DIGIT_BITS)
#define PASSES		6	/* 6 * 11 >= 64 */

/* order of the bits equals the order of the signed numbers */
static inline uint64_t key_of(nsec_t x)
{
	return (uint64_t)x ^ (UINT64_C(1) << 63);
}

static inline unsigned digit_of(nsec_t x, int pass)
{
	return (unsigned)(key_of(x) >> (pass * DIGIT_BITS)) & (DIGITS - 1);
}

static void insertion(nsec_t *x, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		nsec_t v = x[i];
		size_t k = i;

		for (; k > 0 && x[k - 1] > v; k--)
			x[k] = x[k - 1];
		x[k] = v;
	}
}

/* Counts the digits in which any two values differ; returns them as bits. Waits have three or four of six. */
static unsigned count_digits(const nsec_t *x, size_t n, size_t (*count)[DIGITS])
{
	uint64_t differ = 0;
	unsigned passes = 0;

	for (size_t i = 1; i < n; i++)
		differ |= key_of(x[i]) ^ key_of(x[0]);
	for (int p = 0; p < PASSES; p++) {
		if (!(differ >> (p * DIGIT_BITS) & (DIGITS - 1)))
			continue;
		passes |= 1u << p;
		for (size_t i = 0; i < n; i++)
			count[p][digit_of(x[i], p)]++;
	}
	return passes;
}

/* Counts to places. */
static void places(size_t *count)
{
	size_t at = 0;

	for (unsigned d = 0; d < DIGITS; d++) {
		size_t c = count[d];

		count[d] = at;
		at += c;
	}
}

void sort_nsec(nsec_t *x, size_t n)
{
	cleanup_free size_t (*count)[DIGITS] = NULL;
	cleanup_free nsec_t *spare = NULL;
	nsec_t *from = x, *to;
	unsigned passes;

	if (n < 64) {
		insertion(x, n);
		return;
	}
	count = mem_array(PASSES, sizeof(*count));
	spare = to = mem_array(n, sizeof(*x));
	passes = count_digits(x, n, count);
	for (int p = 0; p < PASSES; p++) {
		nsec_t *t;

		if (!(passes >> p & 1))
			continue;
		places(count[p]);
		for (size_t i = 0; i < n; i++)
			to[count[p][digit_of(from[i], p)]++] = from[i];
		t = from;
		from = to;
		to = t;
	}
	if (from != x)
		memcpy(x, from, n * sizeof(*x));
}

void sort_order(const nsec_t *x, size_t n, uint32_t *ret_order)
{
	cleanup_free size_t (*count)[DIGITS] = mem_array(PASSES, sizeof(*count));
	cleanup_free uint32_t *spare = mem_array(n ? n : 1, sizeof(*spare));
	uint32_t *from = ret_order, *to = spare;
	unsigned passes;

	for (size_t i = 0; i < n; i++)
		ret_order[i] = (uint32_t)i;
	passes = count_digits(x, n, count);
	for (int p = 0; p < PASSES; p++) {
		uint32_t *t;

		if (!(passes >> p & 1))
			continue;
		places(count[p]);
		for (size_t i = 0; i < n; i++)
			to[count[p][digit_of(x[from[i]], p)]++] = from[i];
		t = from;
		from = to;
		to = t;
	}
	if (from != ret_order)
		memcpy(ret_order, from, n * sizeof(*from));
}

nsec_t *sort_copy(const nsec_t *x, size_t n)
{
	nsec_t *s;

	if (!n)
		return NULL;
	s = mem_array(n, sizeof(*s));
	memcpy(s, x, n * sizeof(*s));
	sort_nsec(s, n);
	return s;
}

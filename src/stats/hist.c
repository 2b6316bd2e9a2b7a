/* SPDX-License-Identifier: MIT */
#include "stats/hist.h"
#include "base/cleanup.h"
#include "base/mem.h"
#include "stats/quantile.h"

#include <assert.h>
#include <string.h>

void hist_init(struct hist *h, int digits)
{
	int64_t need = 2, top;
	size_t octaves = 1;

	assert(digits == 2 || digits == 3);
	*h = (struct hist){ .digits = digits };
	for (int i = 0; i < digits; i++)
		need *= 10;
	while ((INT64_C(1) << (h->half_bits + 1)) < need)	/* 2 * 10^digits slots in the first bucket */
		h->half_bits++;
	while ((INT64_C(2) << h->unit_bits) <= HIST_LOWEST)
		h->unit_bits++;
	for (top = INT64_C(1) << (h->half_bits + 1 + h->unit_bits); top <= HIST_HIGHEST; top *= 2)
		octaves++;
	h->buckets = (octaves + 1) << h->half_bits;
	h->p = mem_array(h->buckets, sizeof(*h->p));
}

void hist_done(struct hist *h)
{
	free(h->p);
	*h = (struct hist){ 0 };
}

void hist_clear(struct hist *h)
{
	memset(h->p, 0, h->buckets * sizeof(*h->p));
	h->n = h->clipped = 0;
	h->min = h->max = 0;
	h->sum_s = 0;
}

size_t hist_index(const struct hist *h, nsec_t x)
{
	uint64_t v = (uint64_t)MAX(x, (nsec_t)0), mask = ((UINT64_C(2) << h->half_bits) - 1) << h->unit_bits;
	int octave = 64 - __builtin_clzll(v | mask) - h->unit_bits - (h->half_bits + 1);
	uint64_t sub = v >> (octave + h->unit_bits);
	size_t i = ((size_t)(octave + 1) << h->half_bits) + (size_t)sub - ((size_t)1 << h->half_bits);

	return MIN(i, h->buckets - 1);
}

static int octave_of(const struct hist *h, size_t i, uint64_t *ret_sub)
{
	int octave = (int)(i >> h->half_bits) - 1;
	uint64_t sub = (i & (((size_t)1 << h->half_bits) - 1)) + ((size_t)1 << h->half_bits);

	if (octave < 0) {
		sub -= (uint64_t)1 << h->half_bits;
		octave = 0;
	}
	*ret_sub = sub;
	return octave;
}

nsec_t hist_bucket_lo(const struct hist *h, size_t i)
{
	uint64_t sub;
	int octave = octave_of(h, i, &sub);

	return (nsec_t)(sub << (octave + h->unit_bits));
}

nsec_t hist_bucket_hi(const struct hist *h, size_t i)
{
	uint64_t sub;
	int octave = octave_of(h, i, &sub);

	return (nsec_t)((sub + 1) << (octave + h->unit_bits)) - 1;
}

void hist_add(struct hist *h, nsec_t x, uint64_t times)
{
	if (!times)
		return;
	x = MAX(x, (nsec_t)0);
	h->p[hist_index(h, x)] += times;
	if (x > HIST_HIGHEST)
		h->clipped += times;
	h->min = h->n ? MIN(h->min, x) : x;
	h->max = MAX(h->max, x);
	h->n += times;
	h->sum_s += (double)x / 1e9 * (double)times;
}

void hist_merge(struct hist *h, const struct hist *other)
{
	assert(h->digits == other->digits);
	if (!other->n)
		return;
	for (size_t i = 0; i < h->buckets; i++)
		h->p[i] += other->p[i];
	h->min = h->n ? MIN(h->min, other->min) : other->min;
	h->max = MAX(h->max, other->max);
	h->n += other->n;
	h->clipped += other->clipped;
	h->sum_s += other->sum_s;
}

nsec_t hist_quantile(const struct hist *h, double p)
{
	uint64_t rank = quantile_rank(h->n, p), seen = 0;

	for (size_t i = 0; h->n && i < h->buckets; i++) {
		seen += h->p[i];
		if (seen >= rank)
			return i == h->buckets - 1 ? h->max : MIN(hist_bucket_hi(h, i), h->max);
	}
	return 0;
}

double hist_share_over(const struct hist *h, nsec_t w)
{
	uint64_t over = 0;

	if (!h->n)
		return 0;
	for (size_t i = hist_index(h, w) + 1; i < h->buckets; i++)
		over += h->p[i];
	return (double)over / (double)h->n;
}

/* SPDX-License-Identifier: MIT */
#include "analyze/blk-dist.h"
#include "base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CELLS_MAX	(UINT64_C(1) << 20)

static const double shares[BLK_QUANTILES] = { 0.5, 0.9, 0.99, 0.999 };

/* Values below 8192 have a bucket each (octave 0); above, octave o holds [4096, 8192) << o. */
static unsigned octave_of(uint64_t x)
{
	return x < 2 * BLK_DIST_SUB ? 0 : (unsigned)(63 - __builtin_clzll(x)) - 12;
}

static void count(struct blk_dist *d, uint64_t x)
{
	unsigned o = octave_of(x);

	if (!d->octave[o])
		d->octave[o] = mem_array(o ? BLK_DIST_SUB : 2 * BLK_DIST_SUB, sizeof(**d->octave));
	d->octave[o][o ? (x >> o) % BLK_DIST_SUB : x]++;
}

static void give_up_exact(struct blk_dist *d)
{
	for (size_t i = 0; i < d->n; i++)
		count(d, d->exact[i]);
	free(d->exact);
	d->exact = NULL;
	d->cap = 0;
}

static void add_again(struct blk_dist *d, uint64_t x)
{
	for (unsigned q = 0; q < BLK_QUANTILES; q++) {
		struct blk_dist_bucket *b = &d->again[q];

		if (x - b->lo >= b->width)
			continue;
		if (b->cells) {
			b->cells[x - b->lo]++;
			continue;
		}
		if (b->n == b->cap) {
			b->cap = b->cap ? b->cap * 2 : 1024;
			b->values = mem_realloc(b->values, b->cap * sizeof(*b->values));
		}
		b->values[b->n++] = x;
	}
}

void blk_dist_add(struct blk_dist *d, uint64_t x)
{
	size_t most = d->exact_max ? d->exact_max : BLK_DIST_EXACT;

	if (d->second) {
		add_again(d, x);
		return;
	}
	d->min = d->n && d->min < x ? d->min : x;
	d->max = d->max > x ? d->max : x;
	d->sum += (double)x;
	if (d->n < most) {
		if (d->n == d->cap) {
			d->cap = d->cap ? d->cap * 2 : 64;
			d->exact = mem_realloc(d->exact, d->cap * sizeof(*d->exact));
		}
		d->exact[d->n++] = x;
		d->sorted = false;
		return;
	}
	if (d->exact)
		give_up_exact(d);
	count(d, x);
	d->n++;
}

bool blk_dist_counted(const struct blk_dist *d)
{
	return d->n && !d->exact && !d->second;
}

static uint64_t rank_of(const struct blk_dist *d, enum blk_quantile q)
{
	uint64_t rank = (uint64_t)ceil(shares[q] * (double)d->n);

	return rank < 1 ? 1 : rank > d->n ? d->n : rank;
}

/* The bucket that holds the value of that rank. */
static struct blk_dist_bucket bucket_of_rank(const struct blk_dist *d, uint64_t rank)
{
	uint64_t below = 0;

	for (unsigned o = 0; o < BLK_DIST_OCTAVES; o++) {
		unsigned n = o ? BLK_DIST_SUB : 2 * BLK_DIST_SUB;

		for (unsigned i = 0; d->octave[o] && i < n; i++) {
			if (below + d->octave[o][i] >= rank)
				return (struct blk_dist_bucket){
					.lo = o ? (uint64_t)(BLK_DIST_SUB + i) << o : i, .width = (uint64_t)1 << o, .below = below,
				};
			below += d->octave[o][i];
		}
	}
	return (struct blk_dist_bucket){ .lo = d->max, .width = 1 };
}

void blk_dist_again(struct blk_dist *d)
{
	d->second = true;	/* a distribution that is exact already takes nothing more */
	for (unsigned q = 0; d->n && !d->exact && q < BLK_QUANTILES; q++) {
		struct blk_dist_bucket *b = &d->again[q];

		*b = bucket_of_rank(d, rank_of(d, q));
		if (b->width <= CELLS_MAX)
			b->cells = mem_array(b->width, sizeof(*b->cells));
	}
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

uint64_t blk_dist_quantile(struct blk_dist *d, enum blk_quantile q)
{
	struct blk_dist_bucket *b = &d->again[q], found;
	uint64_t rank, sum;

	if (!d->n)
		return 0;
	rank = rank_of(d, q);
	if (d->exact) {
		if (!d->sorted)
			qsort(d->exact, d->n, sizeof(*d->exact), by_value);
		d->sorted = true;
		return d->exact[rank - 1];
	}
	if (!d->second) {
		found = bucket_of_rank(d, rank);
		sum = found.lo + found.width / 2;
		return sum < d->min ? d->min : sum > d->max ? d->max : sum;
	}
	sum = b->below;
	for (uint64_t i = 0; b->cells && i < b->width; i++) {
		sum += b->cells[i];
		if (sum >= rank)
			return b->lo + i;
	}
	if (!b->n)
		return b->lo;	/* the second pass was stopped early */
	qsort(b->values, b->n, sizeof(*b->values), by_value);
	return rank - b->below <= b->n ? b->values[rank - b->below - 1] : b->values[b->n - 1];
}

double blk_dist_mean(const struct blk_dist *d)
{
	return d->n ? d->sum / (double)d->n : 0;
}

void blk_dist_done(struct blk_dist *d)
{
	free(d->exact);
	for (unsigned o = 0; o < BLK_DIST_OCTAVES; o++)
		free(d->octave[o]);
	for (unsigned q = 0; q < BLK_QUANTILES; q++) {
		free(d->again[q].cells);
		free(d->again[q].values);
	}
	memset(d, 0, sizeof(*d));
}

/* SPDX-License-Identifier: MIT */
#include "model/write-cache.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

/* Removing from the middle of an extent leaves two: room for that is kept beside what fits() promises. */
#define SPARE 8

void wcache_init(struct wcache *w, const struct hdd_geo *geo, uint64_t max_bytes)
{
	*w = (struct wcache){ .geo = geo, .max_bytes = max_bytes };
	w->cap = (unsigned)(max_bytes / 4096) + SPARE;	/* firmware tables are finite too: one entry a page */
	w->p = mem_array(w->cap, sizeof(*w->p));
}

void wcache_done(struct wcache *w)
{
	free(w->p);
	w->p = NULL;
}

bool wcache_fits(const struct wcache *w, uint64_t bytes)
{
	return w->bytes + bytes <= w->max_bytes && w->n + SPARE < w->cap;
}

unsigned wcache_at(const struct wcache *w, uint64_t sector)
{
	unsigned lo = 0, hi = w->n;

	while (lo < hi) {
		unsigned mid = lo + (hi - lo) / 2;

		if (w->p[mid].sector < sector)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* Puts `m` extents in the place of [i, i + k). */
static void splice(struct wcache *w, unsigned i, unsigned k, const struct extent *by, unsigned m)
{
	for (unsigned j = i; j < i + k; j++)
		w->bytes -= w->p[j].sectors * 512;
	if (m != k)
		memmove(w->p + i + m, w->p + i + k, (w->n - i - k) * sizeof(*w->p));
	for (unsigned j = 0; j < m; j++) {
		w->p[i + j] = by[j];
		w->bytes += by[j].sectors * 512;
	}
	w->n = w->n - k + m;
}

void wcache_add(struct wcache *w, uint64_t sector, uint64_t sectors)
{
	uint64_t end = sector + sectors, from = sector;
	unsigned i = wcache_at(w, sector), k = 0;
	struct extent x = { 0 };

	if (i > 0 && w->p[i - 1].sector + w->p[i - 1].sectors >= sector)
		i--;
	while (i + k < w->n && w->p[i + k].sector <= end) {
		const struct extent *o = &w->p[i + k];

		if (o->sector <= from) {
			from = o->sector;
			x.pos = o->pos;
		}
		end = MAX(end, o->sector + o->sectors);
		k++;
	}
	if (!x.pos.spt)
		hdd_locate(w->geo, from, &x.pos);
	x.sector = from;
	x.sectors = end - from;
	splice(w, i, k, &x, 1);
}

void wcache_remove(struct wcache *w, uint64_t sector, uint64_t sectors)
{
	uint64_t end = sector + sectors;
	unsigned i = wcache_at(w, sector), k = 0, m = 0;
	struct extent keep[2];

	if (i > 0 && w->p[i - 1].sector + w->p[i - 1].sectors > sector)
		i--;
	for (; i + k < w->n && w->p[i + k].sector < end; k++) {
		struct extent o = w->p[i + k];

		if (o.sector < sector) {
			keep[m] = o;
			keep[m++].sectors = sector - o.sector;
		}
		if (o.sector + o.sectors > end) {
			keep[m].sector = end;
			keep[m].sectors = o.sector + o.sectors - end;
			hdd_locate(w->geo, end, &keep[m++].pos);
		}
	}
	if (m > k && w->n + m - k > w->cap) {	/* no entry left for the second half: it counts as on the media */
		m = k;
	}
	if (k)
		splice(w, i, k, keep, m);
}

bool wcache_holds(const struct wcache *w, uint64_t sector, uint64_t sectors)
{
	unsigned i = wcache_at(w, sector + 1);

	return i > 0 && w->p[i - 1].sector + w->p[i - 1].sectors >= sector + sectors;
}

/* SPDX-License-Identifier: MIT */
/*
 * The dirty part of a drive's write cache: extents of sectors, sorted, never
 * touching one another (neighbours become one). A plain sorted array: 4096
 * extents (16 MiB of scattered 4 KiB writes) move in a few microseconds and
 * nothing is allocated after wcache_init().
 */
#ifndef MODEL_WRITE_CACHE_H
#define MODEL_WRITE_CACHE_H

#include "base/err.h"
#include "model/hdd-geometry.h"

#include <stdbool.h>

struct extent {
	uint64_t sector;
	uint64_t sectors;
	struct hdd_pos pos;	/* of its first sector */
};

struct wcache {
	const struct hdd_geo *geo;
	struct extent *p;
	unsigned n, cap;
	uint64_t bytes, max_bytes;
};

void wcache_init(struct wcache *w, const struct hdd_geo *geo, uint64_t max_bytes);
void wcache_done(struct wcache *w);
bool wcache_fits(const struct wcache *w, uint64_t bytes);	/* not counting what it would overwrite */
void wcache_add(struct wcache *w, uint64_t sector, uint64_t sectors);	/* only when it fits */
void wcache_remove(struct wcache *w, uint64_t sector, uint64_t sectors);
bool wcache_holds(const struct wcache *w, uint64_t sector, uint64_t sectors);	/* all of it */
/* The first extent that begins at or after `sector`; w->n when there is none. */
unsigned wcache_at(const struct wcache *w, uint64_t sector);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Where a sector lies and how long the arm needs to get there.
 *
 * Tracks are numbered from the outer rim, `heads` of them make a cylinder;
 * zones of equal capacity, each with its own sectors a track. The platter
 * turns for ever: its angle at time t is (t + phase) mod rev, and every angle
 * here is a time, 0..rev-1. Each track is skewed by one head switch, so a
 * stream that crosses a track boundary loses that and not a revolution.
 *
 * Seek: a + b*sqrt(x) below a cutoff, c + e*x above, x = distance / full stroke
 * (Ruemmler & Wilkes 1994), separately for reads and writes. Tables are made
 * once; nothing here uses floating point after hdd_geo_init().
 */
#ifndef MODEL_HDD_GEOMETRY_H
#define MODEL_HDD_GEOMETRY_H

#include "base/cleanup.h"
#include "base/err.h"
#include "base/nsec.h"

#include <stdbool.h>

#define HDD_ZONES_MAX 64
#define HDD_FINE 4096		/* seek distances with an entry each; longer ones share */

struct hdd_curve {		/* ns */
	nsec_t a, b, c, e;
};

struct hdd_shape {
	uint64_t capacity_bytes, media_outer;	/* bytes/s under the head at the rim */
	uint64_t rpm, heads, zones;
	double inner_ratio, cutoff;
	nsec_t head_switch;
	struct hdd_curve curve[2];		/* read, write */
};

struct hdd_zone {
	uint64_t sector;		/* its first */
	uint32_t track, spt;		/* first track, sectors a track */
};

struct hdd_geo {
	nsec_t rev, skew;
	uint64_t sectors, zone_sectors;
	uint32_t heads, tracks, cylinders, nzones, shift;
	struct hdd_zone zone[HDD_ZONES_MAX];
	uint32_t fine[2][HDD_FINE];	/* by distance in cylinders */
	uint32_t *coarse[2];		/* by distance >> shift */
};

struct hdd_pos {
	uint32_t track, cylinder, offset, spt;	/* offset: sector within its track */
	uint32_t angle;				/* where it begins */
};

int hdd_geo_init(struct hdd_geo *g, const struct hdd_shape *s, struct err *e);
void hdd_geo_done(struct hdd_geo *g);
void hdd_locate(const struct hdd_geo *g, uint64_t sector, struct hdd_pos *ret_pos);
/* From a track to a position: seek, or head switch, or nothing. */
nsec_t hdd_seek(const struct hdd_geo *g, uint32_t from_cylinder, uint32_t from_track, const struct hdd_pos *to, bool write);
nsec_t hdd_seek_distance(const struct hdd_geo *g, uint32_t cylinders, bool write);
/* Time under the head for n sectors from `sector` on, and where it ends (position after the last one). */
nsec_t hdd_transfer(const struct hdd_geo *g, uint64_t sector, uint64_t n, struct hdd_pos *ret_end);
/* How many sectors from `sector` on have passed under the head after `dt`. */
uint64_t hdd_passed(const struct hdd_geo *g, uint64_t sector, nsec_t dt);
/* Mean seek between two positions drawn uniformly over the capacity (numeric integral over zones). */
nsec_t hdd_mean_seek(const struct hdd_geo *g, bool write);

#endif

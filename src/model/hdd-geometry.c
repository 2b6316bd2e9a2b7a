/* SPDX-License-Identifier: MIT */
#include "model/hdd-geometry.h"
#include "base/mem.h"

#include <errno.h>
#include <math.h>

static uint64_t isqrt(uint64_t v)
{
	uint64_t r = (uint64_t)sqrt((double)v);

	while (r && r > v / r)		/* the estimate may be off by one: the result does not depend on it */
		r--;
	while ((r + 1) <= v / (r + 1))
		r++;
	return r;
}

/* Seek over `d` of `full` cylinders, in ns. x and sqrt(x) in 1/2^20. */
static uint32_t seek_ns(const struct hdd_curve *c, uint64_t d, uint64_t full, uint64_t cutoff)
{
	uint64_t x = (d << 20) / full;
	int64_t t;

	if (d == 0)
		return 0;
	if (x < cutoff)
		t = c->a + ((c->b * (int64_t)isqrt((d << 40) / full)) >> 20);
	else
		t = c->c + ((c->e * (int64_t)x) >> 20);
	return t < 0 ? 0 : t > UINT32_MAX ? UINT32_MAX : (uint32_t)t;
}

static int make_zones(struct hdd_geo *g, const struct hdd_shape *s, struct err *e)
{
	uint64_t outer = s->media_outer * (uint64_t)g->rev / NSEC_PER_SEC / 512;
	uint64_t ratio = (uint64_t)llround(s->inner_ratio * 65536), sector = 0, track = 0;

	g->nzones = (uint32_t)s->zones;
	if (outer < 8)
		return err_set(e, -EINVAL, "media_outer is too slow: a track would hold %llu sectors",
			       (unsigned long long)outer);
	while (g->nzones > 1 && g->sectors / g->nzones < outer * s->heads)
		g->nzones--;
	g->zone_sectors = (g->sectors + g->nzones - 1) / g->nzones;
	for (uint32_t i = 0; i < g->nzones; i++) {
		uint64_t less = g->nzones > 1 ? (65536 - ratio) * i / (g->nzones - 1) : 0;
		uint64_t spt = outer * (65536 - less) / 65536;

		g->zone[i] = (struct hdd_zone){ sector, (uint32_t)track, (uint32_t)MAX(spt, UINT64_C(1)) };
		sector += g->zone_sectors;
		track += (g->zone_sectors + g->zone[i].spt - 1) / g->zone[i].spt;
		if (track > UINT32_MAX / 2)
			return err_set(e, -EINVAL, "too many tracks: %llu", (unsigned long long)track);
	}
	g->tracks = (uint32_t)track;
	g->cylinders = (g->tracks + g->heads - 1) / g->heads;
	return 0;
}

int hdd_geo_init(struct hdd_geo *g, const struct hdd_shape *s, struct err *e)
{
	uint64_t full, cutoff = (uint64_t)llround(s->cutoff * (1 << 20));
	int r;

	*g = (struct hdd_geo){ .rev = 60 * NSEC_PER_SEC / (nsec_t)s->rpm, .sectors = s->capacity_bytes / 512,
			       .heads = (uint32_t)s->heads };
	if (g->sectors < 2048)
		return err_set(e, -EINVAL, "a disk of %llu bytes is too small: 1 MiB at least",
			       (unsigned long long)s->capacity_bytes);
	g->skew = s->head_switch;
	r = make_zones(g, s, e);
	if (r)
		return r;
	full = MAX(g->cylinders, 2u) - 1;
	while ((full >> g->shift) > 65535)
		g->shift++;
	for (int w = 0; w < 2; w++) {
		g->coarse[w] = mem_array((full >> g->shift) + 1, sizeof(uint32_t));
		for (uint64_t d = 0; d < HDD_FINE; d++)
			g->fine[w][d] = seek_ns(&s->curve[w], MIN(d, full), full, cutoff);
		for (uint64_t d = 0; d <= full >> g->shift; d++)
			g->coarse[w][d] = seek_ns(&s->curve[w], MIN((d << g->shift) + (1u << g->shift) / 2, full), full, cutoff);
	}
	return 0;
}

void hdd_geo_done(struct hdd_geo *g)
{
	free(g->coarse[0]);
	free(g->coarse[1]);
}

static uint32_t angle_of(const struct hdd_geo *g, uint32_t track, uint32_t offset, uint32_t spt)
{
	return (uint32_t)((offset * g->rev / spt + track * g->skew) % g->rev);
}

void hdd_locate(const struct hdd_geo *g, uint64_t sector, struct hdd_pos *ret_pos)
{
	uint64_t i = MIN(sector / g->zone_sectors, g->nzones - 1);
	const struct hdd_zone *z = &g->zone[i];
	uint64_t in = sector - z->sector;

	ret_pos->spt = z->spt;
	ret_pos->track = z->track + (uint32_t)(in / z->spt);
	ret_pos->offset = (uint32_t)(in % z->spt);
	ret_pos->cylinder = ret_pos->track / g->heads;
	ret_pos->angle = angle_of(g, ret_pos->track, ret_pos->offset, z->spt);
}

nsec_t hdd_seek_distance(const struct hdd_geo *g, uint32_t d, bool write)
{
	return d < HDD_FINE ? g->fine[write][d] : g->coarse[write][d >> g->shift];
}

nsec_t hdd_seek(const struct hdd_geo *g, uint32_t from_cylinder, uint32_t from_track, const struct hdd_pos *to, bool write)
{
	if (to->track == from_track + 1)
		return g->skew;		/* what the skew is made for, also across a cylinder boundary */
	if (from_cylinder != to->cylinder)
		return hdd_seek_distance(g, from_cylinder > to->cylinder ? from_cylinder - to->cylinder :
					 to->cylinder - from_cylinder, write);
	return from_track == to->track ? 0 : g->skew;
}

nsec_t hdd_transfer(const struct hdd_geo *g, uint64_t sector, uint64_t n, struct hdd_pos *ret_end)
{
	struct hdd_pos p;
	nsec_t t = 0;

	hdd_locate(g, sector, &p);
	while (n) {
		uint64_t k = MIN(n, (uint64_t)(p.spt - p.offset));

		t += (nsec_t)(p.offset + k) * g->rev / p.spt - p.offset * g->rev / p.spt;
		n -= k;
		sector += k;
		p.offset += (uint32_t)k;
		if (n) {
			t += g->skew;
			hdd_locate(g, sector, &p);
		}
	}
	*ret_end = p;		/* stays on the last track, even at its very end */
	return t;
}

uint64_t hdd_passed(const struct hdd_geo *g, uint64_t sector, nsec_t dt)
{
	struct hdd_pos p;
	uint64_t n = 0;

	while (dt > 0 && sector + n < g->sectors) {
		nsec_t begin, left;

		hdd_locate(g, sector + n, &p);
		begin = p.offset * g->rev / p.spt;
		left = g->rev - begin;
		if (dt < left)
			return n + (uint64_t)((begin + dt) * p.spt / g->rev) - p.offset;
		n += p.spt - p.offset;
		dt -= left + g->skew;
	}
	return n;
}

nsec_t hdd_mean_seek(const struct hdd_geo *g, bool write)
{
	enum { CUTS = 32 };	/* points a zone: midpoint rule, error far below 1 % */
	uint32_t *cylinder = mem_array((size_t)g->nzones * CUTS, sizeof(*cylinder));
	uint32_t n = g->nzones * CUTS;
	double sum = 0;

	for (uint32_t i = 0; i < n; i++) {
		struct hdd_pos p;

		hdd_locate(g, (uint64_t)(((double)i + 0.5) * (double)g->sectors / n), &p);
		cylinder[i] = p.cylinder;
	}
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t j = 0; j < n; j++)
			if (i != j)
				sum += (double)hdd_seek_distance(g, cylinder[i] > cylinder[j] ? cylinder[i] - cylinder[j] :
								 cylinder[j] - cylinder[i], write);
	free(cylinder);
	return (nsec_t)(sum / n / n);
}

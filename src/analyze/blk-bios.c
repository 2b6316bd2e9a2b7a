/* SPDX-License-Identifier: MIT */
#include "analyze/blk-bios.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

#define BUCKETS	(1u << 18)
#define SLAB	(BLK_BIOS_MAX + 2)	/* index 0 is "none" */
#define LOOK	64			/* entries of one bucket that are looked at: hostile traces queue one sector for ever */

struct blk_bios {
	uint32_t *bucket;	/* index of the newest bio in it */
	struct blk_bio *slab;
	uint32_t free, n, top;
};

struct blk_bios *blk_bios_new(void)
{
	struct blk_bios *s = mem_alloc(sizeof(*s));

	s->bucket = mem_array(BUCKETS, sizeof(*s->bucket));
	s->slab = mem_array(SLAB, sizeof(*s->slab));
	blk_bios_clear(s);
	return s;
}

void blk_bios_free(struct blk_bios *s)
{
	if (!s)
		return;
	free(s->bucket);
	free(s->slab);
	free(s);
}

void blk_bios_clear(struct blk_bios *s)
{
	memset(s->bucket, 0, BUCKETS * sizeof(*s->bucket));
	for (uint32_t i = 0; i < s->top; i++)
		s->slab[i].used = 0;
	s->free = s->n = 0;
	s->top = 1;
}

static uint32_t bucket_of(uint32_t dev, uint64_t sector)
{
	return (uint32_t)(((sector ^ (uint64_t)dev << 40) * UINT64_C(0x9e3779b97f4a7c15)) >> 46);
}

static void link_bio(struct blk_bios *s, struct blk_bio *b)
{
	b->slot = bucket_of(b->dev, b->sector);
	b->next = s->bucket[b->slot];
	s->bucket[b->slot] = (uint32_t)(b - s->slab);
}

static struct blk_bio *alloc(struct blk_bios *s)
{
	uint32_t i = s->free;

	if (i)
		s->free = s->slab[i].next;
	else
		i = s->top++;
	s->n++;
	return &s->slab[i];
}

void blk_bios_drop(struct blk_bios *s, struct blk_bio *b)
{
	uint32_t me = (uint32_t)(b - s->slab), *at = &s->bucket[b->slot];

	while (*at != me)
		at = &s->slab[*at].next;
	*at = b->next;
	b->used = 0;
	b->next = s->free;
	s->free = me;
	s->n--;
}

/* Drops what is older than the middle between the oldest and the newest; all, if they are of one time. */
static uint64_t forget(struct blk_bios *s)
{
	uint64_t lo = UINT64_MAX, hi = 0, n = 0;

	for (uint32_t i = 1; i < s->top; i++) {
		if (!s->slab[i].used)
			continue;
		lo = s->slab[i].q < lo ? s->slab[i].q : lo;
		hi = s->slab[i].q > hi ? s->slab[i].q : hi;
	}
	for (uint32_t slot = 0; slot < BUCKETS; slot++) {
		uint32_t *at = &s->bucket[slot];

		while (*at) {
			struct blk_bio *b = &s->slab[*at];
			uint32_t me = *at;

			if (b->q > lo + (hi - lo) / 2) {
				at = &b->next;
				continue;
			}
			*at = b->next;
			b->used = 0;
			b->next = s->free;
			s->free = me;
			s->n--;
			n++;
		}
	}
	return n;
}

uint64_t blk_bios_queue(struct blk_bios *s, const struct blk_rec *r, uint8_t kind)
{
	uint64_t gone = s->n + 1 >= BLK_BIOS_MAX ? forget(s) : 0;
	struct blk_bio *b = alloc(s);

	*b = (struct blk_bio){ .sector = r->sector, .q = r->time, .sectors = r->bytes / 512, .dev = r->dev, .pid = r->pid,
			       .write = r->tc & BLK_TC_WRITE ? 1 : 0, .kind = kind, .used = 1 };
	if (!b->sectors)
		b->sectors = 1;
	link_bio(s, b);
	return gone;
}

struct blk_bio *blk_bios_find(struct blk_bios *s, const struct blk_rec *r, uint64_t sector, enum blk_bio_want want)
{
	bool write = r->tc & BLK_TC_WRITE;
	struct blk_bio *found = NULL;
	unsigned look = LOOK;

	for (uint32_t i = s->bucket[bucket_of(r->dev, sector)]; i && look--; i = s->slab[i].next) {
		struct blk_bio *b = &s->slab[i];

		if (b->sector != sector || b->dev != r->dev || b->write != write)
			continue;
		switch (want) {
		case BIO_FRESH:
			if (!(b->has & (BIO_G | BIO_I | BIO_M | BIO_D)))
				return b;	/* chains begin with the newest */
			break;
		case BIO_UNISSUED:
			found = b->has & BIO_D ? found : b;
			break;
		case BIO_ISSUED:
			found = b->has & BIO_D ? b : found;
			break;
		case BIO_ANY:
			found = b;
			break;
		}
	}
	return found;
}

void blk_bios_cut(struct blk_bios *s, struct blk_bio *b, uint32_t sectors)
{
	struct blk_bio *rest;

	if (s->n + 1 >= BLK_BIOS_MAX)
		return;
	rest = alloc(s);
	*rest = *b;
	rest->sector += sectors;
	rest->sectors -= sectors;
	rest->has &= (uint8_t)~BIO_HEAD;
	b->sectors = sectors;
	link_bio(s, rest);
}

struct blk_bio *blk_bios_take_part(struct blk_bios *s, const struct blk_rec *r, uint64_t sector, uint64_t most,
				   enum blk_bio_want want)
{
	struct blk_bio *b = blk_bios_find(s, r, sector, want);

	if (b && b->sectors > most)
		blk_bios_cut(s, b, (uint32_t)most);
	return b;
}

uint64_t blk_bios_count(const struct blk_bios *s, uint32_t dev)
{
	uint64_t n = 0;

	for (uint32_t i = 1; i < s->top; i++)
		n += s->slab[i].used && s->slab[i].dev == dev;
	return n;
}

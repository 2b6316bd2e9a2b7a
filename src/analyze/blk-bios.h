/* SPDX-License-Identifier: MIT */
/*
 * The bios under way: found by device, first sector and direction in constant
 * time, one allocation for all of them. When more than BLK_BIOS_MAX are open (a
 * trace without completions) the older half is forgotten and counted.
 */
#ifndef ANALYZE_BLK_BIOS_H
#define ANALYZE_BLK_BIOS_H

#include "event/blktrace.h"

#define BLK_BIOS_MAX (1u << 18)

enum { BIO_G = 1, BIO_I = 2, BIO_M = 4, BIO_D = 8, BIO_HEAD = 16, BIO_AGAIN = 32 };	/* blk_bio.has */

struct blk_bio {
	uint64_t sector, q, g, i, m, d;		/* times as far as `has` says */
	uint32_t sectors, dev, pid, next, slot;
	uint8_t has, write, kind, used;
};

enum blk_bio_want {
	BIO_FRESH,	/* queued and nothing more; the newest */
	BIO_UNISSUED,	/* the oldest */
	BIO_ISSUED,
	BIO_ANY,
};

struct blk_bios;

struct blk_bios *blk_bios_new(void);
void blk_bios_free(struct blk_bios *s);
void blk_bios_clear(struct blk_bios *s);
/* Adds the bio of a Q record; returns how many old ones were forgotten for it. */
uint64_t blk_bios_queue(struct blk_bios *s, const struct blk_rec *r, uint8_t kind);
/* The bio that begins at `sector`, of the device and direction of r; NULL: none. */
struct blk_bio *blk_bios_find(struct blk_bios *s, const struct blk_rec *r, uint64_t sector, enum blk_bio_want want);
/* As find; a bio of more than `most` sectors is cut there first. */
struct blk_bio *blk_bios_take_part(struct blk_bios *s, const struct blk_rec *r, uint64_t sector, uint64_t most,
				   enum blk_bio_want want);
/* Cuts b after `sectors`; the rest becomes a bio of its own with the same past. b stays valid. */
void blk_bios_cut(struct blk_bios *s, struct blk_bio *b, uint32_t sectors);
void blk_bios_drop(struct blk_bios *s, struct blk_bio *b);
uint64_t blk_bios_count(const struct blk_bios *s, uint32_t dev);

#endif

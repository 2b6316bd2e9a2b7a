/* SPDX-License-Identifier: MIT */
/* What btt's tables are made of; filled by blk-btt.c, printed by blk-btt-text.c. */
#ifndef ANALYZE_BLK_BTT_STATE_H
#define ANALYZE_BLK_BTT_STATE_H

#include "analyze/blk-tree.h"
#include "base/vec.h"

/* In the order of the "All Devices" table. */
enum btt_phase { BTT_Q2Q_DM, BTT_Q2A_DM, BTT_Q2C_DM, BTT_Q2Q, BTT_Q2A, BTT_Q2G, BTT_S2G, BTT_G2I, BTT_Q2M, BTT_I2D, BTT_M2D,
		 BTT_D2C, BTT_Q2C, BTT_PHASES };

enum { BTT_HAS_G = 1, BTT_HAS_I = 2, BTT_HAS_M = 4, BTT_HAS_D = 8 };

struct btt_avg {
	uint64_t min, max, total;
	int n;
};

struct btt_io {		/* an open Q; its index is its node in btt_dev.open */
	uint64_t q, s, g, i, m, d;
	unsigned has;
};

struct btt_seeks {
	int64_t start, end;		/* of the last range */
	long long n;
	double sectors;
	struct blk_tree distances;	/* value: how often */
};

struct btt_live {
	uint64_t from, to;
};

typedef VEC(struct btt_live) btt_lives;

struct btt_dev {
	uint32_t dev;
	bool remapper, culling, plugged;
	struct btt_avg avg[BTT_PHASES], blocks;
	struct blk_tree open;		/* Qs by first sector */
	VEC(struct btt_io) ios;
	struct btt_seeks q2q, d2d;
	uint64_t last_q, n_qs, n_ds, act, act_sum, ios_unplugged, ios_timer;
	int n_unplugs, n_timer;
	double start_time, end_time, last_plug, plugged_time;
	btt_lives live;
};

struct blk_btt {
	VEC(struct btt_dev *) devs;
	struct btt_avg avg[BTT_PHASES];
	uint64_t last_q;
	btt_lives live;
	VEC(uint32_t) found;
	uint64_t replaced, passthrough, flagged, flushes;
};

/* btt computes with seconds as a double, made in this way. */
static inline double btt_time(uint64_t ns)
{
	return (double)(ns / 1000000000) + (double)(ns % 1000000000) / 1.0e9;
}

#endif

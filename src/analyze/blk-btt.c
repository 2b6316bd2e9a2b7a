/* SPDX-License-Identifier: MIT */
#include "analyze/blk-btt.h"
#include "analyze/blk-btt-state.h"
#include "base/cleanup.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

struct blk_btt *blk_btt_new(void)
{
	struct blk_btt *b = mem_alloc(sizeof(*b));

	b->last_q = UINT64_MAX;
	return b;
}

void blk_btt_free(struct blk_btt *b)
{
	if (!b)
		return;
	for (size_t i = 0; i < b->devs.n; i++) {
		struct btt_dev *d = b->devs.p[i];

		blk_tree_done(&d->open);
		blk_tree_done(&d->q2q.distances);
		blk_tree_done(&d->d2d.distances);
		vec_done(&d->ios);
		vec_done(&d->live);
		free(d);
	}
	vec_done(&b->devs);
	vec_done(&b->live);
	vec_done(&b->found);
	free(b);
}

static bool remapper(uint32_t dev)
{
	uint32_t major = dev >> 20;

	return major == 9 || major == 253 || major == 254;
}

static struct btt_dev *find_dev(struct blk_btt *b, uint32_t dev)
{
	for (size_t i = 0; i < b->devs.n; i++)
		if (b->devs.p[i]->dev == dev)
			return b->devs.p[i];
	return NULL;
}

/* The record's device, once its first Q or A was seen; what came before is not looked at. */
static struct btt_dev *device(struct blk_btt *b, const struct blk_rec *r, bool begins)
{
	struct btt_dev *d = find_dev(b, r->dev);

	if (!d) {
		d = mem_alloc(sizeof(*d));
		d->dev = r->dev;
		d->remapper = remapper(r->dev);
		d->last_q = UINT64_MAX;
		d->culling = true;
		d->start_time = btt_time(r->time);
		vec_push(&b->devs, d);
	}
	if (d->culling && !begins)
		return NULL;
	d->culling = false;
	d->end_time = btt_time(r->time);
	return d;
}

static void average(struct btt_avg *a, uint64_t t)
{
	if (!a->n++) {
		a->min = a->max = a->total = t;
		return;
	}
	a->min = MIN(a->min, t);
	a->max = MAX(a->max, t);
	a->total += t;
}

static void averages(struct blk_btt *b, struct btt_dev *d, enum btt_phase p, uint64_t t)
{
	average(&b->avg[p], t);
	average(&d->avg[p], t);
}

static uint64_t gap(uint64_t from, uint64_t to)
{
	return from < to ? to - from : 1;
}

static void seek(struct btt_seeks *s, const struct blk_rec *r)
{
	/* signed as in btt, but computed without: sectors may be anything */
	int64_t start = (int64_t)r->sector, end = (int64_t)(r->sector + (r->bytes >> 9)), dist;
	uint64_t far;
	bool new;
	uint32_t n;

	if ((s->start <= start && start <= s->end) || (s->start <= end && end <= s->end))
		dist = 0;
	else
		dist = (int64_t)((uint64_t)start - (uint64_t)(start > s->end ? s->end : s->start));
	s->start = start;
	s->end = end;
	far = dist < 0 ? 0 - (uint64_t)dist : (uint64_t)dist;
	s->n++;
	s->sectors += (double)far;
	n = blk_tree_insert(&s->distances, far, &new);
	s->distances.n[n].value++;
}

/* The open Q whose range holds the sector. */
static struct btt_io *holding(struct btt_dev *d, uint64_t sector)
{
	uint32_t at = d->open.root;

	while (at) {
		const struct blk_node *n = &d->open.n[at];

		if (sector < n->key)
			at = n->left;
		else if (sector >= n->end)
			at = n->right;
		else
			return &d->ios.p[at];
	}
	return NULL;
}

/* Nodes of open Qs that lie wholly in the range of r, into b->found. */
static void inside(struct blk_btt *b, const struct btt_dev *d, uint32_t at, uint64_t start, uint64_t end)
{
	while (at) {
		const struct blk_node *n = &d->open.n[at];

		if (start <= n->key && n->end <= end)
			vec_push(&b->found, at);
		if (start < n->key)
			inside(b, d, n->left, start, end);
		at = n->end < end ? n->right : 0;
	}
}

static void on_queue(struct blk_btt *b, const struct blk_rec *r)
{
	struct btt_dev *d = device(b, r, true);
	enum btt_phase p = d->remapper ? BTT_Q2Q_DM : BTT_Q2Q;
	bool new;
	uint32_t n = blk_tree_insert(&d->open, r->sector, &new);

	b->replaced += !new;
	d->open.n[n].end = r->sector + (r->bytes >> 9);
	while (d->ios.n <= n)
		vec_push(&d->ios, ((struct btt_io){ 0 }));
	d->ios.p[n] = (struct btt_io){ .q = r->time };
	seek(&d->q2q, r);
	if (d->last_q != UINT64_MAX)
		average(&d->avg[p], gap(d->last_q, r->time));
	d->last_q = r->time;
	if (b->last_q != UINT64_MAX)
		average(&b->avg[p], gap(b->last_q, r->time));
	b->last_q = r->time;
	d->n_qs++;
	d->act_sum += d->act;
	d->act++;
}

static void on_remap(struct blk_btt *b, const struct blk_rec *r)
{
	struct btt_dev *d = device(b, r, true);
	uint32_t from;
	uint64_t sector;
	struct btt_io *io;

	if (!blk_pdu32(r, 0, &from) || !blk_pdu64(r, 8, &sector))
		return;
	d = find_dev(b, from);
	io = d ? holding(d, sector) : NULL;
	if (io)
		averages(b, d, d->remapper ? BTT_Q2A_DM : BTT_Q2A, gap(io->q, r->time));
}

/* G, S, I, M and F: one Q got on. */
static void on_one(struct blk_btt *b, const struct blk_rec *r)
{
	struct btt_dev *d = device(b, r, false);
	struct btt_io *io = d ? holding(d, r->sector) : NULL;

	if (!d)
		return;
	switch (r->act) {
	case BLK_G:
		if (!io)
			break;
		io->g = r->time;
		io->has |= BTT_HAS_G;
		averages(b, d, BTT_Q2G, gap(io->q, r->time));
		if (io->s)
			averages(b, d, BTT_S2G, gap(io->s, r->time));
		break;
	case BLK_S:
		if (io)
			io->s = r->time;
		break;
	case BLK_I:
		if (!io)
			break;
		io->i = r->time;
		io->has |= BTT_HAS_I;
		if (io->has & BTT_HAS_G)
			averages(b, d, BTT_G2I, gap(io->g, r->time));
		break;
	default:
		if (io) {
			io->m = r->time;
			io->has |= BTT_HAS_M;
			averages(b, d, BTT_Q2M, gap(io->q, r->time));
		}
		d->act -= d->act != 0;
		break;
	}
}

static void on_issue(struct blk_btt *b, const struct blk_rec *r)
{
	struct btt_dev *d = device(b, r, false);

	if (!d)
		return;
	d->act -= d->act != 0;
	seek(&d->d2d, r);
	d->n_ds++;
	b->found.n = 0;
	inside(b, d, d->open.root, r->sector, r->sector + (r->bytes >> 9));
	for (size_t i = 0; i < b->found.n; i++) {
		struct btt_io *io = &d->ios.p[b->found.p[i]];

		if (io->has & BTT_HAS_I)
			averages(b, d, BTT_I2D, gap(io->i, r->time));
		else if (io->has & BTT_HAS_M)
			averages(b, d, BTT_M2D, gap(io->m, r->time));
		io->d = r->time;
		io->has |= BTT_HAS_D;
	}
}

/* Joins the time something was at the device to what is there already; completions come in order of time. */
static void live(btt_lives *v, uint64_t from, uint64_t to)
{
	struct btt_live l = { from, to };

	while (v->n && v->p[v->n - 1].to >= l.from) {
		l.from = MIN(l.from, v->p[v->n - 1].from);
		l.to = MAX(l.to, v->p[v->n - 1].to);
		v->n--;
	}
	vec_push(v, l);
}

static void on_complete(struct blk_btt *b, const struct blk_rec *r)
{
	struct btt_dev *d = device(b, r, false);

	if (!d)
		return;
	average(&d->blocks, r->bytes >> 9);
	b->found.n = 0;
	inside(b, d, d->open.root, r->sector, r->sector + (r->bytes >> 9));
	for (size_t i = 0; i < b->found.n; i++) {
		struct btt_io *io = &d->ios.p[b->found.p[i]];

		averages(b, d, d->remapper ? BTT_Q2C_DM : BTT_Q2C, gap(io->q, r->time));
		if (io->has & BTT_HAS_D) {
			live(&d->live, io->d, r->time);
			live(&b->live, io->d, r->time);
			averages(b, d, BTT_D2C, gap(io->d, r->time));
		}
		blk_tree_remove(&d->open, b->found.p[i]);
	}
}

static void on_plug(struct blk_btt *b, const struct blk_rec *r)
{
	struct btt_dev *d = find_dev(b, r->dev);
	double now = btt_time(r->time);
	uint64_t n = 0;

	if (!d || d->plugged == (r->act == BLK_P))
		return;
	d->plugged = r->act == BLK_P;
	if (d->plugged) {
		d->last_plug = now;
		return;
	}
	blk_pdu64(r, 0, &n);
	d->plugged_time += now - d->last_plug;
	if (r->act == BLK_U) {
		d->n_unplugs++;
		d->ios_unplugged += n;
	} else {
		d->n_timer++;
		d->ios_timer += n;
	}
}

void blk_btt_record(struct blk_btt *b, const struct blk_rec *r)
{
	struct btt_dev *d;

	if (r->tc & BLK_TC_NOTIFY) {
		if (r->tc == BLK_TC_NOTIFY && r->act == BLK_TN_MESSAGE)
			device(b, r, false);
		return;
	}
	if (r->tc & BLK_TC_PC) {
		b->passthrough++;
		return;
	}
	b->flagged += r->act & BLK_CGROUP ? 1 : 0;
	b->flushes += r->tc & BLK_TC_FLUSH && !r->bytes && r->act == BLK_D;
	switch (r->act) {
	case BLK_P:
	case BLK_U:
	case BLK_UT:
		on_plug(b, r);
		return;
	case BLK_A:
		on_remap(b, r);
		return;
	case BLK_R:
		d = device(b, r, false);
		if (d) {
			d->n_qs++;
			d->act_sum += d->act;
			d->act++;
		}
		return;
	default:
		break;
	}
	if (!r->bytes)
		return;
	switch (r->act) {
	case BLK_Q:
		on_queue(b, r);
		break;
	case BLK_G:
	case BLK_S:
	case BLK_I:
	case BLK_M:
	case BLK_F:
		on_one(b, r);
		break;
	case BLK_D:
		on_issue(b, r);
		break;
	case BLK_C:
		on_complete(b, r);
		break;
	default:
		break;
	}
}

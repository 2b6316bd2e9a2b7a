/* SPDX-License-Identifier: MIT */
/*
 * A hard disk: one arm over a platter that never stops turning.
 *
 * A request is known `overhead` after it was submitted. Then it is answered
 * from the write cache or a read-ahead segment, or waits for the arm. When the
 * arm is free it takes, among the first `considered` waiting ones, the one it
 * can reach first (seek + rotation), unless one has waited longer than
 * age_limit. After a read it goes on reading ahead until something else is to
 * do. Cached writes go to the media when the drive is idle for destage_delay;
 * above destage_high of the cache, or when a write waits for room, one after
 * each request served. FLUSH waits for what is inside, empties the cache, and
 * lets nothing in meanwhile.
 *
 * Sources of the shape: Ruemmler & Wilkes, "An introduction to disk drive
 * modeling" (1994); DiskSim 4.0 for segments. The destage policy and idle delay
 * are assumptions: firmware secrets.
 */
#include "base/cleanup.h"
#include "base/mem.h"
#include "event/event.h"
#include "model/disk.h"
#include "model/hdd-geometry.h"
#include "model/write-cache.h"

#include <errno.h>
#include <string.h>

#define DESTAGE_MAX	2048	/* sectors in one media write of merged extents */
#define SEGMENTS_MAX	64
#define LINK_TAIL	65536	/* bytes of a media read that are still on their way when the last sector has passed */

static const char *const orders[] = { "sptf", "elevator", NULL };
enum { SPTF, ELEVATOR };

struct hdd_conf {
	struct disk_conf disk;
	uint64_t rpm, heads, zones, media_outer, link, considered, segments, cache, readahead;
	double inner_ratio, seek_cutoff, destage_high;
	nsec_t read_a, read_b, read_c, read_e, write_a, write_b, write_c, write_e;
	nsec_t head_switch, overhead, cached_write, age_limit, destage_delay, flush_base, flush_each;
	int order, destage_order;
};

#define NSEC(field_, def_, help_, max_) \
	{ .name = #field_, .type = PARAM_NSEC, .offset = offsetof(struct hdd_conf, field_), .def = (def_), .help = (help_), \
	  .min = 0, .max = (max_) }
#define COUNT(field_, type_, def_, help_, min_, max_) \
	{ .name = #field_, .type = (type_), .offset = offsetof(struct hdd_conf, field_), .def = (def_), .help = (help_), \
	  .min = (min_), .max = (max_) }

static const struct param hdd_params[] = {
	DISK_PARAMS(struct hdd_conf, "31", "yes"),
	COUNT(rpm, PARAM_COUNT, "7200", "revolutions a minute", 1000, 30000),
	COUNT(heads, PARAM_COUNT, "4", "surfaces: tracks a cylinder", 1, 32),
	COUNT(zones, PARAM_COUNT, "16", "recording zones, from the rim inwards", 1, HDD_ZONES_MAX),
	COUNT(media_outer, PARAM_COUNT, "105M", "bytes/s under the head at the rim", 1e5, 2e9),
	COUNT(inner_ratio, PARAM_SHARE, "0.48", "media rate of the innermost zone, as a share of the outermost", 0.05, 1),
	NSEC(read_a, "757us", "seek, reads: a + b*sqrt(x) below the cutoff (x: share of the full stroke)", 1e9),
	NSEC(read_b, "13741us", "", 1e9),
	NSEC(read_c, "4118us", "seek, reads: c + e*x above the cutoff", 1e9),
	NSEC(read_e, "13882us", "", 1e9),
	NSEC(write_a, "951us", "the same for writes", 1e9),
	NSEC(write_b, "15621us", "", 1e9),
	NSEC(write_c, "5438us", "", 1e9),
	NSEC(write_e, "13562us", "", 1e9),
	COUNT(seek_cutoff, PARAM_SHARE, "0.3", "where the second part of the seek curve begins", 0, 1),
	NSEC(head_switch, "800us", "to the next track: head or cylinder switch", 1e8),
	NSEC(overhead, "100us", "from submission until the drive knows the request", 1e8),
	NSEC(cached_write, "30us", "overhead of a write that the cache takes", 1e8),
	COUNT(link, PARAM_COUNT, "300M", "bytes/s between drive and host", 1e5, 1e11),
	{ .name = "order", .type = PARAM_WORD, .offset = offsetof(struct hdd_conf, order), .def = "sptf",
	  .help = "which waiting request is next: shortest positioning time, or by address", .words = orders },
	COUNT(considered, PARAM_COUNT, "31", "how many waiting requests the firmware compares", 1, DISK_DEPTH_MAX),
	NSEC(age_limit, "500ms", "a request that waited longer is next", 1e11),
	COUNT(cache, PARAM_SIZE, "16M", "write part of the cache", 0, 1e9),
	COUNT(destage_high, PARAM_SHARE, "0.75", "above this, one write-back after each request", 0, 1),
	NSEC(destage_delay, "2ms", "idle time before cached writes go out", 1e11),
	{ .name = "destage_order", .type = PARAM_WORD, .offset = offsetof(struct hdd_conf, destage_order), .def = "sptf",
	  .help = "which cached write is next", .words = orders },
	NSEC(flush_base, "0", "what a FLUSH costs besides emptying the cache", 1e11),
	NSEC(flush_each, "0", "time of one media write during a FLUSH; 0: by mechanics", 1e11),
	COUNT(readahead, PARAM_SIZE, "512k", "read on after a read, until something else is to do", 0, 1e8),
	COUNT(segments, PARAM_COUNT, "16", "read-ahead segments of that size", 1, SEGMENTS_MAX),
	{ 0 }
};

enum media { MEDIA_IDLE, MEDIA_RQ, MEDIA_DESTAGE, MEDIA_AHEAD };

struct slot {
	struct rq *rq;
	struct hdd_pos pos;
	nsec_t ready;
	bool known;		/* past its overhead, and not answered from a cache */
};

struct span {
	uint64_t from, to;	/* sectors */
};

struct hdd {
	const struct hdd_conf *conf;
	struct hdd_geo geo;
	struct wcache wc;
	nsec_t now, phase;

	struct hdd_pos arm;		/* where it stands when idle, or will stand */
	uint64_t head_sector;
	enum media media;
	nsec_t media_end, idle_since;
	struct slot cur;		/* MEDIA_RQ */
	struct span out;		/* MEDIA_DESTAGE: on its way, no longer in wc */
	struct span ahead;		/* MEDIA_AHEAD: from where to where at most */
	nsec_t ahead_t0;
	bool may_read_ahead, rq_was_last;
	struct span seg[SEGMENTS_MAX];	/* most recently used first */

	struct slot slot[DISK_DEPTH_MAX];	/* in order of arrival */
	unsigned nslots, inside;
	struct rq *roomless, **roomless_last;	/* cached writes that wait for room, first come first */
	struct rq *flush;
	bool flush_done;
	nsec_t link_free;
	struct rq *finished;
};

static uint64_t sectors_of(const struct rq *rq)
{
	return (rq->bytes + 511) / 512;
}

static nsec_t link_time(const struct hdd *h, uint64_t bytes)
{
	return (nsec_t)(bytes * (uint64_t)NSEC_PER_SEC / h->conf->link);
}

/* ---- read cache ---- */

static void seg_put(struct hdd *h, uint64_t from, uint64_t to)
{
	uint64_t most = MAX(h->conf->readahead / 512, UINT64_C(1));
	unsigned n = (unsigned)h->conf->segments, i;

	for (i = 0; i < n - 1; i++)
		if (h->seg[i].to == from && h->seg[i].from < from)
			break;
	if (h->seg[i].to == from && h->seg[i].from < from)
		from = h->seg[i].from;		/* a stream goes on in its segment */
	memmove(h->seg + 1, h->seg, i * sizeof(*h->seg));
	h->seg[0].to = to;
	h->seg[0].from = to - from > 2 * most ? to - 2 * most : from;
}

static bool seg_holds(const struct hdd *h, uint64_t from, uint64_t to)
{
	for (unsigned i = 0; i < h->conf->segments; i++)
		if (h->seg[i].from <= from && to <= h->seg[i].to)
			return true;
	return false;
}

static void seg_drop(struct hdd *h, uint64_t from, uint64_t to)
{
	for (unsigned i = 0; i < h->conf->segments; i++)
		if (from < h->seg[i].to && h->seg[i].from < to)
			h->seg[i] = (struct span){ 0 };
}

static uint64_t ahead_reached(const struct hdd *h, nsec_t t)
{
	return MIN(h->ahead.from + hdd_passed(&h->geo, h->ahead.from, t - h->ahead_t0), h->ahead.to);
}

static void ahead_stop(struct hdd *h, nsec_t t)
{
	uint64_t to = ahead_reached(h, t);

	if (to > h->ahead.from)
		seg_put(h, h->ahead.from, to);
	hdd_locate(&h->geo, MIN(to, h->geo.sectors - 1), &h->arm);
	h->head_sector = to;
	h->media = MEDIA_IDLE;
}

/* ---- arm ---- */

/* The first moment at which `to` is under the head, when the arm leaves at t. */
static nsec_t reach(const struct hdd *h, const struct hdd_pos *to, bool write, nsec_t t, nsec_t angle)
{
	nsec_t seek = hdd_seek(&h->geo, h->arm.cylinder, h->arm.track, to, write), at = angle + seek;

	while (at >= h->geo.rev)
		at -= h->geo.rev;
	return t + seek + (to->angle >= at ? to->angle - at : to->angle + h->geo.rev - at);
}

static nsec_t angle_at(const struct hdd *h, nsec_t t)
{
	return (t + h->phase) % h->geo.rev;
}

static void move(struct hdd *h, uint64_t sector, uint64_t n, const struct hdd_pos *pos, bool write, nsec_t t)
{
	h->media_end = reach(h, pos, write, t, angle_at(h, t)) + hdd_transfer(&h->geo, sector, n, &h->arm);
	h->head_sector = sector + n;
}

static unsigned pick_slot(const struct hdd *h, nsec_t t)
{
	nsec_t best_t = NSEC_NEVER, angle = angle_at(h, t);
	unsigned best = UINT32_MAX, seen = 0;
	uint64_t best_key = UINT64_MAX;

	for (unsigned i = 0; i < h->nslots && seen < h->conf->considered; i++) {
		const struct slot *s = &h->slot[i];

		if (!s->known)
			continue;
		if (seen++ == 0 && t - s->ready > h->conf->age_limit)
			return i;
		if (h->conf->order == SPTF) {
			nsec_t at = reach(h, &s->pos, s->rq->op == RQ_WRITE, t, angle);

			if (at < best_t) {
				best_t = at;
				best = i;
			}
		} else {
			uint64_t key = s->rq->sector - h->head_sector;	/* ahead of the head first, then round */

			if (key < best_key) {
				best_key = key;
				best = i;
			}
		}
	}
	return best;
}

/* A stream is read from its front: taking a later piece first would cost a turn when the front gets too old. */
static unsigned front_of_run(const struct hdd *h, unsigned i)
{
	for (unsigned j = 0, back = 0; j < h->nslots && back < h->nslots; j++) {
		const struct slot *s = &h->slot[j];

		if (s->known && s->rq->op == h->slot[i].rq->op && s->rq->sector + sectors_of(s->rq) == h->slot[i].rq->sector) {
			i = j;
			j = UINT32_MAX;		/* from 0 again */
			back++;
		}
	}
	return i;
}

static void serve(struct hdd *h, unsigned i, nsec_t t)
{
	h->cur = h->slot[i];
	memmove(h->slot + i, h->slot + i + 1, (h->nslots - i - 1) * sizeof(*h->slot));
	h->nslots--;
	h->cur.rq->started = t;
	h->media = MEDIA_RQ;
	h->rq_was_last = true;
	move(h, h->cur.rq->sector, sectors_of(h->cur.rq), &h->cur.pos, h->cur.rq->op == RQ_WRITE, t);
}

/* The cached extent that the head can reach first: outwards from where it stands, until the seek alone is longer. */
static unsigned pick_extent(const struct hdd *h, nsec_t t)
{
	unsigned at = wcache_at(&h->wc, h->head_sector), lo = at, hi = at, best = 0;
	nsec_t best_t = NSEC_NEVER, angle = angle_at(h, t);

	if (h->conf->destage_order == ELEVATOR)
		return at < h->wc.n ? at : 0;
	for (;;) {
		bool went = false;

		for (int side = 0; side < 2; side++) {
			unsigned i = side ? hi : lo - 1;
			nsec_t seek, when;

			if (side ? hi >= h->wc.n : lo == 0)
				continue;
			seek = hdd_seek(&h->geo, h->arm.cylinder, h->arm.track, &h->wc.p[i].pos, true);
			if (best_t != NSEC_NEVER && t + seek >= best_t) {
				if (side)
					hi = h->wc.n;
				else
					lo = 0;
				continue;
			}
			when = reach(h, &h->wc.p[i].pos, true, t, angle);
			if (when < best_t) {
				best_t = when;
				best = i;
			}
			if (side)
				hi++;
			else
				lo--;
			went = true;
		}
		if (!went)
			return best;
	}
}

static void destage(struct hdd *h, nsec_t t)
{
	struct extent x = h->wc.p[pick_extent(h, t)];
	uint64_t n = MIN(x.sectors, (uint64_t)DESTAGE_MAX);

	h->out = (struct span){ x.sector, x.sector + n };
	wcache_remove(&h->wc, x.sector, n);
	h->wc.bytes += n * 512;		/* its room is free when it is on the media */
	h->media = MEDIA_DESTAGE;
	h->rq_was_last = false;
	move(h, x.sector, n, &x.pos, true, t);
	if (h->flush && h->conf->flush_each)
		h->media_end = t + h->conf->flush_each;
}

static void take_write(struct hdd *h, struct rq *rq, nsec_t now)
{
	nsec_t start = MAX(now + h->conf->cached_write, h->link_free);

	rq->started = now;
	h->link_free = start + link_time(h, rq->bytes);
	wcache_add(&h->wc, rq->sector, sectors_of(rq));
	rq_finish(&h->finished, rq, h->link_free);
}

static void take_roomless(struct hdd *h, nsec_t t)
{
	while (h->roomless && wcache_fits(&h->wc, h->roomless->bytes)) {
		struct rq *rq = h->roomless;

		h->roomless = rq->link;
		if (!h->roomless)
			h->roomless_last = &h->roomless;
		take_write(h, rq, t);
	}
}

static void media_finished(struct hdd *h)
{
	nsec_t t = h->media_end;

	switch (h->media) {
	case MEDIA_RQ:
		if (h->cur.rq->op == RQ_READ) {
			uint64_t from = h->cur.rq->sector;

			seg_put(h, from, from + sectors_of(h->cur.rq));
			rq_finish(&h->finished, h->cur.rq, t + link_time(h, MIN(h->cur.rq->bytes, (uint32_t)LINK_TAIL)));
			h->may_read_ahead = true;
		} else {
			rq_finish(&h->finished, h->cur.rq, t);
			h->may_read_ahead = false;
		}
		break;
	case MEDIA_DESTAGE:
		h->wc.bytes -= (h->out.to - h->out.from) * 512;
		h->out = (struct span){ 0 };
		h->may_read_ahead = false;
		take_roomless(h, t);
		break;
	case MEDIA_AHEAD:
		h->may_read_ahead = false;
		ahead_stop(h, t);
		break;
	case MEDIA_IDLE:
		break;
	}
	if (h->media == MEDIA_RQ)
		h->idle_since = t;
	h->media = MEDIA_IDLE;
}

/* ---- what happens next ---- */

static void answered(struct hdd *h, unsigned i, nsec_t t)
{
	struct rq *rq = h->slot[i].rq;
	nsec_t start = MAX(t, h->link_free);

	h->link_free = start + link_time(h, rq->bytes);
	rq->started = t;
	rq_finish(&h->finished, rq, h->link_free);
	memmove(h->slot + i, h->slot + i + 1, (h->nslots - i - 1) * sizeof(*h->slot));
	h->nslots--;
}

/* Requests whose overhead is over: from a cache, from the read-ahead under way, or to wait for the arm. */
static void become_known(struct hdd *h, nsec_t t)
{
	for (unsigned i = 0; i < h->nslots;) {
		struct slot *s = &h->slot[i];
		uint64_t from = s->rq->sector, to = from + sectors_of(s->rq);

		if (s->known || s->ready > t) {
			i++;
			continue;
		}
		if (s->rq->op == RQ_READ &&
		    (wcache_holds(&h->wc, from, to - from) || (h->out.from <= from && to <= h->out.to) || seg_holds(h, from, to) ||
		     (h->media == MEDIA_AHEAD && h->ahead.from <= from && to <= ahead_reached(h, t)))) {
			answered(h, i, t);
			continue;
		}
		s->known = true;
		i++;
	}
}

/* A read that begins where the read-ahead is, or a little beyond: the head stays where it is. */
static bool join_ahead(struct hdd *h, nsec_t t)
{
	uint64_t reached = ahead_reached(h, t);

	for (unsigned i = 0; i < h->nslots; i++) {
		const struct slot *s = &h->slot[i];
		uint64_t from = s->rq->sector, to = from + sectors_of(s->rq);

		if (!s->known || s->rq->op != RQ_READ || from < h->ahead.from || from > reached + h->arm.spt / 4)
			continue;
		h->cur = *s;
		memmove(h->slot + i, h->slot + i + 1, (h->nslots - i - 1) * sizeof(*h->slot));
		h->nslots--;
		h->cur.rq->started = t;
		if (from > h->ahead.from)
			seg_put(h, h->ahead.from, from);
		h->media = MEDIA_RQ;
		h->rq_was_last = true;
		h->media_end = h->ahead_t0 + hdd_transfer(&h->geo, h->ahead.from, to - h->ahead.from, &h->arm);
		h->head_sector = to;
		return true;
	}
	return false;
}

static bool something_known(const struct hdd *h)
{
	for (unsigned i = 0; i < h->nslots; i++)
		if (h->slot[i].known)
			return true;
	return false;
}

static bool pressed(const struct hdd *h)
{
	return h->roomless || (double)h->wc.bytes > h->conf->destage_high * (double)h->wc.max_bytes;
}

static void decide(struct hdd *h, nsec_t t)
{
	bool known = something_known(h), press = pressed(h) && h->wc.n, drain = h->flush && !h->nslots && !h->roomless;

	if (h->media == MEDIA_AHEAD) {
		if (!known && !press && !drain)
			return;
		if (known && join_ahead(h, t))
			return;
		ahead_stop(h, t);
		h->may_read_ahead = false;
	}
	if (known && !(press && h->rq_was_last)) {
		serve(h, front_of_run(h, pick_slot(h, t)), t);
		return;
	}
	if (press || (drain && h->wc.n)) {
		destage(h, t);
		return;
	}
	if (drain) {
		if (!h->flush_done) {
			h->flush->started = t;
			rq_finish(&h->finished, h->flush, t + h->conf->flush_base);
			h->flush_done = true;
		}
		return;
	}
	if (h->may_read_ahead && h->conf->readahead && h->head_sector < h->geo.sectors) {
		struct hdd_pos end;

		h->ahead = (struct span){ h->head_sector, MIN(h->head_sector + h->conf->readahead / 512, h->geo.sectors) };
		h->ahead_t0 = t;
		h->media = MEDIA_AHEAD;
		h->media_end = t + hdd_transfer(&h->geo, h->ahead.from, h->ahead.to - h->ahead.from, &end);
		return;
	}
	if (h->wc.n && t >= h->idle_since + h->conf->destage_delay)
		destage(h, t);
}

static nsec_t next_step(const struct hdd *h)
{
	nsec_t t = h->media == MEDIA_IDLE ? NSEC_NEVER : h->media_end;

	for (unsigned i = 0; i < h->nslots; i++)
		if (!h->slot[i].known)
			t = MIN(t, h->slot[i].ready);
	if (h->media == MEDIA_IDLE && h->wc.n)
		t = MIN(t, MAX(h->now, h->idle_since + h->conf->destage_delay));
	return t;
}

static void step(struct hdd *h, nsec_t t)
{
	if (h->media != MEDIA_IDLE && h->media_end <= t)
		media_finished(h);
	become_known(h, t);
	if (h->media == MEDIA_IDLE || h->media == MEDIA_AHEAD)
		decide(h, t);
}

static void advance(struct hdd *h, nsec_t now)
{
	nsec_t t;

	while ((t = next_step(h)) <= now) {
		h->now = MAX(h->now, t);
		step(h, h->now);
	}
	h->now = MAX(h->now, now);
}

/* ---- the interface ---- */

static void shape_of(const struct hdd_conf *c, uint64_t capacity_bytes, struct hdd_shape *ret_shape)
{
	*ret_shape = (struct hdd_shape){
		.capacity_bytes = capacity_bytes, .media_outer = c->media_outer, .rpm = c->rpm, .heads = c->heads,
		.zones = c->zones, .inner_ratio = c->inner_ratio, .cutoff = c->seek_cutoff, .head_switch = c->head_switch,
		.curve = { { c->read_a, c->read_b, c->read_c, c->read_e }, { c->write_a, c->write_b, c->write_c, c->write_e } },
	};
}

static int hdd_init(void *st, const void *conf, uint64_t capacity_bytes, const struct rng *rng, struct err *e)
{
	const struct hdd_conf *c = conf;
	struct hdd *h = st;
	struct hdd_shape shape;
	struct rng own;
	int r;

	h->conf = c;
	shape_of(c, capacity_bytes, &shape);
	r = hdd_geo_init(&h->geo, &shape, e);
	if (r)
		return r;
	rng_split(rng, "hdd", &own);
	h->phase = (nsec_t)rng_below(&own, (uint64_t)h->geo.rev);
	hdd_locate(&h->geo, 0, &h->arm);
	wcache_init(&h->wc, &h->geo, c->disk.write_cache ? c->cache : 0);
	h->roomless_last = &h->roomless;
	return 0;
}

static void hdd_done(void *st)
{
	struct hdd *h = st;

	wcache_done(&h->wc);
	hdd_geo_done(&h->geo);
}

static unsigned hdd_room(const void *st)
{
	const struct hdd *h = st;

	return h->flush || h->inside >= h->conf->disk.depth ? 0 : (unsigned)h->conf->disk.depth - h->inside;
}

static void hdd_submit(void *st, struct rq *rq, nsec_t now)
{
	struct hdd *h = st;
	uint64_t n = sectors_of(rq);
	struct slot *s;

	advance(h, now);
	rq->submitted = now;
	h->inside++;
	if (rq->op == RQ_FLUSH) {
		h->flush = rq;
		h->flush_done = false;
		if (h->media == MEDIA_IDLE || h->media == MEDIA_AHEAD)
			decide(h, now);
		return;
	}
	if (rq->op == RQ_DISCARD) {
		wcache_remove(&h->wc, rq->sector, n);
		take_roomless(h, now);
		rq->started = now;
		rq_finish(&h->finished, rq, now + h->conf->overhead);
		return;
	}
	if (rq->op == RQ_WRITE) {
		seg_drop(h, rq->sector, rq->sector + n);
		if (h->media == MEDIA_AHEAD && rq->sector < h->ahead.to && h->ahead.from < rq->sector + n) {
			ahead_stop(h, now);
			seg_drop(h, rq->sector, rq->sector + n);
			h->may_read_ahead = false;
		}
		if (!(rq->flags & EVF_FUA) && rq->bytes <= h->wc.max_bytes) {
			if (!h->roomless && wcache_fits(&h->wc, rq->bytes)) {
				take_write(h, rq, now);
			} else {
				rq->link = NULL;
				*h->roomless_last = rq;
				h->roomless_last = &rq->link;
				if (h->media == MEDIA_IDLE || h->media == MEDIA_AHEAD)
					decide(h, now);
			}
			return;
		}
		wcache_remove(&h->wc, rq->sector, n);
		take_roomless(h, now);
	}
	s = &h->slot[h->nslots++];
	*s = (struct slot){ .rq = rq, .ready = now + h->conf->overhead };
	hdd_locate(&h->geo, rq->sector, &s->pos);
}

static nsec_t hdd_next(void *st)
{
	struct hdd *h = st;
	nsec_t t = next_step(h);

	return h->finished ? MIN(t, h->finished->done) : t;
}

static unsigned hdd_reap(void *st, nsec_t now, struct rq **done, unsigned max)
{
	struct hdd *h = st;
	unsigned n;

	advance(h, now);
	n = rq_take_finished(&h->finished, now, done, max);
	for (unsigned i = 0; i < n; i++)
		if (done[i] == h->flush)
			h->flush = NULL;
	h->inside -= n;
	return n;
}

static nsec_t hdd_random_read(const void *conf, uint64_t capacity_bytes)
{
	const struct hdd_conf *c = conf;
	struct hdd_shape shape;
	struct hdd_geo *g = mem_alloc(sizeof(*g));
	struct hdd_pos end;
	nsec_t t = 0;

	shape_of(c, capacity_bytes, &shape);
	if (!hdd_geo_init(g, &shape, NULL)) {
		t = c->overhead + hdd_mean_seek(g, false) + g->rev / 2 + (nsec_t)(4096 * UINT64_C(1000000000) / c->link);
		for (uint32_t i = 0; i < g->nzones; i++)
			t += hdd_transfer(g, g->zone[i].sector, 8, &end) / g->nzones;
		hdd_geo_done(g);
	}
	free(g);
	return t;
}

static uint64_t hdd_sequential(const void *conf, uint64_t capacity_bytes)
{
	const struct hdd_conf *c = conf;
	nsec_t rev = 60 * NSEC_PER_SEC / (nsec_t)c->rpm;
	uint64_t track = c->media_outer * (uint64_t)rev / (uint64_t)NSEC_PER_SEC / 512 * 512;
	uint64_t media = track * (uint64_t)NSEC_PER_SEC / (uint64_t)(rev + c->head_switch);

	return MIN(media, c->link);
}

const struct disk_ops disk_hdd = {
	.plug = { .name = "hdd", .about = "seeks, rotation, zones, read-ahead, queue, write cache", .conf_size = sizeof(struct hdd_conf),
		  .state_size = sizeof(struct hdd), .params = hdd_params },
	.init = hdd_init,
	.done = hdd_done,
	.room = hdd_room,
	.submit = hdd_submit,
	.next = hdd_next,
	.reap = hdd_reap,
	.expect_random_read = hdd_random_read,
	.expect_sequential = hdd_sequential,
	.rotational = true,
};

/* SPDX-License-Identifier: MIT */
/*
 * What `blkparse -i -` counts on a stream. It reads batches of 512 records,
 * sorts what it holds by time, device and sequence, and passes records on as
 * long as each CPU's sequence numbers have no gap; a gap holds everything back
 * until the end, where it is counted as a skip. The start of the trace is the
 * smallest time of the first batch whose smallest time is not 0, so a dump that begins
 * at 0 is shifted batch by batch; each batch enters the sort last record first.
 */
#include "analyze/blk-count.h"
#include "analyze/blk-totals.h"
#include "base/cleanup.h"
#include "base/mem.h"
#include "base/vec.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BATCH		512
#define CPU_MAX		65536
#define DEVICES_MAX	4096

struct skip {
	uint64_t start, end;
};

struct stream_cpu {
	uint32_t cpu;
	uint64_t expected;	/* sequence number; 0: any */
	bool begun;
	VEC(struct skip) skips;
	struct blk_cells cells;
};

struct stream_dev {
	uint32_t dev;
	struct blk_running now;
	VEC(struct stream_cpu *) cpus;	/* ascending */
};

struct held {
	struct blk_rec r;
	uint64_t order;		/* of insertion: equal records stay in it */
};

struct stream {
	int fd;
	const struct blk_totals_conf *conf;
	uint8_t *buf;
	size_t at, len;
	bool end;
	int swapped;		/* -1: not known yet */
	uint64_t genesis, order, batches;
	VEC(struct stream_dev *) devs;
	VEC(struct held) heap;
	struct blk_pids pids;
	struct blk_totals t;
};

#define BUF_BYTES ((size_t)1 << 20)

/* At least n bytes at s->buf + s->at, or false at the end (or when told to stop). */
static bool need(struct stream *s, size_t n)
{
	while (s->len - s->at < n) {
		ssize_t got;

		if (s->end || (s->conf->stop && *s->conf->stop))
			return false;
		memmove(s->buf, s->buf + s->at, s->len - s->at);
		s->len -= s->at;
		s->at = 0;
		got = read(s->fd, s->buf + s->len, BUF_BYTES - s->len);
		if (got <= 0 && !(got < 0 && errno == EINTR))
			s->end = true;
		else if (got > 0)
			s->len += (size_t)got;
	}
	return true;
}

/* The next record, as read_events() of blkparse takes it. 1: here it is, 0: the batch ends, -1: read on. */
static int next(struct stream *s, struct blk_rec *r)
{
	uint8_t *p;
	bool swapped;
	int version;
	uint16_t pdu_len;

	if (!need(s, BLK_V7_BYTES))
		return 0;
	p = s->buf + s->at;
	version = blk_magic(p, &swapped);
	if (version < 0 || (s->swapped >= 0 && (int)swapped != s->swapped)) {
		s->at += BLK_V7_BYTES;
		s->t.bad_files = 1;
		return 0;
	}
	s->swapped = swapped;
	pdu_len = BLK_GET(uint16_t, p + 46);
	pdu_len = swapped ? __builtin_bswap16(pdu_len) : pdu_len;
	if (!need(s, BLK_V7_BYTES + (size_t)pdu_len))
		return s->at = s->len, 0;
	p = s->buf + s->at;
	s->at += BLK_V7_BYTES + (size_t)pdu_len;
	s->t.records++;
	if (version != 7 || blk_decode(p, BLK_V7_BYTES + (size_t)pdu_len, r) <= 0) {
		s->t.bad_files = 1;
		return -1;
	}
	if (r->tc & BLK_TC_NOTIFY && !(r->tc == BLK_TC_NOTIFY && r->act == BLK_TN_MESSAGE)) {
		if (s->conf->by_pid && r->tc == BLK_TC_NOTIFY && r->act == BLK_TN_PROCESS)
			blk_pids_name(&s->pids, r->pid, r->pdu, r->pdu_len, s->batches);
		return -1;
	}
	if (r->cpu >= CPU_MAX)
		return s->t.wrong_cpu++, -1;
	return 1;
}

/* A device that was first seen as 0,0 becomes the next one that is looked for: blkparse's table does. */
static struct stream_dev *device(struct stream *s, uint32_t dev)
{
	struct stream_dev *d;

	for (size_t i = 0; i < s->devs.n; i++) {
		if (!s->devs.p[i]->dev)
			s->devs.p[i]->dev = dev;
		if (s->devs.p[i]->dev == dev)
			return s->devs.p[i];
	}
	if (s->devs.n == DEVICES_MAX)
		return NULL;
	d = mem_alloc(sizeof(*d));
	d->dev = dev;
	d->now.depth[0] = d->now.depth[1] = (struct blk_depth)BLK_DEPTH_INIT;
	vec_push(&s->devs, d);
	return d;
}

static struct stream_cpu *cpu_of(struct stream_dev *d, uint32_t cpu)
{
	struct stream_cpu *c;
	size_t lo = 0, hi = d->cpus.n;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (d->cpus.p[mid]->cpu == cpu)
			return d->cpus.p[mid];
		if (d->cpus.p[mid]->cpu < cpu)
			lo = mid + 1;
		else
			hi = mid;
	}
	c = mem_alloc(sizeof(*c));
	c->cpu = cpu;
	vec_push(&d->cpus, c);
	memmove(d->cpus.p + lo + 1, d->cpus.p + lo, (d->cpus.n - 1 - lo) * sizeof(*d->cpus.p));
	d->cpus.p[lo] = c;
	return c;
}

static bool before(const struct held *a, const struct held *b)
{
	if (a->r.time != b->r.time)
		return a->r.time < b->r.time;
	if (a->r.dev != b->r.dev)
		return a->r.dev < b->r.dev;
	if (a->r.seq != b->r.seq)
		return a->r.seq < b->r.seq;
	return a->order < b->order;
}

static void heap_add(struct stream *s, const struct blk_rec *r)
{
	struct held h = { *r, s->order++ };
	size_t i = s->heap.n;

	vec_push(&s->heap, h);
	for (; i && before(&h, &s->heap.p[(i - 1) / 2]); i = (i - 1) / 2)
		s->heap.p[i] = s->heap.p[(i - 1) / 2];
	s->heap.p[i] = h;
}

static void heap_drop_first(struct stream *s)
{
	struct held h = s->heap.p[--s->heap.n];
	size_t i = 0, n = s->heap.n, k;

	for (; (k = 2 * i + 1) < n; i = k) {
		k += k + 1 < n && before(&s->heap.p[k + 1], &s->heap.p[k]);
		if (!before(&s->heap.p[k], &h))
			break;
		s->heap.p[i] = s->heap.p[k];
	}
	s->heap.p[i] = h;
}

static void add_skip(struct stream_cpu *c, uint64_t start, uint64_t end)
{
	struct skip s = { start, end };

	for (size_t i = c->skips.n; i-- > 0;) {
		if (end == c->skips.p[i].start - 1) {
			c->skips.p[i].start = start;
			return;
		}
		if (start == c->skips.p[i].end + 1) {
			c->skips.p[i].end = end;
			return;
		}
	}
	vec_push(&c->skips, s);
}

/* A record that had been counted as skipped came late: take it out of its gap (the rest above it is lost, as there). */
static bool fill_skip(struct stream_cpu *c, uint64_t seq)
{
	for (size_t i = c->skips.n; i-- > 0;) {
		struct skip *s = &c->skips.p[i];

		if (seq < s->start || seq > s->end)
			continue;
		if (s->start == seq && s->end == seq)
			memmove(s, s + 1, (--c->skips.n - i) * sizeof(*s));
		else if (s->start == seq)
			s->start++;
		else if (s->end == seq)
			s->end--;
		else {
			s->end = seq - 1;
			add_skip(c, seq + 1, seq - 1);
		}
		return true;
	}
	return false;
}

/* False: wait for the missing sequence numbers. */
static bool in_sequence(struct stream_cpu *c, const struct blk_rec *r, bool force)
{
	if (!c->begun || r->seq == c->expected)
		return true;
	if (!force)
		return false;
	if (!fill_skip(c, r->seq) && c->expected < r->seq)
		add_skip(c, c->expected, r->seq - 1);
	return true;
}

/* Passes on what is in order; `force`: everything. */
static void pass_on(struct stream *s, bool force)
{
	while (s->heap.n) {
		struct blk_rec r = s->heap.p[0].r;
		bool message = r.tc == BLK_TC_NOTIFY && r.act == BLK_TN_MESSAGE;
		struct stream_dev *d = device(s, r.dev);
		struct stream_cpu *c;

		if (!d) {
			s->t.wrong_cpu++;
			heap_drop_first(s);
			continue;
		}
		c = cpu_of(d, r.cpu);
		if (!message && !in_sequence(c, &r, force))
			break;
		heap_drop_first(s);
		if (!message) {
			c->begun = true;
			c->expected = (uint64_t)r.seq + 1;
		}
		blk_count(&r, &c->cells, &d->now, s->conf->by_pid ? &s->pids : NULL, s->batches);
	}
}

static void collect(struct stream *s)
{
	struct blk_totals *t = &s->t;

	t->nsets = (unsigned)s->devs.n;
	t->sets = mem_array(t->nsets + 1, sizeof(*t->sets));
	t->names = mem_array(t->nsets + 1, sizeof(*t->names));
	for (unsigned i = 0; i < t->nsets; i++) {
		struct stream_dev *d = s->devs.p[i];
		struct blk_set_totals *o = &t->sets[i];

		t->names[i] = mem_printf("%u,%u", d->dev >> 20, d->dev & 0xfffff);
		*o = (struct blk_set_totals){ .name = t->names[i], .events = d->now.events,
					      .first = d->now.first, .last = d->now.last };
		memcpy(o->depth, d->now.depth, sizeof(o->depth));
		o->cpus = mem_array(d->cpus.n + 1, sizeof(*o->cpus));
		for (size_t k = 0; k < d->cpus.n; k++) {
			struct stream_cpu *c = d->cpus.p[k];

			t->driver_data |= blk_cell(&c->cells, BLK_DRV, false, false)->n ||
					  blk_cell(&c->cells, BLK_DRV, false, true)->n;
			if (c->cells.seen)
				o->cpus[o->ncpus++] = (struct blk_cpu_totals){ (int)c->cpu, c->cells };
			for (size_t j = 0; j < c->skips.n; j++) {
				o->skips++;
				o->skipped += c->skips.p[j].end - c->skips.p[j].start + 1;
			}
			vec_done(&c->skips);
			free(c);
		}
		vec_done(&d->cpus);
		free(d);
	}
	vec_done(&s->devs);
	if (s->conf->by_pid)
		blk_pids_finish(&s->pids, t);
}

int blk_totals_stream(int fd, const struct blk_totals_conf *conf, struct blk_totals *ret, struct err *e)
{
	struct stream s = { .fd = fd, .conf = conf, .swapped = -1 };
	unsigned batch = conf->batch ? conf->batch : BATCH, n;
	struct blk_rec *r = mem_array(batch, sizeof(*r));

	s.buf = mem_alloc(BUF_BYTES);
	do {
		uint64_t first = UINT64_MAX;
		int got;

		s.batches++;
		for (n = 0; n < batch && (got = next(&s, &r[n]));) {
			if (got < 0)
				continue;
			device(&s, r[n].dev);
			first = MIN(first, r[n].time);
			n++;
		}
		if (!s.genesis && n)
			s.genesis = first;
		for (unsigned i = n; i-- > 0;) {
			r[i].time -= s.genesis;
			r[i].pdu = NULL;
			heap_add(&s, &r[i]);
		}
		if (n)
			pass_on(&s, false);
	} while (n);
	pass_on(&s, true);
	vec_done(&s.heap);
	free(r);
	free(s.buf);
	collect(&s);
	*ret = s.t;
	return 0;
}

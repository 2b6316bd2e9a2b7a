/* SPDX-License-Identifier: MIT */
#include "analyze/blk-read.h"
#include "base/cleanup.h"
#include "base/mem.h"
#include "base/nsec.h"
#include "base/vec.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ABSURD		((uint64_t)30 * 86400 * NSEC_PER_SEC)
#define RUNS_MAX	4096		/* sorted runs of one dump that are merged; above that it is sorted in a window */
#define CPUS_MAX	65536
#define WINDOW		((size_t)32 << 20)

struct cursor {
	const uint8_t *p, *end, *mapped;
	size_t len;
	struct blk_rec r;
	uint64_t last;		/* time of the record before */
	bool begun;
	int cpu;
};

struct head {
	uint64_t t;
	struct cursor *c;
};

struct reader {
	blk_reader fn;
	void *ctx;
	const volatile int *stop;
	struct blk_seen seen;
	uint32_t *seq;		/* last sequence number of each CPU */
	size_t window;
	uint64_t wall_time, wall;	/* a timestamp notify: its trace time and its wall clock */
	bool begun;
};

static void take_wall(struct reader *rd, const struct blk_rec *r)
{
	uint32_t two[2];

	if (r->pdu_len != sizeof(two) || rd->wall)
		return;
	memcpy(two, r->pdu, sizeof(two));
	if (r->swapped) {
		two[0] = __builtin_bswap32(two[0]);
		two[1] = __builtin_bswap32(two[1]);
	}
	rd->wall = (uint64_t)two[0] * NSEC_PER_SEC + two[1];
	rd->wall_time = r->time;
}

/* Counts what a record says about the trace's health, and hands it on with its time from the start. */
static inline void hand_on(struct reader *rd, struct blk_rec *r)
{
	if (__builtin_expect(!rd->begun, 0)) {	/* names may be older than the trace */
		rd->begun = !(r->tc & BLK_TC_NOTIFY) || r->act == BLK_TN_MESSAGE;
		rd->seen.genesis = r->time;
	}
	rd->seen.records++;
	rd->seen.version[r->version == 8]++;
	rd->seen.swapped += r->swapped;
	if (__builtin_expect(r->tc & BLK_TC_NOTIFY, 0)) {
		if (r->act == BLK_TN_TIME)
			take_wall(rd, r);
	} else if (r->seq && r->cpu < CPUS_MAX) {
		uint32_t before = rd->seq[r->cpu];

		if (__builtin_expect(before && r->seq != before + 1 && r->seq > before && r->seq - before < 1u << 30, 0))
			rd->seen.lost += r->seq - before - 1;
		rd->seq[r->cpu] = r->seq;
	}
	r->time -= MIN(rd->seen.genesis, r->time);
	rd->fn(rd->ctx, r);
}

/* The next record at or behind *pos; its length, 0 at the end. Foreign bytes are passed over and counted. */
static size_t next_record(struct reader *rd, const uint8_t **pos, const uint8_t *end, struct blk_rec *r)
{
	const uint8_t *p = *pos;

	while (p < end) {
		long n = blk_decode(p, (size_t)(end - p), r);
		size_t skip;

		if (__builtin_expect(n > 0, 1)) {
			*pos = p;
			return (size_t)n;
		}
		skip = blk_resync(p, (size_t)(end - p));
		if (p + skip >= end && n == BLK_MORE)
			rd->seen.torn++;
		else
			rd->seen.resyncs++;
		rd->seen.skipped_bytes += skip;
		p += skip;
	}
	*pos = end;
	return 0;
}

/* Times in one file grow by less than 30 days from record to record. */
static inline void check_time(struct reader *rd, struct cursor *c)
{
	struct blk_rec *r = &c->r;

	if (__builtin_expect(c->begun && (r->time < c->last || r->time - c->last >= ABSURD), 0)) {
		if (r->tc & BLK_TC_NOTIFY && !r->time) {
			r->time = c->last;
		} else if (MAX(r->time, c->last) - MIN(r->time, c->last) >= ABSURD) {
			rd->seen.absurd++;
			r->time = c->last;
		} else {
			rd->seen.backwards++;
		}
	}
	c->begun = true;
	c->last = r->time;
}

static inline bool advance(struct reader *rd, struct cursor *c)
{
	c->p += c->len;
	if (__builtin_expect((size_t)(c->p - c->mapped) > rd->window, 0))
		c->mapped = blk_input_drop(c->mapped, c->p);
	c->len = next_record(rd, &c->p, c->end, &c->r);
	if (!c->len)
		return false;
	if (__builtin_expect(c->cpu >= 0 && c->r.cpu != (uint32_t)c->cpu, 0))
		rd->seen.wrong_cpu++;
	check_time(rd, c);
	return true;
}

static void merge(struct reader *rd, struct head *a, size_t n)
{
	while (n && !(rd->stop && *rd->stop)) {
		struct cursor *c = a[0].c;
		uint64_t limit = n > 1 ? a[1].t : UINT64_MAX;
		unsigned turns = 65536;
		bool more;
		size_t i = 0;

		do {
			hand_on(rd, &c->r);
			more = advance(rd, c);
		} while (more && c->r.time <= limit && --turns);
		if (!more) {
			memmove(a, a + 1, --n * sizeof(*a));
			continue;
		}
		if (c->r.time <= limit)
			continue;
		for (; i + 1 < n && a[i + 1].t < c->r.time; i++)
			a[i] = a[i + 1];
		a[i] = (struct head){ c->r.time, c };
	}
	rd->seen.stopped = n;
}

/* ---- dumps: one file with the records of all CPUs ---- */

/* Cuts a mapping into stretches in which time never runs back; false: too many of them. */
static bool find_runs(const struct blk_file *f, struct cursor *ret, unsigned max, unsigned *ret_n)
{
	struct reader none = { 0 };
	const uint8_t *p = f->map, *end = f->map + f->size, *mapped = p;
	uint64_t last = 0;
	struct blk_rec r;
	unsigned n = 0;
	size_t len;

	for (; (len = next_record(&none, &p, end, &r)); p += len) {
		if ((size_t)(p - mapped) > (size_t)4 << 20)
			mapped = blk_input_drop(mapped, p);
		if (r.tc & BLK_TC_NOTIFY && !r.time)
			continue;
		if (!n || r.time < last) {
			if (n == max)
				return false;
			if (n)
				ret[n - 1].end = p;
			ret[n] = (struct cursor){ .p = n ? p : f->map, .mapped = p, .end = end, .cpu = BLK_ANY_CPU };
			n++;
		}
		last = r.time;
	}
	if (!n)		/* nothing but foreign bytes: let them be counted */
		ret[n++] = (struct cursor){ .p = f->map, .mapped = f->map, .end = end, .cpu = BLK_ANY_CPU };
	*ret_n = n;
	return true;
}

/* ---- streams, and dumps in no order: sorted within a window ---- */

struct item {
	uint64_t t;
	uint32_t at, order;
};

struct source {
	int fd;
	const uint8_t *p, *end;		/* a mapping instead of fd */
};

static ssize_t source_read(struct source *s, uint8_t *buf, size_t n)
{
	if (s->fd >= 0)
		return read(s->fd, buf, n);
	n = MIN(n, (size_t)(s->end - s->p));
	memcpy(buf, s->p, n);
	s->p += n;
	return (ssize_t)n;
}

static int by_time(const void *a, const void *b)
{
	const struct item *x = a, *y = b;

	return x->t != y->t ? (x->t > y->t) - (x->t < y->t) : (x->order > y->order) - (x->order < y->order);
}

/* Hands on the items below `upto` in order of time and keeps the rest, moving their bytes to the front of `keep`. */
static size_t flush_window(struct reader *rd, struct item *it, size_t n, size_t upto, const uint8_t *buf, uint8_t *keep)
{
	size_t out = 0;
	bool sorted = true;

	for (size_t i = 1; sorted && i < n; i++)
		sorted = it[i - 1].t <= it[i].t;
	if (!sorted)
		qsort(it, n, sizeof(*it), by_time);
	for (size_t i = 0; i < n; i++) {
		struct blk_rec r;
		long len = blk_decode(buf + it[i].at, WINDOW - it[i].at, &r);

		if (i < upto) {
			r.time = it[i].t;
			hand_on(rd, &r);
			continue;
		}
		memcpy(keep + out, buf + it[i].at, (size_t)len);
		out += (size_t)len;
	}
	return out;
}

static int read_window(struct reader *rd, struct source *s, struct err *e)
{
	cleanup_free uint8_t *buf = mem_alloc(WINDOW), *keep = mem_alloc(WINDOW);
	VEC(struct item) items = { 0 };
	struct cursor c = { .cpu = BLK_ANY_CPU };
	size_t len = 0;
	bool end = false;
	int r = 0;

	while (!end) {
		const uint8_t *p = buf;
		size_t n, used, left;

		while (len < WINDOW && !end) {
			ssize_t got = source_read(s, buf + len, WINDOW - len);

			if (got < 0 && errno != EINTR && errno != EAGAIN) {
				r = err_sys(e, -errno, "reading the trace stream");
				end = true;
			} else if (!got || (rd->stop && *rd->stop)) {
				rd->seen.stopped = got != 0;
				end = true;
			}
			len += got > 0 ? (size_t)got : 0;
		}
		items.n = 0;
		c.begun = false;
		for (;;) {
			/* a record cut by the window's end is whole next time */
			if (!end && buf + len - p < BLK_V8_BYTES + BLK_PDU_MAX)
				break;
			c.len = next_record(rd, &p, buf + len, &c.r);
			if (!c.len)
				break;
			check_time(rd, &c);
			vec_push(&items, ((struct item){ c.r.time, (uint32_t)(p - buf), (uint32_t)items.n }));
			p += c.len;
		}
		used = (size_t)(p - buf);
		left = len - used;
		n = end ? items.n : items.n / 2;
		len = flush_window(rd, items.p, items.n, n, buf, keep);
		memcpy(keep + len, buf + used, left);
		len += left;
		memcpy(buf, keep, len);
	}
	vec_done(&items);
	return r;
}

int blk_read(const struct blk_input *in, blk_reader fn, void *ctx, const volatile int *stop, struct blk_seen *ret, struct err *e)
{
	struct reader rd = { .fn = fn, .ctx = ctx, .stop = stop };
	unsigned max = in->nfiles + RUNS_MAX, n = 0;
	struct cursor *cur = mem_array(max, sizeof(*cur));
	struct head *a = mem_array(max, sizeof(*a));
	size_t heads = 0;
	int r = 0;

	rd.seq = mem_array(CPUS_MAX, sizeof(*rd.seq));
	rd.seen.stream = in->stream;
	rd.seen.bytes = in->bytes;
	for (unsigned f = 0; f < in->nfiles; f++) {
		const struct blk_file *file = &in->files[f];
		struct source s = { file->fd, file->map, file->map ? file->map + file->size : NULL };
		unsigned runs = 0;

		if (file->fd >= 0) {
			r = read_window(&rd, &s, e);
			break;
		}
		if (!file->size)
			continue;
		if (file->cpu >= 0) {
			cur[n++] = (struct cursor){ .p = file->map, .mapped = file->map, .end = file->map + file->size, .cpu = file->cpu };
		} else if (find_runs(file, cur + n, max - n, &runs)) {
			n += runs;
		} else if (in->nfiles == 1) {
			r = read_window(&rd, &s, e);
		} else {
			r = err_set(e, -EINVAL, "the records in %s are in no order: read this file alone", file->path);
		}
	}
	rd.window = blk_input_window(n);
	for (unsigned i = 0; !r && i < n; i++) {
		size_t k = 0;

		if (!advance(&rd, &cur[i]))
			continue;
		if (heads && cur[i].r.time >= a[0].t)
			for (k = 1; k < heads && a[k].t < cur[i].r.time; k++)
				;
		memmove(a + k + 1, a + k, (heads++ - k) * sizeof(*a));
		a[k] = (struct head){ cur[i].r.time, &cur[i] };
	}
	if (heads)
		merge(&rd, a, heads);
	if (rd.wall)
		rd.seen.wall = rd.wall + rd.seen.genesis - rd.wall_time;
	free(cur);
	free(a);
	free(rd.seq);
	*ret = rd.seen;
	return r;
}

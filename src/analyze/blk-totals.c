/* SPDX-License-Identifier: MIT */
#include "analyze/blk-totals.h"
#include "analyze/blk-count.h"
#include "base/cleanup.h"
#include "base/mem.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BATCH		512		/* records blkparse reads from one file at once */
#define PART_BYTES	((uint64_t)32 << 20)	/* less than this a thread is not worth starting */
#define PARTS_MAX	16

/* One file while it is merged; `r` is its next record. */
struct cursor {
	const uint8_t *p, *end, *mapped;
	size_t len;
	struct blk_rec r;
	struct blk_cells *cells;
	struct blk_running *set;
	uint32_t cpu;
	unsigned counted, kept;	/* in this batch */
	uint64_t batch;
	bool early;		/* ended before its end */
};

struct head {
	uint64_t t;
	struct cursor *c;
};

/* A stretch of time of the whole trace, counted by one thread. */
struct part {
	const struct blk_input *in;
	const struct blk_totals_conf *conf;
	struct cursor *cur;		/* one a file */
	struct blk_cells *cells;	/* one a file */
	struct blk_running *sets;
	struct blk_pids *pids;		/* NULL: not asked for */
	uint64_t t_from, t_to;		/* times of this part: [from, to) */
	uint64_t genesis, records, wrong_cpu, batches;
	size_t window;
	int swapped;			/* -1: not known yet */
	bool odd;			/* parts cannot be joined: count it in one piece */
};

static inline bool is_message(const struct blk_rec *r)
{
	return r->tc == BLK_TC_NOTIFY && r->act == BLK_TN_MESSAGE;
}

static bool end_early(struct cursor *c)
{
	c->early = c->p < c->end;
	return false;
}

/* The next record of the file that counts; false at its end. */
static inline bool advance(struct part *pt, struct cursor *c)
{
	c->p += c->len;
	if (__builtin_expect((size_t)(c->p - c->mapped) > pt->window, 0))
		c->mapped = blk_input_drop(c->mapped, c->p);
	for (;; c->p += c->len) {
		long n;

		if (__builtin_expect(c->counted == BATCH, 0)) {
			if (!c->kept)
				return end_early(c);
			c->counted = c->kept = 0;
			c->batch = ++pt->batches;
		}
		n = blk_decode(c->p, (size_t)(c->end - c->p), &c->r);
		if (__builtin_expect(pt->swapped < 0, 0) && n != BLK_FOREIGN && c->end - c->p >= BLK_V7_BYTES) {
			bool swapped;

			blk_magic(c->p, &swapped);
			pt->swapped = swapped;
		}
		if (__builtin_expect(n <= 0 || c->r.version != 7 || (int)c->r.swapped != pt->swapped, 0))
			return end_early(c);
		c->len = (size_t)n;
		pt->records++;
		if (__builtin_expect(c->r.cpu != c->cpu, 0)) {
			c->counted++;
			pt->wrong_cpu++;
			continue;
		}
		if (__builtin_expect(c->r.tc & BLK_TC_NOTIFY && !is_message(&c->r), 0)) {
			if (pt->pids && c->r.act == BLK_TN_PROCESS && c->r.tc == BLK_TC_NOTIFY)
				blk_pids_name(pt->pids, c->r.pid, c->r.pdu, c->r.pdu_len, c->batch);
			continue;
		}
		c->counted++;
		c->kept++;
		pt->odd |= c->r.time >= pt->t_to;
		return true;
	}
}

/* Merges by time. The head goes on as long as its time is not above the next one's; among equals a newcomer stands
 * before them, but never before the head. */
static void part_merge(struct part *pt, struct head *a, size_t n)
{
	while (n && !(pt->conf->stop && *pt->conf->stop)) {
		struct cursor *c = a[0].c;
		uint64_t limit = n > 1 ? a[1].t : UINT64_MAX;
		unsigned turns = 65536;		/* then look at conf->stop */
		bool more;
		size_t i = 0;

		do {
			blk_count(&c->r, c->cells, c->set, pt->pids, pt->batches);
			more = advance(pt, c);
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
}

static void *part_run(void *ctx)
{
	struct part *pt = ctx;
	struct head *a = mem_array(pt->in->nfiles + 1, sizeof(*a));
	size_t n = 0;

	for (unsigned f = 0; f < pt->in->nfiles; f++) {
		struct cursor *c = &pt->cur[f];
		size_t k = 0;

		c->batch = ++pt->batches;
		if (c->p == c->end || !advance(pt, c))
			continue;
		if (n && c->r.time >= a[0].t)
			for (k = 1; k < n && a[k].t < c->r.time; k++)
				;
		pt->odd |= pt->t_from && ((k < n && a[k].t == c->r.time) || (k && a[0].t == c->r.time) ||
					  c->r.time < pt->t_from);
		memmove(a + k + 1, a + k, (n++ - k) * sizeof(*a));
		a[k] = (struct head){ c->r.time, c };
	}
	pt->genesis = n ? a[0].t : 0;
	part_merge(pt, a, n);
	free(a);
	return NULL;
}

/* ---- cutting a trace into stretches of time ---- */

/* Where the first record with a time of at least t begins, if times in the file only grow. */
static size_t offset_of_time(const struct blk_file *f, uint64_t t)
{
	size_t lo = 0, hi = f->size;
	struct blk_rec r;
	long n;

	while (hi - lo > 65536) {
		size_t mid = lo + (hi - lo) / 2, at = mid - 1;

		do {
			at += blk_resync(f->map + at, f->size - at);
			n = blk_decode(f->map + at, f->size - at, &r);
		} while (n > 0 && at < hi && r.tc & BLK_TC_NOTIFY);
		if (n > 0 && at < hi && r.time < t)
			lo = at;
		else
			hi = mid;
	}
	while ((n = blk_decode(f->map + lo, f->size - lo, &r)) > 0 && (r.tc & BLK_TC_NOTIFY || r.time < t))
		lo += (size_t)n;
	return n > 0 ? lo : f->size;
}

/* Times at which the biggest file falls into equal parts; the number of parts it found. */
static unsigned cut_times(const struct blk_input *in, unsigned parts, uint64_t *t)
{
	const struct blk_file *big = NULL;
	unsigned n = 1;

	for (unsigned f = 0; f < in->nfiles; f++)
		if (!big || in->files[f].size > big->size)
			big = &in->files[f];
	t[0] = 0;
	for (unsigned k = 1; k < parts; k++) {
		size_t at = big->size / parts * k;
		struct blk_rec r;

		at += blk_resync(big->map + at, big->size - at);
		if (blk_decode(big->map + at, big->size - at, &r) > 0 && !(r.tc & BLK_TC_NOTIFY) && r.time > t[n - 1])
			t[n++] = r.time;
	}
	t[n] = UINT64_MAX;
	return n;
}

static void part_init(struct part *pt, const struct blk_input *in, const struct blk_totals_conf *conf, unsigned parts)
{
	pt->in = in;
	pt->conf = conf;
	pt->cur = mem_array(in->nfiles, sizeof(*pt->cur));
	pt->cells = mem_array(in->nfiles, sizeof(*pt->cells));
	pt->sets = mem_array(in->nsets, sizeof(*pt->sets));
	pt->window = blk_input_window(in->nfiles * parts);
	pt->swapped = -1;
	pt->t_to = UINT64_MAX;
	for (unsigned s = 0; s < in->nsets; s++)
		pt->sets[s].depth[0] = pt->sets[s].depth[1] = (struct blk_depth)BLK_DEPTH_INIT;
	for (unsigned f = 0; f < in->nfiles; f++) {
		const struct blk_file *file = &in->files[f];

		pt->cur[f] = (struct cursor){
			.p = file->map, .end = file->map + file->size, .mapped = file->map,
			.cells = &pt->cells[f], .set = &pt->sets[file->set], .cpu = (uint32_t)file->cpu,
		};
	}
}

static void part_done(struct part *pt)
{
	free(pt->cur);
	free(pt->cells);
	free(pt->sets);
}

/* Every file begins with a record of one byte order: the parts then agree on it. */
static bool same_order(const struct blk_input *in, int *ret_swapped)
{
	*ret_swapped = -1;
	for (unsigned f = 0; f < in->nfiles; f++) {
		bool swapped;

		if (!in->files[f].size)
			continue;
		if (in->files[f].size < BLK_V7_BYTES || blk_magic(in->files[f].map, &swapped) != 7 ||
		    (*ret_swapped >= 0 && *ret_swapped != (int)swapped))
			return false;
		*ret_swapped = swapped;
	}
	return *ret_swapped >= 0;
}

/* Counts in several threads into pt[0]. False: the parts do not fit together (times that run back, a damaged file);
 * nothing was counted then. */
static bool count_parts(const struct blk_input *in, const struct blk_totals_conf *conf, unsigned parts, struct part *ret)
{
	struct part pt[PARTS_MAX] = { 0 };
	uint64_t t[PARTS_MAX + 1];
	pthread_t thread[PARTS_MAX];
	bool started[PARTS_MAX] = { 0 }, ok = true;
	int swapped;

	if (!same_order(in, &swapped))
		return false;
	parts = cut_times(in, parts, t);
	for (unsigned k = 0; k < parts; k++) {
		part_init(&pt[k], in, conf, parts);
		pt[k].t_from = t[k];
		pt[k].t_to = t[k + 1];
		pt[k].swapped = swapped;
	}
	for (unsigned k = 1; k < parts; k++)
		for (unsigned f = 0; f < in->nfiles; f++) {
			if (!in->files[f].size)
				continue;
			pt[k].cur[f].p = pt[k].cur[f].mapped = in->files[f].map + offset_of_time(&in->files[f], t[k]);
			pt[k - 1].cur[f].end = pt[k].cur[f].p;
		}
	for (unsigned k = 1; k < parts; k++)
		started[k] = !pthread_create(&thread[k], NULL, part_run, &pt[k]);
	part_run(&pt[0]);
	for (unsigned k = 1; k < parts; k++) {
		if (started[k])
			pthread_join(thread[k], NULL);
		else
			part_run(&pt[k]);
	}
	for (unsigned k = 0; k < parts; k++) {
		ok &= !pt[k].odd && !pt[k].wrong_cpu;
		for (unsigned f = 0; k + 1 < parts && f < in->nfiles; f++)
			ok &= !pt[k].cur[f].early;
	}
	for (unsigned k = 1; ok && k < parts; k++) {
		for (unsigned f = 0; f < in->nfiles; f++) {
			for (unsigned i = 0; i < BLK_CELL_ACTS * 4; i++) {
				pt[0].cells[f].c[i].n += pt[k].cells[f].c[i].n;
				pt[0].cells[f].c[i].kib += pt[k].cells[f].c[i].kib;
				pt[0].cells[f].c[i].b += pt[k].cells[f].c[i].b;
			}
			pt[0].cells[f].seen += pt[k].cells[f].seen;
			pt[0].cells[f].flagged += pt[k].cells[f].flagged;
			pt[0].cells[f].empty_reads += pt[k].cells[f].empty_reads;
			pt[0].cur[f].early |= pt[k].cur[f].early;
		}
		for (unsigned s = 0; s < in->nsets; s++) {
			struct blk_running *a = &pt[0].sets[s], *b = &pt[k].sets[s];

			a->first = a->events ? a->first : b->first;
			a->last = b->last ? b->last : a->last;
			a->events += b->events;
			for (unsigned w = 0; w < 2; w++)
				a->depth[w] = blk_depth_join(a->depth[w], b->depth[w]);
		}
		pt[0].records += pt[k].records;
	}
	for (unsigned k = ok ? 1 : 0; k < parts; k++)
		part_done(&pt[k]);
	if (ok)
		*ret = pt[0];
	return ok;
}

struct blk_depth blk_depth_join(struct blk_depth a, struct blk_depth b)
{
	return (struct blk_depth){
		.add = a.add + b.add,
		.floor = MAX(a.floor + b.add, b.floor),
		.top = MAX(a.top, a.add + b.top),
		.top_floor = MAX(a.top_floor, MAX(a.floor + b.top, b.top_floor)),
	};
}

uint64_t blk_depth_max(const struct blk_depth *d)
{
	return (uint64_t)MAX(MAX(d->top, d->top_floor), 0);
}

static void collect(const struct blk_input *in, struct part *pt, struct blk_totals *t)
{
	t->sets = mem_array(in->nsets, sizeof(*t->sets));
	t->nsets = in->nsets;
	t->records = pt->records;
	t->wrong_cpu = pt->wrong_cpu;
	for (unsigned s = 0; s < in->nsets; s++) {
		struct blk_set_totals *o = &t->sets[s];
		struct blk_running *p = &pt->sets[s];

		o->name = in->sets[s].name;
		o->events = p->events;
		o->first = p->events ? p->first - pt->genesis : 0;
		o->last = p->last - (p->last || p->events ? pt->genesis : 0);
		memcpy(o->depth, p->depth, sizeof(o->depth));
		o->cpus = mem_array(in->sets[s].n + 1, sizeof(*o->cpus));
		for (unsigned f = in->sets[s].first; f < in->sets[s].first + in->sets[s].n; f++) {
			struct blk_cells *c = &pt->cells[f];

			t->bad_files += pt->cur[f].early;
			t->driver_data |= blk_cell(c, BLK_DRV, false, false)->n || blk_cell(c, BLK_DRV, false, true)->n;
			if (c->seen)
				o->cpus[o->ncpus++] = (struct blk_cpu_totals){ in->files[f].cpu, *c };
		}
	}
}

int blk_totals(const struct blk_input *in, const struct blk_totals_conf *conf, struct blk_totals *ret, struct err *e)
{
	unsigned parts = conf->threads ? conf->threads : (unsigned)MAX(1, sysconf(_SC_NPROCESSORS_ONLN));
	struct blk_totals t = { 0 };
	struct blk_pids pids = { 0 };
	struct part pt = { 0 };

	if (in->stream)
		return blk_totals_stream(in->files[0].fd, conf, ret, e);
	parts = MIN(parts, (unsigned)PARTS_MAX);
	parts = MIN(parts, (unsigned)MIN(in->bytes / PART_BYTES, (uint64_t)PARTS_MAX));
	if (conf->by_pid || parts < 2 || !count_parts(in, conf, parts, &pt)) {
		part_init(&pt, in, conf, 1);
		pt.pids = conf->by_pid ? &pids : NULL;
		part_run(&pt);
	}
	collect(in, &pt, &t);
	if (conf->by_pid)
		blk_pids_finish(&pids, &t);
	part_done(&pt);
	*ret = t;
	return 0;
}

void blk_totals_done(struct blk_totals *t)
{
	for (unsigned s = 0; s < t->nsets; s++)
		free(t->sets[s].cpus);
	for (unsigned s = 0; t->names && s < t->nsets; s++)
		free(t->names[s]);
	free(t->names);
	free(t->sets);
	free(t->pids);
	*t = (struct blk_totals){ 0 };
}

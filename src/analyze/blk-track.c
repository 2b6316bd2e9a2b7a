/* SPDX-License-Identifier: MIT */
#include "analyze/blk-track.h"
#include "analyze/blk-bios.h"
#include "base/cleanup.h"
#include "base/vec.h"

#include <stdlib.h>
#include <string.h>

#define DEVICES_MAX	64		/* more than these are counted together, as device 0,0 */
#define DEVICES_FULL	8		/* with large exact distributions */
#define FIRST_BIN	((uint64_t)1 << 20)
#define NEAR_SECTORS	2048
#define FLUSHES		256

struct device {
	struct blk_device d;
	uint64_t last_end, depth_since;
	uint64_t flush_issue[FLUSHES];	/* times of flushes under way, oldest first */
	unsigned nflush;
};

struct blk_track {
	struct blk_filter filter;
	struct blk_bios *bios;
	VEC(struct device *) devs;
	struct device *last_dev;
	struct blk_proc *procs;		/* open addressing by pid; `used` apart since pid 0 exists */
	bool *used;
	size_t nprocs, slots;
	size_t last_proc;
	bool second;
	struct blk_device *out;
};

struct blk_track *blk_track_new(const struct blk_filter *filter)
{
	struct blk_track *t = mem_alloc(sizeof(*t));

	t->filter = *filter;
	if (!t->filter.to)
		t->filter.to = UINT64_MAX;
	t->bios = blk_bios_new();
	t->slots = 256;
	t->procs = mem_array(t->slots, sizeof(*t->procs));
	t->used = mem_array(t->slots, sizeof(*t->used));
	return t;
}

static void dists_each(struct blk_device *d, void (*fn)(struct blk_dist *d))
{
	for (unsigned i = 0; i < BLK_PHASES; i++)
		fn(&d->phase[i]);
	for (unsigned i = 0; i < BLK_KINDS; i++) {
		fn(&d->q2c[i]);
		fn(&d->d2c[i]);
	}
	for (unsigned i = 0; i < 2; i++) {
		fn(&d->size_queued[i]);
		fn(&d->size_issued[i]);
	}
	fn(&d->flush);
	fn(&d->plug);
}

static void small(struct blk_dist *d)
{
	d->exact_max = 4096;
}

static struct device *device_of(struct blk_track *t, const struct blk_rec *r)
{
	struct device *v;

	if (t->last_dev && t->last_dev->d.dev == r->dev)
		return t->last_dev;
	for (size_t i = 0; i < t->devs.n; i++)
		if (t->devs.p[i]->d.dev == r->dev || i == DEVICES_MAX - 1)
			return t->last_dev = t->devs.p[i];
	v = mem_alloc(sizeof(*v));
	v->d.dev = t->devs.n == DEVICES_MAX - 1 ? 0 : r->dev;
	v->d.bin_ns = FIRST_BIN;
	v->d.first = r->time;
	v->depth_since = r->time;
	if (t->devs.n >= DEVICES_FULL)
		dists_each(&v->d, small);
	vec_push(&t->devs, v);
	return t->last_dev = v;
}

static size_t proc_slot(struct blk_track *t, uint32_t pid)
{
	size_t i = (pid * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (t->slots - 1);

	while (t->used[i] && t->procs[i].pid != pid)
		i = (i + 1) & (t->slots - 1);
	return i;
}

static struct blk_proc *proc_of(struct blk_track *t, uint32_t pid)
{
	size_t i = t->last_proc;

	if (t->used[i] && t->procs[i].pid == pid)
		return &t->procs[i];
	if (t->nprocs * 2 >= t->slots) {
		struct blk_proc *old = t->procs;
		bool *was = t->used;
		size_t n = t->slots;

		t->slots *= 2;
		t->procs = mem_array(t->slots, sizeof(*t->procs));
		t->used = mem_array(t->slots, sizeof(*t->used));
		for (size_t k = 0; k < n; k++) {
			if (!was[k])
				continue;
			i = proc_slot(t, old[k].pid);
			t->procs[i] = old[k];
			t->used[i] = true;
		}
		free(old);
		free(was);
	}
	i = proc_slot(t, pid);
	if (!t->used[i]) {
		t->used[i] = true;
		t->procs[i].pid = pid;
		t->nprocs++;
	}
	t->last_proc = i;
	return &t->procs[i];
}

static void take_name(struct blk_track *t, const struct blk_rec *r)
{
	struct blk_proc *p = proc_of(t, r->pid);

	memset(p->name, 0, sizeof(p->name));
	memcpy(p->name, r->pdu, strnlen((const char *)r->pdu, MIN((size_t)r->pdu_len, sizeof(p->name) - 1)));
}

static bool wanted_proc(const struct blk_track *t, const struct blk_proc *p)
{
	char *end;

	if (!t->filter.process)
		return true;
	if (!strncmp(p->name, t->filter.process, sizeof(p->name) - 1))
		return true;
	return strtoul(t->filter.process, &end, 10) == p->pid && !*end && end != t->filter.process;
}

static enum blk_kind kind_of(uint32_t tc)
{
	return tc & BLK_TC_DISCARD ? BLK_DISCARDS : tc & BLK_TC_WRITE ? BLK_WRITES : BLK_READS;
}

static inline void plus(struct blk_amount *a, uint64_t bytes)
{
	a->n++;
	a->bytes += bytes;
}

/* ---- over time ---- */

static struct blk_bin *bin_at(struct blk_device *d, uint64_t t)
{
	while (t / d->bin_ns >= BLK_BINS) {
		for (unsigned i = 0; i < BLK_BINS; i++) {
			struct blk_bin b = i * 2 < BLK_BINS ? d->bins[i * 2] : (struct blk_bin){ 0 };

			if (i * 2 + 1 < BLK_BINS) {
				const struct blk_bin *o = &d->bins[i * 2 + 1];

				for (unsigned k = 0; k < BLK_KINDS; k++) {
					b.bytes[k] += o->bytes[k];
					b.n[k] += o->n[k];
				}
				b.flushes += o->flushes;
				b.depth_ns += o->depth_ns;
				b.depth_max = MAX(b.depth_max, o->depth_max);
			}
			d->bins[i] = b;
		}
		d->bin_ns *= 2;
	}
	return &d->bins[t / d->bin_ns];
}

/* The depth up to now belongs to the time since it last changed. */
static void depth_change(struct device *v, uint64_t now, bool write, int by)
{
	struct blk_device *d = &v->d;
	uint32_t depth = d->depth[0] + d->depth[1];

	while (depth && v->depth_since < now) {
		struct blk_bin *b = bin_at(d, now);
		uint64_t end = (v->depth_since / d->bin_ns + 1) * d->bin_ns;

		b = &d->bins[v->depth_since / d->bin_ns];
		end = MIN(end, now);
		b->depth_ns += (double)depth * (double)(end - v->depth_since);
		b->depth_max = MAX(b->depth_max, depth);
		v->depth_since = end;
	}
	v->depth_since = MAX(v->depth_since, now);
	if (by > 0) {
		struct blk_bin *b = bin_at(d, now);

		d->depth[write]++;
		d->depth_max[write] = MAX(d->depth_max[write], d->depth[write]);
		b->depth_max = MAX(b->depth_max, depth + 1);
	} else if (by < 0 && d->depth[write]) {
		d->depth[write]--;
	}
}

/* ---- one function an act; `in`: within the window, so it counts ---- */

#define COUNT (in && !t->second)

static void on_queue(struct blk_track *t, struct device *v, const struct blk_rec *r, bool in)
{
	struct blk_proc *p = proc_of(t, r->pid);
	struct blk_device *d = &v->d;
	enum blk_kind k = kind_of(r->tc);
	uint64_t gone;

	if (!wanted_proc(t, p))
		return;
	if (COUNT) {
		if (r->tc & BLK_TC_FLUSH) {
			d->flush_queued++;
			p->flushes++;
		}
		if (r->bytes || !(r->tc & BLK_TC_FLUSH)) {
			plus(&d->queued[k], r->bytes);
			plus(&p->queued[k], r->bytes);
		}
		if (k == BLK_WRITES && r->bytes) {
			plus(r->tc & BLK_TC_SYNC ? &d->sync : &d->async, r->bytes);
			plus(r->tc & BLK_TC_SYNC ? &p->sync : &p->async, r->bytes);
		}
		if (r->tc & BLK_TC_AHEAD) {
			plus(&d->ahead, r->bytes);
			plus(&p->ahead, r->bytes);
		}
		if (r->tc & BLK_TC_META) {
			plus(&d->meta, r->bytes);
			plus(&p->meta, r->bytes);
		}
		d->fua += r->tc & BLK_TC_FUA ? 1 : 0;
	}
	if (!r->bytes)
		return;
	if (in && k != BLK_DISCARDS)
		blk_dist_add(&d->size_queued[k], r->bytes);
	gone = blk_bios_queue(t->bios, r, k);
	d->gone += t->second ? 0 : gone;
}

static void on_getrq(struct blk_track *t, struct device *v, const struct blk_rec *r, bool in)
{
	struct blk_bio *b = blk_bios_find(t->bios, r, r->sector, BIO_FRESH);

	if (!b)
		return;
	b->g = r->time;
	b->has |= BIO_G;
	if (!in)
		return;
	blk_dist_add(&v->d.phase[BLK_Q2G], r->time - b->q);
	v->d.got_request += !t->second;
}

static void on_merge(struct blk_track *t, struct device *v, const struct blk_rec *r, bool in)
{
	struct blk_bio *b = blk_bios_find(t->bios, r, r->sector, BIO_FRESH);

	if (!b)
		return;
	if (COUNT) {
		plus(&v->d.merged[kind_of(r->tc)], r->bytes);
		v->d.front_merges += (r->act & ~BLK_CGROUP) == BLK_F;
		proc_of(t, b->pid)->merges++;
	}
	b->m = r->time;
	b->has |= BIO_M;
	if (in)
		blk_dist_add(&v->d.phase[BLK_Q2M], r->time - b->q);
}

static void on_insert(struct blk_track *t, struct device *v, const struct blk_rec *r, bool in)
{
	uint64_t at = r->sector, end = r->sector + r->bytes / 512;
	struct blk_bio *b;

	while (at < end && (b = blk_bios_find(t->bios, r, at, BIO_UNISSUED))) {
		at += b->sectors;
		if (b->has & (BIO_M | BIO_I) || !(b->has & BIO_G))
			continue;
		b->i = r->time;
		b->has |= BIO_I;
		if (in)
			blk_dist_add(&v->d.phase[BLK_G2I], r->time - b->g);
	}
}

static void on_issue(struct blk_track *t, struct device *v, const struct blk_rec *r, bool in)
{
	uint64_t at = r->sector, end = r->sector + r->bytes / 512;
	struct blk_device *d = &v->d;
	enum blk_kind k = kind_of(r->tc);
	bool write = r->tc & BLK_TC_WRITE, first = true, again = false;
	struct blk_bio *b;

	if (r->tc & BLK_TC_FLUSH && !r->bytes) {
		if (v->nflush < FLUSHES)
			v->flush_issue[v->nflush++] = r->time;
		d->flush_issued += COUNT;
		if (!t->second)
			depth_change(v, r->time, write, 1);
		return;
	}
	while (at < end && (b = blk_bios_take_part(t->bios, r, at, end - at, BIO_UNISSUED))) {
		at += b->sectors;
		again |= b->has & BIO_AGAIN;
		if (in && !(b->has & BIO_AGAIN)) {
			if (b->has & BIO_I)
				blk_dist_add(&d->phase[BLK_I2D], r->time - b->i);
			else if (b->has & BIO_M)
				blk_dist_add(&d->phase[BLK_M2D], r->time - b->m);
		}
		b->d = r->time;
		b->has |= BIO_D | (first ? BIO_HEAD : 0);
		if (first && !t->second)
			depth_change(v, r->time, write, 1);
		first = false;
	}
	if (in && k != BLK_DISCARDS && !again)
		blk_dist_add(&d->size_issued[k], r->bytes);
	if (!COUNT)
		return;
	if (again)
		d->reissued++;
	else
		plus(&d->issued[k], r->bytes);
	if (d->seq + d->near + d->far || v->last_end) {
		uint64_t gap = r->sector > v->last_end ? r->sector - v->last_end : v->last_end - r->sector;

		if (!gap)
			d->seq++;
		else if (gap <= NEAR_SECTORS)
			d->near++;
		else
			d->far++;
		d->seek_sectors += (double)gap;
	}
	v->last_end = end;
}

static void on_requeue(struct blk_track *t, struct device *v, const struct blk_rec *r, bool in)
{
	uint64_t at = r->sector, end = r->sector + r->bytes / 512;
	struct blk_bio *b;

	if (COUNT)
		v->d.requeued[kind_of(r->tc)]++;
	if (r->tc & BLK_TC_FLUSH && !r->bytes && v->nflush) {
		v->nflush--;	/* the one that was just refused */
		v->d.flush_issued -= COUNT;
		if (!t->second)
			depth_change(v, r->time, r->tc & BLK_TC_WRITE, -1);
	}
	while (at < end && (b = blk_bios_find(t->bios, r, at, BIO_ISSUED))) {
		at += b->sectors;
		if (b->has & BIO_HEAD && !t->second)
			depth_change(v, r->time, r->tc & BLK_TC_WRITE, -1);
		b->has = (uint8_t)((b->has & ~(BIO_D | BIO_HEAD)) | BIO_AGAIN);
	}
}

static void on_complete(struct blk_track *t, struct device *v, const struct blk_rec *r, bool in)
{
	uint64_t at = r->sector, end = r->sector + r->bytes / 512;
	struct blk_device *d = &v->d;
	enum blk_kind k = kind_of(r->tc);
	struct blk_bin *bin = in && !t->second ? bin_at(d, r->time) : NULL;
	struct blk_bio *b;

	if (COUNT)
		d->errors += r->error ? 1 : 0;
	if (r->tc & BLK_TC_FLUSH && !r->bytes) {
		if (bin)
			bin->flushes++;
		d->flush_done += COUNT;
		if (v->nflush) {
			if (in)
				blk_dist_add(&d->flush, r->time - MIN(v->flush_issue[0], r->time));
			memmove(v->flush_issue, v->flush_issue + 1, --v->nflush * sizeof(*v->flush_issue));
			if (!t->second)
				depth_change(v, r->time, r->tc & BLK_TC_WRITE, -1);
		}
		return;
	}
	if (bin) {
		plus(&d->completed[k], r->bytes);
		bin->bytes[k] += r->bytes;
		bin->n[k]++;
	}
	while (at < end) {
		b = blk_bios_take_part(t->bios, r, at, end - at, BIO_ISSUED);
		if (!b)
			b = blk_bios_take_part(t->bios, r, at, end - at, BIO_ANY);	/* dm and md are never issued */
		if (!b)
			break;
		at += b->sectors;
		if (in) {
			uint64_t q2c = r->time - b->q;

			blk_dist_add(&d->phase[BLK_Q2C], q2c);
			blk_dist_add(&d->q2c[k], q2c);
			if (b->has & BIO_D) {
				blk_dist_add(&d->phase[BLK_D2C], r->time - b->d);
				blk_dist_add(&d->d2c[k], r->time - b->d);
			}
			if (!t->second) {
				struct blk_proc *p = proc_of(t, b->pid);

				p->waits++;
				p->wait_sum += (double)q2c;
				p->wait_max = MAX(p->wait_max, q2c);
				if (t->filter.each)
					t->filter.each(t->filter.ctx, &(struct blk_done){
						.kind = k, .queued = b->q, .issued = b->has & BIO_D ? b->d : 0, .done = r->time,
						.dev = r->dev, .pid = b->pid, .bytes = b->sectors * 512 });
			}
		}
		if (b->has & BIO_HEAD && !t->second)
			depth_change(v, r->time, r->tc & BLK_TC_WRITE, -1);
		blk_bios_drop(t->bios, b);
	}
	d->unmatched_done += COUNT && at == r->sector && r->bytes;
}

static void on_split(struct blk_track *t, struct device *v, const struct blk_rec *r, bool in)
{
	struct blk_bio *b = blk_bios_find(t->bios, r, r->sector, BIO_FRESH);
	uint64_t rest;

	if (b && blk_pdu64(r, 0, &rest) && rest > r->sector && rest - r->sector < b->sectors) {
		blk_bios_cut(t->bios, b, (uint32_t)(rest - r->sector));
		v->d.splits += COUNT;
	}
}

static void on_plug(struct blk_track *t, struct device *v, const struct blk_rec *r, uint32_t act, bool in)
{
	struct blk_proc *p = proc_of(t, r->pid);
	uint64_t n;

	if (act == BLK_P) {
		p->plugged_at = r->time + 1;
		return;
	}
	if (in && p->plugged_at)
		blk_dist_add(&v->d.plug, r->time + 1 - MIN(p->plugged_at, r->time + 1));
	p->plugged_at = 0;
	if (!COUNT)
		return;
	if (act == BLK_U)
		v->d.unplugs++;
	else
		v->d.unplugs_sleep++;
	v->d.unplugged += blk_pdu64(r, 0, &n) && n < 1u << 20 ? n : 0;
}

void blk_track_record(struct blk_track *t, const struct blk_rec *r)
{
	bool in = r->time >= t->filter.from && r->time < t->filter.to;
	uint32_t act = r->act & ~BLK_CGROUP;
	struct device *v;

	if (r->tc & BLK_TC_NOTIFY && act == BLK_TN_PROCESS) {
		take_name(t, r);
		return;
	}
	if (t->filter.dev && r->dev != t->filter.dev)
		return;
	if (r->tc & BLK_TC_NOTIFY && act != BLK_TN_MESSAGE)
		return;
	v = device_of(t, r);
	if (COUNT) {
		v->d.first = MIN(v->d.first, r->time);
		v->d.last = MAX(v->d.last, r->time);
		if (r->tc & BLK_TC_NOTIFY) {
			v->d.messages++;
			return;
		}
		v->d.acts[act < ARRAY_SIZE(v->d.acts) ? act : 0]++;
	}
	if (r->tc & BLK_TC_NOTIFY)
		return;
	if (r->tc & BLK_TC_PC) {
		v->d.passthrough += COUNT && act == BLK_D;
		return;
	}
	switch (act) {
	case BLK_Q:
		on_queue(t, v, r, in);
		break;
	case BLK_M:
	case BLK_F:
		on_merge(t, v, r, in);
		break;
	case BLK_G:
		on_getrq(t, v, r, in);
		break;
	case BLK_I:
		on_insert(t, v, r, in);
		break;
	case BLK_D:
		on_issue(t, v, r, in);
		break;
	case BLK_R:
		on_requeue(t, v, r, in);
		break;
	case BLK_C:
		on_complete(t, v, r, in);
		break;
	case BLK_X:
		on_split(t, v, r, in);
		break;
	case BLK_P:
	case BLK_U:
	case BLK_UT:
		on_plug(t, v, r, act, in);
		break;
	case BLK_A:
		v->d.remapped += COUNT;
		break;
	default:
		break;
	}
}

void blk_track_end(struct blk_track *t)
{
	for (size_t i = 0; i < t->devs.n; i++)
		depth_change(t->devs.p[i], t->devs.p[i]->d.last, false, 0);
}

bool blk_track_counted(const struct blk_track *t)
{
	bool counted = false;

	for (size_t i = 0; i < t->devs.n; i++) {
		const struct blk_device *d = &t->devs.p[i]->d;

		for (unsigned k = 0; k < BLK_PHASES; k++)
			counted |= blk_dist_counted(&d->phase[k]);
		counted |= blk_dist_counted(&d->flush) || blk_dist_counted(&d->plug);
		counted |= blk_dist_counted(&d->size_queued[0]) || blk_dist_counted(&d->size_queued[1]);
	}
	return counted;
}

void blk_track_again(struct blk_track *t)
{
	for (size_t i = 0; i < t->devs.n; i++) {
		dists_each(&t->devs.p[i]->d, blk_dist_again);
		t->devs.p[i]->nflush = 0;
	}
	for (size_t i = 0; i < t->slots; i++)
		t->procs[i].plugged_at = 0;
	blk_bios_clear(t->bios);
	t->second = true;
}

static uint64_t all_bytes(const struct blk_amount *a)
{
	return a[BLK_READS].bytes + a[BLK_WRITES].bytes + a[BLK_DISCARDS].bytes;
}

static int by_bytes(const void *a, const void *b)
{
	const struct blk_device *x = a, *y = b;
	uint64_t bx = all_bytes(x->queued) + all_bytes(x->completed), by = all_bytes(y->queued) + all_bytes(y->completed);

	return bx != by ? (bx < by) - (bx > by) : (x->dev > y->dev) - (x->dev < y->dev);
}

struct blk_device *blk_track_devices(struct blk_track *t, size_t *ret_n)
{
	if (!t->out) {
		t->out = mem_array(t->devs.n + 1, sizeof(*t->out));
		for (size_t i = 0; i < t->devs.n; i++) {
			t->out[i] = t->devs.p[i]->d;
			memset(&t->devs.p[i]->d, 0, sizeof(t->devs.p[i]->d));
		}
		qsort(t->out, t->devs.n, sizeof(*t->out), by_bytes);
	}
	*ret_n = t->devs.n;
	return t->out;
}

static int by_queued(const void *a, const void *b)
{
	const struct blk_proc *x = a, *y = b;
	uint64_t bx = all_bytes(x->queued), by = all_bytes(y->queued);

	if (bx != by)
		return (bx < by) - (bx > by);
	if (x->flushes != y->flushes)
		return (x->flushes < y->flushes) - (x->flushes > y->flushes);
	return (x->pid > y->pid) - (x->pid < y->pid);
}

struct blk_proc *blk_track_procs(struct blk_track *t, size_t *ret_n)
{
	size_t n = 0;

	for (size_t i = 0; i < t->slots; i++)
		if (t->used[i])
			t->procs[n++] = t->procs[i];
	qsort(t->procs, n, sizeof(*t->procs), by_queued);
	for (size_t i = 0; i < t->slots; i++)
		t->used[i] = false;
	*ret_n = n;
	return t->procs;
}

uint64_t blk_track_open(const struct blk_track *t, uint32_t dev)
{
	return blk_bios_count(t->bios, dev);
}

void blk_track_free(struct blk_track *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->devs.n; i++) {
		dists_each(t->out ? &t->out[i] : &t->devs.p[i]->d, blk_dist_done);
		free(t->devs.p[i]);
	}
	vec_done(&t->devs);
	blk_bios_free(t->bios);
	free(t->procs);
	free(t->used);
	free(t->out);
	free(t);
}

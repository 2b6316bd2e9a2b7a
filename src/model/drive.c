/* SPDX-License-Identifier: MIT */
#include "model/drive.h"
#include "base/cleanup.h"
#include "base/mem.h"
#include "base/units.h"

#include <errno.h>
#include <string.h>

#define BAD_MAX 64

struct bad {
	enum rq_op op;
	uint64_t sector;
};

struct drive {
	const struct disk_ops *ops;
	void *st;
	nsec_t seen;			/* latest time anybody called with: the past cannot be bent */
	nsec_t real0, disk0;		/* up to here the two clocks are joined */
	nsec_t frozen_until, slow_until;
	uint64_t slow;			/* 1/1000 */
	nsec_t flush_stop;
	uint64_t depth;			/* 0: the disk's */
	struct bad bad[BAD_MAX];
	unsigned nbad;
	struct rq *waiting, **last;
	struct rq *ready, **ready_last;		/* finished, not yet reaped */
	unsigned nwaiting, inside;
	uint64_t next_id;
};

int drive_new(const struct profile *p, uint64_t capacity_bytes, uint64_t seed, struct drive **ret, struct err *e)
{
	struct drive *d = mem_alloc(sizeof(*d));
	struct rng rng;
	int r;

	d->ops = p->ops;
	d->st = mem_alloc(p->ops->plug.state_size);
	d->last = &d->waiting;
	d->ready_last = &d->ready;
	d->slow = 1000;
	rng_seed(&rng, seed);
	r = d->ops->init(d->st, p->conf, capacity_bytes, &rng, e);
	if (r) {
		free(d->st);
		free(d);
		return r;
	}
	*ret = d;
	return 0;
}

void drive_free(struct drive *d)
{
	if (!d)
		return;
	d->ops->done(d->st);
	free(d->st);
	free(d);
}

/* ---- the bent clock: frozen until frozen_until, then 1/slow until slow_until, then straight ---- */

static nsec_t slow_begin(const struct drive *d)
{
	return MAX(d->real0, d->frozen_until);
}

static nsec_t to_disk(const struct drive *d, nsec_t real)
{
	nsec_t a = slow_begin(d), b = MAX(a, d->slow_until), t = d->disk0;

	if (real <= a)
		return t;
	t += (MIN(real, b) - a) * 1000 / (nsec_t)d->slow;
	return real > b ? t + (real - b) : t;
}

/* The first real time at which the disk's clock shows `disk`. */
static nsec_t to_real(const struct drive *d, nsec_t disk)
{
	nsec_t a = slow_begin(d), b = MAX(a, d->slow_until), dt = disk - d->disk0, in_slow;

	if (disk == NSEC_NEVER)
		return NSEC_NEVER;
	if (dt <= 0)
		return d->real0;
	in_slow = b == NSEC_NEVER ? NSEC_NEVER : (b - a) * 1000 / (nsec_t)d->slow;
	if (dt <= in_slow)
		return a + (dt * (nsec_t)d->slow + 999) / 1000;
	return b + dt - in_slow;
}

/* Joins the clocks at `now`, so that the bend can be changed from here on. */
static void rejoin(struct drive *d, nsec_t now)
{
	d->disk0 = to_disk(d, now);
	d->real0 = MAX(d->real0, now);
	d->frozen_until = MAX(d->frozen_until, d->real0);
	d->slow_until = MAX(d->slow_until, d->real0);
}

/* ---- requests ---- */

static bool is_bad(const struct drive *d, const struct rq *rq)
{
	for (unsigned i = 0; i < d->nbad; i++)
		if (d->bad[i].op == rq->op && rq->sector <= d->bad[i].sector &&
		    d->bad[i].sector < rq->sector + (rq->bytes + 511) / 512)
			return true;
	return false;
}

static unsigned room(const struct drive *d)
{
	unsigned r = d->ops->room(d->st);

	if (d->depth)
		r = d->inside >= d->depth ? 0 : MIN(r, (unsigned)(d->depth - d->inside));
	return r;
}

/* Passes requests on, at the real time `now`; everything that finished before was settled. */
static void feed(struct drive *d, nsec_t now)
{
	while (d->waiting && room(d)) {
		struct rq *rq = d->waiting;

		d->waiting = rq->link;
		if (!d->waiting)
			d->last = &d->waiting;
		d->nwaiting--;
		d->inside++;
		if (rq->op == RQ_FLUSH && d->flush_stop) {
			rejoin(d, now);
			d->frozen_until = MAX(d->frozen_until, now + d->flush_stop);
		}
		d->ops->submit(d->st, rq, to_disk(d, now));
	}
}

/* Takes over what has finished until now, one moment at a time: where a finished request makes room, the next one
 * goes in at that moment, so what waiters are told does not depend on how late somebody calls. */
static void settle(struct drive *d, nsec_t now)
{
	struct rq *done[16];

	d->seen = MAX(d->seen, now);
	for (;;) {
		nsec_t t = to_real(d, d->ops->next(d->st));
		unsigned k;

		if (t > now)
			return;
		k = d->ops->reap(d->st, to_disk(d, t), done, ARRAY_SIZE(done));
		for (unsigned i = 0; i < k; i++) {
			done[i]->done = to_real(d, done[i]->done);
			done[i]->submitted = (nsec_t)done[i]->scratch[1];
			done[i]->started = MAX(to_real(d, done[i]->started), done[i]->submitted);
			done[i]->link = NULL;
			*d->ready_last = done[i];
			d->ready_last = &done[i]->link;
		}
		d->inside -= k;
		feed(d, t);
	}
}

void drive_submit(struct drive *d, struct rq *rq, nsec_t now)
{
	settle(d, now);
	rq->id = d->next_id++;
	rq->error = is_bad(d, rq) ? -EIO : 0;
	rq->scratch[1] = (uint64_t)now;
	rq->link = NULL;
	*d->last = rq;
	d->last = &rq->link;
	d->nwaiting++;
	feed(d, now);
}

nsec_t drive_next(struct drive *d)
{
	return d->ready ? d->ready->done : to_real(d, d->ops->next(d->st));
}

unsigned drive_reap(struct drive *d, nsec_t now, struct rq **done, unsigned max)
{
	unsigned n = 0;

	settle(d, now);
	while (n < max && d->ready) {
		done[n++] = d->ready;
		d->ready = d->ready->link;
	}
	if (!d->ready)
		d->ready_last = &d->ready;
	return n;
}

unsigned drive_queued(const struct drive *d)
{
	return d->inside + d->nwaiting;
}

void drive_fault(struct drive *d, const struct fault *f, nsec_t now)
{
	settle(d, now);
	now = d->seen;
	rejoin(d, now);
	switch (f->kind) {
	case FAULT_FREEZE:
		d->frozen_until = MAX(d->frozen_until, nsec_add(now, f->time));
		break;
	case FAULT_SLOW:
		d->slow = MAX(f->amount, UINT64_C(1));
		d->slow_until = nsec_add(now, f->time);
		break;
	case FAULT_FLUSH:
		d->flush_stop = f->time;
		break;
	case FAULT_ERROR:
		if (f->op == RQ_FLUSH)
			d->nbad = 0;
		else if (d->nbad < BAD_MAX)
			d->bad[d->nbad++] = (struct bad){ f->op, f->sector };
		break;
	case FAULT_DEPTH:
		d->depth = f->amount;
		feed(d, now);
		break;
	case FAULT_FULL:
	case FAULT_NONE:
		break;
	}
}

/* ---- text ---- */

#define USAGE "it is freeze=3s, slow=10x for=5s, flush=2s, error=read at=SECTOR, error=none, depth=1 or full"

static int parse_word(const char *key, const char *value, struct fault *f, struct err *e)
{
	double x;
	int r = 0;

	if (!strcmp(key, "freeze") || !strcmp(key, "flush")) {
		f->kind = *key == 'f' && key[1] == 'r' ? FAULT_FREEZE : FAULT_FLUSH;
		r = units_nsec(value, &f->time, e);
	} else if (!strcmp(key, "slow")) {
		cleanup_free char *copy = mem_dup(value);
		size_t n = strlen(copy);

		if (n && copy[n - 1] == 'x')
			copy[n - 1] = 0;
		r = units_number(copy, &x, e);
		if (!r && !(x >= 1 && x <= 1e6))
			r = err_set(e, -ERANGE, "slow=%s: how many times as long, 1x to 1000000x", value);
		if (!r) {
			f->kind = FAULT_SLOW;
			f->amount = (uint64_t)(x * 1000 + 0.5);
			f->time = NSEC_NEVER;
		}
	} else if (!strcmp(key, "error")) {
		f->kind = FAULT_ERROR;
		if (strcmp(value, "read") && strcmp(value, "write") && strcmp(value, "none"))
			return err_set(e, -EINVAL, "error=%s: it is read, write or none", value);
		f->op = *value == 'r' ? RQ_READ : *value == 'w' ? RQ_WRITE : RQ_FLUSH;
	} else if (!strcmp(key, "depth")) {
		f->kind = FAULT_DEPTH;
		r = units_count(value, &f->amount, e);
	} else if (!strcmp(key, "full")) {
		bool on = true;

		f->kind = FAULT_FULL;
		if (*value)
			r = units_bool(value, &on, e);
		f->amount = on;
	} else {
		return err_set(e, -EINVAL, "there is no fault '%.60s'; " USAGE, key);
	}
	return r;
}

static int parse_more(const char *key, const char *value, struct fault *f, bool *at, struct err *e)
{
	if (!strcmp(key, "for") && f->kind == FAULT_SLOW)
		return units_nsec(value, &f->time, e);
	if (!strcmp(key, "at") && f->kind == FAULT_ERROR) {
		*at = true;
		return units_count(value, &f->sector, e);
	}
	return err_set(e, -EINVAL, "'%.60s' does not belong there; " USAGE, key);
}

int fault_parse(const char *text, struct fault *ret, struct err *e)
{
	cleanup_free char *copy = mem_dup(text);
	struct fault f = { 0 };
	bool at = false;
	char *save = NULL;

	for (char *w = strtok_r(copy, " \t", &save); w; w = strtok_r(NULL, " \t", &save)) {
		char *eq = strchr(w, '='), *value = "";
		int r;

		if (eq) {
			*eq = 0;
			value = eq + 1;
		}
		r = f.kind == FAULT_NONE ? parse_word(w, value, &f, e) : parse_more(w, value, &f, &at, e);
		if (r)
			return err_wrap(e, "fault '%.100s'", text);
	}
	if (f.kind == FAULT_NONE)
		return err_set(e, -EINVAL, "no fault is given; " USAGE);
	if (f.kind == FAULT_ERROR && f.op != RQ_FLUSH && !at)
		return err_set(e, -EINVAL, "fault '%.100s': which sector? (at=SECTOR)", text);
	*ret = f;
	return 0;
}

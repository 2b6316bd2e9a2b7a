/* SPDX-License-Identifier: MIT */
#include "analyze/blame.h"
#include "base/cleanup.h"

#include <string.h>

#define DIRTY_BEFORE	(60 * NSEC_PER_SEC)	/* data older than this is on the disk: the flusher's age limit is 30 s */
#define RECENT		(10 * NSEC_PER_SEC)

void bill_add(struct bill *b, uint32_t pid, uint32_t dev, uint64_t ino, double ns, uint32_t conf)
{
	if (ns <= 0)
		return;
	for (size_t i = 0; i < b->c.n; i++) {
		struct charge *c = &b->c.p[i];

		if (c->pid == pid && c->dev == dev && c->ino == ino) {
			c->ns += ns;
			c->conf = MIN(c->conf, conf);
			return;
		}
	}
	vec_push(&b->c, ((struct charge){ pid, dev, ino, ns, conf }));
}

void bill_join(struct bill *b, const struct bill *from, double factor)
{
	for (size_t i = 0; i < from->c.n; i++)
		bill_add(b, from->c.p[i].pid, from->c.p[i].dev, from->c.p[i].ino, from->c.p[i].ns * factor, from->c.p[i].conf);
}

double bill_sum(const struct bill *b)
{
	double sum = 0;

	for (size_t i = 0; i < b->c.n; i++)
		sum += b->c.p[i].ns;
	return sum;
}

void bill_done(struct bill *b)
{
	vec_done(&b->c);
}

/* A user process, or 0: kernel threads work for others. */
static uint32_t user(const struct trace *t, uint32_t pid, uint32_t tid)
{
	const struct tr_task *k = trace_task(t, tid ? tid : pid);

	if (!pid || (k && k->kthread))
		return 0;
	if (!k || *k->comm == '\0')	/* never introduced: believed only if no kernel thread has this name */
		return pid;
	if (!strncmp(k->comm, "kworker/", 8) || !strncmp(k->comm, "jbd2/", 5) || !strncmp(k->comm, "swapper", 7) ||
	    !strncmp(k->comm, "ksoftirqd/", 10) || !strncmp(k->comm, "kswapd", 6) || !strncmp(k->comm, "xfsaild/", 8) ||
	    !strncmp(k->comm, "btrfs-", 6) || !strncmp(k->comm, "migration/", 10))
		return 0;
	return pid;
}

#define MAX_WHO 64

struct weights {
	uint32_t pid[MAX_WHO];
	double w[MAX_WHO];
	int n;
	double sum;
};

static void weigh(struct weights *s, uint32_t pid, double w)
{
	if (!pid || w <= 0)
		return;
	s->sum += w;
	for (int i = 0; i < s->n; i++) {
		if (s->pid[i] == pid) {
			s->w[i] += w;
			return;
		}
	}
	if (s->n < MAX_WHO) {
		s->pid[s->n] = pid;
		s->w[s->n++] = w;
	}
}

static bool charge_weights(const struct weights *s, uint32_t dev, uint64_t ino, double ns, uint32_t conf, struct bill *b)
{
	for (int i = 0; i < s->n; i++)
		bill_add(b, s->pid[i], dev, ino, ns * s->w[i] / s->sum, conf);
	return s->n > 0;
}

/* The dirtiers of one inode up to `until`. */
static bool blame_inode(const struct trace *t, uint32_t dev, uint64_t ino, nsec_t until, double ns, struct bill *b)
{
	struct weights s = { 0 }, any = { 0 };
	size_t lo = 0, hi = t->dirty.n;

	while (lo < hi) {	/* by dev, ino */
		size_t mid = lo + (hi - lo) / 2;
		const struct event *d = &t->dirty.p[mid];

		if (d->dev < dev || (d->dev == dev && d->ino < ino))
			lo = mid + 1;
		else
			hi = mid;
	}
	for (; lo < t->dirty.n && t->dirty.p[lo].dev == dev && t->dirty.p[lo].ino == ino; lo++) {
		const struct event *d = &t->dirty.p[lo];
		uint32_t pid = user(t, d->pid, d->tid);

		weigh(&any, pid, (double)d->a);
		if (d->t <= until && d->t + d->dur >= until - DIRTY_BEFORE)
			weigh(&s, pid, (double)d->a);
	}
	if (charge_weights(&s, dev, ino, ns, CONF_EXACT, b))
		return true;
	return charge_weights(&any, dev, ino, ns, CONF_TIME, b);	/* rows are summed over 0.2 s and may come late */
}

bool blame_handles(const struct trace *t, uint32_t fs_dev, uint32_t transaction, nsec_t a, nsec_t b, double ns, uint32_t conf,
		   struct bill *bill)
{
	struct weights s = { 0 };
	size_t n;
	const struct event *h = trace_by_dev(&t->handle, fs_dev, transaction ? 0 : a - RECENT, 0, &n);

	for (size_t i = 0; i < n; i++) {
		if (transaction ? h[i].a != transaction : h[i].t > b)
			continue;
		weigh(&s, user(t, h[i].pid, h[i].tid), h[i].b ? (double)h[i].b : 0.1);
	}
	return charge_weights(&s, 0, 0, ns, conf, bill);
}

/* The commit that was running on any filesystem of this disk at `at`. */
static const struct event *commit_at(const struct trace *t, uint32_t disk, nsec_t at)
{
	for (size_t i = 0; i < t->commit.n; i++) {
		const struct event *c = &t->commit.p[i];

		if (c->t <= at && at <= c->t + c->dur + NSEC_PER_MSEC && trace_disk_of(t, c->dev) == disk)
			return c;
	}
	return NULL;
}

/* Who forced the XFS log shortly before: its writes carry no other name. */
static bool blame_forces(const struct trace *t, uint32_t disk, nsec_t at, double ns, struct bill *b)
{
	struct weights s = { 0 };

	for (size_t i = 0; i < t->force.n; i++) {
		const struct event *f = &t->force.p[i];

		if (f->t <= at + NSEC_PER_MSEC && f->t >= at - NSEC_PER_SEC && trace_disk_of(t, f->dev) == disk)
			weigh(&s, user(t, f->pid, f->tid), 1);
	}
	return charge_weights(&s, 0, 0, ns, CONF_TIME, b);
}

void blame_dirtiers(const struct trace *t, uint32_t disk, nsec_t a, nsec_t b, double ns, uint32_t conf, struct bill *bill)
{
	double sum = 0;

	for (int pass = 0; pass < 2; pass++) {
		for (size_t i = 0; i < t->dirty.n; i++) {
			const struct event *d = &t->dirty.p[i];
			uint32_t pid = user(t, d->pid, d->tid);

			if (!pid || d->t > b || d->t + d->dur < a || (disk && trace_disk_of(t, d->dev) != disk))
				continue;
			if (pass == 0)
				sum += (double)d->a;
			else
				bill_add(bill, pid, d->dev, d->ino, ns * (double)d->a / sum, conf);
		}
		if (sum <= 0)
			return;
	}
}

void blame_request(const struct trace *t, const struct event *rq, double ns, struct bill *b)
{
	uint32_t who = user(t, rq->pid, rq->tid);
	nsec_t issued = rq->t + (nsec_t)rq->e;

	if (rq->ino && rq->flags & EVF_WRITE && blame_inode(t, rq->other, rq->ino, issued, ns, b))
		return;
	if (rq->flags & EVF_WRITE && (rq->flags & (EVF_BDEV | EVF_META) || !rq->ino) && !(who && !(rq->flags & (EVF_BDEV | EVF_META)))) {
		const struct event *c = commit_at(t, rq->dev, issued);

		if (c && blame_handles(t, c->dev, (uint32_t)c->a, c->t, c->t + c->dur, ns, CONF_EXACT, b))
			return;
		for (size_t i = 0; i < t->fs.n; i++)
			if (t->fs.p[i].a == rq->dev &&
			    blame_handles(t, t->fs.p[i].dev, 0, issued, issued, ns, CONF_TIME, b))
				return;
		if (blame_forces(t, rq->dev, rq->t, ns, b))
			return;
	}
	if (rq->flags & EVF_FLUSH && !who) {
		const struct event *c = commit_at(t, rq->dev, issued);

		if (c && blame_handles(t, c->dev, (uint32_t)c->a, c->t, c->t + c->dur, ns, CONF_EXACT, b))
			return;
		if (blame_forces(t, rq->dev, rq->t, ns, b))
			return;
	}
	if (who) {
		bill_add(b, who, rq->other, rq->ino, ns, CONF_EXACT);
		return;
	}
	if (rq->flags & EVF_WRITE && !rq->ino)	/* btrfs trees and the like: whoever dirtied data there lately */
		blame_dirtiers(t, rq->dev, issued - RECENT, issued, ns, CONF_TIME, b);
}

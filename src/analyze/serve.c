/* SPDX-License-Identifier: MIT */
#include "analyze/serve.h"
#include "base/cleanup.h"

#include <stdlib.h>
#include <string.h>

#define SILENT_AT_LEAST	(300 * NSEC_PER_MSEC)
#define SILENT_TIMES	10		/* ... and this many times the usual time in service */
#define AROUND		(10 * NSEC_PER_SEC)

struct edge {
	nsec_t t;
	uint32_t rq;		/* index into the requests looked at */
	int8_t service, queued;	/* what changes */
};

struct piece {
	const struct event *rq;
	double v0, share;
	bool flush;
};

static int by_t(const void *a, const void *b)
{
	const struct edge *x = a, *y = b;

	if (x->t != y->t)
		return x->t < y->t ? -1 : 1;
	return x->service != y->service ? x->service - y->service : (x->rq > y->rq) - (x->rq < y->rq);
}

static int by_nsec(const void *a, const void *b)
{
	nsec_t x = *(const nsec_t *)a, y = *(const nsec_t *)b;

	return (x > y) - (x < y);
}

struct gap {
	nsec_t a, b;
};

typedef VEC(struct gap) gaps_t;

/* Stretches without a completion although requests (not only flushes) were in service all the time. */
static void find_silence(const struct event *rq, size_t n, nsec_t a, nsec_t b, gaps_t *ret)
{
	VEC(nsec_t) done = { 0 }, took = { 0 };
	nsec_t limit;

	for (size_t i = 0; i < n; i++) {
		nsec_t end = rq[i].t + rq[i].dur;

		if (end < a - AROUND || rq[i].t > b + AROUND || !rq[i].e)
			continue;
		vec_push(&done, end);
		if (!(rq[i].flags & EVF_FLUSH))
			vec_push(&took, rq[i].dur - (nsec_t)rq[i].e);
	}
	if (took.n) {
		qsort(done.p, done.n, sizeof(nsec_t), by_nsec);
		qsort(took.p, took.n, sizeof(nsec_t), by_nsec);
		limit = MAX(SILENT_AT_LEAST, SILENT_TIMES * took.p[took.n / 2]);
		if (took.n < 8)		/* too few to know what is usual */
			limit = SILENT_AT_LEAST;
		for (size_t i = 0; i < done.n; i++) {
			nsec_t from = i ? done.p[i - 1] : INT64_MIN, to = done.p[i];
			nsec_t first = INT64_MAX;

			if (to <= a || (i && to - from < limit) || from >= b)
				continue;
			/* since when was something in service that ended at `to` or later? */
			for (size_t k = 0; k < n; k++) {
				nsec_t issue = rq[k].t + (nsec_t)rq[k].e, end = rq[k].t + rq[k].dur;

				if (rq[k].e && end >= to && issue < to && !(rq[k].flags & EVF_FLUSH))
					first = MIN(first, issue);
			}
			from = MAX(from, first);
			if (first != INT64_MAX && to - from >= limit && MIN(to, b) > MAX(from, a))
				vec_push(ret, ((struct gap){ MAX(from, a), MIN(to, b) }));
		}
	}
	vec_done(&done);
	vec_done(&took);
}

static bool in_gap(const gaps_t *g, nsec_t t0, nsec_t t1)
{
	for (size_t i = 0; i < g->n; i++)
		if (t0 >= g->p[i].a && t1 <= g->p[i].b)
			return true;
	return false;
}

static void count(struct served *s, const struct event *rq)
{
	s->bytes += rq->b;
	if (rq->flags & EVF_FLUSH)
		s->flushes++;
	else if (rq->flags & (EVF_META | EVF_BDEV))
		s->meta++;
	else if (!(rq->flags & EVF_WRITE))
		s->reads++;
	else if (rq->flags & EVF_SYNC)
		s->sync_writes++;
	else
		s->async_writes++;
}

/* A flush empties the disk's cache: it takes as long as what was written since the last one; who wrote that? */
static void blame_flush(const struct trace *t, const struct event *rq, size_t n, const struct event *flush, double ns, struct bill *b)
{
	nsec_t from = INT64_MIN, at = flush->t + (nsec_t)flush->e;
	double bytes = 0;

	for (size_t i = 0; i < n; i++)
		if (&rq[i] != flush && rq[i].flags & EVF_FLUSH && rq[i].t + rq[i].dur <= at)
			from = MAX(from, rq[i].t + rq[i].dur);
	for (int pass = 0; pass < 2; pass++) {
		for (size_t i = 0; i < n; i++) {
			nsec_t end = rq[i].t + rq[i].dur;

			if (!(rq[i].flags & EVF_WRITE) || rq[i].flags & EVF_FLUSH || end > at || end < from || end < at - AROUND)
				continue;
			if (pass == 0)
				bytes += (double)rq[i].b;
			else
				blame_request(t, &rq[i], ns * (double)rq[i].b / bytes, b);
		}
		if (bytes <= 0)
			return;
	}
}

void serve(const struct trace *t, uint32_t disk, nsec_t a, nsec_t b, enum serve_how how, struct served *ret)
{
	struct served s = { 0 };
	VEC(struct edge) edge = { 0 };
	VEC(struct piece) piece = { 0 };
	gaps_t gaps = { 0 };
	size_t n, in_service = 0, queued = 0, flushes = 0;
	const struct event *rq = trace_by_dev(&t->rq, disk, a, t->longest_rq + AROUND, &n);
	nsec_t last = a;
	double v = 0;

	if (how == SERVE_DISK)
		find_silence(rq, n, a, b, &gaps);
	for (size_t i = 0; i < n; i++) {
		nsec_t from = rq[i].t + (nsec_t)(how == SERVE_SLOTS ? rq[i].c : rq[i].e), to = rq[i].t + rq[i].dur;
		bool served = how == SERVE_SLOTS || rq[i].e || rq[i].t + rq[i].dur - from > 0;
		uint32_t id = (uint32_t)piece.n;

		if (rq[i].t >= b || to <= a)
			continue;
		if (how == SERVE_DISK && !rq[i].e && rq[i].flags & EVF_FLUSH)	/* stands for the flush request behind it */
			continue;
		vec_push(&piece, ((struct piece){ .rq = &rq[i], .flush = rq[i].flags & EVF_FLUSH }));
		if (served && from < b && to > from) {
			vec_push(&edge, ((struct edge){ MAX(from, a), id, 1, 0 }));
			vec_push(&edge, ((struct edge){ MIN(to, b), id, -1, 0 }));
			count(&s, &rq[i]);
		}
		if (from > a && rq[i].t < from) {
			vec_push(&edge, ((struct edge){ MAX(rq[i].t, a), id, 0, 1 }));
			vec_push(&edge, ((struct edge){ MIN(from, b), id, 0, -1 }));
		}
	}
	for (size_t i = 0; i < gaps.n; i++) {	/* so that no slice straddles a gap's border */
		vec_push(&edge, ((struct edge){ gaps.p[i].a, UINT32_MAX, 0, 0 }));
		vec_push(&edge, ((struct edge){ gaps.p[i].b, UINT32_MAX, 0, 0 }));
	}
	if (edge.n)
		qsort(edge.p, edge.n, sizeof(struct edge), by_t);
	for (size_t i = 0; i <= edge.n; i++) {
		nsec_t now = i < edge.n ? edge.p[i].t : b;
		double dt = (double)(now - last);

		if (dt > 0) {
			if (in_gap(&gaps, last, now)) {
				s.silent += dt;
			} else if (in_service) {
				double each = dt / (double)in_service;

				v += each;
				s.flush += each * (double)flushes;
				s.busy += each * (double)(in_service - flushes);
			} else if (queued) {
				s.held += dt;
			} else {
				s.idle += dt;
			}
			last = now;
		}
		if (i == edge.n || edge.p[i].rq == UINT32_MAX)
			continue;
		queued += (size_t)edge.p[i].queued;
		if (edge.p[i].service) {
			struct piece *p = &piece.p[edge.p[i].rq];

			in_service += (size_t)edge.p[i].service;
			flushes += p->flush ? (size_t)edge.p[i].service : 0;
			if (edge.p[i].service > 0)
				p->v0 = v;
			else
				p->share += v - p->v0;
		}
	}
	for (size_t i = 0; i < piece.n; i++) {
		if (piece.p[i].flush)
			blame_flush(t, rq, n, piece.p[i].rq, piece.p[i].share, &s.flush_bill);
		else
			blame_request(t, piece.p[i].rq, piece.p[i].share, &s.bill);
	}
	vec_done(&edge);
	vec_done(&piece);
	vec_done(&gaps);
	*ret = s;
}

void served_done(struct served *s)
{
	bill_done(&s->bill);
	bill_done(&s->flush_bill);
}

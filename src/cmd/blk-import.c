/* SPDX-License-Identifier: MIT */
#include "cmd/blk-import.h"
#include "analyze/blk.h"
#include "base/cleanup.h"
#include "base/vec.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define WAITS_MAX	((size_t)1 << 20)	/* of one series; above that every second one is dropped */
#define NAMES_MAX	16			/* processes with numbers of their own */

enum { Q2C_READS, Q2C_WRITES, D2C_READS, D2C_WRITES, SERIES };

static const struct { const char *name, *meaning; } series_of[SERIES] = {
	[Q2C_READS] = { "q2c_reads", "a read, from queued to completed" },
	[Q2C_WRITES] = { "q2c_writes", "a write, from queued to completed" },
	[D2C_READS] = { "d2c_reads", "a read at the device" },
	[D2C_WRITES] = { "d2c_writes", "a write at the device" },
};

struct wait {
	uint64_t from, ns;
	uint32_t bytes;
};

struct waits {
	VEC(struct wait) w;
	uint64_t seen, stride;
};

struct gather {
	struct waits s[SERIES];
};

bool blk_import_is_trace(const char *path)
{
	cleanup_close int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct blk_input in;
	uint8_t head[4];
	struct stat st;
	bool swapped;

	if (fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode)) {
		int version = read(fd, head, sizeof(head)) == sizeof(head) ? blk_magic(head, &swapped) : -1;

		return version == 7 || version == 8;
	}
	if (fd >= 0 || !stat(path, &st) || !strcmp(path, "-") || blk_input_open(&path, 1, false, &in, NULL))
		return false;
	blk_input_close(&in);
	return true;
}

static void keep(struct waits *s, uint64_t from, uint64_t to, uint32_t bytes)
{
	if (s->w.n == WAITS_MAX) {
		for (size_t i = 0; i < s->w.n / 2; i++)
			s->w.p[i] = s->w.p[2 * i];
		s->w.n /= 2;
		s->stride *= 2;
	}
	s->stride = MAX(s->stride, (uint64_t)1);
	if (s->seen++ % s->stride == 0)
		vec_push(&s->w, ((struct wait){ from, to - MIN(from, to), bytes }));
}

static void each(void *ctx, const struct blk_done *b)
{
	struct gather *g = ctx;
	bool write = b->kind == BLK_WRITES;

	if (b->kind == BLK_DISCARDS)
		return;
	keep(&g->s[write ? Q2C_WRITES : Q2C_READS], b->queued, b->done, b->bytes);
	if (b->issued)
		keep(&g->s[write ? D2C_WRITES : D2C_READS], b->issued, b->done, b->bytes);
}

static int by_begin(const void *a, const void *b)
{
	const struct wait *x = a, *y = b;

	return x->from != y->from ? (x->from > y->from) - (x->from < y->from) : (x->ns > y->ns) - (x->ns < y->ns);
}

static int give_waits(struct gather *g, const struct import_sink *sink)
{
	int r = 0;

	for (unsigned k = 0; !r && k < SERIES; k++) {
		struct waits *s = &g->s[k];
		int id;

		if (!s->w.n)
			continue;
		qsort(s->w.p, s->w.n, sizeof(*s->w.p), by_begin);
		id = sink->series(sink->ctx, series_of[k].name, series_of[k].meaning, true, 0);
		if (id < 0)
			return id;
		for (size_t i = 0; !r && i < s->w.n; i++)
			r = sink->wait(sink->ctx, id, (nsec_t)s->w.p[i].from, (nsec_t)s->w.p[i].ns, SAMPLE_OK, s->w.p[i].bytes);
		if (!r && s->stride > 1) {
			cleanup_free char *text = mem_printf("%s: every %llu. of %llu waits was kept", series_of[k].name,
							     (unsigned long long)s->stride, (unsigned long long)s->seen);

			r = sink->note(sink->ctx, NOTE_INFO, text);
		}
	}
	return r;
}

struct give {
	const struct import_sink *sink;
	const char *prefix;
	int r;
};

static void number(struct give *g, const char *name, const char *unit, double x, int better)
{
	cleanup_free char *full = mem_printf("%s%s", g->prefix, name);

	if (!g->r)
		g->r = g->sink->number(g->sink->ctx, full, unit, x, better);
}

static void amount(struct give *g, const char *name, const char *bytes_name, struct blk_amount a)
{
	number(g, name, "count", (double)a.n, 0);
	number(g, bytes_name, "bytes", (double)a.bytes, 0);
}

/* Reads and writes as blkparse counts them: discards are writes. (Its flushes among the reads are left out.) */
static struct blk_amount both(const struct blk_amount *a, bool write)
{
	if (!write)
		return a[BLK_READS];
	return (struct blk_amount){ a[BLK_WRITES].n + a[BLK_DISCARDS].n, a[BLK_WRITES].bytes + a[BLK_DISCARDS].bytes };
}

static void device(struct give *g, struct blk_device *d, double seconds)
{
	struct blk_amount rd = both(d->issued, false), wr = both(d->issued, true), rc = both(d->completed, false),
			  wc = both(d->completed, true);

	amount(g, "reads_queued", "reads_queued_bytes", both(d->queued, false));
	amount(g, "writes_queued", "writes_queued_bytes", both(d->queued, true));
	rd.n += d->requeued[BLK_READS];
	wr.n += d->requeued[BLK_WRITES] + d->requeued[BLK_DISCARDS];
	amount(g, "read_dispatches", "read_dispatches_bytes", rd);
	amount(g, "write_dispatches", "write_dispatches_bytes", wr);
	number(g, "reads_requeued", "count", (double)d->requeued[BLK_READS], 0);
	number(g, "writes_requeued", "count", (double)(d->requeued[BLK_WRITES] + d->requeued[BLK_DISCARDS]), 0);
	amount(g, "reads_completed", "reads_completed_bytes", rc);
	amount(g, "writes_completed", "writes_completed_bytes", wc);
	amount(g, "read_merges", "read_merges_bytes", both(d->merged, false));
	amount(g, "write_merges", "write_merges_bytes", both(d->merged, true));
	number(g, "read_depth", "count", d->depth_max[0], 0);
	number(g, "write_depth", "count", d->depth_max[1], 0);
	number(g, "io_unplugs", "count", (double)d->unplugs, 0);
	number(g, "timer_unplugs", "count", (double)d->unplugs_sleep, 0);
	if (seconds > 0) {
		number(g, "read_throughput", "bytes/s", (double)rc.bytes / seconds, 1);
		number(g, "write_throughput", "bytes/s", (double)wc.bytes / seconds, 1);
	}
	if (rd.n)
		number(g, "read_dispatch_mean", "bytes", (double)rd.bytes / (double)rd.n, 0);
	if (wr.n)
		number(g, "write_dispatch_mean", "bytes", (double)wr.bytes / (double)wr.n, 0);
	number(g, "sync_write_bytes", "bytes", (double)d->sync.bytes, 0);
	number(g, "async_write_bytes", "bytes", (double)d->async.bytes, 0);
	number(g, "flushes", "count", (double)d->flush_issued, 0);
	if (d->flush.n)
		number(g, "flush_mean", "s", blk_dist_mean(&d->flush) / 1e9, -1);
}

struct by_name {
	char name[16];
	uint64_t rd, wr;
};

/* Bytes by process name: pids differ from trace to trace. "kworker/u8:4" is one of the kworkers. */
static void processes(struct give *g, const struct blk_trace *t)
{
	VEC(struct by_name) by = { 0 };

	for (size_t i = 0; i < t->nprocs; i++) {
		const struct blk_proc *p = &t->procs[i];
		char name[16] = "unknown";
		size_t k = 0;

		if (p->name[0])
			memcpy(name, p->name, sizeof(name));
		if (!strncmp(name, "kworker/", 8))
			memcpy(name, "kworker", sizeof("kworker"));
		while (k < by.n && strcmp(by.p[k].name, name))
			k++;
		if (k == by.n) {
			if (by.n == NAMES_MAX || !(p->queued[BLK_READS].bytes + p->queued[BLK_WRITES].bytes))
				continue;
			vec_reserve(&by, by.n + 1);
			memset(&by.p[by.n], 0, sizeof(by.p[0]));
			memcpy(by.p[by.n++].name, name, sizeof(name));
		}
		by.p[k].rd += p->queued[BLK_READS].bytes;
		by.p[k].wr += p->queued[BLK_WRITES].bytes;
	}
	for (size_t k = 0; k < by.n; k++) {
		cleanup_free char *rd = mem_printf("%s.read_bytes", by.p[k].name), *wr = mem_printf("%s.write_bytes", by.p[k].name);

		if (by.p[k].rd)
			number(g, rd, "bytes", (double)by.p[k].rd, 0);
		if (by.p[k].wr)
			number(g, wr, "bytes", (double)by.p[k].wr, 0);
	}
	vec_done(&by);
}

static int give_all(const struct blk_trace *t, struct gather *waits, const struct import_sink *sink)
{
	int r = give_waits(waits, sink);

	for (size_t i = 0; !r && i < t->ndevs; i++) {
		struct blk_device *d = &t->devs[i];
		cleanup_free char *name = mem_printf("%u,%u", d->dev >> 20, d->dev & 0xfffff);
		cleanup_free char *prefix = i ? mem_printf("%s.", name) : mem_dup("");
		struct give g = { .sink = sink, .prefix = prefix };

		device(&g, d, t->seconds);
		r = g.r;
		if (!r && !i)
			r = sink->fact(sink->ctx, "device", name);
	}
	if (!r) {
		struct give g = { .sink = sink, .prefix = "" };

		processes(&g, t);
		if (t->seconds > 0)
			number(&g, "trace_seconds", "s", t->seconds, 0);
		r = g.r;
	}
	for (size_t i = 0; !r && i < t->nsaid; i++)
		r = sink->note(sink->ctx, NOTE_WARNING, t->said[i]);
	if (!r && t->ndevs > 1)
		r = sink->note(sink->ctx, NOTE_INFO, "waits of all devices of the trace are in one series");
	return r;
}

int blk_import(const char *path, const struct import_sink *sink, struct err *e)
{
	struct gather waits = { 0 };
	struct blk_filter filter = { .each = each, .ctx = &waits };
	struct blk_trace *t = NULL;
	struct blk_input in;
	int r = blk_input_open(&path, 1, false, &in, e);

	if (r)
		return r;
	r = blk_load(&in, &filter, NULL, &t, e);
	blk_input_close(&in);
	if (!r)
		r = give_all(t, &waits, sink);
	for (unsigned k = 0; k < SERIES; k++)
		vec_done(&waits.s[k].w);
	blk_free(t);
	return r;
}

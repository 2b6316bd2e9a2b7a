/* SPDX-License-Identifier: MIT */
/* The page of a block trace: what a person asks of it, one device after another. */
#include "analyze/blk.h"
#include "base/cleanup.h"
#include "base/mem.h"
#include "base/strbuf.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define SHOWN_PROCS	10	/* on screen; the data has all of them */
#define SHOWN_DEVICES	4

static const char *const kind_keys[BLK_KINDS] = { "reads", "writes", "discards" };

static struct value count(uint64_t n)
{
	return val((double)n, UNIT_COUNT);
}

static struct value bytes(uint64_t n)
{
	return val((double)n, UNIT_BYTES);
}

static struct value share(uint64_t part, uint64_t of)
{
	return of ? val((double)part / (double)of, UNIT_SHARE) : val_null(UNIT_SHARE);
}

static struct value mean_size(const struct blk_amount *a)
{
	return a->n ? val((double)a->bytes / (double)a->n, UNIT_BYTES) : val_null(UNIT_BYTES);
}

static struct value per_s(uint64_t n, double seconds, enum unit u)
{
	return seconds > 0 ? val((double)n / seconds, u) : val_null(u);
}

static struct value quantile(struct blk_dist *d, enum blk_quantile q)
{
	return d->n ? val((double)blk_dist_quantile(d, q) / 1e9, UNIT_SECONDS) : val_null(UNIT_SECONDS);
}

/* Phases below a tenth of a millisecond are everyday here, so they are shown in microseconds up to 1 ms. */
static void how_much(struct node *g, const struct blk_device *d, double seconds)
{
	struct node *t = page_table(g, "amounts", "How much");

	page_column(t, "what", "", 0);
	page_column(t, "queued", "queued", NODE_RIGHT);
	page_column(t, "bytes", "bytes", NODE_RIGHT);
	page_column(t, "mean_queued", "mean", NODE_RIGHT);
	page_column(t, "merged", "merged", NODE_RIGHT);
	page_column(t, "dispatched", "issued", NODE_RIGHT);
	page_column(t, "mean_dispatched", "mean", NODE_RIGHT);
	page_column(t, "throughput", "done", NODE_RIGHT);
	page_column(t, "merged_bytes", "merged bytes", NODE_RIGHT | NODE_JSON_ONLY);
	page_column(t, "dispatched_bytes", "issued bytes", NODE_RIGHT | NODE_JSON_ONLY);
	page_column(t, "completed", "completed", NODE_RIGHT | NODE_JSON_ONLY);
	page_column(t, "completed_bytes", "completed bytes", NODE_RIGHT | NODE_JSON_ONLY);
	page_column(t, "requeued", "requeued", NODE_RIGHT | NODE_JSON_ONLY);
	for (unsigned k = 0; k < BLK_KINDS; k++) {
		struct node *r;

		if (!d->queued[k].n && !d->issued[k].n && !d->completed[k].n)
			continue;
		r = page_row(t);
		page_cell(r, "what", NULL, val_text(kind_keys[k]));
		page_cell(r, "queued", NULL, count(d->queued[k].n));
		page_cell(r, "bytes", NULL, bytes(d->queued[k].bytes));
		page_cell(r, "mean_queued", NULL, mean_size(&d->queued[k]));
		page_cell(r, "merged", NULL, share(d->merged[k].n, d->queued[k].n));
		page_cell(r, "dispatched", NULL, count(d->issued[k].n));
		page_cell(r, "mean_dispatched", NULL, mean_size(&d->issued[k]));
		page_cell(r, "throughput", NULL, per_s(d->completed[k].bytes, seconds, UNIT_BYTES_S));
		page_cell(r, "merged_bytes", NULL, bytes(d->merged[k].bytes));
		page_cell(r, "dispatched_bytes", NULL, bytes(d->issued[k].bytes));
		page_cell(r, "completed", NULL, count(d->completed[k].n));
		page_cell(r, "completed_bytes", NULL, bytes(d->completed[k].bytes));
		page_cell(r, "requeued", NULL, count(d->requeued[k]));
	}
}

static void flags(struct node *g, const struct blk_device *d)
{
	struct node *n = page_flag(page_group(g, "of_these", "Of these"), NODE_INLINE);

	page_cell(n, "sync_writes", "sync writes", count(d->sync.n));
	page_cell(n, "sync_write_bytes", "sync bytes", bytes(d->sync.bytes));
	page_cell(n, "async_write_bytes", "async bytes", bytes(d->async.bytes));
	page_flag(page_cell(n, "async_writes", "async writes", count(d->async.n)), NODE_JSON_ONLY);
	page_cell(n, "readahead_bytes", "readahead", bytes(d->ahead.bytes));
	page_cell(n, "metadata_bytes", "metadata", bytes(d->meta.bytes));
	page_cell(n, "flushes", "flushes", count(d->flush_issued));
	page_flag(page_cell(n, "flushes_queued", "flushes asked for", count(d->flush_queued)), NODE_JSON_ONLY);
	page_cell(n, "fua", "FUA", count(d->fua));
	if (d->passthrough)
		page_cell(n, "passthrough", "passthrough", count(d->passthrough));
	if (d->errors)
		page_flag(page_cell(n, "errors", "errors", count(d->errors)), NODE_WARN);
}

struct latency {
	const char *key, *label;
	struct blk_dist *d;
};

static void how_long(struct node *g, struct blk_device *d)
{
	const struct latency l[] = {
		{ "q2g", "Q2G  until it had a request", &d->phase[BLK_Q2G] },
		{ "g2i", "G2I  until it was inserted", &d->phase[BLK_G2I] },
		{ "q2m", "Q2M  until it was merged", &d->phase[BLK_Q2M] },
		{ "i2d", "I2D  in the scheduler", &d->phase[BLK_I2D] },
		{ "m2d", "M2D  merged, until issued", &d->phase[BLK_M2D] },
		{ "d2c", "D2C  at the device", &d->phase[BLK_D2C] },
		{ "q2c", "Q2C  all of it", &d->phase[BLK_Q2C] },
		{ "q2c_reads", "Q2C  reads", &d->q2c[BLK_READS] },
		{ "q2c_writes", "Q2C  writes", &d->q2c[BLK_WRITES] },
		{ "q2c_discards", "Q2C  discards", &d->q2c[BLK_DISCARDS] },
		{ "d2c_reads", "D2C  reads", &d->d2c[BLK_READS] },
		{ "d2c_writes", "D2C  writes", &d->d2c[BLK_WRITES] },
		{ "flush", "flush, at the device", &d->flush },
		{ "plug", "held back by a plug", &d->plug },
	};
	struct node *t = page_table(g, "latency", "How long");

	page_column(t, "phase", "", 0);
	page_column(t, "n", "n", NODE_RIGHT);
	page_column(t, "median", "half", NODE_RIGHT);
	page_column(t, "p90", "90%", NODE_RIGHT);
	page_column(t, "p99", "99%", NODE_RIGHT);
	page_column(t, "p999", "99.9%", NODE_RIGHT | NODE_JSON_ONLY);
	page_column(t, "worst", "worst", NODE_RIGHT);
	page_column(t, "mean", "mean", NODE_RIGHT | NODE_JSON_ONLY);
	page_column(t, "key", "", NODE_JSON_ONLY);
	for (size_t i = 0; i < ARRAY_SIZE(l); i++) {
		struct node *r;

		if (!l[i].d->n)
			continue;
		r = page_row(t);
		page_cell(r, "phase", NULL, val_text(l[i].label));
		page_cell(r, "n", NULL, count(l[i].d->n));
		page_cell(r, "median", NULL, quantile(l[i].d, BLK_P50));
		page_cell(r, "p90", NULL, quantile(l[i].d, BLK_P90));
		page_cell(r, "p99", NULL, quantile(l[i].d, BLK_P99));
		page_cell(r, "p999", NULL, quantile(l[i].d, BLK_P999));
		page_cell(r, "worst", NULL, val((double)l[i].d->max / 1e9, UNIT_SECONDS));
		page_cell(r, "mean", NULL, val(blk_dist_mean(l[i].d) / 1e9, UNIT_SECONDS));
		page_cell(r, "key", NULL, val_text(l[i].key));
	}
}

static void sizes(struct node *g, struct blk_device *d)
{
	const struct latency l[] = {
		{ "queued_reads", "reads queued", &d->size_queued[0] }, { "issued_reads", "reads issued", &d->size_issued[0] },
		{ "queued_writes", "writes queued", &d->size_queued[1] }, { "issued_writes", "writes issued", &d->size_issued[1] },
	};
	struct node *t = page_table(g, "sizes", "Request sizes, before and after merging");

	page_column(t, "what", "", 0);
	page_column(t, "median", "half", NODE_RIGHT);
	page_column(t, "p90", "90%", NODE_RIGHT);
	page_column(t, "worst", "largest", NODE_RIGHT);
	page_column(t, "mean", "mean", NODE_RIGHT);
	page_column(t, "key", "", NODE_JSON_ONLY);
	for (size_t i = 0; i < ARRAY_SIZE(l); i++) {
		struct node *r;

		if (!l[i].d->n)
			continue;
		r = page_row(t);
		page_cell(r, "what", NULL, val_text(l[i].label));
		page_cell(r, "median", NULL, bytes(blk_dist_quantile(l[i].d, BLK_P50)));
		page_cell(r, "p90", NULL, bytes(blk_dist_quantile(l[i].d, BLK_P90)));
		page_cell(r, "worst", NULL, bytes(l[i].d->max));
		page_cell(r, "mean", NULL, val(blk_dist_mean(l[i].d), UNIT_BYTES));
		page_cell(r, "key", NULL, val_text(l[i].key));
	}
}

static double mean_depth(const struct blk_device *d)
{
	double area = 0, ns = (double)(d->last - d->first);

	for (unsigned i = 0; i < BLK_BINS; i++)
		area += d->bins[i].depth_ns;
	return ns > 0 ? area / ns : 0;
}

static void queue(struct node *g, const struct blk_device *d)
{
	uint64_t u = d->unplugs + d->unplugs_sleep, moves = d->seq + d->near + d->far;
	struct node *n = page_flag(page_group(g, "queue", "Queue"), NODE_INLINE), *p, *s;

	page_cell(n, "mean_depth", "requests at the device on average", val(mean_depth(d), UNIT_NONE));
	page_cell(n, "max_depth_reads", "at most reads", count(d->depth_max[0]));
	page_cell(n, "max_depth_writes", "writes", count(d->depth_max[1]));
	p = page_flag(page_group(g, "plug", "Plug"), NODE_INLINE);
	page_cell(p, "unplugs", "unplugs", count(u));
	page_cell(p, "by_sleep", "because the task went to sleep", share(d->unplugs_sleep, u));
	page_cell(p, "per_unplug", "requests each", u ? val((double)d->unplugged / (double)u, UNIT_NONE) : val_null(UNIT_NONE));
	s = page_flag(page_group(g, "seeks", "Place"), NODE_INLINE);
	page_cell(s, "sequential", "goes on where the last one ended", share(d->seq, moves));
	page_cell(s, "near", "within 1 MiB", share(d->near, moves));
	page_cell(s, "far", "elsewhere", share(d->far, moves));
	page_cell(s, "mean_seek_bytes", "mean distance",
		  d->near + d->far ? val(d->seek_sectors * 512 / (double)(d->near + d->far), UNIT_BYTES) : val_null(UNIT_BYTES));
}

static void over_time(struct node *g, const struct blk_device *d)
{
	unsigned from = (unsigned)(d->first / d->bin_ns), to = (unsigned)(d->last / d->bin_ns), n;
	struct node *t = page_group(g, "over_time", "Over time");
	double x[BLK_BINS], y[4][BLK_BINS], width = (double)d->bin_ns / 1e9;

	to = MIN(to, BLK_BINS - 1u);
	if (from > to)
		return;
	for (n = 0; from + n <= to; n++) {
		const struct blk_bin *b = &d->bins[from + n];

		x[n] = (from + n) * width;
		y[0][n] = (double)b->bytes[BLK_READS] / width;
		y[1][n] = (double)b->bytes[BLK_WRITES] / width;
		y[2][n] = b->depth_ns / (double)d->bin_ns;
		y[3][n] = (double)b->flushes / width;
	}
	page_cell(t, "step", NULL, val(width, UNIT_SECONDS));
	page_series(t, "read", "read   ", x, UNIT_SECONDS, y[0], UNIT_BYTES_S, n);
	page_series(t, "written", "written", x, UNIT_SECONDS, y[1], UNIT_BYTES_S, n);
	page_series(t, "depth", "depth  ", x, UNIT_SECONDS, y[2], UNIT_NONE, n);
	page_series(t, "flushes", "flushes", x, UNIT_SECONDS, y[3], UNIT_PER_S, n);
}

/* Every bio went somewhere, or we say how many did not. */
static void accounts(struct node *g, const struct blk_device *d, uint64_t open)
{
	uint64_t queued = 0, merged = 0;
	struct node *n = page_flag(page_group(g, "accounts", "Accounts"), NODE_DETAIL);

	for (unsigned k = 0; k < BLK_KINDS; k++) {
		queued += d->queued[k].n;
		merged += d->merged[k].n;
	}
	page_cell(n, "queued", "queued", count(queued));
	page_cell(n, "splits", "more pieces by splits", count(d->splits));
	page_cell(n, "merged", "merged", count(merged));
	page_cell(n, "own_request", "got a request", count(d->got_request));
	page_cell(n, "neither", "neither seen", val((double)queued + (double)d->splits - (double)merged - (double)d->got_request,
						    UNIT_COUNT));
	page_cell(n, "open", "under way at the end", count(open));
	page_cell(n, "forgotten", "never completed", count(d->gone));
	page_cell(n, "completed_unknown", "completions of what was not seen", count(d->unmatched_done));
	page_cell(n, "reissued", "issued again", count(d->reissued));
	page_cell(n, "remapped", "remapped", count(d->remapped));
	page_cell(n, "messages", "messages", count(d->messages));
}

static void device(struct node *list, const struct blk_trace *t, size_t i)
{
	struct blk_device *d = &t->devs[i];
	char name[32], label[64];
	struct node *g;

	snprintf(name, sizeof(name), "%u,%u", d->dev >> 20, d->dev & 0xfffff);
	snprintf(label, sizeof(label), "Device %s", name);
	g = page_flag(page_group(list, NULL, label), i >= SHOWN_DEVICES ? NODE_JSON_ONLY : 0);
	page_cell(g, "device", NULL, val_text(name));
	how_much(g, d, t->seconds);
	flags(g, d);
	how_long(g, d);
	sizes(g, d);
	queue(g, d);
	over_time(g, d);
	accounts(g, d, t->open[i]);
}

static void processes(struct node *root, const struct blk_trace *t)
{
	struct node *g = page_table(root, "processes", "By whom");
	size_t n = 0, more = 0;

	page_column(g, "process", "", 0);
	page_column(g, "pid", "pid", NODE_RIGHT);
	page_column(g, "read", "read", NODE_RIGHT);
	page_column(g, "written_sync", "sync", NODE_RIGHT);
	page_column(g, "written_async", "async", NODE_RIGHT);
	page_column(g, "metadata", "meta", NODE_RIGHT);
	page_column(g, "flushes", "flush", NODE_RIGHT);
	page_column(g, "mean_wait", "mean", NODE_RIGHT);
	page_column(g, "worst_wait", "worst", NODE_RIGHT);
	page_column(g, "reads", "reads", NODE_JSON_ONLY);
	page_column(g, "readahead", "readahead", NODE_JSON_ONLY);
	page_column(g, "writes", "writes", NODE_JSON_ONLY);
	page_column(g, "written", "written", NODE_JSON_ONLY);
	page_column(g, "discarded", "discarded", NODE_JSON_ONLY);
	page_column(g, "merges", "merges", NODE_JSON_ONLY);
	for (size_t i = 0; i < t->nprocs; i++) {
		const struct blk_proc *p = &t->procs[i];
		struct node *r;

		if (!p->queued[BLK_READS].n && !p->queued[BLK_WRITES].n && !p->queued[BLK_DISCARDS].n && !p->flushes)
			continue;
		r = page_flag(page_row(g), n++ >= SHOWN_PROCS ? NODE_JSON_ONLY : 0);
		more += n > SHOWN_PROCS;
		page_cell(r, "process", NULL, val_text(p->name[0] ? p->name : "(no name)"));
		page_cell(r, "pid", NULL, count(p->pid));
		page_cell(r, "read", NULL, bytes(p->queued[BLK_READS].bytes));
		page_cell(r, "written_sync", NULL, bytes(p->sync.bytes));
		page_cell(r, "written_async", NULL, bytes(p->async.bytes));
		page_cell(r, "metadata", NULL, bytes(p->meta.bytes));
		page_cell(r, "flushes", NULL, count(p->flushes));
		page_cell(r, "mean_wait", NULL, p->waits ? val(p->wait_sum / (double)p->waits / 1e9, UNIT_SECONDS) : val_null(UNIT_SECONDS));
		page_cell(r, "worst_wait", NULL, p->waits ? val((double)p->wait_max / 1e9, UNIT_SECONDS) : val_null(UNIT_SECONDS));
		page_cell(r, "reads", NULL, count(p->queued[BLK_READS].n));
		page_cell(r, "readahead", NULL, bytes(p->ahead.bytes));
		page_cell(r, "writes", NULL, count(p->queued[BLK_WRITES].n));
		page_cell(r, "written", NULL, bytes(p->queued[BLK_WRITES].bytes));
		page_cell(r, "discarded", NULL, bytes(p->queued[BLK_DISCARDS].bytes));
		page_cell(r, "merges", NULL, count(p->merges));
	}
	if (more)
		page_text(root, "%zu more processes are in --json.", more);
	for (size_t i = 0; i < t->nprocs; i++)
		if (!strncmp(t->procs[i].name, "kworker", 7) && t->procs[i].async.bytes) {
			page_text(root, "What kworker writes was dirtied by others before; a block trace does not say by whom.");
			break;
		}
}

struct page *blk_page(const struct blk_trace *t)
{
	struct page *p = page_new("stallmark.blk/1");
	struct node *g, *l;
	char name[512];

	snprintf(name, sizeof(name), "Trace %s", t->name);
	g = page_flag(page_group(p->root, "trace", name), NODE_INLINE);
	page_flag(page_cell(g, "name", NULL, val_text(t->name)), NODE_JSON_ONLY);
	page_cell(g, "records", "records", count(t->seen.records));
	page_cell(g, "seconds", "long", val(t->seconds, UNIT_SECONDS));
	page_flag(page_cell(g, "bytes", "bytes of trace", bytes(t->seen.bytes)), NODE_JSON_ONLY);
	page_flag(page_cell(g, "lost", "lost", count(t->seen.lost)), t->seen.lost ? NODE_WARN : NODE_JSON_ONLY);
	page_flag(page_cell(g, "skipped_bytes", "skipped bytes", count(t->seen.skipped_bytes)), NODE_JSON_ONLY);
	page_flag(page_cell(g, "exact_quantiles", NULL, val_bool(t->exact)), NODE_JSON_ONLY);
	page_flag(page_cell(g, "started", "started",
			    t->seen.wall ? val((double)t->seen.wall / 1e9, UNIT_NONE) : val_null(UNIT_NONE)), NODE_JSON_ONLY);
	l = page_list(p->root, "notes", NULL);
	for (size_t i = 0; i < t->nsaid; i++)
		page_flag(page_cell(l, NULL, "note", val_text(t->said[i])), NODE_WARN);
	processes(p->root, t);
	l = page_list(p->root, "devices", NULL);
	for (size_t i = 0; i < t->ndevs; i++)
		device(l, t, i);
	if (t->ndevs > SHOWN_DEVICES)
		page_text(p->root, "%zu more devices are in --json.", t->ndevs - SHOWN_DEVICES);
	return p;
}

/* SPDX-License-Identifier: MIT */
#include "analyze/blk-blkparse.h"

#include <inttypes.h>
#include <locale.h>
#include <stdio.h>

#define NUM 48

/* Above 1,000,000 the next suffix, in steps of 1000 also for KiB; there is no T. */
static const char *sized(char *buf, uint64_t n, unsigned i)
{
	static const char suffix[] = { '\0', 'K', 'M', 'G', 'P' };

	while (n > 1000000 && i < sizeof(suffix) - 1) {
		i++;
		n /= 1000;
	}
	snprintf(buf, NUM, "%'8" PRIu64 "%c", n, suffix[i]);
	return buf;
}

static const char *count(char *buf, uint64_t n)
{
	return sized(buf, n, 0);
}

static const char *size(char *buf, uint64_t kib, uint64_t b)
{
	return sized(buf, kib + (b >> 10), 1);
}

/* "LEFT COUNT, SIZEiB\tRIGHT COUNT, SIZEiB": one line for reads and writes. */
static void line(struct strbuf *out, const char *left, const char *right, const struct blk_cell v[2])
{
	char x[NUM], y[NUM];

	for (unsigned w = 0; w < 2; w++)
		strbuf_addf(out, "%s%s, %siB%s", w ? right : left, count(x, v[w].n), size(y, v[w].kib, v[w].b),
			    w ? "\n" : "\t");
}

static void counts(struct strbuf *out, const char *left, const char *right, uint64_t reads, uint64_t writes)
{
	char x[NUM];

	strbuf_addf(out, "%s%s\t\t", left, count(x, reads));
	strbuf_addf(out, "%s%s\n", right, count(x, writes));
}

static struct blk_cell plus(struct blk_cell a, const struct blk_cell *b)
{
	return (struct blk_cell){ a.n + b->n, a.kib + b->kib, a.b + b->b };
}

/* Bytes of requeued requests are taken off the dispatches, their number is not. */
static struct blk_cell dispatched(const struct blk_cells *c, bool pc, bool w)
{
	const struct blk_cell *d = blk_cell(c, BLK_D, pc, w), *r = blk_cell(c, BLK_R, pc, w);

	return (struct blk_cell){ d->n, d->kib - r->kib, d->b - r->b };
}

static void pc_lines(struct strbuf *out, const struct blk_cells *c)
{
	struct blk_cell q[2], d[2];
	uint64_t any = 0;

	for (unsigned w = 0; w < 2; w++) {
		q[w] = *blk_cell(c, BLK_Q, true, w);
		d[w] = dispatched(c, true, w);
		any |= q[w].n | d[w].n | blk_cell(c, BLK_R, true, w)->n | blk_cell(c, BLK_C, true, w)->n;
	}
	if (!any)
		return;
	q[0].kib = 0;	/* blkparse adds them to "Reads Queued" instead */
	line(out, " PC Reads Queued: ", " PC Writes Queued: ", q);
	line(out, " PC Read Disp.:   ", " PC Write Disp.:   ", d);
	counts(out, " PC Reads Req.:   ", " PC Writes Req.:   ", blk_cell(c, BLK_R, true, false)->n,
	       blk_cell(c, BLK_R, true, true)->n);
	counts(out, " PC Reads Compl.: ", " PC Writes Compl.: ", blk_cell(c, BLK_C, true, false)->n,
	       blk_cell(c, BLK_C, true, true)->n);
}

/* depth: NULL where blkparse prints none (Total, processes). */
static void block(struct strbuf *out, const struct blk_cells *c, const struct blk_depth *depth)
{
	struct blk_cell q[2], d[2], done[2], m[2];

	for (unsigned w = 0; w < 2; w++) {
		q[w] = *blk_cell(c, BLK_Q, false, w);
		d[w] = dispatched(c, false, w);
		done[w] = *blk_cell(c, BLK_C, false, w);
		m[w] = plus(*blk_cell(c, BLK_M, false, w), blk_cell(c, BLK_F, false, w));
	}
	q[0].kib += blk_cell(c, BLK_Q, true, false)->kib;
	line(out, " Reads Queued:    ", " Writes Queued:    ", q);
	line(out, " Read Dispatches: ", " Write Dispatches: ", d);
	counts(out, " Reads Requeued:  ", " Writes Requeued:  ", blk_cell(c, BLK_R, false, false)->n,
	       blk_cell(c, BLK_R, false, true)->n);
	line(out, " Reads Completed: ", " Writes Completed: ", done);
	line(out, " Read Merges:     ", " Write Merges:     ", m);
	if (depth)
		strbuf_addf(out, " Read depth:      %'8u%8c\t Write depth:      %'8u\n",
			    (unsigned)blk_depth_max(&depth[0]), ' ', (unsigned)blk_depth_max(&depth[1]));
	pc_lines(out, c);
	strbuf_addf(out, " IO unplugs:      %'8" PRIu64 "%8c\t Timer unplugs:    %'8" PRIu64 "\n",
		    plus(*blk_cell(c, BLK_U, false, false), blk_cell(c, BLK_U, false, true)).n, ' ',
		    plus(*blk_cell(c, BLK_UT, false, false), blk_cell(c, BLK_UT, false, true)).n);
}

/* The waits of a process: blkparse fills them only with -t, so here they are what it prints without: 0. */
static void waits(struct strbuf *out)
{
	static const char *const what[] = { "Allocation wait:", "Dispatch wait:  ", "Completion wait:" };
	static const char *const then[] = { "Allocation wait: ", "Dispatch wait:   ", "Completion wait: " };

	for (unsigned i = 0; i < 3; i++)
		strbuf_addf(out, " %s %'8lu%8c\t %s %'8lu\n", what[i], 0ul, ' ', then[i], 0ul);
}

static void processes(const struct blk_totals *t, struct strbuf *out)
{
	for (size_t i = 0; i < t->npids; i++) {
		strbuf_addf(out, "%s (%u)\n", t->pids[i].name, t->pids[i].pid);
		block(out, &t->pids[i].cells, NULL);
		waits(out);
	}
	strbuf_addc(out, '\n');
}

static void device(const struct blk_set_totals *s, struct strbuf *out)
{
	struct blk_cells total = { 0 };
	uint64_t ms = (s->last - s->first) / 1000000, rate[2] = { 0 };
	char head[47];
	double lost;

	for (unsigned c = 0; c < s->ncpus; c++) {
		const struct blk_cells *cells = &s->cpus[c].cells;

		snprintf(head, sizeof(head), "CPU%d (%.31s):", s->cpus[c].cpu, s->name);
		strbuf_addf(out, "%s\n", head);
		block(out, cells, s->depth);
		for (unsigned i = 0; i < BLK_CELL_ACTS * 4; i++)
			total.c[i] = plus(total.c[i], &cells->c[i]);
	}
	if (s->ncpus > 1) {
		snprintf(head, sizeof(head), "Total (%.31s):", s->name);
		strbuf_addf(out, "\n%s\n", head);
		block(out, &total, NULL);
	}
	for (unsigned w = 0; ms && w < 2; w++)	/* the rest in bytes is added as if it were thousandths of a KiB */
		rate[w] = (1000 * blk_cell(&total, BLK_C, false, w)->kib + blk_cell(&total, BLK_C, false, w)->b) / ms;
	strbuf_addf(out, "\nThroughput (R/W): %'" PRIu64 "KiB/s / %'" PRIu64 "KiB/s\n", rate[0], rate[1]);
	strbuf_addf(out, "Events (%.47s): %'" PRIu64 " entries\n", s->name, s->events);
	lost = s->skips || s->events ? 100.0 * ((double)s->skipped / (double)(s->events + s->skipped)) : 0.0;
	strbuf_addf(out, "Skips: %'" PRIu64 " forward (%'" PRIu64 " - %5.1f%%)\n", s->skips, s->skipped, lost);
}

void blk_blkparse_text(const struct blk_totals *t, bool by_pid, struct strbuf *out)
{
	locale_t grouped = newlocale(LC_NUMERIC_MASK, "en_US", NULL), before = (locale_t)0;

	if (grouped)
		before = uselocale(grouped);
	if (by_pid)
		processes(t, out);
	for (unsigned s = 0; s < t->nsets; s++) {
		if (s)
			strbuf_addc(out, '\n');
		device(&t->sets[s], out);
	}
	if (t->driver_data)
		strbuf_adds(out, "\ndiscarded traces containing low-level device driver "
				 "specific data (only available in binary output)\n");
	if (grouped) {
		uselocale(before);
		freelocale(grouped);
	}
}

void blk_blkparse_notes(const struct blk_totals *t, struct strbuf *out)
{
	uint64_t flagged = 0, flushes = 0, pc_kib = 0, sub_kib = 0;

	for (unsigned s = 0; s < t->nsets; s++) {
		for (unsigned c = 0; c < t->sets[s].ncpus; c++) {
			const struct blk_cells *cells = &t->sets[s].cpus[c].cells;

			flagged += cells->flagged;
			flushes += cells->empty_reads;
			pc_kib += blk_cell(cells, BLK_Q, true, false)->kib;
			sub_kib += blk_cell(cells, BLK_C, false, false)->b + blk_cell(cells, BLK_C, false, true)->b;
		}
	}
	if (t->wrong_cpu)
		strbuf_addf(out, "%" PRIu64 " records of another CPU than their file's were dropped, as blkparse does\n",
			    t->wrong_cpu);
	if (t->bad_files)
		strbuf_addf(out, "%" PRIu64 " files ended at a record that blkparse cannot read\n", t->bad_files);
	if (flagged)
		strbuf_addf(out, "%" PRIu64 " records with a cgroup id count as events only, as in blkparse 1.2.0; "
			    "without --blkparse they count\n", flagged);
	if (flushes)
		strbuf_addf(out, "%" PRIu64 " dispatched flushes are among the reads, as in blkparse\n", flushes);
	if (pc_kib)
		strbuf_addf(out, "%" PRIu64 " KiB of passthrough reads are in 'Reads Queued', as in blkparse\n", pc_kib);
	if (sub_kib)
		strbuf_adds(out, "the throughput takes bytes below a KiB for thousandths of it, as in blkparse\n");
}

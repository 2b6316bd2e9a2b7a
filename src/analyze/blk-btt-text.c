/* SPDX-License-Identifier: MIT */
#include "analyze/blk-btt-state.h"
#include "analyze/blk-btt.h"
#include "base/cleanup.h"

#include <inttypes.h>
#include <stdio.h>

#define DEV 24

static const char *dev_text(const struct btt_dev *d, char buf[DEV])
{
	char all[40];

	snprintf(all, sizeof(all), "(%3u,%3u)", d->dev >> 20, d->dev & 0xfffff);
	snprintf(buf, 15, "%s", all);		/* it has 15 bytes for it */
	return buf;
}

static void section(struct strbuf *out, const char *title)
{
	strbuf_addf(out, "==================== %s ====================\n\n", title);
}

static void all_devices(const struct blk_btt *b, struct strbuf *out)
{
	static const char *const names[BTT_PHASES] = { "Q2Qdm", "Q2Adm", "Q2Cdm", "Q2Q", "Q2A", "Q2G", "S2G", "G2I", "Q2M",
						       "I2D", "M2D", "D2C", "Q2C" };

	section(out, "All Devices");
	strbuf_addf(out, "%15s %13s %13s %13s %11s\n", "ALL", "MIN", "AVG", "MAX", "N");
	strbuf_adds(out, "--------------- ------------- ------------- ------------- -----------\n");
	for (unsigned p = 0; p < BTT_PHASES; p++) {
		const struct btt_avg *a = &b->avg[p];

		if (p == BTT_Q2Q)
			strbuf_addc(out, '\n');
		if (a->n > 0)
			strbuf_addf(out, "%-15s %13.9f %13.9f %13.9f %11d\n", names[p], btt_time(a->min),
				    btt_time(a->total) / (double)a->n, btt_time(a->max), a->n);
	}
	strbuf_addc(out, '\n');
}

static void overhead(const struct blk_btt *b, struct strbuf *out)
{
	static const enum btt_phase phases[] = { BTT_Q2G, BTT_G2I, BTT_Q2M, BTT_I2D, BTT_D2C };
	uint64_t total[ARRAY_SIZE(phases)] = { 0 }, q2c = 0;
	int n[ARRAY_SIZE(phases)] = { 0 }, any = 0;
	char buf[DEV];

	section(out, "Device Overhead");
	strbuf_addf(out, "%10s | %9s %9s %9s %9s %9s\n", "DEV", "Q2G", "G2I", "Q2M", "I2D", "D2C");
	strbuf_adds(out, "---------- | --------- --------- --------- --------- ---------\n");
	for (size_t i = 0; i < b->devs.n; i++) {
		const struct btt_dev *d = b->devs.p[i];

		if (d->avg[BTT_Q2C].n <= 0 || !d->avg[BTT_Q2C].total)
			continue;
		strbuf_addf(out, "%10s |", dev_text(d, buf));
		for (unsigned k = 0; k < ARRAY_SIZE(phases); k++) {
			strbuf_addf(out, " %8.4f%%", 100.0 * (double)d->avg[phases[k]].total / (double)d->avg[BTT_Q2C].total);
			total[k] += d->avg[phases[k]].total;
			any += d->avg[phases[k]].n;
			n[k] += d->avg[phases[k]].n;
		}
		strbuf_addc(out, '\n');
		q2c += d->avg[BTT_Q2C].total;
	}
	if (any) {
		strbuf_adds(out, "---------- | --------- --------- --------- --------- ---------\n");
		strbuf_addf(out, "%10s |", "Overall");
		for (unsigned k = 0; k < ARRAY_SIZE(phases); k++)
			strbuf_addf(out, " %8.4f%%", n[k] ? 100.0 * ((double)total[k] / (double)q2c) : 0.0);
		strbuf_addc(out, '\n');
	}
	strbuf_addc(out, '\n');
}

static void merge_head(struct strbuf *out)
{
	strbuf_addf(out, "%10s | %8s %8s %7s | %8s %8s %8s %8s\n", "DEV", "#Q", "#D", "Ratio", "BLKmin", "BLKavg", "BLKmax", "Total");
}

static const char merge_rule[] = "---------- | -------- -------- ------- | -------- -------- -------- --------\n";

static void merge(struct blk_btt *b, struct strbuf *out)
{
	unsigned long long nq = 0, nd = 0, min = 0, max = 0, total = 0;
	unsigned n = 0;
	char buf[DEV];

	section(out, "Device Merge Information");
	merge_head(out);
	strbuf_adds(out, merge_rule);
	for (size_t i = 0; i < b->devs.n; i++) {
		struct btt_dev *d = b->devs.p[i];
		unsigned long long avg;

		if (!d->n_qs || !d->n_ds)
			continue;
		d->n_qs = MAX(d->n_qs, d->n_ds);
		avg = (unsigned long long)((double)d->blocks.total / (double)d->n_ds);
		strbuf_addf(out, "%10s | %8llu %8llu %7.1f | %8llu %8llu %8llu %8llu\n", dev_text(d, buf),
			    (unsigned long long)d->n_qs, (unsigned long long)d->n_ds, (double)d->n_qs / (double)d->n_ds,
			    (unsigned long long)d->blocks.min, avg, (unsigned long long)d->blocks.max,
			    (unsigned long long)d->blocks.total);
		min = n && min < d->blocks.min ? min : d->blocks.min;
		max = n && max > d->blocks.max ? max : d->blocks.max;
		n++;
		nq += d->n_qs;
		nd += d->n_ds;
		total += d->blocks.total;
	}
	if (n > 1) {
		strbuf_adds(out, merge_rule);
		merge_head(out);
		strbuf_addf(out, "%10s | %8llu %8llu %7.1f | %8llu %8llu %8llu %8llu\n", "TOTAL", nq, nd, (double)((float)nq / (float)nd),
			    min, total / nd, max, total);
	}
	strbuf_addc(out, '\n');
}

/* ---- seeks ---- */

/* btt's "median": the first node from the root down that alone has half of all seeks, 0 if none has. */
static bool median(const struct blk_tree *t, uint32_t at, long long target, long long *ret)
{
	if (!at)
		return false;
	if ((long long)t->n[at].value >= target) {
		*ret = (long long)t->n[at].key;
		return true;
	}
	return median(t, t->n[at].left, target, ret) || median(t, t->n[at].right, target, ret);
}

typedef VEC(long long) modes;

static void mode(const struct blk_tree *t, uint32_t at, modes *m, uint32_t *most)
{
	if (!at)
		return;
	mode(t, t->n[at].left, m, most);
	mode(t, t->n[at].right, m, most);
	if (m->n && t->n[at].value < *most)
		return;
	if (t->n[at].value > *most)
		m->n = 0;
	*most = t->n[at].value;
	vec_push(m, (long long)t->n[at].key);
}

struct seek_mode {
	long long mode;
	int n;
};

static void seek_head(struct strbuf *out, const char *first)
{
	strbuf_addf(out, "%10s | %15s %15s %15s | %-15s\n", first, "NSEEKS", "MEAN", "MEDIAN", "MODE");
}

static const char seek_rule[] = "---------- | --------------- --------------- --------------- | ---------------\n";

static void seeks(const struct blk_btt *b, bool by_queue, struct strbuf *out)
{
	VEC(struct seek_mode) all = { 0 };
	long long total = 0, median_sum = 0;
	double mean_sum = 0;
	int top = 0, more = 0;
	size_t best = 0;
	char buf[DEV];

	section(out, by_queue ? "Device Q2Q Seek Information" : "Device D2D Seek Information");
	seek_head(out, "DEV");
	strbuf_adds(out, seek_rule);
	for (size_t i = 0; i < b->devs.n; i++) {
		const struct btt_dev *d = b->devs.p[i];
		const struct btt_seeks *s = by_queue ? &d->q2q : &d->d2d;
		double mean = s->n ? s->sectors / (double)s->n : 0;
		long long mid = 0;
		uint32_t most = 0;
		modes m = { 0 };

		if (!s->n)
			continue;
		median(&s->distances, s->distances.root, s->n / 2, &mid);
		mode(&s->distances, s->distances.root, &m, &most);
		strbuf_addf(out, "%10s | %15lld %15.1f %15lld | %lld(%d)", dev_text(d, buf), s->n, mean, mid, m.p[0], (int)most);
		if (m.n > 2) {
			strbuf_addf(out, "\n%10s   %15s %15s %15s   ...(%d more)\n", "", "", "", "", (int)m.n - 1);
		} else {
			if (m.n == 2)
				strbuf_addf(out, " %lld", m.p[1]);
			strbuf_addc(out, '\n');
		}
		total += s->n;
		mean_sum += (double)s->n * mean;
		median_sum = (long long)((unsigned long long)median_sum + (unsigned long long)s->n * (unsigned long long)mid);
		for (size_t k = 0; k < m.n; k++) {
			size_t j = 0;

			while (b->devs.n > 1 && j < all.n && all.p[j].mode != m.p[k])
				j++;
			if (b->devs.n > 1 && j < all.n)
				all.p[j].n += (int)most;
			else
				vec_push(&all, ((struct seek_mode){ m.p[k], (int)most }));
		}
		vec_done(&m);
	}
	if (total) {
		/* It walks its list from the newest on; among equals the last one walked, the oldest, is shown. */
		for (size_t k = all.n; k-- > 0;) {
			if (all.p[k].n > top) {
				top = all.p[k].n;
				more = 0;
				best = k;
			} else if (all.p[k].n == top) {
				more++;
				best = k;
			}
		}
		strbuf_adds(out, seek_rule);
		seek_head(out, "Overall");
		strbuf_addf(out, "%10s | %15lld %15.1f %15lld | %lld(%d)", "Average", total, mean_sum / (double)total,
			    median_sum / total, all.p[best].mode, all.p[best].n);
		if (more)
			strbuf_addf(out, "\n%10s   %15s %15s %15s   ...(%d more)\n", "", "", "", "", more);
		strbuf_addc(out, '\n');
	}
	strbuf_addc(out, '\n');
	vec_done(&all);
}

/* ---- plugs, depth, activity ---- */

static void plugs(struct blk_btt *b, struct strbuf *out)
{
	long n_unplugs = 0, n_timer = 0;
	uint64_t with = 0, with_timer = 0, ios = 0, ios_timer = 0;
	double share = 0;
	int n = 0;
	char buf[DEV];

	section(out, "Plug Information");
	strbuf_addf(out, "%10s | %10s %10s  | %s\n", "DEV", "# Plugs", "# Timer Us", "% Time Q Plugged");
	strbuf_adds(out, "---------- | ---------- ----------  | ----------------\n");
	for (size_t i = 0; i < b->devs.n; i++) {
		struct btt_dev *d = b->devs.p[i];
		double pct;

		if (d->plugged) {	/* until the end */
			d->plugged = false;
			d->n_unplugs++;
			d->plugged_time += d->end_time - d->last_plug;
		}
		if (d->n_unplugs + d->n_timer <= 0)
			continue;
		pct = 100.0 * (d->plugged_time / (d->end_time - d->start_time));
		strbuf_addf(out, "%10s | %10d(%10d) | %13.9f%%\n", dev_text(d, buf), d->n_unplugs, d->n_timer, pct);
		n++;
		n_unplugs += d->n_unplugs;
		n_timer += d->n_timer;
		share += pct;
	}
	if (n > 1) {
		strbuf_adds(out, "---------- | ---------- ----------  | ----------------\n");
		strbuf_addf(out, "%10s | %10s %10s  | %s\n", "Overall", "# Plugs", "# Timer Us", "% Time Q Plugged");
		strbuf_addf(out, "%10s | %10ld(%10ld) | %13.9f%%\n", "Average", n_unplugs / n, n_timer / n, share / n);
	}
	strbuf_addf(out, "\n%10s | %10s   %10s\n", "DEV", "IOs/Unp", "IOs/Unp(to)");
	strbuf_adds(out, "---------- | ----------   ----------\n");
	for (size_t i = 0; i < b->devs.n; i++) {
		const struct btt_dev *d = b->devs.p[i];
		double each = 0, each_timer = 0;

		if (d->ios_unplugged && d->n_unplugs) {
			each = (double)d->ios_unplugged / (double)d->n_unplugs;
			with += (uint64_t)d->n_unplugs;
			ios += d->ios_unplugged;
		}
		if (d->ios_timer && d->n_timer) {
			each_timer = (double)d->ios_timer / (double)d->n_timer;
			with_timer += (uint64_t)d->n_timer;
			ios_timer += d->ios_timer;
		}
		strbuf_addf(out, "%10s | %10.1f   %10.1f\n", dev_text(d, buf), each, each_timer);
	}
	if (with || with_timer) {
		strbuf_adds(out, "---------- | ----------   ----------\n");
		strbuf_addf(out, "%10s | %10s   %10s\n", "Overall", "IOs/Unp", "IOs/Unp(to)");
		strbuf_addf(out, "%10s | %10.1f   %10.1f\n", "Average", with ? (double)ios / (double)with : 0.0,
			    with_timer ? (double)ios_timer / (double)with_timer : 0.0);
	}
	strbuf_addc(out, '\n');
}

static void active(const struct blk_btt *b, struct strbuf *out)
{
	uint64_t qs = 0, sum = 0;
	int n = 0;
	char buf[DEV];

	section(out, "Active Requests At Q Information");
	strbuf_addf(out, "%10s | %13s\n", "DEV", "Avg Reqs @ Q");
	strbuf_adds(out, "---------- | -------------\n");
	for (size_t i = 0; i < b->devs.n; i++) {
		const struct btt_dev *d = b->devs.p[i];

		if (!d->n_qs || d->remapper)
			continue;
		strbuf_addf(out, "%10s | %13.1f\n", dev_text(d, buf), (double)d->act_sum / (double)d->n_qs);
		n++;
		qs += d->n_qs;
		sum += d->act_sum;
	}
	if (n > 1) {
		strbuf_adds(out, "---------- | -------------\n");
		strbuf_addf(out, "%10s | %13s\n", "Overall", "Avgs Reqs @ Q");
		strbuf_addf(out, "%10s | %13.1f\n", "Average", (double)sum / (double)qs);
	}
	strbuf_addc(out, '\n');
}

static void lives(struct strbuf *out, const char *title, const btt_lives *v)
{
	double all = v->n ? btt_time(v->p[v->n - 1].to) : 0, on, avg_on = 0, avg_off = 0, share = 0;
	uint64_t sum = 0;

	for (size_t i = 0; i < v->n; i++)
		sum += v->p[i].to - v->p[i].from;
	on = btt_time(sum);
	if (v->n == 1)
		share = 100.0;
	if (v->n > 1) {
		share = 100.0 * (on / all);
		avg_on = on / (double)v->n;
		avg_off = (all - on) / (double)(v->n - 1);
	}
	strbuf_addf(out, "%10s | %10lu %13.9f %13.9f %6.2f\n", title, (unsigned long)v->n, avg_on, avg_off, share);
}

static void activity(const struct blk_btt *b, struct strbuf *out)
{
	static const char rule[] = "---------- | ---------- ------------- ------------- ------\n";
	char buf[DEV];

	section(out, "I/O Active Period Information");
	strbuf_addf(out, "%10s | %10s %13s %13s %6s\n", "DEV", "# Live", "Avg. Act", "Avg. !Act", "% Live");
	strbuf_adds(out, rule);
	for (size_t i = 0; i < b->devs.n; i++)
		lives(out, dev_text(b->devs.p[i], buf), &b->devs.p[i]->live);
	strbuf_adds(out, rule);
	lives(out, "Total Sys", &b->live);
	strbuf_addc(out, '\n');
}

void blk_btt_text(struct blk_btt *b, struct strbuf *out)
{
	all_devices(b, out);
	overhead(b, out);
	merge(b, out);
	seeks(b, true, out);
	seeks(b, false, out);
	plugs(b, out);
	active(b, out);
	activity(b, out);
}

void blk_btt_notes(const struct blk_btt *b, struct strbuf *out)
{
	bool remapper = false, wrong = false;

	for (size_t i = 0; i < b->devs.n; i++) {
		remapper |= b->devs.p[i]->remapper;
		wrong |= b->devs.p[i]->q2q.n > 0 || b->devs.p[i]->d2d.n > 0;
	}
	if (wrong)
		strbuf_adds(out, "MEDIAN is btt's: 0 unless one distance alone makes up half of all seeks\n");
	if (b->flushes)
		strbuf_addf(out, "%" PRIu64 " flushes have no bytes: btt leaves them out; stallmark blk times them\n", b->flushes);
	if (b->passthrough)
		strbuf_addf(out, "%" PRIu64 " passthrough records are left out, as in btt\n", b->passthrough);
	if (b->flagged)
		strbuf_addf(out, "%" PRIu64 " records with a cgroup id are left out, as in btt\n", b->flagged);
	if (b->replaced)
		strbuf_addf(out, "%" PRIu64 " bios were queued at the sector of one under way: btt forgets the first\n", b->replaced);
	if (remapper)
		strbuf_adds(out, "majors 9, 253 and 254 are taken for md and dm, as in btt: virtio and zram disks appear as Q2Qdm, Q2Cdm\n");
}

/* SPDX-License-Identifier: MIT */
/* What may be wrong with the numbers: checks, and what the run noted. */
#include "analyze/show.h"
#include "base/cleanup.h"
#include "base/mem.h"
#include "base/units.h"
#include "base/vec.h"
#include "stats/drift.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- checks ---- */

struct checks {
	struct show *s;
	struct node *table, *bad;
	struct strbuf good;
};

static void check(struct checks *c, const char *name, bool ok, const char *fmt, ...) __attribute__((format(printf, 4, 5)));

static void check(struct checks *c, const char *name, bool ok, const char *fmt, ...)
{
	struct node *row = page_row(c->table);
	cleanup_strbuf struct strbuf text = STRBUF_INIT;
	va_list ap;

	va_start(ap, fmt);
	strbuf_vaddf(&text, fmt, ap);
	va_end(ap);
	page_cell(row, "name", NULL, val_text(name));
	page_cell(row, "ok", NULL, val_bool(ok));
	page_cell(row, "text", NULL, val_text(strbuf_str(&text)));
	if (ok && !strstr(strbuf_str(&c->good), name))
		strbuf_addf(&c->good, "%s%s ok", c->good.len ? " | " : "", name);
	else if (!ok)
		page_flag(page_text(c->bad, "%s: %s", name, strbuf_str(&text)), NODE_WARN);
}

static int note_checks(void *ctx, int run, enum note_kind kind, nsec_t t, const char *key, const char *text)
{
	struct checks *c = ctx;

	(void)t;
	if (kind != NOTE_CHECK_OK && kind != NOTE_CHECK_FAILED)
		return 0;
	/* one line for many good runs */
	if (kind == NOTE_CHECK_OK && run != c->s->runs[0].r.id)
		return 0;
	check(c, key, kind == NOTE_CHECK_OK, "%s", text);
	return 0;
}

static int sum_loads(void *ctx, const struct rec_series *series)
{
	VEC(int) *ids = ctx;
	const char *dot = strrchr(series->name, '.');

	if (series->kind == SERIES_COUNTER && series->group && !strcmp(series->group, "load") && dot &&
	    (!strcmp(dot, ".written") || !strcmp(dot, ".read")))
		vec_push(ids, series->id);
	return 0;
}

static double mean(const double *x, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += x[i];
	return n ? sum / (double)n : 0;
}

/* The load's own throughput in the measured window: a step is either burst credit used up, or another load. */
static void load_steady(struct checks *c)
{
	VEC(int) ids = { 0 };
	bool all_ok = true, any = false;

	rec_series_each(c->s->rec, sum_loads, &ids);
	for (size_t i = 0; i < c->s->nruns && ids.n; i++) {
		const struct rec_run *r = &c->s->runs[i].r;
		size_t n = (size_t)(MAX(r->measure_t1 - r->measure_t0, 0) / NSEC_PER_SEC);
		double *rate = mem_array(n + 1, sizeof(*rate));
		nsec_t *x = mem_array(n + 1, sizeof(*x));
		struct drift d = { 0 };

		for (size_t k = 0; k < ids.n; k++) {
			struct show_points p = { 0 };

			rec_counter_each(c->s->rec, r->id, ids.p[k], show_take_points, &p, NULL);
			for (size_t j = 0; j < n; j++)
				rate[j] += show_total_of(&p, r->measure_t0 + (nsec_t)j * NSEC_PER_SEC,
						    r->measure_t0 + (nsec_t)(j + 1) * NSEC_PER_SEC);
			show_points_done(&p);
		}
		for (size_t j = 0; j < n; j++)
			x[j] = (nsec_t)rate[j];
		if (n >= 10) {
			any = true;
			drift_of(x, n, &d);
		}
		if (d.noticed && d.at > 0 && d.at < n) {
			double before = mean(rate, d.at), after = mean(rate + d.at, n - d.at);
			cleanup_strbuf struct strbuf when = STRBUF_INIT;
			char a[UNITS_TEXT], b[UNITS_TEXT];

			show_when(c->s, r->id, r->measure_t0 + (nsec_t)d.at * NSEC_PER_SEC, &when);
			if (before > after * 1.5) {
				all_ok = false;
				check(c, "load-steady", false, "throughput fell from %s to %s %s: possible burst credit that was used "
				      "up; the run is two experiments", units_rate_text(before, a), units_rate_text(after, b),
				      strbuf_str(&when));
			} else if (after > before * 1.25 || before > after * 1.25) {
				all_ok = false;
				check(c, "load-steady", false, "throughput changed from %s to %s %s", units_rate_text(before, a),
				      units_rate_text(after, b), strbuf_str(&when));
			}
		}
		free(rate);
		free(x);
	}
	if (any && all_ok)
		check(c, "load-steady", true, "the loads' throughput did not change inside the measured time");
	vec_done(&ids);
}

static void cold(struct checks *c, const struct probe_data *p, size_t n)
{
	size_t warm = 0, proved = 0;

	for (size_t i = 0; i < p->nruns; i++) {
		warm += p->measured[i].warm;
		proved += p->measured[i].cold;
	}
	if (!p->wants_cold || !n)
		return;
	if (warm)
		check(c, "cache-cold", false, "%s: %zu of %zu actions found what they read in the cache", p->name, warm, n);
	else if (proved < n)
		check(c, "cache-cold", false, "%s: only %zu of %zu actions are proved cold", p->name, proved, n);
	else
		check(c, "cache-cold", true, "%s: nothing was cached before any of %zu actions", p->name, n);
}

/* Only of what people felt: microseconds always drift. */
static void drifts(struct checks *c, const struct probe_data *p, const struct summary *sum)
{
	for (size_t i = 0; i < p->nruns && sum->stuck.share > 0; i++) {
		const struct probe_part *m = &p->measured[i];
		cleanup_strbuf struct strbuf when = STRBUF_INIT;
		struct drift d;

		drift_of(m->wait, m->n, &d);
		if (!d.noticed || d.p >= 0.01)
			continue;
		show_when(c->s, m->run, m->t[d.at], &when);
		check(c, "drift", false, "%s changed inside the run, %s (p %.2g)", p->name, strbuf_str(&when), d.p);
		return;
	}
}

static void cpu_short(struct checks *c, const struct probe_data *p, const struct summary *sum)
{
	char t[NSEC_TEXT], w[NSEC_TEXT];

	if (strcmp(p->name, "tick") || !sum->n)
		return;
	if (sum->p99.value > 5 * NSEC_PER_MSEC)
		check(c, "cpu", false, "tick, which does no I/O, was late by %s in 1 of 100 and %s at worst: part of every wait is "
		      "the CPU, not the disk", nsec_text(sum->p99.value, t), nsec_text(sum->worst, w));
	else
		check(c, "cpu", true, "tick, which does no I/O, was late by %s in 1 of 100", nsec_text(sum->p99.value, t));
}

static void steal(struct checks *c)
{
	double worst = 0;
	bool any = false;

	for (size_t i = 0; i < c->s->nruns; i++) {
		const struct rec_run *r = &c->s->runs[i].r;
		struct show_points p;

		if (show_get_points(c->s, r->id, "cpu.steal", &p))
			for (size_t k = 0; k < p.t.n; k++)
				if (p.t.p[k] >= r->measure_t0 && p.t.p[k] <= r->measure_t1) {
					any = true;
					worst = fmax(worst, (double)p.v.p[k] / 1e6);	/* ppm */
				}
		show_points_done(&p);
	}
	if (any && worst >= 0.01)
		check(c, "steal", false, "in the worst second the hypervisor took %.0f%% of the CPU time", worst * 100);
	else if (any)
		check(c, "steal", true, "the hypervisor took less than 1%% of the CPU time");
}

/* ---- was it idle? ---- */

struct idle_walk {
	struct show *s;
	const struct show_run *run;
	char device[64];		/* of the sum below */
	double sum, most, ours;
};

/* Bytes of one series in the idle phase. The series of a device come one after another. */
static int idle_bytes(void *ctx, const struct rec_series *series)
{
	struct idle_walk *w = ctx;
	const char *dot = strrchr(series->name, '.'), *group = series->group ?: "";
	bool device = !strncmp(group, "device:", 7), process = !strcmp(group, "process");
	struct show_points p;
	double bytes;

	if (series->kind != SERIES_COUNTER || !dot || (strcmp(dot, ".read") && strcmp(dot, ".written")) || (!device && !process))
		return 0;
	show_get_points(w->s, w->run->r.id, series->name, &p);
	bytes = show_total_of(&p, w->run->idle_t0, w->run->idle_t1);
	show_points_done(&p);
	if (process) {
		w->ours += bytes;
		return 0;
	}
	if (strcmp(w->device, group)) {
		snprintf(w->device, sizeof(w->device), "%s", group);
		w->sum = 0;
	}
	w->sum += bytes;
	w->most = fmax(w->most, w->sum);
	return 0;
}

/* Half as much again as our own is journal and metadata. */
static void idle(struct checks *c)
{
	bool any = false, bad = false;

	for (size_t i = 0; i < c->s->nruns; i++) {
		struct idle_walk w = { .s = c->s, .run = &c->s->runs[i] };
		double seconds = nsec_seconds(w.run->idle_t1 - w.run->idle_t0), others;
		char rate[UNITS_TEXT];

		if (seconds < 1)
			continue;
		rec_series_each(c->s->rec, idle_bytes, &w);
		if (!w.device[0])
			continue;
		any = true;
		others = (w.most - 1.5 * w.ours) / seconds;
		if (others > 1e6) {
			bad = true;
			check(c, "idle", false, "not idle: during the idle phase others moved %s%s; recovery and the idle column are too "
			      "generous", units_rate_text(others, rate), c->s->nruns > 1 ? " (one of the runs)" : "");
			break;
		}
	}
	if (any && !bad)
		check(c, "idle", true, "during the idle phase others moved less than 1 MB/s");
}

void show_checks(struct show *s, struct node *parent)
{
	struct checks c = { .s = s };

	c.table = page_flag(page_table(parent, "checks", NULL), NODE_JSON_ONLY);
	c.bad = page_group(parent, NULL, NULL);
	for (size_t i = 0; i < s->nruns; i++)
		rec_notes_each(s->rec, s->runs[i].r.id, note_checks, &c);
	idle(&c);
	load_steady(&c);
	for (size_t i = 0; i < s->probes.n; i++) {
		cold(&c, &s->probes.p[i], s->sum[i].n);
		cpu_short(&c, &s->probes.p[i], &s->sum[i]);
		drifts(&c, &s->probes.p[i], &s->sum[i]);
	}
	steal(&c);
	if (c.good.len)
		page_flag(page_text(parent, "Checks: %s", strbuf_str(&c.good)), NODE_SCREEN_ONLY);
	strbuf_done(&c.good);
}

/* ---- notes ---- */

struct note_walk {
	struct show *s;
	struct node *list, *words;
	int run;
};

static int one_note(void *ctx, int run, enum note_kind kind, nsec_t t, const char *key, const char *text)
{
	static const char *const kinds[] = { "info", "warning", "loss", "check-ok", "check-failed", "scaled", "limit" };
	struct note_walk *w = ctx;
	struct node *row;

	(void)t;
	if (kind == NOTE_CHECK_OK || kind == NOTE_CHECK_FAILED || kind == NOTE_LIMIT)
		return 0;
	row = page_row(w->list);
	page_cell(row, "run", NULL, val(run, UNIT_COUNT));
	page_cell(row, "kind", NULL, val_text((size_t)kind < ARRAY_SIZE(kinds) ? kinds[kind] : "?"));
	page_cell(row, "key", NULL, val_text(key));
	page_cell(row, "text", NULL, val_text(text));
	if (kind == NOTE_SCALED && run == w->s->runs[0].r.id)
		page_text(w->words, "Smaller than published: %s", text);
	else if (kind == NOTE_WARNING || kind == NOTE_LOSS)
		page_flag(page_text(w->words, "%s", text), NODE_WARN);
	else if (kind == NOTE_INFO && !strcmp(key, "recovery") && w->s->nruns == 1)
		page_text(w->words, "Recovery: %s", text);
	else if (kind == NOTE_INFO)
		page_flag(page_text(w->words, "%s", text), NODE_DETAIL);
	return 0;
}

void show_notes(struct show *s, struct node *parent)
{
	struct note_walk w = { .s = s };

	w.list = page_flag(page_table(parent, "notes", NULL), NODE_JSON_ONLY);
	w.words = page_flag(page_group(parent, NULL, NULL), NODE_SCREEN_ONLY);
	for (size_t i = 0; i < s->nruns; i++)
		rec_notes_each(s->rec, s->runs[i].r.id, one_note, &w);
}

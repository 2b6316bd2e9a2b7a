/* SPDX-License-Identifier: MIT */
/* Loads with what they achieved, and what may be wrong with the numbers. */
#include "analyze/show.h"
#include "base/cleanup.h"
#include "base/mem.h"
#include "base/units.h"
#include "base/vec.h"
#include "stats/drift.h"
#include "stats/gate.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- loads ---- */

struct points {
	VEC(nsec_t) t;
	VEC(int64_t) v;
};

static int take_points(void *ctx, int run, const nsec_t *t, const int64_t *v, uint32_t n)
{
	struct points *p = ctx;

	(void)run;
	for (uint32_t i = 0; i < n; i++) {
		vec_push(&p->t, t[i]);
		vec_push(&p->v, v[i]);
	}
	return 0;
}

static void points_done(struct points *p)
{
	vec_done(&p->t);
	vec_done(&p->v);
}

static bool get_points(struct show *s, int run, const char *name, struct points *ret)
{
	int series = rec_series_find(s->rec, SERIES_COUNTER, name);

	*ret = (struct points){ 0 };
	if (series)
		rec_counter_each(s->rec, run, series, take_points, ret, NULL);
	return ret->t.n > 0;
}

/* A rate a second times the second it stands for, as far as it lies in the measured window. */
static double total_of(const struct points *p, nsec_t t0, nsec_t t1)
{
	double sum = 0;

	for (size_t i = 0; i < p->t.n; i++) {
		nsec_t from = i ? p->t.p[i - 1] : p->t.p[i] - NSEC_PER_SEC, a = MAX(from, t0), b = MIN(p->t.p[i], t1);

		if (b > a)
			sum += (double)p->v.p[i] * nsec_seconds(b - a);
	}
	return sum;
}

static void series_of(struct node *row, const char *key, const struct points *p, const struct rec_run *r)
{
	double *x = mem_array(p->t.n + 1, sizeof(*x)), *y = mem_array(p->t.n + 1, sizeof(*y));

	for (size_t i = 0; i < p->t.n; i++) {
		x[i] = nsec_seconds(p->t.p[i] - (r->measure_t0 ?: r->t0));
		y[i] = (double)p->v.p[i];
	}
	page_flag(page_series(row, key, NULL, x, UNIT_SECONDS, y, UNIT_BYTES_S, p->t.n), NODE_JSON_ONLY);
	free(x);
	free(y);
}

struct load_walk {
	struct show *s;
	struct node *table;
};

static int one_load(void *ctx, const struct rec_series *series)
{
	struct load_walk *w = ctx;
	struct show *s = w->s;
	cleanup_free char *label = NULL;
	const char *dot, *kind, *workers;
	double read = 0, written = 0, covered = 0;
	struct node *row;
	char both[80], a[UNITS_TEXT], b[UNITS_TEXT];

	dot = strrchr(series->name, '.');
	if (series->kind != SERIES_COUNTER || !series->group || strcmp(series->group, "load") || !dot ||
	    strcmp(dot, ".written") || strncmp(series->name, "load.", 5))
		return 0;
	label = mem_dupn(series->name + 5, (size_t)(dot - series->name - 5));
	kind = rec_series_attr_get(s->rec, series->id, "load");
	workers = rec_series_attr_get(s->rec, series->id, "workers");
	row = page_row(w->table);
	page_cell(row, "name", NULL, val_text(label));
	page_cell(row, "kind", NULL, val_text(kind));
	page_cell(row, "workers", NULL, workers ? val(atof(workers), UNIT_COUNT) : val_null(UNIT_COUNT));
	for (size_t i = 0; i < s->nruns; i++) {
		const struct rec_run *r = &s->runs[i].r;
		cleanup_free char *rname = mem_printf("load.%s.read", label);
		struct points pr, pw;

		if (r->measure_t1 <= r->measure_t0)
			continue;
		covered += nsec_seconds(r->measure_t1 - r->measure_t0);
		get_points(s, r->id, rname, &pr);
		get_points(s, r->id, series->name, &pw);
		read += total_of(&pr, r->measure_t0, r->measure_t1);
		written += total_of(&pw, r->measure_t0, r->measure_t1);
		if (i == 0) {
			series_of(row, "read_series", &pr, r);
			series_of(row, "written_series", &pw, r);
		}
		points_done(&pr);
		points_done(&pw);
	}
	page_cell(row, "bytes_read", NULL, val(floor(read), UNIT_BYTES));
	page_cell(row, "bytes_written", NULL, val(floor(written), UNIT_BYTES));
	page_cell(row, "read_rate", NULL, covered > 0 ? val(read / covered, UNIT_BYTES_S) : val_null(UNIT_BYTES_S));
	page_cell(row, "written_rate", NULL, covered > 0 ? val(written / covered, UNIT_BYTES_S) : val_null(UNIT_BYTES_S));
	if (covered > 0) {
		snprintf(both, sizeof(both), "read %s, wrote %s", units_rate_text(read / covered, a),
			 units_rate_text(written / covered, b));
		page_flag(page_cell(row, "did", NULL, val_text(both)), NODE_SCREEN_ONLY);
	}
	return 0;
}

void show_loads(struct show *s, struct node *parent)
{
	struct load_walk w = { .s = s, .table = page_table(parent, "loads", NULL) };

	page_column(w.table, "name", "load", 0);
	page_column(w.table, "kind", NULL, NODE_JSON_ONLY);
	page_column(w.table, "workers", "processes", NODE_RIGHT);
	page_column(w.table, "did", "achieved", NODE_SCREEN_ONLY);
	rec_series_each(s->rec, one_load, &w);
}

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
	if (ok)
		strbuf_addf(&c->good, "%s%s ok", c->good.len ? " | " : "", name);
	else
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
			struct points p = { 0 };

			rec_counter_each(c->s->rec, r->id, ids.p[k], take_points, &p, NULL);
			for (size_t j = 0; j < n; j++)
				rate[j] += total_of(&p, r->measure_t0 + (nsec_t)j * NSEC_PER_SEC,
						    r->measure_t0 + (nsec_t)(j + 1) * NSEC_PER_SEC);
			points_done(&p);
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

static void drifts(struct checks *c, const struct probe_data *p)
{
	bool noticed = false;
	size_t most = 0;

	for (size_t i = 0; i < p->nruns; i++) {
		const struct probe_part *m = &p->measured[i];
		cleanup_strbuf struct strbuf when = STRBUF_INIT;
		struct drift d;

		most = MAX(most, m->n);
		drift_of(m->wait, m->n, &d);
		if (!d.noticed || p->limit == 0 || m->n < 8)
			continue;
		/* only what a person could notice: microseconds always drift */
		for (size_t k = 0; k < m->n && !noticed; k++)
			noticed = m->wait[k] > p->limit / 10;
		if (!noticed)
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
		struct points p;

		if (get_points(c->s, r->id, "cpu.steal", &p))
			for (size_t k = 0; k < p.t.n; k++)
				if (p.t.p[k] >= r->measure_t0 && p.t.p[k] <= r->measure_t1) {
					any = true;
					worst = fmax(worst, (double)p.v.p[k] / 1e6);	/* ppm */
				}
		points_done(&p);
	}
	if (any && worst >= 0.01)
		check(c, "steal", false, "in the worst second the hypervisor took %.0f%% of the CPU time", worst * 100);
	else if (any)
		check(c, "steal", true, "the hypervisor took less than 1%% of the CPU time");
}

void show_checks(struct show *s, struct node *parent)
{
	struct checks c = { .s = s };

	c.table = page_flag(page_table(parent, "checks", NULL), NODE_JSON_ONLY);
	c.bad = page_group(parent, NULL, NULL);
	for (size_t i = 0; i < s->nruns; i++)
		rec_notes_each(s->rec, s->runs[i].r.id, note_checks, &c);
	load_steady(&c);
	for (size_t i = 0; i < s->probes.n; i++) {
		cold(&c, &s->probes.p[i], s->sum[i].n);
		cpu_short(&c, &s->probes.p[i], &s->sum[i]);
		drifts(&c, &s->probes.p[i]);
	}
	steal(&c);
	if (c.good.len)
		page_flag(page_text(parent, "Checks: %s", strbuf_str(&c.good)), NODE_SCREEN_ONLY);
	strbuf_done(&c.good);
}

/* ---- limits and gates ---- */

struct value show_gate_value(int metric, double x, bool known, bool at_least)
{
	enum unit u = metric == GATE_STUCK ? UNIT_SHARE : metric == GATE_N || metric == GATE_MISSED ? UNIT_COUNT : UNIT_SECONDS;

	return !known ? val_null(u) : at_least ? val_at_least(x, u) : val(x, u);
}

static const struct summary *summary_for(const struct show *s, const char *probe)
{
	for (size_t i = 0; i < s->probes.n; i++)
		if (!strcmp(s->probes.p[i].name, probe))
			return &s->sum[i];
	return NULL;
}

struct limit_walk {
	struct show *s;
	struct node *table;
	unsigned pass, fail, open;
};

static int one_limit(void *ctx, int run, enum note_kind kind, nsec_t t, const char *key, const char *text)
{
	struct limit_walk *w = ctx;
	const struct summary *sum;
	struct gate_result res = { 0 };
	struct gate g;
	struct node *row;
	const char *verdict;

	(void)run;
	(void)t;
	if (kind != NOTE_LIMIT || strncmp(key, "limit:", 6) || gate_parse(key + 6, &g, NULL) || g.worse)
		return 0;
	sum = summary_for(w->s, g.probe);
	if (sum)
		gate_test(&g, sum, &res);
	else
		res.answer = GATE_UNKNOWN;
	verdict = res.answer == GATE_TRUE ? "PASS" : res.answer == GATE_FALSE ? "FAIL" : "UNDECIDED";
	w->pass += res.answer == GATE_TRUE;
	w->fail += res.answer == GATE_FALSE;
	w->open += res.answer == GATE_UNKNOWN;
	row = page_row(w->table);
	page_cell(row, "limit", NULL, val_text(key + 6));
	page_cell(row, "value", NULL, show_gate_value((int)g.metric, res.value, res.known, res.at_least));
	page_cell(row, "n", NULL, val((double)res.n, UNIT_COUNT));
	page_cell(row, "verdict", NULL, val_text(verdict));
	page_cell(row, "source", NULL, val_text(text && *text ? text : NULL));
	if (res.answer == GATE_FALSE)
		page_flag(row, NODE_BAD);
	return 0;
}

int show_limits(struct show *s, struct node *parent, struct err *e)
{
	struct node *word = page_flag(page_text(parent, " "), NODE_LOUD);
	struct limit_walk w = { .s = s, .table = page_table(parent, "limits", NULL) };
	cleanup_free char *text = NULL;

	(void)e;
	page_column(w.table, "limit", "limit", 0);
	page_column(w.table, "value", "measured", NODE_RIGHT);
	page_column(w.table, "n", "waits", NODE_RIGHT);
	page_column(w.table, "verdict", "", 0);
	page_column(w.table, "source", "limit from", 0);
	rec_notes_each(s->rec, s->runs[0].r.id, one_limit, &w);
	if (!w.table->nkids) {
		page_flag(word, NODE_JSON_ONLY);
		return 0;
	}
	text = mem_printf("%s: %u of %zu limits hold%s.", w.fail ? "FAIL" : w.open ? "UNDECIDED" : "PASS", w.pass, w.table->nkids,
			  w.open ? "; for the rest there are too few waits" : "");
	free((char *)word->v.text);
	word->v.text = take(text);
	page_flag(page_cell(page_child(parent, "answer") ?: parent, "limits", NULL,
			    val_text(w.fail ? "FAIL" : w.open ? "UNDECIDED" : "PASS")), NODE_JSON_ONLY);
	return 0;
}

int analyze_gates(struct rec *rec, const char *const *texts, size_t n, struct page *page, bool *ret_fails, struct err *e)
{
	struct node *table;
	struct probes probes = { 0 };
	bool fails = false;
	int r;

	*ret_fails = false;
	if (!n)
		return 0;
	r = probes_load(rec, &probes, e);
	if (r)
		return r;
	table = page_table(page->root, "gates", "gates (exit 1 when one is true)");
	page_column(table, "name", "fail if", 0);
	page_column(table, "value", "measured", NODE_RIGHT);
	page_column(table, "limit", NULL, NODE_JSON_ONLY);
	page_column(table, "ok", NULL, NODE_JSON_ONLY);
	page_column(table, "word", "", NODE_SCREEN_ONLY);
	for (size_t i = 0; i < n && !r; i++) {
		const struct probe_data *p = NULL;
		struct gate_result res = { 0 };
		struct summary sum;
		struct gate g;
		struct node *row;

		r = gate_parse(texts[i], &g, e);
		for (size_t k = 0; k < probes.n && !r; k++)
			if (!strcmp(probes.p[k].name, g.probe))
				p = &probes.p[k];
		if (!r && !p)
			r = err_set(e, -ENOENT, "'%s': the record has no probe '%s'", texts[i], g.probe);
		if (r)
			break;
		summary_of(p->waits, p->nruns, p->limit, &sum);
		gate_test(&g, &sum, &res);
		fails |= res.answer == GATE_TRUE;
		row = page_row(table);
		page_cell(row, "name", NULL, val_text(texts[i]));
		page_cell(row, "value", NULL, show_gate_value((int)g.metric, res.value, res.known, res.at_least));
		page_cell(row, "limit", NULL, show_gate_value((int)g.metric, g.value, true, false));
		page_cell(row, "ok", NULL, res.answer == GATE_UNKNOWN ? val_null(UNIT_NONE) : val_bool(res.answer == GATE_FALSE));
		page_flag(page_cell(row, "word", NULL, val_text(res.answer == GATE_TRUE ? "FAILED" : res.answer == GATE_FALSE ?
				    "ok" : "undecided")), NODE_SCREEN_ONLY);
		if (res.answer == GATE_TRUE)
			page_flag(row, NODE_BAD);
	}
	probes_done(&probes);
	*ret_fails = fails;
	return r;
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

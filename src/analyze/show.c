/* SPDX-License-Identifier: MIT */
/* The one screen of a run: the answer in words first, then the numbers, then what may be wrong with them. */
#include "analyze/show.h"
#include "analyze/analyze.h"
#include "base/cleanup.h"
#include "base/mem.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

void show_when(const struct show *s, int run, nsec_t t, struct strbuf *out)
{
	const struct rec_run *r = NULL;
	nsec_t at;

	for (size_t i = 0; i < s->nruns; i++)
		if (s->runs[i].r.id == run)
			r = &s->runs[i].r;
	if (s->nruns > 1)
		strbuf_addf(out, "run %d ", run);
	at = t - (r ? (r->measure_t0 ?: r->t0) : 0);
	strbuf_addf(out, "at %lld:%02lld", (long long)(MAX(at, 0) / (60 * NSEC_PER_SEC)),
		    (long long)(MAX(at, 0) / NSEC_PER_SEC % 60));
}

const char *show_short(nsec_t t, char buf[NSEC_TEXT])
{
	if (t < 100 * NSEC_PER_MSEC)
		snprintf(buf, NSEC_TEXT, "%gms", nsec_seconds(t) * 1e3);
	else
		snprintf(buf, NSEC_TEXT, "%gs", nsec_seconds(t));
	if (buf[0] == '0' && buf[1] == '.')
		memmove(buf, buf + 1, strlen(buf));
	return buf;
}

static int idle_phase(void *ctx, int run, const struct event *ev, uint32_t n)
{
	struct show_run *r = ctx;

	(void)run;
	for (uint32_t i = 0; i < n; i++) {
		if (ev[i].kind != EV_PHASE)
			continue;
		if (ev[i].a == PHASE_IDLE)
			r->idle_t0 = ev[i].t;
		else if (ev[i].a > PHASE_IDLE && (!r->idle_t1 || ev[i].t < r->idle_t1))
			r->idle_t1 = ev[i].t;
	}
	return 0;
}

static int load_runs(struct show *s, struct err *e)
{
	int phases = rec_series_find(s->rec, SERIES_EVENTS, "phases");

	s->nruns = (size_t)rec_run_count(s->rec);
	if (!s->nruns)
		return err_set(e, -ENODATA, "%s holds no run", rec_path(s->rec));
	s->runs = mem_array(s->nruns, sizeof(*s->runs));
	for (size_t i = 0; i < s->nruns; i++) {
		rec_run_get(s->rec, (int)i, &s->runs[i].r);
		s->partial |= s->runs[i].r.partial;
		if (phases)
			rec_events_each(s->rec, s->runs[i].r.id, phases, 0, NSEC_NEVER, idle_phase, &s->runs[i], NULL);
		if (!s->runs[i].idle_t0)
			s->runs[i].idle_t1 = 0;
	}
	return 0;
}

static void summaries(struct show *s)
{
	s->sum = mem_array(s->probes.n + 1, sizeof(*s->sum));
	s->idle = mem_array(s->probes.n + 1, sizeof(*s->idle));
	s->worst_probe = s->longest = s->grade_probe = -1;
	for (size_t i = 0; i < s->probes.n; i++) {
		const struct probe_data *p = &s->probes.p[i];
		char g;

		summary_of(p->waits, p->nruns, p->limit, &s->sum[i]);
		summary_of(p->idle_waits, p->nruns, p->limit, &s->idle[i]);
		if (s->sum[i].n && (s->longest < 0 || s->sum[i].worst > s->sum[s->longest].worst))
			s->longest = (int)i;
		if (!p->interactive || !s->sum[i].n)
			continue;
		if (s->worst_probe < 0 || s->sum[i].stuck.share > s->sum[s->worst_probe].stuck.share)
			s->worst_probe = (int)i;
		/* the bands are those of things one waits a second for; walking a tree may take longer (limit 10 s) */
		g = p->limit <= NSEC_PER_SEC ? grade_of_summary(&s->sum[i]) : 0;
		if (g > s->grade) {
			s->grade = g;
			s->grade_probe = (int)i;
		}
	}
}

/* ---- who, where, what: the head ---- */

static void date_of(nsec_t wall, char *buf, size_t size)
{
	time_t t = (time_t)(wall / NSEC_PER_SEC);
	struct tm tm;

	gmtime_r(&t, &tm);
	strftime(buf, size, "%Y-%m-%d %H:%M", &tm);
}

static const char *fact(struct show *s, const char *key)
{
	return rec_env_get(s->rec, s->runs[0].r.id, key) ?: "";
}

static void left_and_right(struct node *parent, const char *left, const char *right)
{
	int room = 72 - (int)strlen(right);

	if ((int)strlen(left) + 2 > room)
		page_flag(page_pre(parent, "%s\n%*s%s", left, room, "", right), NODE_SCREEN_ONLY);
	else
		page_flag(page_pre(parent, "%-*s%s", room, left, right), NODE_SCREEN_ONLY);
}

static void head(struct show *s, struct node *parent)
{
	const struct rec_run *r = &s->runs[0].r;
	cleanup_strbuf struct strbuf left = STRBUF_INIT, machine = STRBUF_INIT, place = STRBUF_INIT;
	int comma = 0;
	char date[32] = "", right[64] = "", t[NSEC_TEXT];
	const char *kernel = fact(s, "kernel.release"), *fs = fact(s, "fs.type"), *opts = fact(s, "fs.options"),
		   *dev = fact(s, "dev.name"), *model = fact(s, "dev.model"), *sched = fact(s, "dev.scheduler");

	if (r->wall_start)
		date_of(r->wall_start, date, sizeof(date));
	strbuf_addf(&left, "stallmark %s  %s%s%s", r->version, date, *date ? "  " : "", r->scenario);
	if (*r->cell)
		strbuf_addf(&left, "  %s", r->cell);
	if (strcmp(r->producer, "run"))
		strbuf_addf(&left, "  (%s)", r->producer);
	if (r->measure_t1 > r->measure_t0) {
		nsec_text(r->measure_t1 - r->measure_t0, t);
		if (s->nruns > 1)
			snprintf(right, sizeof(right), "%zu runs x %s", s->nruns, t);
		else
			snprintf(right, sizeof(right), "%s measured", t);
	}
	left_and_right(parent, strbuf_str(&left), right);
	if (*kernel)
		strbuf_addf(&machine, "Linux %s", kernel);
	if (*dev)
		strbuf_addf(&place, " on %s", dev);
	if (*model || *sched)
		strbuf_addf(&place, " (%s%s%s)", model, *model && *sched ? ", " : "", sched);
	if (*fs)
		strbuf_addf(&machine, "%s%s", machine.len ? "  " : "", fs);
	/* all options are in the record; here as many as fit */
	while (*opts && machine.len + place.len + strcspn(opts, ",") + 5 < 78) {
		strbuf_addf(&machine, "%c%.*s", comma++ ? ',' : ' ', (int)strcspn(opts, ","), opts);
		opts += strcspn(opts, ",");
		opts += *opts == ',';
	}
	if (*opts)
		strbuf_adds(&machine, comma ? ",..." : "");
	strbuf_adds(&machine, strbuf_str(&place));
	if (machine.len)
		page_flag(page_text(parent, "%s", strbuf_str(&machine)), NODE_SCREEN_ONLY);
}

static void json_run(struct show *s, struct node *parent)
{
	const struct rec_run *r = &s->runs[0].r;
	struct node *g = page_flag(page_group(parent, "run", NULL), NODE_JSON_ONLY), *list;

	page_cell(g, "scenario", NULL, val_text(r->scenario));
	page_cell(g, "cell", NULL, val_text(r->cell));
	page_cell(g, "producer", NULL, val_text(r->producer));
	page_cell(g, "version", NULL, val_text(r->version));
	page_cell(g, "command", NULL, val_text(r->command));
	page_cell(g, "runs", NULL, val((double)s->nruns, UNIT_COUNT));
	page_cell(g, "partial", NULL, val_bool(s->partial));
	list = page_table(g, "each", NULL);
	for (size_t i = 0; i < s->nruns; i++) {
		const struct rec_run *x = &s->runs[i].r;
		struct node *row = page_row(list);

		page_cell(row, "id", NULL, val(x->id, UNIT_COUNT));
		page_cell(row, "wall_start", NULL, val_nsec(x->wall_start));
		page_cell(row, "measured", NULL, x->measure_t1 > x->measure_t0 ? val_nsec(x->measure_t1 - x->measure_t0) :
			  val_null(UNIT_SECONDS));
		page_cell(row, "idle", NULL, x->measure_t0 && s->runs[i].idle_t0 ? val_nsec(s->runs[i].idle_t1 - s->runs[i].idle_t0) :
			  val_null(UNIT_SECONDS));
		page_cell(row, "partial", NULL, val_bool(x->partial));
		page_cell(row, "why_partial", NULL, val_text(x->partial ? x->why_partial : NULL));
	}
}

static int env_cell(void *ctx, const char *key, const char *value, bool counts)
{
	(void)counts;
	page_cell(ctx, key, NULL, val_text(value));
	return 0;
}

/* ---- the answer in words ---- */

static void answer(struct show *s, struct node *parent)
{
	struct node *g = page_group(parent, "answer", NULL);
	char limit[NSEC_TEXT], share[VALUE_STR], over[VALUE_STR];
	const struct probe_data *p;
	const struct summary *sum;
	struct value v;

	page_cell(g, "grade", NULL, s->grade ? val_text((char[]){ s->grade, 0 }) : val_text(NULL));
	page_cell(g, "grade_word", NULL, s->grade ? val_text(grade_word(s->grade)) : val_text(NULL));
	page_cell(g, "grade_probe", NULL, s->grade_probe >= 0 ? val_text(s->probes.p[s->grade_probe].name) : val_text(NULL));
	for (size_t i = 0; i < g->nkids; i++)
		page_flag(g->kids[i], NODE_JSON_ONLY);
	if (s->worst_probe < 0)
		return;
	p = &s->probes.p[s->worst_probe];
	sum = &s->sum[s->worst_probe];
	page_flag(page_cell(g, "stuck_probe", NULL, val_text(p->name)), NODE_JSON_ONLY);
	page_flag(page_cell(g, "stuck", NULL, val(sum->stuck.share, UNIT_SHARE)), NODE_JSON_ONLY);
	page_flag(page_cell(g, "stuck_10s", NULL, val(sum->band[2].share, UNIT_SHARE)), NODE_JSON_ONLY);
	snprintf(limit, sizeof(limit), "%g s", nsec_seconds(p->limit));
	v = val(sum->stuck.share, UNIT_SHARE);
	value_str(&v, share);
	v = val(sum->band[2].share, UNIT_SHARE);
	value_str(&v, over);
	if (sum->stuck.share <= 0)
		page_flag(page_text(g, "Never stuck: nothing that people wait for took longer than its limit."), NODE_LOUD);
	else if (sum->band[2].share > 0 && p->limit < 10 * NSEC_PER_SEC)
		page_flag(page_text(g, "Stuck %s of the time: %s begun at a random moment took over %s (%s of the time: over 10 s).",
				    share, p->name, limit, over), NODE_LOUD);
	else
		page_flag(page_text(g, "Stuck %s of the time: %s begun at a random moment took over %s.", share, p->name, limit),
			  NODE_LOUD);
}

static void partial_words(struct show *s, struct node *parent)
{
	for (size_t i = 0; i < s->nruns; i++) {
		const struct rec_run *r = &s->runs[i].r;
		char which[32] = "";

		if (!r->partial)
			continue;
		if (s->nruns > 1)
			snprintf(which, sizeof(which), "run %d ", r->id);
		page_flag(page_text(parent, "PARTIAL: %s%s.", which, r->why_partial && *r->why_partial ? r->why_partial :
				    "was not finished (its controller was killed)"), NODE_WARN);
	}
}

int analyze_show(struct rec *rec, struct page **ret, struct err *e)
{
	struct show s = { .rec = rec };
	struct node *root;
	cleanup_strbuf struct strbuf load = STRBUF_INIT;
	char grade[40] = "";
	int r = load_runs(&s, e);

	r = r ?: probes_load(rec, &s.probes, e);
	if (r) {
		free(s.runs);
		return r;
	}
	summaries(&s);
	s.page = page_new("stallmark.show/1");
	root = s.page->root;
	head(&s, root);
	json_run(&s, root);
	rec_env_each(rec, s.runs[0].r.id, env_cell, page_flag(page_group(root, "env", NULL), NODE_JSON_ONLY));
	if (s.grade)
		snprintf(grade, sizeof(grade), "Grade  %c  (%s)", s.grade, grade_word(s.grade));
	show_load_words(&s, &load);
	if (load.len || *grade)
		left_and_right(root, strbuf_str(&load), grade);
	page_flag(page_text(root, " "), NODE_SCREEN_ONLY);
	partial_words(&s, root);
	answer(&s, root);
	r = show_limits(&s, root, e);
	show_worst(&s, root);
	show_probes(&s, root);
	show_rates(&s, root);
	show_loads(&s, root);
	show_checks(&s, root);
	show_notes(&s, root);
	probes_done(&s.probes);
	free(s.sum);
	free(s.idle);
	free(s.runs);
	if (r) {
		page_free(s.page);
		return r;
	}
	*ret = s.page;
	return 0;
}

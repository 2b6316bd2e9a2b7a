/* SPDX-License-Identifier: MIT */
/* The table of probes, and the worst wait with what it was doing. */
#include "analyze/show.h"
#include "base/cleanup.h"
#include "event/waitclass.h"

#include <stdio.h>
#include <string.h>

static struct value of_quantile(const struct quantile *q)
{
	if (!q->known)
		return val_null(UNIT_SECONDS);
	return q->at_least ? val_at_least(nsec_seconds(q->value), UNIT_SECONDS) : val_nsec(q->value);
}

static struct value of_worst(const struct summary *s)
{
	if (!s->n)
		return val_null(UNIT_SECONDS);
	return s->worst_at_least ? val_at_least(nsec_seconds(s->worst), UNIT_SECONDS) : val_nsec(s->worst);
}

static void quantile_cells(struct node *row, const char *key, const struct summary *s)
{
	struct node *g = page_flag(page_group(row, key, NULL), NODE_JSON_ONLY);

	page_flag(page_cell(g, "usual", NULL, of_quantile(&s->usual)), NODE_BOUND);
	page_flag(page_cell(g, "p75", NULL, of_quantile(&s->p75)), NODE_BOUND);
	page_flag(page_cell(g, "p90", NULL, of_quantile(&s->p90)), NODE_BOUND);
	page_flag(page_cell(g, "p99", NULL, of_quantile(&s->p99)), NODE_BOUND);
	page_flag(page_cell(g, "p99.9", NULL, of_quantile(&s->p999)), NODE_BOUND);
}

static void json_cells(struct node *row, const struct probe_data *p, const struct summary *s, const struct summary *idle)
{
	size_t warm = 0, cold = 0, errors = 0;
	struct node *g;

	for (size_t i = 0; i < p->nruns; i++) {
		warm += p->measured[i].warm;
		cold += p->measured[i].cold;
		errors += p->measured[i].errors;
	}
	page_cell(row, "n", NULL, val((double)s->n, UNIT_COUNT));
	page_cell(row, "censored", NULL, val((double)s->censored, UNIT_COUNT));
	page_cell(row, "missed", NULL, val((double)s->missed, UNIT_COUNT));
	page_cell(row, "errors", NULL, val((double)errors, UNIT_COUNT));
	page_cell(row, "warm", NULL, p->wants_cold ? val((double)warm, UNIT_COUNT) : val_null(UNIT_COUNT));
	page_cell(row, "cold", NULL, p->wants_cold ? val((double)cold, UNIT_COUNT) : val_null(UNIT_COUNT));
	page_cell(row, "measures", NULL, val_text(p->measures));
	page_cell(row, "loop", NULL, val_text(p->loop));
	page_cell(row, "interactive", NULL, val_bool(p->interactive));
	page_cell(row, "limit", NULL, p->limit ? val_nsec(p->limit) : val_null(UNIT_SECONDS));
	quantile_cells(row, "quantiles", s);
	page_flag(page_cell(row, "worst", NULL, of_worst(s)), NODE_BOUND);
	page_cell(row, "best", NULL, s->n ? val_nsec(s->best) : val_null(UNIT_SECONDS));
	/* as fs_mark counts files/s: by the time inside the calls, without pauses, unlinks and syncs between */
	page_cell(row, "per_second_busy", NULL, s->n && s->mean_s > 0 ? val(1 / s->mean_s, UNIT_PER_S) : val_null(UNIT_PER_S));
	page_cell(row, "mean", NULL, s->n ? val(s->mean_s, UNIT_SECONDS) : val_null(UNIT_SECONDS));
	page_cell(row, "stuck", NULL, s->stuck.known ? val(s->stuck.share, UNIT_SHARE) : val_null(UNIT_SHARE));
	g = page_group(row, "stuck_over", NULL);
	page_cell(g, "0.1s", NULL, s->band[0].known ? val(s->band[0].share, UNIT_SHARE) : val_null(UNIT_SHARE));
	page_cell(g, "1s", NULL, s->band[1].known ? val(s->band[1].share, UNIT_SHARE) : val_null(UNIT_SHARE));
	page_cell(g, "10s", NULL, s->band[2].known ? val(s->band[2].share, UNIT_SHARE) : val_null(UNIT_SHARE));
	page_cell(row, "independent", NULL, s->n ? val(s->n_eff, UNIT_NONE) : val_null(UNIT_NONE));
	g = page_group(row, "idle", NULL);
	page_cell(g, "n", NULL, val((double)idle->n, UNIT_COUNT));
	quantile_cells(g, "quantiles", idle);
	page_flag(page_cell(g, "worst", NULL, of_worst(idle)), NODE_BOUND);
	g = page_group(row, "steps", NULL);
	for (int i = 0; i < p->nsteps; i++)
		page_cell(g, p->steps[i], NULL, s->n ? val(p->step_mean[i], UNIT_SECONDS) : val_null(UNIT_SECONDS));
}

static void two_kinds(struct node *parent, const struct probe_data *p, const struct summary *s)
{
	char low[NSEC_TEXT], high[NSEC_TEXT];

	/* microseconds and milliseconds are two kinds as well, but nobody waits for them */
	if (!s->modes.two || s->modes.high < p->limit / 10)
		return;
	page_text(parent, "* %s: two kinds of wait, about %s and about %s (%.0f%% of them); the usual one is a coin toss", p->name,
		  nsec_text(s->modes.low, low), nsec_text(s->modes.high, high), s->modes.share_high * 100);
}

void show_probes(struct show *s, struct node *parent)
{
	struct node *t = page_table(parent, "probes", NULL), *notes;

	page_column(t, "name", "probe", 0);
	page_column(t, "usual_screen", "usual", NODE_RIGHT | NODE_SCREEN_ONLY);
	page_column(t, "p90_screen", "1 in 10", NODE_RIGHT | NODE_SCREEN_ONLY);
	page_column(t, "p99_screen", "p99", NODE_RIGHT | NODE_SCREEN_ONLY);
	page_column(t, "worst", "worst", NODE_RIGHT);
	page_column(t, "stuck_screen", "stuck", NODE_RIGHT | NODE_SCREEN_ONLY);
	page_column(t, "idle_screen", "idle", NODE_RIGHT | NODE_SCREEN_ONLY);
	page_column(t, "n", "waits", NODE_RIGHT);
	notes = page_flag(page_group(parent, NULL, NULL), NODE_SCREEN_ONLY);
	for (size_t i = 0; i < s->probes.n; i++) {
		const struct probe_data *p = &s->probes.p[i];
		const struct summary *sum = &s->sum[i], *idle = &s->idle[i];
		struct value v = of_quantile(&sum->usual), st = val(sum->stuck.share, UNIT_SHARE);
		char usual[VALUE_STR + 4], stuck[VALUE_STR * 2], text[VALUE_STR], limit[NSEC_TEXT];
		struct node *row = page_row(t);

		page_cell(row, "name", NULL, val_text(p->name));
		snprintf(usual, sizeof(usual), "%s%s", value_str(&v, text), sum->modes.two && sum->modes.high >= p->limit / 10 ? " *" : "");
		if (!sum->stuck.known || !sum->n)
			snprintf(stuck, sizeof(stuck), "-");
		else
			snprintf(stuck, sizeof(stuck), "%s >%s", value_str(&st, text), show_short(p->limit, limit));
		page_flag(page_cell(row, "usual_screen", NULL, val_text(usual)), NODE_SCREEN_ONLY);
		page_flag(page_cell(row, "p90_screen", NULL, of_quantile(&sum->p90)), NODE_SCREEN_ONLY);
		page_flag(page_cell(row, "p99_screen", NULL, sum->p99.at_least ? val_null(UNIT_SECONDS) : of_quantile(&sum->p99)), NODE_SCREEN_ONLY);
		page_flag(page_cell(row, "stuck_screen", NULL, val_text(stuck)), NODE_SCREEN_ONLY);
		page_flag(page_cell(row, "idle_screen", NULL, idle->n ? val_nsec(idle->usual.value) : val_null(UNIT_SECONDS)), NODE_SCREEN_ONLY);
		json_cells(row, p, sum, idle);
		two_kinds(notes, p, sum);
		if (sum->n && sum->mean_s > 0 && !strncmp(p->name, "small-create", 12))
			page_text(notes, "%s: %.1f files/s as fs_mark counts them (time inside the calls)", p->name, 1 / sum->mean_s);
		if (sum->missed)
			page_text(notes, "%s: %zu ticks were given up after 10 s of backlog; they count as waits of at least their age",
				  p->name, sum->missed);
	}
}

/* ---- the worst one ---- */

struct stall_search {
	int run, series;
	uint64_t id;
	struct rec_stall best;
	char wchan[64], syscall[64];
	bool found;
};

static int look_at_stall(void *ctx, const struct rec_stall *st)
{
	struct stall_search *q = ctx;

	if (st->series != q->series || st->sample_id != q->id || (q->found && st->waited < q->best.waited))
		return 0;
	q->best = *st;
	snprintf(q->wchan, sizeof(q->wchan), "%s", st->wchan ?: "");
	snprintf(q->syscall, sizeof(q->syscall), "%s", st->syscall ?: "");
	q->found = true;
	return 0;
}

#define FRAMES 64

/* What the stack, or where there is none the wait channel, says the action waited for; "" nothing. */
static const char *waited_for(struct show *s, const struct stall_search *q, struct node *g)
{
	const char *frames[FRAMES];
	int n = q->best.stack ? rec_stack_get(s->rec, q->best.stack, frames, FRAMES) : 0;
	struct stack_verdict v;
	struct node *list = page_list(g, "stack", NULL);

	page_flag(list, NODE_JSON_ONLY);
	for (int i = 0; i < n; i++)
		page_cell(list, NULL, NULL, val_text(frames[i]));
	if (n == 0 && q->wchan[0]) {
		frames[0] = q->wchan;
		n = 1;
	}
	if (n == 0)
		return "";
	v = stack_judge(frames, n);
	page_flag(page_cell(g, "wait_class", NULL, val_text(wait_name(v.class))), NODE_JSON_ONLY);
	/* of waiting for a CPU the run-queue delay says more */
	return v.class == WAIT_UNKNOWN || v.class == WAIT_CPU ? "" : v.words ?: wait_words(v.class);
}

static void worst_steps(const struct probe_data *p, struct strbuf *b)
{
	char t[NSEC_TEXT];
	int shown = 0;

	for (int i = 0; i < p->worst.nsteps && i < p->nsteps; i++)
		if (p->worst.step[i] > 0)
			strbuf_addf(b, "%s%s %s", shown++ ? ", " : "", p->steps[i], nsec_text(p->worst.step[i], t));
}

void show_worst(struct show *s, struct node *parent)
{
	struct node *g = page_group(parent, "worst", NULL);
	struct stall_search q = { 0 };
	cleanup_strbuf struct strbuf when = STRBUF_INIT, steps = STRBUF_INIT;
	const struct probe_data *p;
	const struct sample *w;
	const char *words;
	char t[NSEC_TEXT], late[NSEC_TEXT];

	if (s->longest < 0)
		return;
	p = &s->probes.p[s->longest];
	w = &p->worst;
	q.series = p->series;
	q.id = w->id;
	rec_stalls_each(s->rec, p->worst_run, look_at_stall, &q);
	show_when(s, p->worst_run, w->intended, &when);
	page_flag(page_cell(g, "probe", NULL, val_text(p->name)), NODE_JSON_ONLY);
	page_flag(page_cell(g, "run", NULL, val(p->worst_run, UNIT_COUNT)), NODE_JSON_ONLY);
	page_flag(page_cell(g, "wait", NULL, w->status == SAMPLE_OK ? val_nsec(sample_wait(w)) :
			    val_at_least(nsec_seconds(sample_wait(w)), UNIT_SECONDS)), NODE_BOUND | NODE_JSON_ONLY);
	words = q.found ? waited_for(s, &q, g) : "";
	page_flag(page_cell(g, "waited_for", NULL, val_text(*words ? words : NULL)), NODE_JSON_ONLY);
	page_text(g, "Worst wait %s%s (%s, %s)%s%s.", w->status == SAMPLE_OK ? "" : ">= ", nsec_text(sample_wait(w), t), p->name,
		  strbuf_str(&when), *words ? ": " : "", words);
	worst_steps(p, &steps);
	if (steps.len && w->start > w->intended && w->start - w->intended > sample_wait(w) / 10)
		page_text(g, "  of it: not begun %s, %s", nsec_text(w->start - w->intended, late), strbuf_str(&steps));
	else if (steps.len && p->nsteps > 1)
		page_text(g, "  of it: %s", strbuf_str(&steps));
	if (w->runq > sample_wait(w) / 4)
		page_flag(page_text(g, "of it %s were spent waiting for a CPU, not for the disk", nsec_text(w->runq, t)), NODE_WARN);
}

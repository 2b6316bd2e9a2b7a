/* SPDX-License-Identifier: MIT */
/* The rows of a comparison as a page, schema stallmark.compare/1. */
#include "analyze/compare-parts.h"
#include "analyze/compare-strip.h"
#include "analyze/compare-tables.h"
#include "base/cleanup.h"
#include "base/units.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#define STRIPS_MAX 3

/* ---- the two sides, and what differs ---- */

static nsec_t length_of(const struct side *s)
{
	return s->runs.n ? s->runs.p[0].length : 0;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

/* The file's name, unless two sides share it. */
static const char *short_label(const struct compared *k, size_t side)
{
	const char *name = base_name(k->sides[side]->label);

	for (size_t i = 0; i < k->n; i++)
		if (i != side && !strcmp(name, base_name(k->sides[i]->label)))
			return k->sides[side]->label;
	return name;
}

static void sides_list(const struct compared *k, struct node *root)
{
	struct node *table = page_table(root, "sides", NULL);

	page_column(table, "letter", "", 0);
	page_column(table, "short", "", 0);
	page_column(table, "runs_text", "", 0);
	for (size_t i = 0; i < k->n; i++) {
		const struct side *s = k->sides[i];
		struct node *row = page_row(table), *notes;
		char letter[2] = { side_letter(i), 0 }, len[NSEC_TEXT];
		cleanup_strbuf struct strbuf runs = STRBUF_INIT;

		strbuf_addf(&runs, "%zu run%s", s->runs.n, s->runs.n == 1 ? "" : "s");
		if (length_of(s) > 0)
			strbuf_addf(&runs, " of %s", nsec_text(length_of(s), len));
		page_cell(row, "letter", NULL, val_text(letter));
		page_cell(row, "label", NULL, val_text(s->label));
		page_flag(page_cell(row, "short", NULL, val_text(short_label(k, i))), NODE_SCREEN_ONLY);
		page_flag(page_cell(row, "runs_text", NULL, val_text(strbuf_str(&runs))), NODE_SCREEN_ONLY);
		page_cell(row, "runs", NULL, val((double)s->runs.n, UNIT_COUNT));
		if (s->runs.n) {
			page_cell(row, "producer", NULL, val_text(s->runs.p[0].producer));
			page_cell(row, "scenario", NULL, val_text(*s->runs.p[0].scenario ? s->runs.p[0].scenario : NULL));
			page_cell(row, "cell", NULL, val_text(*s->runs.p[0].cell ? s->runs.p[0].cell : NULL));
			page_cell(row, "command", NULL, val_text(*s->runs.p[0].command ? s->runs.p[0].command : NULL));
			page_cell(row, "version", NULL, val_text(*s->runs.p[0].version ? s->runs.p[0].version : NULL));
		}
		notes = page_list(row, "notes", NULL);
		for (size_t j = 0; j < s->notes.n; j++)
			page_cell(notes, NULL, NULL, val_text(s->notes.p[j]));
	}
	for (size_t i = 0; i < k->n; i++)
		for (size_t j = 0; j < k->sides[i]->notes.n; j++)
			page_flag(page_text(root, "%c: %s", side_letter(i), k->sides[i]->notes.p[j]), NODE_WARN);
}

static void differences(const struct compared *k, const struct env_report *env, struct node *root)
{
	struct node *table = page_table(root, "differences", env->p.n ? "Different" : NULL), *list;
	const char *family = NULL;
	cleanup_strbuf struct strbuf same = STRBUF_INIT;

	page_column(table, "fact", "", 0);
	if (k->n > 2)
		page_column(table, "side", "", 0);
	page_column(table, "a", "A", 0);
	page_column(table, "b", k->n > 2 ? "other" : "B", 0);
	for (size_t i = 0; i < env->p.n; i++) {
		const struct env_difference *d = &env->p.p[i];
		struct node *row = page_row(table);
		char letter[2] = { side_letter(d->side), 0 };

		page_cell(row, "fact", NULL, val_text(d->key));
		page_cell(row, "side", NULL, val_text(letter));
		page_cell(row, "a", NULL, val_text(d->a));
		page_cell(row, "b", NULL, val_text(d->b));
		page_cell(row, "inside_a_side", NULL, val_bool(d->inside));
		if (d->inside)
			page_flag(page_text(row, "the runs of one side do not agree about this"), NODE_WARN);
	}
	list = page_list(root, "same", NULL);
	for (size_t i = 0; i < env->same.n; i++) {
		const char *key = env->same.p[i];
		int n = (int)strcspn(key, ".");

		page_cell(list, NULL, NULL, val_text(key));
		/* people read families: "kernel", "fs", "dev" */
		if (family && !strncmp(family, key, (size_t)n) && family[n] == '.')
			continue;
		family = key;
		strbuf_addf(&same, "%s%.*s", same.len ? ", " : "", n, key);
	}
	if (same.len)
		page_text(root, "Same: %s%s", strbuf_str(&same), env->p.n ? " in all else" : "");
	if (env->factors > 1)
		page_flag(page_text(root, "More than one thing differs: nobody can say which of them made a difference."), NODE_WARN);
	for (size_t i = 0; i < k->only.n; i++)
		page_text(root, "Not compared: %s.", k->only.p[i]);
}

/* ---- rows ---- */

static void summary_cells(struct node *g, const struct summary *s)
{
	page_cell(g, "n", NULL, val((double)s->n, UNIT_COUNT));
	page_cell(g, "independent", NULL, compare_maybe(s->n > 0, s->n_eff, UNIT_NONE));
	page_cell(g, "lower_bounds", NULL, val((double)s->censored, UNIT_COUNT));
	page_cell(g, "missed", NULL, val((double)s->missed, UNIT_COUNT));
	page_flag(page_cell(g, "usual", NULL, compare_bound(&s->usual)), NODE_BOUND);
	page_flag(page_cell(g, "p90", NULL, compare_bound(&s->p90)), NODE_BOUND);
	page_flag(page_cell(g, "p99", NULL, compare_bound(&s->p99)), NODE_BOUND);
	page_flag(page_cell(g, "worst", NULL, compare_worst(s)), NODE_BOUND);
	page_cell(g, "mean", NULL, compare_maybe(s->n > 0, s->mean_s, UNIT_SECONDS));
	page_cell(g, "stuck", NULL, compare_maybe(s->stuck.known, s->stuck.share, UNIT_SHARE));
}

static void modes_cells(struct node *parent, const char *key, const struct modes *m)
{
	struct node *g;

	if (!m->two) {
		page_cell(parent, key, NULL, val_null(UNIT_NONE));
		return;
	}
	g = page_group(parent, key, NULL);
	page_cell(g, "low", NULL, val_nsec(m->low));
	page_cell(g, "high", NULL, val_nsec(m->high));
	page_cell(g, "share_high", NULL, val(m->share_high, UNIT_SHARE));
}

static void drift_cells(struct node *parent, const char *key, const struct row_drift *d)
{
	struct node *g;

	if (!d->noticed) {
		page_cell(parent, key, NULL, val_null(UNIT_NONE));
		return;
	}
	g = page_group(parent, key, NULL);
	page_cell(g, "run", NULL, val((double)d->run + 1, UNIT_COUNT));
	page_cell(g, "wait", NULL, val((double)d->at, UNIT_COUNT));
	page_cell(g, "t", NULL, d->t == NSEC_NEVER ? val_null(UNIT_SECONDS) : val_nsec(d->t));
	page_cell(g, "p", NULL, val(d->p, UNIT_NONE));
}

static void probe_numbers(struct node *row, const struct row *r)
{
	const struct comparison *c = &r->c;
	struct node *g;

	page_cell(row, "method", NULL, val_text(!c->theta.known ? NULL : c->by_runs ? "runs" : "series"));
	page_cell(row, "limit", NULL, val_nsec(r->limit));
	page_cell(row, "quicker", NULL, compare_maybe(c->theta.known, 1 - c->theta.est, UNIT_SHARE));
	compare_effect(row, "theta", &c->theta, UNIT_NONE);
	compare_effect(row, "typical", &c->typical, UNIT_RATIO);
	compare_effect(row, "stuck", &c->stuck, UNIT_POINTS);
	compare_effect(row, "tail", &c->tail, UNIT_RATIO);
	page_cell(row, "tail_quantile", NULL, compare_maybe(c->tail_p > 0, c->tail_p, UNIT_NONE));
	g = page_group(row, "over_limit", NULL);
	page_cell(g, "a", NULL, val(c->over_a, UNIT_SHARE));
	page_cell(g, "b", NULL, val(c->over_b, UNIT_SHARE));
	page_cell(g, "difference", NULL, val(c->over.diff, UNIT_POINTS));
	page_cell(g, "lo", NULL, val(c->over.lo, UNIT_POINTS));
	page_cell(g, "hi", NULL, val(c->over.hi, UNIT_POINTS));
	page_cell(row, "rules_out_slower", NULL, compare_maybe(c->typical.known, c->shift_rules_out_slower, UNIT_SHARE));
	page_cell(row, "rules_out_quicker", NULL, compare_maybe(c->typical.known, c->shift_rules_out_quicker, UNIT_SHARE));
	summary_cells(page_group(row, "a", NULL), &c->a);
	summary_cells(page_group(row, "b", NULL), &c->b);
	modes_cells(row, "two_kinds_a", &c->a.modes);
	modes_cells(row, "two_kinds_b", &c->b.modes);
	drift_cells(row, "drift_a", &r->drift[0]);
	drift_cells(row, "drift_b", &r->drift[1]);
}

static void rate_numbers(struct node *row, const struct row *r)
{
	page_cell(row, "unit", NULL, val_text(r->unit));
	page_cell(row, "a", NULL, compare_maybe(true, r->rate.a, UNIT_NONE));
	page_cell(row, "b", NULL, compare_maybe(true, r->rate.b, UNIT_NONE));
	page_cell(row, "n_a", NULL, val((double)r->rate.n_a, UNIT_COUNT));
	page_cell(row, "n_b", NULL, val((double)r->rate.n_b, UNIT_COUNT));
	compare_effect(row, "ratio", &r->rate.ratio, UNIT_RATIO);
	page_cell(row, "outside_chance_below_variation", NULL, compare_maybe(!isnan(r->rate.single_cv), r->rate.single_cv, UNIT_SHARE));
}

/* "9.7->4.2 s": one unit when both have the same */
static char *arrow(const struct value *a, const struct value *b)
{
	char ta[VALUE_STR], tb[VALUE_STR];
	const char *ua, *ub;

	if (a->kind == VALUE_NULL && b->kind == VALUE_NULL)
		return NULL;
	value_str(a, ta);
	value_str(b, tb);
	ua = strpbrk(ta, " %");
	ub = strpbrk(tb, " %");
	if (ua && ub && !strcmp(ua, ub))
		return mem_printf("%.*s->%s", (int)(ua - ta), ta, tb);
	return mem_printf("%s->%s", ta, tb);
}

static void arrow_cell(struct node *row, const char *key, struct value a, struct value b)
{
	cleanup_free char *s = arrow(&a, &b);

	page_flag(page_cell(row, key, NULL, val_text(s)), NODE_SCREEN_ONLY);
}

static void screen_cells(struct node *row, const struct row *r)
{
	if (r->kind == ROW_PROBE) {
		const struct comparison *c = &r->c;
		cleanup_free char *pairs = c->theta.known ? mem_printf("%.0f of 100", (1 - c->theta.est) * 100) : NULL;
		bool tail = c->a.p90.known && c->b.p90.known && !c->a.p90.at_least && !c->b.p90.at_least;

		page_flag(page_cell(row, "pairs", NULL, val_text(pairs)), NODE_SCREEN_ONLY);
		page_flag(page_cell(row, "usual_ratio", NULL, compare_maybe(c->usual.known, c->usual.est, UNIT_RATIO)), NODE_SCREEN_ONLY);
		page_flag(page_cell(row, "p90_ratio", NULL,
				    compare_maybe(tail, (double)c->b.p90.value / (double)MAX(c->a.p90.value, (nsec_t)1), UNIT_RATIO)),
			  NODE_SCREEN_ONLY);
		arrow_cell(row, "worst_text", compare_worst(&c->a), compare_worst(&c->b));
		arrow_cell(row, "stuck_text", compare_maybe(c->a.stuck.known, c->a.stuck.share, UNIT_SHARE),
			   compare_maybe(c->b.stuck.known, c->b.stuck.share, UNIT_SHARE));
		return;
	}
	page_flag(page_cell(row, "pairs", NULL, val_text("--")), NODE_SCREEN_ONLY);
	page_flag(page_cell(row, "usual_ratio", NULL, compare_maybe(r->rate.a > 0, r->rate.ratio.known ? r->rate.ratio.est : r->rate.b / r->rate.a, UNIT_RATIO)), NODE_SCREEN_ONLY);
	page_flag(page_cell(row, "p90_ratio", NULL, val_text("--")), NODE_SCREEN_ONLY);
	page_flag(page_cell(row, "worst_text", NULL, val_text("--")), NODE_SCREEN_ONLY);
	page_flag(page_cell(row, "stuck_text", NULL, val_text("--")), NODE_SCREEN_ONLY);
}

static void verdict_cells(struct node *row, struct row *r, char note)
{
	const struct decision *d = row_decision(r);
	cleanup_strbuf struct strbuf s = STRBUF_INIT;

	page_cell(row, "verdict", NULL, val_text(verdict_name(d->verdict)));
	page_cell(row, "strength", NULL, val_text(strength_name(d->strength)));
	page_cell(row, "felt", NULL, val_bool(r->felt));
	strbuf_adds(&s, d->strength == STRENGTH_NONE ? "--" : verdict_name(d->verdict));
	if (d->strength == STRENGTH_SUGGESTIVE)
		strbuf_addc(&s, '?');
	if (note)
		strbuf_addf(&s, " (%c)", note);
	page_flag(page_cell(row, "verdict_text", NULL, val_text(strbuf_str(&s))), NODE_SCREEN_ONLY);
	/* only what is shown gets a colour */
	if (d->strength > STRENGTH_SUGGESTIVE && d->verdict == VERDICT_BETTER)
		page_flag(row, NODE_GOOD);
	if (d->strength > STRENGTH_SUGGESTIVE && (d->verdict == VERDICT_WORSE || d->verdict == VERDICT_MIXED))
		page_flag(row, NODE_BAD);
}

static const char *kind_name(enum row_kind k)
{
	return k == ROW_PROBE ? "probe" : k == ROW_LOAD ? "load" : "number";
}

static void rows_table(const struct compared *k, struct node *root)
{
	struct node *table = page_table(root, "rows", NULL);
	text_list notes = { 0 };

	page_column(table, "name", "", 0);
	if (k->n > 2)
		page_column(table, "side", "side", 0);
	page_column(table, "pairs", k->n > 2 ? "quicker" : "B quicker", NODE_RIGHT);
	page_column(table, "usual_ratio", "usual", NODE_RIGHT);
	page_column(table, "p90_ratio", "1 in 10", NODE_RIGHT);
	page_column(table, "worst_text", "worst", NODE_RIGHT);
	page_column(table, "stuck_text", "stuck", NODE_RIGHT);
	page_column(table, "verdict_text", "verdict", 0);
	for (size_t i = 0; i < k->rows.n; i++) {
		struct row *r = &k->rows.p[i];
		struct node *row;
		char letter[2] = { side_letter(r->side), 0 };
		cleanup_strbuf struct strbuf words = STRBUF_INIT;
		char note = 0;

		if (r->kind == ROW_NUMBER)
			continue;
		row = page_row(table);
		words_row(k, r, &words);
		if (words.len && notes.n < 26) {
			note = (char)('a' + notes.n);
			vec_push(&notes, mem_printf("(%c) %s", note, words.s));
		}
		page_cell(row, "name", NULL, val_text(r->name));
		page_cell(row, "kind", NULL, val_text(kind_name(r->kind)));
		page_cell(row, "side", NULL, val_text(letter));
		verdict_cells(row, r, note);
		page_cell(row, "note", NULL, val_text(words.len ? words.s : NULL));
		screen_cells(row, r);
		if (r->kind == ROW_PROBE)
			probe_numbers(row, r);
		else
			rate_numbers(row, r);
	}
	for (size_t i = 0; i < notes.n; i++)
		page_text(root, "%s", notes.p[i]);
	text_list_done(&notes);
}

/* ---- gates ---- */

static const struct row *row_of_probe(const struct compared *k, const char *name, size_t side)
{
	for (size_t i = 0; i < k->rows.n; i++)
		if (k->rows.p[i].kind == ROW_PROBE && k->rows.p[i].side == side && !strcmp(k->rows.p[i].name, name))
			return &k->rows.p[i];
	return NULL;
}

static struct value gate_value(const struct gate *g, const struct gate_result *r)
{
	enum unit u = g->metric == GATE_STUCK ? UNIT_SHARE : g->metric >= GATE_N ? UNIT_COUNT : UNIT_SECONDS;

	return !r->known ? val_null(u) : r->at_least ? val_at_least(r->value, u) : val(r->value, u);
}

static void gate_row(struct node *table, const char *name, struct value v, const char *limit, bool ok, const char *word)
{
	struct node *row = page_row(table);

	page_cell(row, "name", NULL, val_text(name));
	page_flag(page_cell(row, "value", NULL, v), v.kind == VALUE_TEXT ? 0 : NODE_BOUND);
	page_cell(row, "limit", NULL, val_text(limit));
	page_cell(row, "ok", NULL, val_bool(ok));
	page_flag(page_cell(row, "word", NULL, val_text(word)), NODE_SCREEN_ONLY);
	if (!ok)
		page_flag(row, NODE_BAD);
}

static int gates(const struct compared *k, struct node *root, struct compare_outcome *out, struct err *e)
{
	struct node *table;

	if (!k->conf->ngates)
		return 0;
	table = page_table(root, "gates", "Limits (fails if)");
	page_column(table, "name", "", 0);
	page_column(table, "value", "value", NODE_RIGHT);
	page_column(table, "limit", "fails if", 0);
	page_column(table, "word", "", 0);
	for (size_t i = 0; i < k->conf->ngates; i++) {
		const struct gate *g = &k->conf->gates[i];

		if (g->worse) {
			bool bad = (out->verdict == VERDICT_WORSE || out->verdict == VERDICT_MIXED) && out->strength > STRENGTH_SUGGESTIVE;

			for (size_t j = 0; j < k->rows.n; j++) {
				const struct decision *d = row_decision(&k->rows.p[j]);

				bad |= (d->verdict == VERDICT_WORSE || d->verdict == VERDICT_MIXED) && d->strength > STRENGTH_SUGGESTIVE;
			}
			out->gate_failed |= bad;
			out->undecided |= !bad && out->verdict == VERDICT_UNCLEAR;
			gate_row(table, "verdict", val_text(verdict_name(out->verdict)), "worse", !bad, bad ? "FAILED" : "ok");
			continue;
		}
		for (size_t s = 1; s < k->n; s++) {
			const struct row *r = row_of_probe(k, g->probe, s);
			struct gate_result res;
			cleanup_free char *name = NULL, *limit = NULL;

			if (!r)
				return err_set(e, -EINVAL, "--fail-if %s.%s: there is no probe '%s' on both sides", g->probe,
					       gate_metric_name[g->metric], g->probe);
			gate_test(g, &r->c.b, &res);
			name = k->n > 2 ? mem_printf("%c %s.%s", side_letter(s), g->probe, gate_metric_name[g->metric]) :
					  mem_printf("%s.%s", g->probe, gate_metric_name[g->metric]);
			limit = mem_printf("%s %s", gate_op_text(g->op), g->value_text);
			out->gate_failed |= res.answer == GATE_TRUE;
			out->undecided |= res.answer == GATE_UNKNOWN;
			gate_row(table, name, gate_value(g, &res), limit, res.answer != GATE_TRUE,
				 res.answer == GATE_TRUE ? "FAILED" : res.answer == GATE_FALSE ? "ok" : "not decided");
		}
	}
	return 0;
}

/* ---- the rest ---- */

static void hint_node(const struct hint *h, struct node *root)
{
	struct node *g;
	char len[NSEC_TEXT];
	cleanup_strbuf struct strbuf s = STRBUF_INIT;

	if (!h->known)
		return;
	g = page_group(root, "hint", NULL);
	page_cell(g, "rounds", NULL, val(h->rounds, UNIT_COUNT));
	page_cell(g, "run_length", NULL, val_nsec(h->length));
	page_cell(g, "change", NULL, compare_maybe(!isnan(h->change), h->change, UNIT_SHARE));
	page_cell(g, "in_all", NULL, val_nsec(h->in_all));
	page_cell(g, "variation", NULL, compare_maybe(!isnan(h->cv), h->cv, UNIT_SHARE));
	strbuf_addf(&s, "What would settle it: a new stallmark ab of %u rounds of %s", h->rounds, nsec_text(h->length, len));
	strbuf_addf(&s, " a run (about %lld min)", (long long)((h->in_all + 30 * NSEC_PER_SEC) / (60 * NSEC_PER_SEC)));
	if (!isnan(h->change) && h->change < 1)
		strbuf_addf(&s, " would show a difference of %.0f %%", h->change * 100);
	else if (!isnan(h->change))
		strbuf_addf(&s, " would show a factor of %.0f", 1 + h->change);
	if (!isnan(h->cv))
		strbuf_addf(&s, ", if runs vary by %.*f %%%s", h->cv < 0.0995, h->cv * 100,
			    h->cv_is_least ? " (guessed from inside one run)" : "");
	page_text(root, "%s.", strbuf_str(&s));
}

static void checks_list(const text_list *checks, struct node *root)
{
	struct node *l = page_list(root, "checks", NULL);

	for (size_t i = 0; i < checks->n; i++) {
		page_cell(l, NULL, NULL, val_text(checks->p[i]));
		page_flag(page_text(root, "%s.", checks->p[i]), NODE_WARN);
	}
}

static void strips(const struct compared *k, struct node *root)
{
	size_t n = 0;

	for (size_t i = 0; i < k->rows.n && n < STRIPS_MAX; i++) {
		const struct row *r = &k->rows.p[i];
		cleanup_strbuf struct strbuf s = STRBUF_INIT;

		if (r->kind != ROW_PROBE || r->side != 1 || !r->c.a.n || !r->c.b.n)
			continue;
		compare_strip(k->sides[0], k->sides[r->side], r->name, &r->c, &s);
		page_pre(root, "%s", strbuf_str(&s));
		n++;
	}
	if (n)
		page_pre(root, "%*s o usual  * 1 in 10\n", 13, "");
}

static bool simulated(const struct compared *k)
{
	for (size_t s = 0; s < k->n; s++)
		for (size_t i = 0; i < k->sides[s]->runs.n; i++)
			if (strcmp(k->sides[s]->runs.p[i].producer, "sim"))
				return false;
	return true;
}

static void footer(const struct compared *k, struct node *root)
{
	size_t tests = 0;

	for (size_t i = 0; i < k->rows.n; i++)
		for (int t = 0; t < TESTS_A_ROW; t++)
			tests += !isnan(row_decision(&k->rows.p[i])->adjusted[t]);
	page_cell(root, "alpha", NULL, val(k->conf->alpha, UNIT_NONE));
	page_cell(root, "margin", NULL, val(k->conf->margin, UNIT_NONE));
	page_cell(root, "share_margin", NULL, val(k->conf->share_margin, UNIT_NONE));
	page_cell(root, "tests", NULL, val((double)tests, UNIT_COUNT));
	if (simulated(k))
		page_text(root, "Simulated runs: this is seed variation only, not the variation of machines.");
	page_text(root, "%zu test%s on %zu row%s, corrected for their number (Holm) at %.3g %%; margins %.3g %% and %.3g point%s.", tests,
		  tests == 1 ? "" : "s", k->rows.n, k->rows.n == 1 ? "" : "s", k->conf->alpha * 100, k->conf->margin * 100,
		  k->conf->share_margin * 100, k->conf->share_margin == 0.01 ? "" : "s");
}

struct page *compare_page(const struct compared *k, const struct env_report *env, const text_list *checks,
			  const struct hint *hint, struct compare_outcome *out, struct err *e)
{
	struct page *p = page_new("stallmark.compare/1");
	cleanup_strbuf struct strbuf headline = STRBUF_INIT;
	struct node *loud;

	words_headline(k, out->verdict, out->strength, out->felt, &headline);
	page_cell(p->root, "verdict", NULL, val_text(verdict_name(out->verdict)));
	page_cell(p->root, "strength", NULL, val_text(strength_name(out->strength)));
	page_cell(p->root, "felt", NULL, val_bool(out->felt));
	page_cell(p->root, "headline", NULL, val_text(strbuf_str(&headline)));
	sides_list(k, p->root);
	differences(k, env, p->root);
	loud = page_text(p->root, "VERDICT: %s", strbuf_str(&headline));
	page_flag(loud, NODE_LOUD);
	rows_table(k, p->root);
	compare_numbers(k, p->root);
	checks_list(checks, p->root);
	hint_node(hint, p->root);
	if (gates(k, p->root, out, e)) {
		page_free(p);
		return NULL;
	}
	strips(k, p->root);
	compare_runs_table(k, p->root);
	compare_setup(k, p->root);
	footer(k, p->root);
	return p;
}

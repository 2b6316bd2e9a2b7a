/* SPDX-License-Identifier: MIT */
/* The tables behind the verdict: single numbers, every run in absolute times, the setup. */
#include "analyze/compare-parts.h"
#include "analyze/compare-tables.h"
#include "base/cleanup.h"
#include "base/sha256.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct value compare_bound(const struct quantile *q)
{
	double x = nsec_seconds(q->value);

	return !q->known ? val_null(UNIT_SECONDS) : q->at_least ? val_at_least(x, UNIT_SECONDS) : val(x, UNIT_SECONDS);
}

struct value compare_worst(const struct summary *s)
{
	double x = nsec_seconds(s->worst);

	return !s->n ? val_null(UNIT_SECONDS) : s->worst_at_least ? val_at_least(x, UNIT_SECONDS) : val(x, UNIT_SECONDS);
}

struct value compare_maybe(bool known, double x, enum unit u)
{
	return known && isfinite(x) ? val(x, u) : val_null(u);
}

void compare_effect(struct node *parent, const char *key, const struct effect *e, enum unit unit)
{
	struct node *g = page_group(parent, key, NULL);

	page_cell(g, "value", NULL, compare_maybe(e->known, e->est, unit));
	page_cell(g, "lo", NULL, compare_maybe(e->known, e->lo, unit));
	page_cell(g, "hi", NULL, compare_maybe(e->known, e->hi, unit));
	page_cell(g, "p", NULL, compare_maybe(e->known, e->p, UNIT_NONE));
	page_cell(g, "df", NULL, compare_maybe(e->known, e->df, UNIT_NONE));
}

/* ---- single numbers: files/s, counts of a trace ---- */

static struct value in_unit(double x, const char *unit)
{
	enum unit u = !strcmp(unit, "s") ? UNIT_SECONDS : !strcmp(unit, "bytes") ? UNIT_BYTES :
		      !strcmp(unit, "bytes/s") ? UNIT_BYTES_S : !strcmp(unit, "count") ? UNIT_COUNT : UNIT_NONE;

	return compare_maybe(true, x, u);
}

/* Numbers that nobody wants larger or smaller are for information: on the screen only when they changed much. */
void compare_numbers(const struct compared *k, struct node *root)
{
	struct node *table = page_table(root, "numbers", "Single numbers");
	bool shown = false;

	page_column(table, "name", "", 0);
	if (k->n > 2)
		page_column(table, "side", "side", 0);
	page_column(table, "a", "A", NODE_RIGHT);
	page_column(table, "b", k->n > 2 ? "other" : "B", NODE_RIGHT);
	page_column(table, "change_text", "change", NODE_RIGHT);
	page_column(table, "verdict_text", "", 0);
	for (size_t i = 0; i < k->rows.n; i++) {
		struct row *r = &k->rows.p[i];
		char letter[2] = { side_letter(r->side), 0 }, change[24] = "-";
		cleanup_strbuf struct strbuf words = STRBUF_INIT;
		struct node *row;

		if (r->kind != ROW_NUMBER)
			continue;
		row = page_row(table);
		words_number(r, &words);
		if (r->rate.a > 0)
			snprintf(change, sizeof(change), "%+.1f%%", (r->rate.b / r->rate.a - 1) * 100);
		page_cell(row, "name", NULL, val_text(r->name));
		page_cell(row, "side", NULL, val_text(letter));
		page_cell(row, "unit", NULL, val_text(r->unit));
		page_cell(row, "a", NULL, in_unit(r->rate.a, r->unit));
		page_cell(row, "b", NULL, in_unit(r->rate.b, r->unit));
		page_cell(row, "n_a", NULL, val((double)r->rate.n_a, UNIT_COUNT));
		page_cell(row, "n_b", NULL, val((double)r->rate.n_b, UNIT_COUNT));
		compare_effect(row, "ratio", &r->rate.ratio, UNIT_RATIO);
		page_cell(row, "outside_chance_below_variation", NULL,
			  compare_maybe(!isnan(r->rate.single_cv), r->rate.single_cv, UNIT_SHARE));
		page_cell(row, "verdict", NULL, val_text(verdict_name(row_decision(r)->verdict)));
		page_cell(row, "strength", NULL, val_text(strength_name(row_decision(r)->strength)));
		page_cell(row, "felt", NULL, val_bool(false));
		page_flag(page_cell(row, "change_text", NULL, val_text(change)), NODE_SCREEN_ONLY);
		page_flag(page_cell(row, "verdict_text", NULL, val_text(strbuf_str(&words))), NODE_SCREEN_ONLY);
		if (!r->better && (!(r->rate.a > 0) || fabs(r->rate.b / r->rate.a - 1) < 0.2))
			page_flag(row, NODE_DETAIL);
		else
			shown = true;
	}
	if (!shown)
		page_flag(table, NODE_DETAIL);
}

/* ---- every run in absolute seconds ---- */

static void run_row(struct node *table, const char *side, const char *run, const char *probe, const struct summary *s)
{
	struct node *row = page_row(table);

	page_cell(row, "side", NULL, val_text(side));
	page_cell(row, "run", NULL, val_text(run));
	page_cell(row, "probe", NULL, val_text(probe));
	page_cell(row, "n", NULL, val((double)s->n, UNIT_COUNT));
	page_flag(page_cell(row, "usual", NULL, compare_bound(&s->usual)), NODE_BOUND);
	page_flag(page_cell(row, "p90", NULL, compare_bound(&s->p90)), NODE_BOUND);
	page_flag(page_cell(row, "p99", NULL, compare_bound(&s->p99)), NODE_BOUND);
	page_flag(page_cell(row, "worst", NULL, compare_worst(s)), NODE_BOUND);
	page_cell(row, "stuck", NULL, compare_maybe(s->stuck.known, s->stuck.share, UNIT_SHARE));
}

void compare_runs_table(const struct compared *k, struct node *root)
{
	struct node *table = page_table(root, "runs", "Every run, in absolute times");

	page_flag(table, k->conf->mail ? 0 : NODE_DETAIL);
	page_column(table, "probe", "", 0);
	page_column(table, "side", "", 0);
	page_column(table, "run", "run", 0);
	page_column(table, "n", "n", NODE_RIGHT);
	page_column(table, "usual", "median", NODE_RIGHT);
	page_column(table, "p90", "p90", NODE_RIGHT);
	page_column(table, "p99", "p99", NODE_RIGHT);
	page_column(table, "worst", "max", NODE_RIGHT);
	page_column(table, "stuck", "stuck", NODE_RIGHT);
	for (size_t i = 0; i < k->rows.n; i++) {
		const struct row *r = &k->rows.p[i];

		if (r->kind != ROW_PROBE)
			continue;
		for (int half = r->side == 1 ? 0 : 1; half < 2; half++) {
			const struct side *s = k->sides[half ? r->side : 0];
			char letter[2] = { side_letter(half ? r->side : 0), 0 };

			for (size_t j = 0; j < s->runs.n && s->runs.n > 1; j++) {
				const struct side_series *x = side_series_find(&s->runs.p[j], r->name);
				struct summary sum;
				char number[16];

				if (!x)
					continue;
				snprintf(number, sizeof(number), "%zu", j + 1);
				summary_of(&x->w, 1, r->limit, &sum);
				run_row(table, letter, number, r->name, &sum);
			}
			run_row(table, letter, "all", r->name, half ? &r->c.b : &r->c.a);
		}
	}
}

/* The first 16 digits of `sha256sum` of the scenario's text. */
static void scenario_hash(const char *text, char ret[17])
{
	char hex[SHA256_HEX];
	struct sha256 s;

	sha256_start(&s);
	sha256_add(&s, text, strlen(text));
	sha256_end_hex(&s, hex);
	snprintf(ret, 17, "%.16s", hex);
}

/* "rw,relatime,..." may be broken at its commas. */
static char *breakable(const char *value)
{
	cleanup_strbuf struct strbuf b = STRBUF_INIT;

	for (; *value; value++) {
		strbuf_addc(&b, *value);
		if (*value == ',' && value[1] && value[1] != ' ')
			strbuf_addc(&b, ' ');
	}
	return strbuf_detach(&b);
}

/* What a maintainer wants to know before believing: command, version and the facts of the machine. */
void compare_setup(const struct compared *k, struct node *root)
{
	const struct side_run *a = k->sides[0]->runs.n ? &k->sides[0]->runs.p[0] : NULL;
	struct node *g;

	if (!a || (!*a->version && !*a->command && !a->facts.n))
		return;
	g = page_flag(page_group(root, "setup", "Setup (A; what differs is above)"), k->conf->mail ? 0 : NODE_DETAIL);
	if (*a->version)
		page_cell(g, "version", "stallmark", val_text(a->version));
	if (*a->command)
		page_cell(g, "command", "command", val_text(a->command));
	if (*a->scenario) {
		char hash[17];

		scenario_hash(a->scenario_text, hash);
		page_cell(g, "scenario", "scenario", val_text(a->scenario));
		page_cell(g, "scenario_hash", "scenario hash", val_text(hash));
	}
	for (size_t i = 0; i < a->facts.n; i++)
		if (a->facts.p[i].counts) {
			cleanup_free char *text = breakable(a->facts.p[i].value);

			page_flag(page_cell(g, a->facts.p[i].key, NULL, val_text(a->facts.p[i].value)), NODE_JSON_ONLY);
			page_flag(page_cell(g, NULL, a->facts.p[i].key, val_text(text)), NODE_SCREEN_ONLY);
		}
}

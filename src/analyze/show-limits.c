/* SPDX-License-Identifier: MIT */
/* Limits of service scenarios (PASS, FAIL, UNDECIDED) and gates of --fail-if. */
#include "analyze/analyze.h"
#include "analyze/show.h"
#include "base/cleanup.h"
#include "base/mem.h"
#include "stats/gate.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct value gate_value(int metric, double x, bool known, bool at_least)
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
	page_cell(row, "value", NULL, gate_value((int)g.metric, res.value, res.known, res.at_least));
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
		page_cell(row, "value", NULL, gate_value((int)g.metric, res.value, res.known, res.at_least));
		page_cell(row, "limit", NULL, gate_value((int)g.metric, g.value, true, false));
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

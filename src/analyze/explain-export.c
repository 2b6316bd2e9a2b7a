/* SPDX-License-Identifier: MIT */
/* Explanations for other programs: flame graphs and Perfetto. Names come from foreign records: escaped here. */
#include "analyze/explain.h"
#include "analyze/explain-words.h"
#include "base/cleanup.h"

#include <stdio.h>
#include <string.h>

static void folded_name(struct strbuf *out, const char *s)
{
	for (; *s; s++)
		strbuf_addc(out, *s == ';' || (unsigned char)*s < 32 || *s == 127 ? '_' : *s);
}

static void folded(const struct trace *t, const struct walk_node *n, const char *above, struct strbuf *out)
{
	cleanup_strbuf struct strbuf path = STRBUF_INIT, words = STRBUF_INIT;
	double charged = 0;

	strbuf_adds(&path, above);
	if (n->kind == WALK_LEAF)
		strbuf_adds(&words, walk_leaf_name(n->leaf));
	else if (n->kind == WALK_WAIT)
		strbuf_adds(&words, wait_name(n->class));
	else
		words_node(t, n, &words);
	if (path.len)
		strbuf_addc(&path, ';');
	folded_name(&path, strbuf_str(&words));
	for (size_t i = 0; i < n->nkids; i++)
		folded(t, n->kid[i], strbuf_str(&path), out);
	if (n->kind != WALK_LEAF)
		return;
	for (size_t i = 0; i < n->bill.c.n; i++) {
		strbuf_clear(&words);
		words_charge(t, &n->bill.c.p[i], 0, &words);
		strbuf_addf(out, "%s;", strbuf_str(&path));
		folded_name(out, strbuf_str(&words));
		strbuf_addf(out, " %.0f\n", n->bill.c.p[i].ns / 1e3);
		charged += n->bill.c.p[i].ns;
	}
	if (n->ns - charged >= 1000)
		strbuf_addf(out, "%s %.0f\n", strbuf_str(&path), (n->ns - charged) / 1e3);
}

int analyze_explain_folded(struct rec *r, const struct explain_conf *c, struct strbuf *out, struct err *e)
{
	struct stalls s;
	struct trace t;
	int got = trace_load(r, c->run, &t, e);

	if (got < 0)
		return got;
	stalls_find(&t, c, &s);
	for (size_t i = 0; i < s.v.n; i++) {
		if (c->stall && i + 1 != (size_t)c->stall)
			continue;
		walk_merge(s.v.p[i].tree);
		folded(&t, s.v.p[i].tree, "", out);
	}
	stalls_done(&s);
	trace_done(&t);
	return 0;
}

static void json_text(struct strbuf *out, const char *s)
{
	strbuf_addc(out, '"');
	for (; *s; s++) {
		unsigned char ch = (unsigned char)*s;

		if (ch == '"' || ch == '\\')
			strbuf_addf(out, "\\%c", ch);
		else if (ch < 32 || ch >= 127)	/* file names are bytes, not always UTF-8 */
			strbuf_addf(out, "\\u%04x", ch);
		else
			strbuf_addc(out, (char)ch);
	}
	strbuf_addc(out, '"');
}

struct chrome {
	const struct trace *t;
	struct strbuf *out;
	unsigned flow;
	bool first;
};

static void begin_event(struct chrome *c, const char *ph, const char *name, uint32_t pid, uint32_t tid, nsec_t at)
{
	strbuf_adds(c->out, c->first ? "\n" : ",\n");
	c->first = false;
	strbuf_addf(c->out, "{\"ph\":\"%s\",\"pid\":%u,\"tid\":%u,\"ts\":%.3f,\"name\":", ph, pid, tid, (double)(at - c->t->t0) / 1e3);
	json_text(c->out, name);
}

/* Slices nest by time on one track; leaves have seconds but no place, so they stand one after another. */
static void chrome(struct chrome *c, const struct walk_node *n, uint32_t track)
{
	cleanup_strbuf struct strbuf words = STRBUF_INIT;
	nsec_t leaf_at = n->a;

	words_node(c->t, n, &words);
	if (n->b > n->a && n->kind != WALK_LEAF) {
		begin_event(c, "X", strbuf_str(&words), track, n->tid, n->a);
		strbuf_addf(c->out, ",\"dur\":%.3f,\"args\":{\"confidence\":\"%s\"}}", (double)(n->b - n->a) / 1e3, conf_name(n->conf));
	}
	for (size_t i = 0; i < n->nkids; i++) {
		const struct walk_node *k = n->kid[i];

		if (k->kind == WALK_LEAF) {
			strbuf_clear(&words);
			words_node(c->t, k, &words);
			begin_event(c, "X", strbuf_str(&words), track, n->tid, leaf_at);
			strbuf_addf(c->out, ",\"dur\":%.3f,\"args\":{\"leaf\":\"%s\"", k->ns / 1e3, walk_leaf_name(k->leaf));
			for (size_t j = 0; j < k->bill.c.n && j < 8; j++) {
				strbuf_clear(&words);
				words_charge(c->t, &k->bill.c.p[j], 0, &words);
				strbuf_adds(c->out, ",");
				json_text(c->out, strbuf_str(&words));
				strbuf_addf(c->out, ":%.6f", k->bill.c.p[j].ns / 1e9);
			}
			strbuf_adds(c->out, "}}");
			leaf_at += (nsec_t)k->ns;
			continue;
		}
		if (k->kind == WALK_TASK) {
			begin_event(c, "s", "waits for", track, n->tid, k->a);
			strbuf_addf(c->out, ",\"cat\":\"wait\",\"id\":%u}", ++c->flow);
			begin_event(c, "f", "waits for", track, k->tid, k->a);
			strbuf_addf(c->out, ",\"cat\":\"wait\",\"bp\":\"e\",\"id\":%u}", c->flow);
		}
		chrome(c, k, track);
		leaf_at = k->b;
	}
}

static void name_track(struct chrome *c, const char *what, uint32_t pid, uint32_t tid, const char *name)
{
	begin_event(c, "M", what, pid, tid, c->t->t0);
	strbuf_adds(c->out, ",\"args\":{\"name\":");
	json_text(c->out, name);
	strbuf_adds(c->out, "}}");
}

static void name_threads(struct chrome *c, const struct walk_node *n, uint32_t track)
{
	char who[96];

	if (n->kind == WALK_TASK)
		name_track(c, "thread_name", track, n->tid, trace_who(c->t, n->tid, who, sizeof(who)));
	for (size_t i = 0; i < n->nkids; i++)
		name_threads(c, n->kid[i], track);
}

struct counter {
	struct chrome *c;
	const char *name;
};

static int one_counter(void *ctx, int run, const nsec_t *t, const int64_t *value, uint32_t n)
{
	struct counter *x = ctx;

	for (uint32_t i = 0; i < n; i++) {
		begin_event(x->c, "C", x->name, 0, 0, t[i]);
		strbuf_addf(x->c->out, ",\"args\":{\"value\":%lld}}", (long long)value[i]);
	}
	return 0;
}

static int counters(void *ctx, const struct rec_series *s)
{
	struct counter x = { .c = ctx, .name = s->name };

	if (s->kind == SERIES_COUNTER)
		rec_counter_each(x.c->t->rec, x.c->t->run, s->id, one_counter, &x, NULL);
	return 0;
}

int analyze_explain_chrome(struct rec *r, const struct explain_conf *c, struct strbuf *out, struct err *e)
{
	struct stalls s;
	struct trace t;
	struct chrome x = { .t = &t, .out = out, .first = true };
	int got = trace_load(r, c->run, &t, e);

	if (got < 0)
		return got;
	stalls_find(&t, c, &s);
	strbuf_adds(out, "[");
	for (size_t i = 0; i < s.v.n; i++) {
		uint32_t track = (uint32_t)i + 1;
		char title[64];

		if (c->stall && track != (uint32_t)c->stall)
			continue;
		snprintf(title, sizeof(title), "stall %u", track);
		name_track(&x, "process_name", track, 0, title);
		name_threads(&x, s.v.p[i].tree, track);
		chrome(&x, s.v.p[i].tree, track);
	}
	rec_series_each(r, counters, &x);
	strbuf_adds(out, "\n]\n");
	stalls_done(&s);
	trace_done(&t);
	return 0;
}

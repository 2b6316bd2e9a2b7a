/* SPDX-License-Identifier: MIT */
/*
 * What differs between the environments (design, rule 8). One difference is the
 * factor under test. Facts of one family ("kernel.release", "kernel.build-id")
 * are one difference. Settings of the scenario bring others with them (another
 * filesystem has other mount options): those are listed and not counted again.
 */
#include "analyze/compare-parts.h"
#include "base/cleanup.h"

#include <errno.h>
#include <string.h>

#define SCENARIO_LINES_SHOWN 4

/* What the runs of a side say about a fact: their common value, or all of them. */
static char *values(const struct side *s, const char *key, bool *ret_inside)
{
	struct strbuf b = STRBUF_INIT;
	const char *first = NULL;

	for (size_t i = 0; i < s->runs.n; i++) {
		const char *v = side_fact_find(&s->runs.p[i], key);

		if (!v || (first && !strcmp(first, v)))
			continue;
		*ret_inside |= first != NULL;
		strbuf_addf(&b, "%s%s", first ? " | " : "", v);
		first = first ? first : v;
	}
	return first ? strbuf_detach(&b) : NULL;
}

static size_t family(const char *key)
{
	return strcspn(key, ".");
}

static bool listed(const struct env_report *r, const char *key, size_t side)
{
	for (size_t i = 0; i < r->p.n; i++)
		if (!strcmp(r->p.p[i].key, key) && r->p.p[i].side == side)
			return true;
	return false;
}

static bool family_listed(const struct env_report *r, const char *key, size_t side)
{
	for (size_t i = 0; i < r->p.n; i++)
		if (r->p.p[i].side == side && family(r->p.p[i].key) == family(key) &&
		    !strncmp(r->p.p[i].key, key, family(key)))
			return true;
	return false;
}

/* A line of one text that the other has not. */
static bool line_missing(const char *line, size_t n, const char *text)
{
	while (*text) {
		size_t len = strcspn(text, "\n");

		if (len == n && !strncmp(text, line, n))
			return false;
		text += len + (text[len] == '\n');
	}
	return true;
}

/* Lines only in `text`, joined by ", "; returns how many. */
static size_t only_lines(const char *text, const char *other, struct strbuf *out)
{
	size_t n = 0;

	while (*text) {
		size_t len = strcspn(text, "\n");

		if (len && *text != '#' && *text != '[' && line_missing(text, len, other)) {
			if (n++ < SCENARIO_LINES_SHOWN)
				strbuf_addf(out, "%s%.*s", out->len ? ", " : "", (int)len, text);
		}
		text += len + (text[len] == '\n');
	}
	if (n > SCENARIO_LINES_SHOWN)
		strbuf_addf(out, " and %zu more", n - SCENARIO_LINES_SHOWN);
	return n;
}

static void add(struct env_report *r, const char *key, const char *a, const char *b, size_t side, bool inside)
{
	vec_push(&r->p, ((struct env_difference){ .key = mem_dup(key), .a = mem_dup(a ? a : "not recorded"),
						  .b = mem_dup(b ? b : "not recorded"), .side = side, .inside = inside }));
}

/* How many settings of the scenario differ; a cell of a matrix or of `ab` is one setting. */
static size_t scenario_differs(struct env_report *r, const struct side *a, const struct side *b, size_t side)
{
	const struct side_run *ra = &a->runs.p[0], *rb = &b->runs.p[0];
	cleanup_strbuf struct strbuf sa = STRBUF_INIT, sb = STRBUF_INIT;
	size_t na, nb;

	if (!*ra->scenario_text || !*rb->scenario_text)
		return 0;
	na = only_lines(ra->scenario_text, rb->scenario_text, &sa);
	nb = only_lines(rb->scenario_text, ra->scenario_text, &sb);
	if (!na && !nb)
		return 0;
	if (strcmp(ra->cell, rb->cell)) {
		add(r, "setting", *ra->cell ? ra->cell : "none", *rb->cell ? rb->cell : "none", side, false);
		return 1;
	}
	add(r, "scenario", sa.len ? sa.s : "without", sb.len ? sb.s : "without", side, false);
	return MAX(na, nb);
}

static void facts_of_side(struct env_report *r, const struct compared *k, size_t side, bool consequence, size_t *factors)
{
	const struct side *from[2] = { k->sides[0], k->sides[side] };

	for (int f = 0; f < 2; f++)
		for (size_t i = 0; i < from[f]->runs.n; i++)
			for (size_t j = 0; j < from[f]->runs.p[i].facts.n; j++) {
				const struct side_fact *x = &from[f]->runs.p[i].facts.p[j];
				cleanup_free char *a = NULL, *b = NULL;
				bool inside = false;

				if (!x->counts || !strncmp(x->key, "scenario", 8) || listed(r, x->key, side))
					continue;
				a = values(k->sides[0], x->key, &inside);
				b = values(k->sides[side], x->key, &inside);
				if (a && b && !strcmp(a, b) && !inside)
					continue;
				/* a kernel or record that does not know a fact is not a difference */
				if (!a || !b)
					continue;
				if (!consequence && !family_listed(r, x->key, side))
					(*factors)++;
				add(r, x->key, a, b, side, inside);
			}
}

static void same_facts(struct env_report *r, const struct compared *k)
{
	const struct side_run *first = &k->sides[0]->runs.p[0];

	for (size_t j = 0; j < first->facts.n; j++) {
		const struct side_fact *x = &first->facts.p[j];
		bool everywhere = x->counts;

		for (size_t s = 0; everywhere && s < k->n; s++)
			for (size_t i = 0; everywhere && i < k->sides[s]->runs.n; i++) {
				const char *v = side_fact_find(&k->sides[s]->runs.p[i], x->key);

				everywhere = v && !strcmp(v, x->value);
			}
		if (everywhere)
			vec_push(&r->same, mem_dup(x->key));
	}
}

static bool all_by(const struct side *s, const char *producer)
{
	for (size_t i = 0; i < s->runs.n; i++)
		if (strcmp(s->runs.p[i].producer, producer))
			return false;
	return s->runs.n > 0;
}

static bool any_by(const struct side *s, const char *producer)
{
	for (size_t i = 0; i < s->runs.n; i++)
		if (!strcmp(s->runs.p[i].producer, producer))
			return true;
	return false;
}

void env_compare(const struct compared *k, struct env_report *ret)
{
	struct env_report r = { 0 };

	for (size_t s = 1; s < k->n; s++) {
		size_t settings = scenario_differs(&r, k->sides[0], k->sides[s], s), factors = settings;

		facts_of_side(&r, k, s, settings > 0, &factors);
		r.factors = MAX(r.factors, factors);
		r.simulated_against_real |= any_by(k->sides[0], "sim") != any_by(k->sides[s], "sim") ||
					    (any_by(k->sides[0], "sim") && !all_by(k->sides[0], "sim"));
		r.lab_against_real |= (any_by(k->sides[0], "lab") && any_by(k->sides[s], "run")) ||
				      (any_by(k->sides[0], "run") && any_by(k->sides[s], "lab"));
	}
	same_facts(&r, k);
	*ret = r;
}

void env_done(struct env_report *r)
{
	for (size_t i = 0; i < r->p.n; i++) {
		free(r->p.p[i].key);
		free(r->p.p[i].a);
		free(r->p.p[i].b);
	}
	vec_done(&r->p);
	text_list_done(&r->same);
}

int env_refuse(const struct env_report *r, const struct compare_conf *conf, struct err *e)
{
	cleanup_strbuf struct strbuf b = STRBUF_INIT;

	if (conf->allow_different)
		return 0;
	if (r->simulated_against_real)
		return err_set(e, -EINVAL, "one side is simulated and the other is not: they cannot stand against each other "
			       "(--allow-different compares them all the same)");
	if (r->lab_against_real)
		return err_set(e, -EINVAL, "one side ran on a modelled disk of the lab and the other on a real one "
			       "(--allow-different compares them all the same)");
	if (r->factors <= 1)
		return 0;
	for (size_t i = 0; i < r->p.n; i++)
		strbuf_addf(&b, "%s%s (%s, %s)", b.len ? "; " : "", r->p.p[i].key, r->p.p[i].a, r->p.p[i].b);
	return err_set(e, -EINVAL, "the sides differ in more than one thing, so nobody could say what made the difference: %.600s; "
		       "--allow-different compares them all the same", strbuf_str(&b));
}

/* SPDX-License-Identifier: MIT */
#include "base/cleanup.h"
#include "base/mem.h"
#include "base/vec.h"
#include "scenario/scenario-internal.h"

#include <errno.h>
#include <string.h>

/* One key with a list, and where its single value goes. */
struct axis {
	size_t section;
	char *key;			/* the last word: what the label says */
	const struct scn_key *from;
	char **values;
	size_t n;
};

static void split_list(const char *text, char ***ret, size_t *ret_n)
{
	VEC(char *) v = { 0 };

	for (;;) {
		const char *comma = strchrnul(text, ',');
		const char *a = text, *b = comma;

		while (a < b && (*a == ' ' || *a == '\t'))
			a++;
		while (b > a && (b[-1] == ' ' || b[-1] == '\t'))
			b--;
		if (b > a)
			vec_push(&v, mem_dupn(a, (size_t)(b - a)));
		if (!*comma)
			break;
		text = comma + 1;
	}
	*ret = v.p;
	*ret_n = v.n;
}

static void axis_done(struct axis *a)
{
	for (size_t i = 0; i < a->n; i++)
		free(a->values[i]);
	free(a->values);
	free(a->key);
}

static bool is_matrix(const struct scn_section *sec, const struct scn_key *k)
{
	if (!strcmp(sec->kind, "global") && !strncmp(k->key, "matrix.", 7))
		return true;
	return (!strcmp(sec->kind, "lab") || !strcmp(sec->kind, "settings")) && strchr(k->value, ',');
}

struct scenario *scenario_copy(const struct scenario *s)
{
	struct scenario *c = scn_new(s->path);

	free(c->name);
	c->name = mem_dup(s->name);
	c->question = mem_dup(s->question);
	c->shipped = s->shipped;
	for (size_t i = 0; i < s->nsections; i++) {
		const struct scn_section *f = &s->sections[i];
		struct scn_section *sec = scn_section_add(c, f->kind, f->name, f->label, f->file, f->line);

		for (size_t j = 0; j < f->nkeys; j++) {
			struct scn_key *k = scn_key_set(sec, f->keys[j].key, f->keys[j].value, f->keys[j].file,
							f->keys[j].line);

			k->used = f->keys[j].used;
		}
	}
	return c;
}

static void drop_matrix_keys(struct scenario *s)
{
	struct scn_section *g = scenario_section(s, "global", "");
	size_t out = 0;

	for (size_t i = 0; g && i < g->nkeys; i++) {
		if (strncmp(g->keys[i].key, "matrix.", 7)) {
			g->keys[out++] = g->keys[i];
			continue;
		}
		free(g->keys[i].key);
		free(g->keys[i].value);
		free(g->keys[i].file);
	}
	if (g)
		g->nkeys = out;
}

static int make_cell(const struct scenario *s, const struct axis *axes, size_t naxes, size_t index,
		     struct scn_cell *ret, struct err *e)
{
	cleanup_strbuf struct strbuf label = STRBUF_INIT;
	struct scenario *c = scenario_copy(s);

	drop_matrix_keys(c);
	for (size_t i = naxes; i > 0; i--) {	/* the last axis turns fastest */
		const struct axis *a = &axes[i - 1];
		const char *value = a->values[index % a->n];
		cleanup_strbuf struct strbuf word = STRBUF_INIT;
		int r;

		index /= a->n;
		if (!strncmp(a->from->key, "matrix.", 7)) {
			cleanup_free char *set = mem_printf("%s=%s", a->from->key + 7, value);

			r = scenario_override(c, set, NULL);
			if (r) {
				scenario_free(c);
				return scenario_complain(a->from, e, "'%s' names no section of this scenario; write "
							 "matrix.SECTION.KEY", a->from->key);
			}
		} else {
			scn_key_set(&c->sections[a->section], a->key, value, a->from->file, a->from->line);
		}
		if (a->n > 1) {
			strbuf_addf(&word, "%s=%s%s%s", a->key, value, label.len ? " " : "", strbuf_str(&label));
			strbuf_clear(&label);
			strbuf_adds(&label, strbuf_str(&word));
		}
	}
	*ret = (struct scn_cell){ .label = strbuf_detach(&label), .s = c };
	return 0;
}

int scenario_cells(const struct scenario *s, struct scn_cell **ret, size_t *ret_n, struct err *e)
{
	VEC(struct axis) axes = { 0 };
	struct scn_cell *cells = NULL;
	size_t total = 1, done = 0;
	int r = 0;

	for (size_t i = 0; i < s->nsections && !r; i++) {
		const struct scn_section *sec = &s->sections[i];

		for (size_t j = 0; j < sec->nkeys && !r; j++) {
			const struct scn_key *k = &sec->keys[j];
			const char *dot = strrchr(k->key, '.');
			struct axis a = { .section = i, .from = k };

			if (!is_matrix(sec, k))
				continue;
			split_list(k->value, &a.values, &a.n);
			a.key = mem_dup(!strncmp(k->key, "matrix.", 7) ? dot + 1 : k->key);
			vec_push(&axes, a);
			if (!a.n)
				r = scenario_complain(k, e, "'%s' is an empty list", k->key);
			else if (total > SCN_CELLS / a.n)
				r = scenario_complain(k, e, "the lists of this scenario make more than %d cells", SCN_CELLS);
			else
				total *= a.n;
		}
	}
	if (!r) {
		cells = mem_array(total, sizeof(*cells));
		for (; done < total && !r; done++)
			r = make_cell(s, axes.p, axes.n, done, &cells[done], e);
	}
	for (size_t i = 0; i < axes.n; i++)
		axis_done(&axes.p[i]);
	vec_done(&axes);
	if (r) {
		scenario_cells_free(cells, cells ? done : 0);
		return r;
	}
	*ret = cells;
	*ret_n = total;
	return 0;
}

void scenario_cells_free(struct scn_cell *cells, size_t n)
{
	for (size_t i = 0; cells && i < n; i++) {
		free(cells[i].label);
		scenario_free(cells[i].s);
	}
	free(cells);
}

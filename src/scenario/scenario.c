/* SPDX-License-Identifier: MIT */
#include "scenario/scenario.h"
#include "base/cleanup.h"
#include "base/mem.h"
#include "base/units.h"
#include "base/vec.h"
#include "scenario/scenario-internal.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct scenario *scn_new(const char *path)
{
	struct scenario *s = mem_alloc(sizeof(*s));
	const char *base = strrchr(path, '/');
	size_t n;

	base = base ? base + 1 : path;
	n = strlen(base);
	if (n > 9 && !strcmp(base + n - 9, ".scenario"))
		n -= 9;
	s->name = mem_dupn(base, n);
	s->path = mem_dup(path);
	return s;
}

void scenario_free(struct scenario *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->nsections; i++) {
		struct scn_section *sec = &s->sections[i];

		for (size_t j = 0; j < sec->nkeys; j++) {
			free(sec->keys[j].key);
			free(sec->keys[j].value);
			free(sec->keys[j].file);
		}
		free(sec->keys);
		free(sec->kind);
		free(sec->name);
		free(sec->label);
		free(sec->file);
	}
	free(s->sections);
	free(s->name);
	free(s->path);
	free(s->question);
	free(s);
}

struct scn_section *scenario_section(struct scenario *s, const char *kind, const char *label)
{
	for (size_t i = 0; i < s->nsections; i++)
		if (!strcmp(s->sections[i].kind, kind) && !strcmp(s->sections[i].label, label))
			return &s->sections[i];
	return NULL;
}

struct scn_section *scn_section_add(struct scenario *s, const char *kind, const char *name, const char *label,
				    const char *file, int line)
{
	struct scn_section *sec = scenario_section(s, kind, label);

	if (sec)
		return sec;
	if (s->nsections == SCN_SECTIONS)
		return NULL;
	s->sections = mem_realloc(s->sections, (s->nsections + 1) * sizeof(*s->sections));
	sec = &s->sections[s->nsections++];
	*sec = (struct scn_section){ .kind = mem_dup(kind), .name = mem_dup(name), .label = mem_dup(label),
				     .file = mem_dup(file), .line = line };
	return sec;
}

bool scn_adds_up(const char *key)
{
	return !strcmp(key, "limit");
}

struct scn_key *scn_key_find(struct scn_section *sec, const char *key)
{
	for (size_t i = sec->nkeys; i > 0; i--)
		if (!strcmp(sec->keys[i - 1].key, key))
			return &sec->keys[i - 1];
	return NULL;
}

struct scn_key *scn_key_set(struct scn_section *sec, const char *key, const char *value, const char *file, int line)
{
	struct scn_key *k = scn_adds_up(key) && !strcmp(sec->kind, "global") ? NULL : scn_key_find(sec, key);

	if (!k) {
		if (sec->nkeys == SCN_KEYS)
			return NULL;
		sec->keys = mem_realloc(sec->keys, (sec->nkeys + 1) * sizeof(*sec->keys));
		k = &sec->keys[sec->nkeys++];
		*k = (struct scn_key){ .key = mem_dup(key) };
	}
	free(k->value);
	free(k->file);
	k->value = mem_dup(value);
	k->file = mem_dup(file);
	k->line = line;
	return k;
}

const char *scenario_get(struct scn_section *sec, const char *key, const char *def)
{
	struct scn_key *k = sec ? scn_key_find(sec, key) : NULL;

	if (!k)
		return def;
	k->used = true;
	return k->value;
}

int scenario_complain(const struct scn_key *k, struct err *e, const char *fmt, ...)
{
	char text[700];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (!strcmp(k->file, "-D"))
		return err_set(e, -EINVAL, "-D: %s", text);
	return err_set(e, -EINVAL, "%s:%d: %s", k->file, k->line, text);
}

int scenario_unused(const struct scenario *s, const char *const *known, struct err *e)
{
	size_t n = 0;

	while (known && known[n])
		n++;
	for (size_t i = 0; i < s->nsections; i++) {
		const struct scn_section *sec = &s->sections[i];
		char where[200];

		if (!strcmp(sec->kind, "global"))
			where[0] = 0;
		else
			snprintf(where, sizeof(where), " in [%s%s%s]", sec->kind, *sec->label ? " " : "", sec->label);
		for (size_t j = 0; j < sec->nkeys; j++) {
			const struct scn_key *k = &sec->keys[j];
			const char *near;

			if (k->used)
				continue;
			near = units_nearest(k->key, known, n);
			if (near)
				return scenario_complain(k, e, "unknown key '%s'%s; did you mean '%s'?", k->key, where, near);
			return scenario_complain(k, e, "unknown key '%s'%s", k->key, where);
		}
	}
	return 0;
}

static int by_section(const void *a, const void *b)
{
	const struct scn_section *x = *(const struct scn_section *const *)a, *y = *(const struct scn_section *const *)b;
	bool gx = !strcmp(x->kind, "global"), gy = !strcmp(y->kind, "global");

	if (gx != gy)
		return gx ? -1 : 1;
	return strcmp(x->kind, y->kind) ?: strcmp(x->label, y->label);
}

static int by_key(const void *a, const void *b)
{
	const struct scn_key *x = *(const struct scn_key *const *)a, *y = *(const struct scn_key *const *)b;

	return strcmp(x->key, y->key) ?: strcmp(x->value, y->value);
}

void scenario_text(const struct scenario *s, struct strbuf *out)
{
	VEC(const struct scn_section *) secs = { 0 };
	VEC(const struct scn_key *) keys = { 0 };

	for (size_t i = 0; i < s->nsections; i++)
		vec_push(&secs, &s->sections[i]);
	if (secs.n)
		qsort(secs.p, secs.n, sizeof(*secs.p), by_section);
	for (size_t i = 0; i < secs.n; i++) {
		const struct scn_section *sec = secs.p[i];

		if (strcmp(sec->kind, "global") && !strcmp(sec->name, sec->label))
			strbuf_addf(out, "%s[%s%s%s]\n", out->len ? "\n" : "", sec->kind, *sec->name ? " " : "", sec->name);
		else if (strcmp(sec->kind, "global"))
			strbuf_addf(out, "%s[%s %s:%s]\n", out->len ? "\n" : "", sec->kind, sec->name, sec->label);
		keys.n = 0;
		for (size_t j = 0; j < sec->nkeys; j++)
			vec_push(&keys, &sec->keys[j]);
		if (keys.n)
			qsort(keys.p, keys.n, sizeof(*keys.p), by_key);
		for (size_t j = 0; j < keys.n; j++)
			strbuf_addf(out, "%s = %s\n", keys.p[j]->key, keys.p[j]->value);
	}
	vec_done(&secs);
	vec_done(&keys);
}

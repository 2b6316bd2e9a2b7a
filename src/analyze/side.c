/* SPDX-License-Identifier: MIT */
#include "analyze/side.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct side *side_new(const char *label)
{
	struct side *s = mem_alloc(sizeof(*s));

	s->label = mem_dup(label);
	return s;
}

static void run_done(struct side_run *r)
{
	for (size_t i = 0; i < r->series.n; i++) {
		free(r->series.p[i].name);
		free(r->series.p[i].measures);
	}
	for (size_t i = 0; i < r->numbers.n; i++) {
		free(r->numbers.p[i].name);
		free(r->numbers.p[i].unit);
	}
	for (size_t i = 0; i < r->facts.n; i++) {
		free(r->facts.p[i].key);
		free(r->facts.p[i].value);
	}
	vec_done(&r->series);
	vec_done(&r->numbers);
	vec_done(&r->facts);
	free(r->source);
	free(r->producer);
	free(r->command);
	free(r->version);
	free(r->scenario);
	free(r->scenario_text);
	free(r->cell);
	free(r->load);
}

void side_free(struct side *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->runs.n; i++)
		run_done(&s->runs.p[i]);
	for (size_t i = 0; i < s->notes.n; i++)
		free(s->notes.p[i]);
	for (size_t i = s->owned.n; i-- > 0;)
		s->owned.p[i].done(s->owned.p[i].p);
	vec_done(&s->runs);
	vec_done(&s->notes);
	vec_done(&s->owned);
	free(s->label);
	free(s);
}

struct side_run *side_run(struct side *s, const char *source, const char *producer)
{
	struct side_run r = { .source = mem_dup(source), .producer = mem_dup(producer), .command = mem_dup(""),
			      .version = mem_dup(""), .scenario = mem_dup(""), .scenario_text = mem_dup(""),
			      .cell = mem_dup("") };

	vec_push(&s->runs, r);
	return &s->runs.p[s->runs.n - 1];
}

struct side_series *side_series(struct side_run *r, const char *name, const char *measures)
{
	struct side_series x = { .name = mem_dup(name), .measures = mem_dup(measures ? measures : "") };

	vec_push(&r->series, x);
	return &r->series.p[r->series.n - 1];
}

void side_number(struct side_run *r, const char *name, const char *unit, double value, int better)
{
	struct side_number n = { .name = mem_dup(name), .unit = mem_dup(unit), .value = value, .better = better };

	vec_push(&r->numbers, n);
}

void side_fact(struct side_run *r, const char *key, const char *value, bool counts)
{
	struct side_fact f = { .key = mem_dup(key), .value = mem_dup(value), .counts = counts };

	vec_push(&r->facts, f);
}

void side_note(struct side *s, const char *fmt, ...)
{
	va_list ap;
	char *text;

	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		abort();
	va_end(ap);
	vec_push(&s->notes, text);
}

void *side_own(struct side *s, void *p, void (*done)(void *))
{
	vec_reserve(&s->owned, s->owned.n + 1);
	s->owned.p[s->owned.n].p = p;
	s->owned.p[s->owned.n++].done = done ? done : free;
	return p;
}

const struct side_series *side_series_find(const struct side_run *r, const char *name)
{
	for (size_t i = 0; i < r->series.n; i++)
		if (!strcmp(r->series.p[i].name, name))
			return &r->series.p[i];
	return NULL;
}

const char *side_fact_find(const struct side_run *r, const char *key)
{
	for (size_t i = 0; i < r->facts.n; i++)
		if (!strcmp(r->facts.p[i].key, key))
			return r->facts.p[i].value;
	return NULL;
}

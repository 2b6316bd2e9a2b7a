/* SPDX-License-Identifier: MIT */
#include "format/memory.h"
#include "base/cleanup.h"

#include <errno.h>
#include <string.h>

#define SERIES_MAX 1000	/* of one run: they are looked up by name */

static struct import_run *run(struct import_mem *m)
{
	return &m->runs.p[m->runs.n - 1];
}

static void run_begin(struct import_mem *m, const char *label, unsigned side)
{
	struct import_run r = { .label = mem_dup(label ? label : ""), .side = side };

	vec_push(&m->runs, r);
}

static void run_done(struct import_run *r)
{
	for (size_t i = 0; i < r->series.n; i++) {
		struct import_series *s = &r->series.p[i];

		free(s->name);
		free(s->meaning);
		vec_done(&s->waits);
		vec_done(&s->buckets);
		for (size_t k = 0; k < s->facts.n; k++) {
			free(s->facts.p[k].key);
			free(s->facts.p[k].value);
		}
		vec_done(&s->facts);
	}
	for (size_t i = 0; i < r->numbers.n; i++) {
		free(r->numbers.p[i].name);
		free(r->numbers.p[i].unit);
	}
	for (size_t i = 0; i < r->facts.n; i++) {
		free(r->facts.p[i].key);
		free(r->facts.p[i].value);
	}
	for (size_t i = 0; i < r->notes.n; i++)
		free(r->notes.p[i].text);
	vec_done(&r->series);
	vec_done(&r->numbers);
	vec_done(&r->facts);
	vec_done(&r->notes);
	free(r->label);
}

struct import_mem *import_mem_new(void)
{
	struct import_mem *m = mem_alloc(sizeof(*m));

	run_begin(m, "", 0);
	return m;
}

void import_mem_free(struct import_mem *m)
{
	if (!m)
		return;
	for (size_t i = 0; i < m->runs.n; i++)
		run_done(&m->runs.p[i]);
	vec_done(&m->runs);
	free(m);
}

static int mem_series(void *ctx, const char *name, const char *meaning, bool open_loop, nsec_t limit)
{
	struct import_run *r = run(ctx);
	struct import_series s = { .open_loop = open_loop, .limit = limit };

	for (size_t i = 0; i < r->series.n; i++)
		if (!strcmp(r->series.p[i].name, name))
			return (int)i;
	if (r->series.n == SERIES_MAX)
		return -E2BIG;
	s.name = mem_dup(name);
	s.meaning = mem_dup(meaning ? meaning : "");
	vec_push(&r->series, s);
	return (int)r->series.n - 1;
}

static int mem_series_fact(void *ctx, int series, const char *key, const char *value)
{
	struct import_series *s = &run(ctx)->series.p[series];
	struct import_fact f = { .key = mem_dup(key), .value = mem_dup(value) };

	vec_push(&s->facts, f);
	return 0;
}

static int mem_wait(void *ctx, int series, nsec_t t_start, nsec_t wait, uint8_t status, uint64_t bytes)
{
	struct import_series *s = &run(ctx)->series.p[series];
	struct import_wait w = { .t_start = t_start, .wait = wait, .bytes = bytes, .status = status };

	thin_put(&s->thin, &s->waits, &w);
	return 0;
}

static int mem_bucket(void *ctx, int series, nsec_t lo, nsec_t hi, uint64_t n, bool clipped)
{
	struct import_mem *m = ctx;
	struct import_bucket b = { .lo = lo, .hi = hi, .n = n, .clipped = clipped };

	if (++m->things > IMPORT_MEM_MAX)
		return -E2BIG;
	vec_push(&run(m)->series.p[series].buckets, b);
	return 0;
}

static int mem_number(void *ctx, const char *name, const char *unit, double value, int better)
{
	struct import_number n = { .name = mem_dup(name), .unit = mem_dup(unit), .value = value, .better = better };

	vec_push(&run(ctx)->numbers, n);
	return ++((struct import_mem *)ctx)->things > IMPORT_MEM_MAX ? -E2BIG : 0;
}

static int mem_fact(void *ctx, const char *key, const char *value)
{
	struct import_fact f = { .key = mem_dup(key), .value = mem_dup(value) };

	vec_push(&run(ctx)->facts, f);
	return 0;
}

static int mem_note(void *ctx, enum note_kind kind, const char *text)
{
	struct import_note n = { .kind = kind, .text = mem_dup(text) };

	vec_push(&run(ctx)->notes, n);
	return 0;
}

static int mem_next_run(void *ctx, const char *label, bool other_side)
{
	struct import_mem *m = ctx;
	struct import_run *r = run(m);

	if (r->series.n || r->numbers.n) {
		run_begin(m, label, r->side + other_side);
	} else {
		free(r->label);
		r->label = mem_dup(label ? label : "");
	}
	return 0;
}

void import_mem_sink(struct import_mem *m, struct import_sink *ret_sink)
{
	*ret_sink = (struct import_sink){
		.ctx = m, .series = mem_series, .series_fact = mem_series_fact, .wait = mem_wait, .bucket = mem_bucket, .number = mem_number,
		.fact = mem_fact, .note = mem_note, .next_run = mem_next_run,
	};
}

/* Completes the series that were too long to keep whole, and says so in their run. */
static void thinned(struct import_mem *m)
{
	for (size_t i = 0; i < m->runs.n; i++) {
		for (size_t k = 0; k < m->runs.p[i].series.n; k++) {
			struct import_series *s = &m->runs.p[i].series.p[k];

			if (s->thin.stride <= 1)
				continue;
			thin_end(&s->thin, &s->waits);
			vec_push(&m->runs.p[i].notes,
				 ((struct import_note){ NOTE_LOSS, thin_words(&s->thin, &s->waits, s->name) }));
		}
	}
}

int import_mem_take(struct input *in, const char *as, struct import_mem **ret, struct err *e)
{
	cleanup_import_mem struct import_mem *m = import_mem_new();
	const struct format_ops *ops;
	struct import_sink sink;
	int r = format_choose(in, as, &ops, e);

	if (r)
		return r;
	import_mem_sink(m, &sink);
	r = format_read(in, ops, &sink, e);
	if (r == -E2BIG && e && !e->code)
		err_set(e, r, "'%s' holds more series, buckets or numbers than can be kept (%d)", in->name, IMPORT_MEM_MAX);
	if (r)
		return r;
	thinned(m);
	m->format = ops->plug.name;
	m->truncated = in->truncated;
	*ret = take(m);
	return 0;
}

int import_mem_read(const char *path, const char *as, nsec_t unit, struct import_mem **ret, struct err *e)
{
	cleanup_input struct input *in = NULL;
	int r = input_open(path, &in, e);

	if (r)
		return r;
	in->unit = unit;
	return import_mem_take(in, as, ret, e);
}

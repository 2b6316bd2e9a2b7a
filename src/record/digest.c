/* SPDX-License-Identifier: MIT */
/*
 * The digest of a run: SHA-256 over its series in the order of kind and name,
 * each with unit and facts and then its rows as numbers in the main clock, then
 * stalls and truth. Names and stacks enter as their text, so that neither the
 * size of chunks nor the order in which names came matters.
 */
#include "base/cleanup.h"
#include "base/sha256.h"
#include "record/rec.h"
#include "record/truth.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct digest {
	struct rec *r;
	struct sha256 sha;
	bool begun;
	const struct rec_series *s;
	uint64_t *name, *stack;		/* first 8 bytes of a text's hash by id; 0: not yet */
	uint32_t names, stacks;
};

static int by_kind_and_name(const void *a, const void *b)
{
	const struct rec_series *x = a, *y = b;

	return x->kind != y->kind ? (int)x->kind - (int)y->kind : strcmp(x->name, y->name);
}

static void begin_series(struct digest *d)
{
	sqlite3_stmt *st;

	if (d->begun)
		return;
	d->begun = true;
	sha256_u64(&d->sha, d->s->kind);
	sha256_text(&d->sha, d->s->name);
	sha256_text(&d->sha, d->s->unit);
	sha256_text(&d->sha, d->s->group);
	st = rec_query(d->r, "SELECT key, value FROM series_attr WHERE series = ?1 ORDER BY key", (const int64_t[]){ d->s->id }, 1);
	while (rec_next(d->r, st, "tt", NULL)) {
		sha256_text(&d->sha, (const char *)sqlite3_column_text(st, 0));
		sha256_text(&d->sha, (const char *)sqlite3_column_text(st, 1));
	}
	sqlite3_finalize(st);
}

static uint64_t *slot(uint64_t **p, uint32_t *n, uint32_t id)
{
	if (id >= *n) {
		uint32_t want = id + id / 2 + 64;

		*p = mem_realloc(*p, want * sizeof(**p));
		memset(*p + *n, 0, (want - *n) * sizeof(**p));
		*n = want;
	}
	return &(*p)[id];
}

static uint64_t short_hash(struct sha256 *sha)
{
	uint8_t b[SHA256_BYTES];
	uint64_t x;

	sha256_end(sha, b);
	memcpy(&x, b, sizeof(x));
	return x ? x : 1;
}

static uint64_t name_hash(struct digest *d, uint32_t id)
{
	struct sha256 sha;
	uint64_t *at;

	if (!id || id > REC_STRINGS_MAX)
		return 0;
	at = slot(&d->name, &d->names, id);
	if (!*at) {
		sha256_start(&sha);
		sha256_text(&sha, rec_string_get(d->r, id));
		*at = short_hash(&sha);
	}
	return *at;
}

static uint64_t stack_hash(struct digest *d, uint32_t id)
{
	const char *frame[128];
	struct sha256 sha;
	uint64_t *at;

	if (!id || id > REC_STRINGS_MAX)
		return 0;
	at = slot(&d->stack, &d->stacks, id);
	if (!*at) {
		int n = rec_stack_get(d->r, id, frame, ARRAY_SIZE(frame));

		sha256_start(&sha);
		for (int i = 0; i < n; i++)
			sha256_text(&sha, frame[i]);
		*at = short_hash(&sha);
	}
	return *at;
}

static int samples(void *ctx, int run, const struct sample *rows, uint32_t n)
{
	struct digest *d = ctx;
	int64_t value[SAMPLE_COLUMNS], *col[SAMPLE_COLUMNS];

	begin_series(d);
	for (int i = 0; i < SAMPLE_COLUMNS; i++)
		col[i] = &value[i];
	for (uint32_t k = 0; k < n; k++) {
		sample_to_columns(rows + k, 1, col);
		for (int i = 0; i < SAMPLE_COLUMNS; i++)
			sha256_u64(&d->sha, (uint64_t)value[i]);
	}
	return 0;
}

static int counters(void *ctx, int run, const nsec_t *t, const int64_t *value, uint32_t n)
{
	struct digest *d = ctx;

	begin_series(d);
	for (uint32_t k = 0; k < n; k++) {
		sha256_u64(&d->sha, (uint64_t)t[k]);
		sha256_u64(&d->sha, (uint64_t)value[k]);
	}
	return 0;
}

static int events(void *ctx, int run, const struct event *rows, uint32_t n)
{
	struct digest *d = ctx;
	int64_t value[EVENT_COLUMNS], *col[EVENT_COLUMNS];

	begin_series(d);
	for (int i = 0; i < EVENT_COLUMNS; i++)
		col[i] = &value[i];
	for (uint32_t k = 0; k < n; k++) {
		event_to_columns(rows + k, 1, col);
		value[15] = (int64_t)stack_hash(d, rows[k].stack);
		value[16] = (int64_t)name_hash(d, rows[k].name);
		value[17] = (int64_t)name_hash(d, rows[k].comm);
		for (int i = 0; i < EVENT_COLUMNS; i++)
			sha256_u64(&d->sha, (uint64_t)value[i]);
	}
	return 0;
}

static int stall(void *ctx, const struct rec_stall *s)
{
	struct digest *d = ctx;
	struct rec_series of = { .name = "" };

	(void)rec_series_get(d->r, s->series, &of);
	sha256_text(&d->sha, of.name);
	sha256_u64(&d->sha, s->sample_id);
	sha256_u64(&d->sha, (uint64_t)s->t);
	sha256_u64(&d->sha, (uint64_t)s->waited);
	sha256_u64(&d->sha, (uint64_t)s->pid << 32 | s->tid);
	sha256_text(&d->sha, s->comm);
	sha256_text(&d->sha, s->state);
	sha256_text(&d->sha, s->wchan);
	sha256_text(&d->sha, s->syscall);
	sha256_u64(&d->sha, stack_hash(d, s->stack));
	return 0;
}

static int truth(void *ctx, const struct truth *t)
{
	struct digest *d = ctx;

	sha256_u64(&d->sha, (uint64_t)t->t);
	sha256_u64(&d->sha, (uint64_t)t->dur);
	sha256_text(&d->sha, t->kind);
	sha256_u64(&d->sha, (uint64_t)t->culprit_pid << 32 | t->victim_pid);
	sha256_text(&d->sha, t->text);
	return 0;
}

int rec_digest(struct rec *r, int run, char ret_hex[REC_DIGEST], struct err *e)
{
	size_t n = r->series.n;
	struct rec_series *order = mem_array(n, sizeof(*order));
	struct digest d = { .r = r };
	uint64_t before = r->damaged;
	int ret = 0;

	if (n)
		memcpy(order, r->series.p, n * sizeof(*order));
	qsort(order, n, sizeof(*order), by_kind_and_name);
	sha256_start(&d.sha);
	sha256_text(&d.sha, "stallmark digest 1");
	for (size_t i = 0; !ret && i < n; i++) {
		d.s = &order[i];
		d.begun = false;
		if (d.s->kind == SERIES_SAMPLES)
			ret = rec_samples_each(r, run, d.s->id, samples, &d, e);
		else if (d.s->kind == SERIES_COUNTER)
			ret = rec_counter_each(r, run, d.s->id, counters, &d, e);
		else
			ret = rec_events_each(r, run, d.s->id, 0, NSEC_NEVER, events, &d, e);
	}
	if (!ret) {
		sha256_text(&d.sha, "stalls");
		rec_stalls_each(r, run, stall, &d);
		sha256_text(&d.sha, "truth");
		rec_truth_each(r, run, truth, &d);
		if (r->damaged > before)
			ret = err_set(e, -EBADMSG, "the record %s is damaged, so it has no digest", r->path);
	}
	if (!ret)
		sha256_end_hex(&d.sha, ret_hex);
	free(d.name);
	free(d.stack);
	free(order);
	return ret;
}

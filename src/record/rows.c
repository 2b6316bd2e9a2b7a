/* SPDX-License-Identifier: MIT */
/* Chunks back to rows, in the run's main clock. A chunk that cannot be read is counted and passed over. */
#include "base/cleanup.h"
#include "base/sha256.h"
#include "record/rec.h"
#include "record/truth.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define BREAKS_MAX 1000	/* in one series, then the rest of it is given up */

struct walk {
	struct rec *r;
	enum series_kind kind;
	int series, run;
	nsec_t t0, t1;			/* chunks outside are not decoded */
	int64_t *values;		/* columns of the chunk */
	void *rows;			/* as structs */
	int64_t *col[SAMPLE_COLUMNS > EVENT_COLUMNS ? SAMPLE_COLUMNS : EVENT_COLUMNS];
	int (*fn)(struct walk *w, int run, uint32_t n);
	void *user_fn, *ctx;
	uint64_t bad;			/* chunks of this walk */
	struct err why;			/* of the first of them */
};

bool rec_clock_offset(const struct rec *r, int clock, nsec_t *ret)
{
	if (!clock) {
		*ret = 0;
		return true;
	}
	for (size_t i = 0; i < r->clocks.n; i++) {
		if (r->clocks.p[i].id == clock) {
			*ret = r->clocks.p[i].offset;
			return true;
		}
	}
	return false;
}

static bool sane(const int64_t *x, uint32_t n, int64_t low, int64_t high)
{
	for (uint32_t i = 0; i < n; i++)
		if (x[i] < low || x[i] > high)
			return false;
	return true;
}

static void shift(int64_t *x, uint32_t n, nsec_t by)
{
	for (uint32_t i = 0; i < n; i++)
		x[i] += by;
}

/* Whoever computes with the rows need not fear overflow, negative waits or an index out of range. */
static bool check_values(struct walk *w, uint32_t n, nsec_t offset)
{
	static const int64_t most = REC_TIME_MAX;
	int64_t **c = w->col;

	switch (w->kind) {
	case SERIES_SAMPLES:
		for (int i = 1; i <= 3; i++) {
			if (!sane(c[i], n, -most, most))
				return false;
			shift(c[i], n, offset);
		}
		for (uint32_t i = 0; i < n; i++)
			if (c[3][i] < c[1][i])
				return false;
		for (int i = 13; i < SAMPLE_COLUMNS; i++)
			if (!sane(c[i], n, -1, most))
				return false;
		return sane(c[6], n, 0, SAMPLE_STATUS_MAX - 1) && sane(c[7], n, 0, COLD_NOT_ASKED) &&
		       sane(c[8], n, 0, PHASE_MAX - 1) && sane(c[9], n, 0, SAMPLE_STEPS);
	case SERIES_COUNTER:
		if (!sane(c[0], n, -most, most))
			return false;
		shift(c[0], n, offset);
		return true;
	default:
		if (!sane(c[0], n, -most, most) || !sane(c[1], n, 0, most))
			return false;
		shift(c[0], n, offset);
		return true;
	}
}

static void bad_chunk(struct walk *w, int64_t id, const char *why)
{
	w->r->damaged++;
	if (!w->bad++)
		err_set(&w->why, -EBADMSG, "chunk %lld of %s: %s", (long long)id, rec_chunk_table[w->kind], why);
}

/* One row of the chunk table: columns id, run, clock, t0, t1, n, data. */
static int one_chunk(struct walk *w, sqlite3_stmt *st)
{
	int64_t id = sqlite3_column_int64(st, 0), n = sqlite3_column_int64(st, 5);
	nsec_t t0 = sqlite3_column_int64(st, 3), t1 = sqlite3_column_int64(st, 4), offset;
	int run = sqlite3_column_int(st, 1), columns = rec_columns(w->kind);
	struct err why = { 0 };
	const void *blob;

	if (!rec_clock_offset(w->r, sqlite3_column_int(st, 2), &offset)) {
		bad_chunk(w, id, "its clock is missing");
		return 0;
	}
	if (nsec_add(t1, offset) < w->t0 || t0 > (w->t1 == NSEC_NEVER ? NSEC_NEVER : w->t1 - offset))
		return 0;
	blob = sqlite3_column_blob(st, 6);
	if (!blob || n < 1 || n > chunk_rows(columns)) {
		bad_chunk(w, id, "its size is impossible");
		return 0;
	}
	if (chunk_decode(&w->r->coder, blob, (size_t)sqlite3_column_bytes(st, 6), columns, (uint32_t)n, w->values, &why)) {
		bad_chunk(w, id, why.msg);
		return 0;
	}
	for (int i = 0; i < columns; i++)
		w->col[i] = w->values + (size_t)i * (size_t)n;
	if (!check_values(w, (uint32_t)n, offset)) {
		bad_chunk(w, id, "it holds impossible times");
		return 0;
	}
	return w->fn(w, run, (uint32_t)n);
}

static sqlite3_stmt *chunks_after(struct walk *w, int64_t id)
{
	cleanup_free char *sql = mem_printf("SELECT id, run, clock, t0, t1, n, data FROM %s WHERE id > ?3 AND series = ?1 AND "
					    "(?2 = 0 OR run = ?2) ORDER BY id", rec_chunk_table[w->kind]);

	return rec_query(w->r, sql, (const int64_t[]){ w->series, w->run, id }, 3);
}

static bool readable(struct walk *w, int64_t id, int64_t *ret_found)
{
	cleanup_free char *sql = mem_printf("SELECT id FROM %s WHERE id >= ?1 ORDER BY id LIMIT 1", rec_chunk_table[w->kind]);
	sqlite3_stmt *st = rec_query(w->r, sql, (const int64_t[]){ id }, 1);
	int got;
	bool is = rec_next(w->r, st, "i", &got);

	if (is)
		*ret_found = sqlite3_column_int64(st, 0);
	sqlite3_finalize(st);
	return is;
}

/* A page of the table is broken: the first row after `id` that can be reached again, found by doubling steps and then
 * by halving the last one. False: nothing more. */
static bool next_readable(struct walk *w, int64_t id, int64_t *ret_id)
{
	int64_t low = id, high, found;

	for (int64_t step = 1; ; step *= 2) {
		if (step > INT64_MAX / 4 || id > INT64_MAX - step)
			return false;
		high = id + step;
		if (readable(w, high, ret_id))
			break;
		low = high;
	}
	while (low + 1 < high) {
		int64_t mid = low + (high - low) / 2;

		if (readable(w, mid, &found)) {
			high = mid;
			*ret_id = found;
		} else {
			low = mid;
		}
	}
	return true;
}

static int walk(struct walk *w, struct err *e)
{
	struct rec *r = w->r;
	int columns = rec_columns(w->kind), ret = 0, sql = SQLITE_OK;
	uint64_t before = r->damaged;
	int64_t last = INT64_MIN, from = 0;	/* the last row read; where the search began after the last break */
	sqlite3_stmt *st;

	w->values = mem_array((size_t)columns * chunk_rows(columns), sizeof(int64_t));
	w->rows = w->kind == SERIES_COUNTER ? NULL :
		  mem_array(chunk_rows(columns), w->kind == SERIES_SAMPLES ? sizeof(struct sample) : sizeof(struct event));
	if (r->writer)
		ret = rec_flush(r, false, e);
	st = ret ? NULL : chunks_after(w, last);
	while (!ret && st) {
		if (rec_next(r, st, "iiiiiib", &sql)) {
			last = sqlite3_column_int64(st, 0);
			ret = one_chunk(w, st);
			continue;
		}
		sqlite3_finalize(st);
		st = NULL;
		if (sql == SQLITE_DONE)
			break;
		bad_chunk(w, MAX(last, from), sqlite3_errmsg(r->db));
		/* a row that is reached but cannot be read is passed over: `from` grows with each turn */
		if (sql == SQLITE_INTERRUPT || w->bad > BREAKS_MAX || !next_readable(w, MAX(last, from), &from))
			break;
		st = chunks_after(w, from - 1);
	}
	sqlite3_finalize(st);
	free(w->values);
	free(w->rows);
	if (!ret && r->damaged > before) {
		struct rec_series s = { .name = "?" };

		(void)rec_series_get(r, w->series, &s);
		ret = err_set(e, -EBADMSG, "the record %s is damaged: %llu chunks of %s are left out (%s)", r->path,
			      (unsigned long long)(r->damaged - before), s.name,
			      w->why.msg[0] ? w->why.msg : "a row has the wrong types");
	}
	return ret;
}

static int give_samples(struct walk *w, int run, uint32_t n)
{
	int (*fn)(void *, int, const struct sample *, uint32_t) = (__typeof__(fn))w->user_fn;

	sample_from_columns(w->col, n, w->rows);
	return fn(w->ctx, run, w->rows, n);
}

int rec_samples_each(struct rec *r, int run, int series,
		     int (*fn)(void *ctx, int run, const struct sample *rows, uint32_t n), void *ctx, struct err *e)
{
	struct walk w = { .r = r, .kind = SERIES_SAMPLES, .series = series, .run = run, .t0 = INT64_MIN, .t1 = NSEC_NEVER,
			  .fn = give_samples, .user_fn = (void *)fn, .ctx = ctx };

	return walk(&w, e);
}

static int give_counter(struct walk *w, int run, uint32_t n)
{
	int (*fn)(void *, int, const nsec_t *, const int64_t *, uint32_t) = (__typeof__(fn))w->user_fn;

	return fn(w->ctx, run, w->col[0], w->col[1], n);
}

int rec_counter_each(struct rec *r, int run, int series,
		     int (*fn)(void *ctx, int run, const nsec_t *t, const int64_t *value, uint32_t n), void *ctx, struct err *e)
{
	struct walk w = { .r = r, .kind = SERIES_COUNTER, .series = series, .run = run, .t0 = INT64_MIN, .t1 = NSEC_NEVER,
			  .fn = give_counter, .user_fn = (void *)fn, .ctx = ctx };

	return walk(&w, e);
}

static int give_events(struct walk *w, int run, uint32_t n)
{
	int (*fn)(void *, int, const struct event *, uint32_t) = (__typeof__(fn))w->user_fn;

	event_from_columns(w->col, n, w->rows);
	return fn(w->ctx, run, w->rows, n);
}

int rec_events_each(struct rec *r, int run, int series, nsec_t t0, nsec_t t1,
		    int (*fn)(void *ctx, int run, const struct event *rows, uint32_t n), void *ctx, struct err *e)
{
	struct walk w = { .r = r, .kind = SERIES_EVENTS, .series = series, .run = run, .t0 = t0 ? t0 : INT64_MIN, .t1 = t1,
			  .fn = give_events, .user_fn = (void *)fn, .ctx = ctx };

	return walk(&w, e);
}

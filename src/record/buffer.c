/* SPDX-License-Identifier: MIT */
#include "record/buffer.h"
#include "base/cleanup.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* smaller than the format allows: the memory of a run is its series times this */
static uint32_t rows_of(enum series_kind kind)
{
	return kind == SERIES_EVENTS ? chunk_rows(EVENT_COLUMNS) : 2048;
}

struct rec_buf *rec_buf_get(struct rec *r, enum series_kind kind, int series, int run, int clock)
{
	struct rec_buf *b;

	for (size_t i = 0; i < r->bufs.n; i++) {
		b = r->bufs.p[i];
		if (b->series == series && b->run == run && b->clock == clock)
			return b;
	}
	b = mem_alloc(sizeof(*b));
	b->kind = kind;
	b->series = series;
	b->run = run;
	b->clock = clock;
	b->columns = rec_columns(kind);
	b->most = rows_of(kind);
	vec_push(&r->bufs, b);
	return b;
}

static void grow(struct rec_buf *b, uint32_t want)
{
	uint32_t cap = b->cap ? b->cap : 32;
	int64_t *v;

	while (cap < want)
		cap *= 2;
	if (cap > b->most)
		cap = b->most;
	v = mem_array((size_t)b->columns * cap, sizeof(*v));
	for (int i = 0; i < b->columns && b->n; i++)
		memcpy(v + (size_t)i * cap, b->values + (size_t)i * b->cap, b->n * sizeof(*v));
	free(b->values);
	b->values = v;
	b->cap = cap;
}

uint32_t rec_buf_room(struct rec_buf *b, uint32_t want, int64_t **ret_values)
{
	want = MIN(want, b->most - b->n);
	if (b->n + want > b->cap)
		grow(b, b->n + want);
	for (int i = 0; i < b->columns; i++)
		ret_values[i] = b->values + (size_t)i * b->cap + b->n;
	return want;
}

/* Begin, end and value of row i, whatever the kind. */
static void measure(const struct rec_buf *b, uint32_t i, int64_t *t, int64_t *end, int64_t *value)
{
	const int64_t *v = b->values;
	size_t c = b->cap;

	switch (b->kind) {
	case SERIES_SAMPLES:	/* intended, end; the wait */
		*t = v[c + i];
		*end = v[3 * c + i];
		*value = (int64_t)((uint64_t)*end - (uint64_t)*t);
		break;
	case SERIES_COUNTER:
		*t = *end = v[i];
		*value = v[c + i];
		break;
	default:		/* t, dur */
		*t = v[i];
		*value = v[c + i];
		*end = nsec_add(*t, *value);
		break;
	}
}

static int write_rows(struct rec *r, struct rec_buf *b, uint32_t first, uint32_t n, int64_t *rowid, struct err *e)
{
	int64_t t0 = INT64_MAX, t1 = INT64_MIN, min = INT64_MAX, max = INT64_MIN;
	enum rec_stmt add = ST_CHUNK_ADD + b->kind - 1, change = ST_CHUNK_CHANGE + b->kind - 1;
	const void *blob;
	size_t size;
	int ret;

	for (uint32_t i = first; i < first + n; i++) {
		int64_t t, end, value;

		measure(b, i, &t, &end, &value);
		t0 = MIN(t0, t);
		t1 = MAX(t1, end);
		min = MIN(min, value);
		max = MAX(max, value);
	}
	ret = chunk_encode(&r->coder, b->values + first, b->cap, b->columns, n, &blob, &size, e);
	if (ret)
		return ret;
	if (*rowid)
		return PUT(r, change, e, BI(*rowid), BI(t0), BI(t1), BI(n), BI(min), BI(max), BB(blob, size));
	ret = PUT(r, add, e, BI(b->run), BI(b->series), BI(b->clock), BI(t0), BI(t1), BI(n), BI(min), BI(max), BB(blob, size));
	if (!ret)
		*rowid = sqlite3_last_insert_rowid(r->db);
	return ret;
}

static int write_whole(struct rec *r, struct rec_buf *b, struct err *e)
{
	int64_t rowid = b->npieces ? b->piece[0].rowid : 0;
	int ret = 0;

	if (b->npieces != 1 || b->piece[0].n != b->n)
		ret = write_rows(r, b, 0, b->n, &rowid, e);
	for (int i = 1; !ret && i < b->npieces; i++)
		ret = PUT(r, ST_CHUNK_DROP + b->kind - 1, e, BI(b->piece[i].rowid));
	b->n = b->written = 0;
	b->npieces = 0;
	return ret;
}

int rec_buf_added(struct rec *r, struct rec_buf *b, uint32_t n, struct err *e)
{
	b->n += n;
	return b->n == b->most ? write_whole(r, b, e) : 0;
}

int rec_buf_flush(struct rec *r, struct rec_buf *b, bool whole, struct err *e)
{
	struct rec_piece *p = b->npieces ? &b->piece[b->npieces - 1] : NULL;
	int ret = 0;

	if (!b->n)
		return 0;
	if (whole)
		return write_whole(r, b, e);
	while (!ret && b->written < b->n) {
		if (!p || p->n >= PIECE) {
			p = &b->piece[b->npieces++];
			*p = (struct rec_piece){ .first = b->written };
		}
		/* a burst in one second is one big piece; there are never more of them than the array holds */
		p->n = b->n - p->first;
		ret = write_rows(r, b, p->first, p->n, &p->rowid, e);
		b->written = b->n;
	}
	return ret;
}

void rec_buf_free(struct rec_buf *b)
{
	if (!b)
		return;
	free(b->values);
	free(b);
}

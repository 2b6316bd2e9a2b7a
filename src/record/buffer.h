/* SPDX-License-Identifier: MIT */
/*
 * Rows on their way to disk. A chunk pays off with thousands of rows, but a
 * series of one row a second must be on disk every second too (kill -9). So
 * the rows since the last full chunk stay in memory, and each commit brings
 * the new ones to disk in small pieces: the last piece is rewritten until it
 * has PIECE rows, then the next begins. A full buffer becomes one chunk in
 * the first piece's place and the other pieces go. Each row is coded about
 * twice at 100 rows a second, and a piece of a slow series is tiny.
 */
#ifndef RECORD_BUFFER_H
#define RECORD_BUFFER_H

#include "record/rec.h"

#define PIECE 256

struct rec_piece {
	int64_t rowid;
	uint32_t first, n;
};

struct rec_buf {
	enum series_kind kind;
	int series, run, clock;
	int columns;
	uint32_t n, cap, most;		/* rows here, room, rows of a full chunk */
	uint32_t written;		/* of them in pieces on disk */
	int64_t *values;		/* column i at values + i * cap */
	struct rec_piece piece[CHUNK_ROWS_MAX / PIECE + 1];
	int npieces;
};

/* The buffer of a series, run and clock, made when needed. */
struct rec_buf *rec_buf_get(struct rec *r, enum series_kind kind, int series, int run, int clock);
/* Room for `want` more rows at *ret_values[column]; returns how many fit before the chunk is full (at least 1). */
uint32_t rec_buf_room(struct rec_buf *b, uint32_t want, int64_t **ret_values);
/* Those rows are filled in; writes the chunk when it is full. */
int rec_buf_added(struct rec *r, struct rec_buf *b, uint32_t n, struct err *e);
/* Brings what is new to disk; `whole`: as one chunk. */
int rec_buf_flush(struct rec *r, struct rec_buf *b, bool whole, struct err *e);
void rec_buf_free(struct rec_buf *b);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Inside of an open record; only src/record/ includes it. Schema and opening
 * are in schema.c, rows on their way to disk in buffer.c, the API in write.c,
 * read.c and rows.c.
 */
#ifndef RECORD_REC_H
#define RECORD_REC_H

#include "base/vec.h"
#include "record/chunk.h"
#include "record/intern.h"
#include "record/record.h"

#include <sqlite3.h>

#define REC_STRINGS_MAX	(1u << 20)	/* different names in one record; later ones become one */
#define REC_TEXT_MAX	(1u << 20)	/* bytes of one text */

enum rec_stmt {
	ST_RUN, ST_RUN_WINDOW, ST_RUN_END, ST_RUN_WALL, ST_ENV_UPDATE, ST_ENV, ST_CLOCK, ST_SERIES, ST_ATTR_UPDATE, ST_ATTR,
	ST_STRING, ST_STACK, ST_STALL, ST_NOTE, ST_TRUTH,
	/* three kinds each, in the order of enum series_kind */
	ST_CHUNK_ADD, ST_CHUNK_CHANGE = ST_CHUNK_ADD + 3, ST_CHUNK_DROP = ST_CHUNK_CHANGE + 3,
	ST_MAX = ST_CHUNK_DROP + 3
};

struct rec_clock_row {
	int id, run;
	const char *name;
	nsec_t offset, error;
};

struct rec_buf;			/* rows of one series, run and clock that are not yet a full chunk (buffer.h) */

struct rec {
	sqlite3 *db;
	char *path;
	bool writer, in_transaction;
	int version;
	struct err failed;		/* writer: the first failure; nothing is written after it */
	sqlite3_stmt *st[ST_MAX];
	struct intern strings, stacks;	/* writer: number + 1 is the id in the record */
	struct intern kept;		/* every text that was handed out */
	VEC(struct rec_series) series;
	VEC(struct rec_clock_row) clocks;
	VEC(struct rec_buf *) bufs;
	struct rec_buf *last;		/* the buffer used last, usually the next one too */
	VEC(const char *) by_id;	/* reader: strings that were asked for, index is the id */
	struct chunk_coder coder;
	uint64_t damaged;
	int64_t work_left, work_most;	/* reader: steps that SQLite may still take for this query */
};

/* ---- schema.c ---- */

#define REC_APPLICATION_ID 0x736d6b31	/* "smk1" */

int rec_db_create(struct rec *r, struct err *e);
/* Opens and proves that it is ours: magic, version, every row of the schema. */
int rec_db_open(struct rec *r, struct err *e);
int rec_sql_error(const struct rec *r, const char *what, struct err *e);	/* what sqlite says, as -errno */

/* ---- statements of the writer ---- */

struct bind {
	char type;			/* 'i', 't' or 'b' */
	int64_t i;
	const void *p;
	size_t n;
};
#define BI(x)	{ .type = 'i', .i = (int64_t)(x) }
#define BT(s)	{ .type = 't', .p = (s) }
#define BB(d, l) { .type = 'b', .p = (d), .n = (l) }

int rec_put(struct rec *r, enum rec_stmt which, const struct bind *b, int n, struct err *e);
#define PUT(r, which, e, ...)								\
	rec_put((r), (which), (const struct bind[]){ __VA_ARGS__ },			\
		(int)(sizeof((const struct bind[]){ __VA_ARGS__ }) / sizeof(struct bind)), (e))

int rec_flush(struct rec *r, bool whole, struct err *e);	/* buffers to disk and end of the transaction */

/* ---- statements of the reader ---- */

/* A prepared query with up to three numbers bound, or NULL. Finalised by the caller. */
sqlite3_stmt *rec_query(struct rec *r, const char *sql, const int64_t *num, int n);
/* True when there is a row and its columns have these types ("iitb"); rows of other types are counted as damaged
 * and passed over; false at the end. *ret_sql (may be NULL): SQLITE_DONE or what went wrong. */
bool rec_next(struct rec *r, sqlite3_stmt *st, const char *types, int *ret_sql);
/* The text of a column, alive until rec_close. */
const char *rec_col_text(struct rec *r, sqlite3_stmt *st, int col);

int rec_load(struct rec *r, struct err *e);	/* series and clocks, after opening */
bool rec_clock_offset(const struct rec *r, int clock, nsec_t *ret);	/* clock 0 is the main clock */
int rec_columns(enum series_kind kind);		/* of a chunk: SAMPLE_COLUMNS, 2 or EVENT_COLUMNS */
extern const char *const rec_chunk_table[4];	/* by series kind; [0] is NULL */

#endif

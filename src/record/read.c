/* SPDX-License-Identifier: MIT */
/* The small tables: runs, facts, series, names, stalls, notes. Rows of samples and events are in rows.c. */
#include "base/cleanup.h"
#include "record/rec.h"
#include "record/truth.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SERIES_MAX	65536
#define CLOCKS_MAX	65536

sqlite3_stmt *rec_query(struct rec *r, const char *sql, const int64_t *num, int n)
{
	sqlite3_stmt *st = NULL;

	r->work_left = r->work_most;
	if (r->writer && r->in_transaction)
		(void)rec_flush(r, false, NULL);	/* one sees what one has written */
	if (sqlite3_prepare_v2(r->db, sql, -1, &st, NULL) != SQLITE_OK)
		return NULL;
	for (int i = 0; i < n; i++)
		sqlite3_bind_int64(st, i + 1, num[i]);
	return st;
}

bool rec_next(struct rec *r, sqlite3_stmt *st, const char *types, int *ret_sql)
{
	int got = SQLITE_ERROR;

	while (st && (got = sqlite3_step(st)) == SQLITE_ROW) {
		const char *t = types;

		for (int i = 0; *t; i++, t++) {
			int is = sqlite3_column_type(st, i);

			if (is != (*t == 'i' ? SQLITE_INTEGER : *t == 't' ? SQLITE_TEXT : SQLITE_BLOB))
				break;
		}
		if (!*t) {
			if (ret_sql)
				*ret_sql = SQLITE_ROW;
			return true;
		}
		r->damaged++;
	}
	if (ret_sql)
		*ret_sql = got;
	else if (got != SQLITE_DONE)
		r->damaged++;
	return false;
}

const char *rec_col_text(struct rec *r, sqlite3_stmt *st, int col)
{
	const char *s = (const char *)sqlite3_column_text(st, col);

	return intern_keep(&r->kept, s ? s : "");
}

int rec_load(struct rec *r, struct err *e)
{
	sqlite3_stmt *st = rec_query(r, "SELECT id, kind, name, unit, meaning, grp FROM series ORDER BY id", NULL, 0);

	while (rec_next(r, st, "iitttt", NULL) && r->series.n < SERIES_MAX) {
		struct rec_series s = {
			.id = sqlite3_column_int(st, 0), .kind = (enum series_kind)sqlite3_column_int(st, 1),
			.name = rec_col_text(r, st, 2), .unit = rec_col_text(r, st, 3),
			.meaning = rec_col_text(r, st, 4), .group = rec_col_text(r, st, 5),
		};

		if (s.id < 1 || s.kind < SERIES_SAMPLES || s.kind > SERIES_EVENTS)
			r->damaged++;
		else
			vec_push(&r->series, s);
	}
	sqlite3_finalize(st);
	st = rec_query(r, "SELECT id, run, name, offset, error FROM clock ORDER BY id", NULL, 0);
	while (rec_next(r, st, "iitii", NULL) && r->clocks.n < CLOCKS_MAX) {
		struct rec_clock_row c = {
			.id = sqlite3_column_int(st, 0), .run = sqlite3_column_int(st, 1),
			.name = rec_col_text(r, st, 2), .offset = sqlite3_column_int64(st, 3),
			.error = sqlite3_column_int64(st, 4),
		};

		if (c.id < 1 || c.offset > REC_TIME_MAX || c.offset < -REC_TIME_MAX)
			r->damaged++;
		else
			vec_push(&r->clocks, c);
	}
	sqlite3_finalize(st);
	if (r->writer && r->damaged)
		return err_set(e, -EBADMSG, "%s is damaged; nothing can be added to it", r->path);
	return 0;
}

int rec_open(const char *path, struct rec **ret, struct err *e)
{
	struct rec *r = mem_alloc(sizeof(*r));
	int got;

	r->path = mem_dup(path);
	got = rec_db_open(r, e);
	if (!got)
		got = rec_load(r, e);
	if (got) {
		rec_close(r);
		return got;
	}
	*ret = r;
	return 0;
}

const char *rec_path(const struct rec *r)
{
	return r->path;
}

int rec_version(const struct rec *r)
{
	return r->version;
}

uint64_t rec_damaged(const struct rec *r)
{
	return r->damaged;
}

int rec_run_count(struct rec *r)
{
	sqlite3_stmt *st = rec_query(r, "SELECT count(*) FROM run", NULL, 0);
	int n = rec_next(r, st, "i", NULL) ? sqlite3_column_int(st, 0) : 0;

	sqlite3_finalize(st);
	return n;
}

/* A run that was killed has no end: then it is the last thing that it stored. */
static nsec_t last_seen(struct rec *r, int run, nsec_t t0)
{
	nsec_t last = t0;

	for (int kind = SERIES_SAMPLES; kind <= SERIES_EVENTS; kind++) {
		cleanup_free char *sql = mem_printf("SELECT clock, max(t1) FROM %s WHERE run = ?1 GROUP BY clock",
						    rec_chunk_table[kind]);
		sqlite3_stmt *st = rec_query(r, sql, (const int64_t[]){ run }, 1);
		nsec_t offset;

		while (rec_next(r, st, "ii", NULL)) {
			nsec_t t = sqlite3_column_int64(st, 1);

			if (rec_clock_offset(r, sqlite3_column_int(st, 0), &offset) && t < REC_TIME_MAX && t + offset > last)
				last = t + offset;
		}
		sqlite3_finalize(st);
	}
	return last;
}

static bool time_ok(nsec_t t)
{
	return t <= REC_TIME_MAX && t >= -REC_TIME_MAX;
}

int rec_run_get(struct rec *r, int index, struct rec_run *ret)
{
	sqlite3_stmt *st = rec_query(r, "SELECT id, scenario, scenario_text, command, producer, cell, version, wall_start, "
				     "wall_end, t0, t1, measure_t0, measure_t1, partial, why_partial FROM run "
				     "ORDER BY id LIMIT 1 OFFSET ?1", (const int64_t[]){ index }, 1);
	bool there = rec_next(r, st, "ittttttiiiiiiit", NULL);
	struct rec_run run = { 0 };

	if (there) {
		run = (struct rec_run){
			.id = sqlite3_column_int(st, 0), .scenario = rec_col_text(r, st, 1),
			.scenario_text = rec_col_text(r, st, 2), .command = rec_col_text(r, st, 3),
			.producer = rec_col_text(r, st, 4), .cell = rec_col_text(r, st, 5),
			.version = rec_col_text(r, st, 6), .wall_start = sqlite3_column_int64(st, 7),
			.wall_end = sqlite3_column_int64(st, 8), .t0 = sqlite3_column_int64(st, 9),
			.t1 = sqlite3_column_int64(st, 10), .measure_t0 = sqlite3_column_int64(st, 11),
			.measure_t1 = sqlite3_column_int64(st, 12), .partial = sqlite3_column_int(st, 13) != 0,
			.why_partial = rec_col_text(r, st, 14),
		};
		if (!time_ok(run.t0) || !time_ok(run.t1) || !time_ok(run.measure_t0) || !time_ok(run.measure_t1)) {
			r->damaged++;
			there = false;
		}
	}
	sqlite3_finalize(st);
	if (!there || index < 0)
		return -ENOENT;
	if (run.t1 <= run.t0)
		run.t1 = last_seen(r, run.id, run.t0);
	*ret = run;
	return 0;
}

int rec_env_each(struct rec *r, int run, int (*fn)(void *ctx, const char *key, const char *value, bool counts), void *ctx)
{
	sqlite3_stmt *st = rec_query(r, "SELECT key, value, counts FROM env WHERE run = ?1 ORDER BY rowid",
				     (const int64_t[]){ run }, 1);
	int ret = 0;

	while (!ret && rec_next(r, st, "tti", NULL))
		ret = fn(ctx, rec_col_text(r, st, 0), rec_col_text(r, st, 1), sqlite3_column_int(st, 2) != 0);
	sqlite3_finalize(st);
	return ret;
}

/* The text in column 0 of the first row where ?1 is id and ?2 is key. */
static const char *text_of(struct rec *r, const char *sql, int id, const char *key)
{
	sqlite3_stmt *st = rec_query(r, sql, (const int64_t[]){ id }, 1);
	const char *s = NULL;

	if (st && key)
		sqlite3_bind_text(st, 2, key, -1, SQLITE_STATIC);
	if (rec_next(r, st, "t", NULL))
		s = rec_col_text(r, st, 0);
	sqlite3_finalize(st);
	return s;
}

const char *rec_env_get(struct rec *r, int run, const char *key)
{
	return text_of(r, "SELECT value FROM env WHERE run = ?1 AND key = ?2", run, key);
}

int rec_series_each(struct rec *r, int (*fn)(void *ctx, const struct rec_series *s), void *ctx)
{
	int ret = 0;

	for (size_t i = 0; !ret && i < r->series.n; i++)
		ret = fn(ctx, &r->series.p[i]);
	return ret;
}

int rec_series_find(struct rec *r, enum series_kind kind, const char *name)
{
	for (size_t i = 0; i < r->series.n; i++)
		if (r->series.p[i].kind == kind && !strcmp(r->series.p[i].name, name))
			return r->series.p[i].id;
	return 0;
}

int rec_series_get(struct rec *r, int series, struct rec_series *ret)
{
	for (size_t i = 0; i < r->series.n; i++) {
		if (r->series.p[i].id == series) {
			*ret = r->series.p[i];
			return 0;
		}
	}
	return -ENOENT;
}

const char *rec_series_attr_get(struct rec *r, int series, const char *key)
{
	return text_of(r, "SELECT value FROM series_attr WHERE series = ?1 AND key = ?2", series, key);
}

const char *rec_string_get(struct rec *r, uint32_t id)
{
	const char *s;

	if (!id || id > REC_STRINGS_MAX)
		return "";
	if (r->writer)
		return id <= r->strings.n ? r->strings.text[id - 1] : "";
	if (id < r->by_id.n && r->by_id.p[id])
		return r->by_id.p[id];
	vec_reserve(&r->by_id, id + 1);
	while (r->by_id.n <= id)
		r->by_id.p[r->by_id.n++] = NULL;
	s = text_of(r, "SELECT text FROM string WHERE id = ?1", (int)id, NULL);
	return r->by_id.p[id] = s ? s : "";
}

int rec_stack_get(struct rec *r, uint32_t id, const char **frames, int max)
{
	const char *s;
	int n = 0;

	if (!id || id > INT32_MAX)
		return 0;
	s = text_of(r, "SELECT frames FROM stack WHERE id = ?1", (int)id, NULL);
	while (s && *s && n < max) {
		size_t len = strcspn(s, "\n");
		cleanup_free char *frame = mem_dupn(s, len);

		frames[n++] = intern_keep(&r->kept, frame);
		s += len + (s[len] == '\n');
	}
	return n;
}

int rec_stalls_each(struct rec *r, int run, int (*fn)(void *ctx, const struct rec_stall *s), void *ctx)
{
	sqlite3_stmt *st = rec_query(r, "SELECT run, series, sample_id, t, waited, pid, tid, comm, state, wchan, syscall, stack "
				     "FROM stall WHERE ?1 = 0 OR run = ?1 ORDER BY id", (const int64_t[]){ run }, 1);
	int ret = 0;

	while (!ret && rec_next(r, st, "iiiiiiitttti", NULL)) {
		struct rec_stall s = {
			.run = sqlite3_column_int(st, 0), .series = sqlite3_column_int(st, 1),
			.sample_id = (uint64_t)sqlite3_column_int64(st, 2), .t = sqlite3_column_int64(st, 3),
			.waited = sqlite3_column_int64(st, 4), .pid = (uint32_t)sqlite3_column_int64(st, 5),
			.tid = (uint32_t)sqlite3_column_int64(st, 6), .comm = rec_col_text(r, st, 7),
			.state = rec_col_text(r, st, 8), .wchan = rec_col_text(r, st, 9),
			.syscall = rec_col_text(r, st, 10), .stack = (uint32_t)sqlite3_column_int64(st, 11),
		};

		if (!time_ok(s.t) || !time_ok(s.waited))
			r->damaged++;
		else
			ret = fn(ctx, &s);
	}
	sqlite3_finalize(st);
	return ret;
}

int rec_notes_each(struct rec *r, int run,
		   int (*fn)(void *ctx, int run, enum note_kind kind, nsec_t t, const char *key, const char *text), void *ctx)
{
	sqlite3_stmt *st = rec_query(r, "SELECT run, kind, t, key, text FROM note WHERE ?1 = 0 OR run = ?1 ORDER BY id",
				     (const int64_t[]){ run }, 1);
	int ret = 0;

	while (!ret && rec_next(r, st, "iiitt", NULL)) {
		int kind = sqlite3_column_int(st, 1);
		nsec_t t = sqlite3_column_int64(st, 2);

		if (kind < NOTE_INFO || kind > NOTE_LIMIT || !time_ok(t))
			r->damaged++;
		else
			ret = fn(ctx, sqlite3_column_int(st, 0), (enum note_kind)kind, t, rec_col_text(r, st, 3),
				 rec_col_text(r, st, 4));
	}
	sqlite3_finalize(st);
	return ret;
}

int rec_truth_each(struct rec *r, int run, int (*fn)(void *ctx, const struct truth *truth), void *ctx)
{
	sqlite3_stmt *st = rec_query(r, "SELECT t, dur, kind, culprit_pid, victim_pid, text FROM truth "
				     "WHERE ?1 = 0 OR run = ?1 ORDER BY id", (const int64_t[]){ run }, 1);
	int ret = 0;

	while (!ret && rec_next(r, st, "iitiit", NULL)) {
		struct truth t = {
			.t = sqlite3_column_int64(st, 0), .dur = sqlite3_column_int64(st, 1), .kind = rec_col_text(r, st, 2),
			.culprit_pid = (uint32_t)sqlite3_column_int64(st, 3),
			.victim_pid = (uint32_t)sqlite3_column_int64(st, 4), .text = rec_col_text(r, st, 5),
		};

		if (!time_ok(t.t) || !time_ok(t.dur))
			r->damaged++;
		else
			ret = fn(ctx, &t);
	}
	sqlite3_finalize(st);
	return ret;
}

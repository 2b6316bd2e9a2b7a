/* SPDX-License-Identifier: MIT */
#include "base/cleanup.h"
#include "record/buffer.h"
#include "record/truth.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char *const sql[ST_MAX] = {
	[ST_RUN] = "INSERT INTO run VALUES(NULL, ?, ?, ?, ?, ?, ?, ?, 0, ?, ?, ?, ?, ?, ?)",
	[ST_RUN_WINDOW] = "UPDATE run SET measure_t0 = ?2, measure_t1 = ?3 WHERE id = ?1",
	[ST_RUN_END] = "UPDATE run SET t1 = ?2, partial = ?3, why_partial = ?4 WHERE id = ?1",
	[ST_RUN_WALL] = "UPDATE run SET wall_end = ?2 WHERE id = ?1",
	[ST_ENV_UPDATE] = "UPDATE env SET value = ?3, counts = ?4 WHERE run = ?1 AND key = ?2",
	[ST_ENV] = "INSERT INTO env VALUES(?, ?, ?, ?)",
	[ST_CLOCK] = "INSERT INTO clock VALUES(NULL, ?, ?, ?, ?)",
	[ST_SERIES] = "INSERT INTO series VALUES(NULL, ?, ?, ?, ?, ?)",
	[ST_ATTR_UPDATE] = "UPDATE series_attr SET value = ?3 WHERE series = ?1 AND key = ?2",
	[ST_ATTR] = "INSERT INTO series_attr VALUES(?, ?, ?)",
	[ST_STRING] = "INSERT INTO string VALUES(?, ?)",
	[ST_STACK] = "INSERT INTO stack VALUES(?, ?)",
	[ST_STALL] = "INSERT INTO stall VALUES(NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
	[ST_NOTE] = "INSERT INTO note VALUES(NULL, ?, ?, ?, ?, ?)",
	[ST_TRUTH] = "INSERT INTO truth VALUES(NULL, ?, ?, ?, ?, ?, ?, ?)",
#define CHUNK_SQL(kind, table)										\
	[ST_CHUNK_ADD + kind - 1] = "INSERT INTO " table " VALUES(NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?)",		\
	[ST_CHUNK_CHANGE + kind - 1] = "UPDATE " table " SET t0 = ?2, t1 = ?3, n = ?4, min = ?5, max = ?6, "	\
				       "data = ?7 WHERE id = ?1",					\
	[ST_CHUNK_DROP + kind - 1] = "DELETE FROM " table " WHERE id = ?",
	CHUNK_SQL(SERIES_SAMPLES, "samples")
	CHUNK_SQL(SERIES_COUNTER, "counters")
	CHUNK_SQL(SERIES_EVENTS, "events")
};

/* The first failure stays: what came before it is in the file, and nothing may follow it. */
static int fail(struct rec *r, int ret, const struct err *why, struct err *e)
{
	r->failed = *why;
	r->failed.code = ret;
	if (e)
		*e = r->failed;
	return ret;
}

static int ready(struct rec *r, struct err *e)
{
	if (!r->writer)
		return err_set(e, -EROFS, "the record %s is open for reading only", r->path);
	if (r->failed.code) {
		if (e)
			*e = r->failed;
		return r->failed.code;
	}
	return 0;
}

int rec_put(struct rec *r, enum rec_stmt which, const struct bind *b, int n, struct err *e)
{
	sqlite3_stmt **st = &r->st[which];
	struct err why = { 0 };
	int ret = ready(r, e);

	if (ret)
		return ret;
	if (!r->in_transaction) {
		if (sqlite3_exec(r->db, "BEGIN", NULL, NULL, NULL))
			return fail(r, rec_sql_error(r, "write", &why), &why, e);
		r->in_transaction = true;
	}
	if (!*st && sqlite3_prepare_v3(r->db, sql[which], -1, SQLITE_PREPARE_PERSISTENT, st, NULL))
		return fail(r, rec_sql_error(r, "write", &why), &why, e);
	for (int i = 0; i < n; i++) {
		if (b[i].type == 'i')
			sqlite3_bind_int64(*st, i + 1, b[i].i);
		else if (b[i].type == 't')
			sqlite3_bind_text(*st, i + 1, b[i].p ? b[i].p : "", -1, SQLITE_STATIC);
		else
			sqlite3_bind_blob(*st, i + 1, b[i].p, (int)b[i].n, SQLITE_STATIC);
	}
	if (sqlite3_step(*st) != SQLITE_DONE)
		ret = fail(r, rec_sql_error(r, "write", &why), &why, e);
	sqlite3_reset(*st);
	return ret;
}

static struct rec *new_rec(const char *path, bool writer)
{
	struct rec *r = mem_alloc(sizeof(*r));

	r->path = mem_dup(path);
	r->writer = writer;
	return r;
}

int rec_create(const char *path, struct rec **ret, struct err *e)
{
	struct rec *r = new_rec(path, true);
	int got = rec_db_create(r, e);

	if (got) {
		rec_close(r);
		return got;
	}
	*ret = r;
	return 0;
}

/* Fills the writer's tables of names, so that new ones continue the old. */
static int load_names(struct rec *r, const char *query, struct intern *in, struct err *e)
{
	sqlite3_stmt *st = rec_query(r, query, NULL, 0);
	int got = SQLITE_ERROR;
	bool is_new;

	if (!st)
		return rec_sql_error(r, "read", e);
	while (rec_next(r, st, "it", &got)) {
		uint32_t at = intern(in, (const char *)sqlite3_column_text(st, 1), &is_new);

		if (!is_new || sqlite3_column_int64(st, 0) != (int64_t)at + 1) {
			got = SQLITE_CORRUPT;
			break;
		}
	}
	sqlite3_finalize(st);
	if (got != SQLITE_DONE || r->damaged)
		return err_set(e, -EBADMSG, "the names in %s are damaged; nothing can be added to it", r->path);
	return 0;
}

int rec_append(const char *path, struct rec **ret, struct err *e)
{
	struct rec *r = new_rec(path, true);
	int got = rec_db_open(r, e);

	if (!got && r->version != RECORD_VERSION)
		got = err_set(e, -EPROTONOSUPPORT, "%s is a record of the older version %d; it can be read, not added to",
			      path, r->version);
	if (!got)
		got = rec_load(r, e);
	if (!got)
		got = load_names(r, "SELECT id, text FROM string ORDER BY id", &r->strings, e);
	if (!got)
		got = load_names(r, "SELECT id, frames FROM stack ORDER BY id", &r->stacks, e);
	if (got) {
		rec_close(r);
		return got;
	}
	*ret = r;
	return 0;
}

int rec_run_begin(struct rec *r, const struct rec_run *run, int *ret_id, struct err *e)
{
	/* partial until rec_run_end says otherwise: a killed writer cannot */
	int ret = PUT(r, ST_RUN, e, BT(run->scenario), BT(run->scenario_text), BT(run->command), BT(run->producer),
		      BT(run->cell), BT(run->version), BI(run->wall_start), BI(run->t0), BI(run->t1),
		      BI(run->measure_t0), BI(run->measure_t1), BI(1), BT("the run did not end"));

	if (!ret)
		*ret_id = (int)sqlite3_last_insert_rowid(r->db);
	return ret;
}

int rec_run_window(struct rec *r, int run, nsec_t measure_t0, nsec_t measure_t1, struct err *e)
{
	return PUT(r, ST_RUN_WINDOW, e, BI(run), BI(measure_t0), BI(measure_t1));
}

int rec_run_wall_end(struct rec *r, int run, nsec_t wall_end, struct err *e)
{
	return PUT(r, ST_RUN_WALL, e, BI(run), BI(wall_end));
}

int rec_run_end(struct rec *r, int run, nsec_t t1, bool partial, const char *why, struct err *e)
{
	int ret = ready(r, e);

	for (size_t i = 0; i < r->bufs.n;) {
		struct rec_buf *b = r->bufs.p[i];

		if (b->run != run) {
			i++;
			continue;
		}
		if (!ret)
			ret = rec_buf_flush(r, b, true, e);
		if (r->last == b)
			r->last = NULL;
		rec_buf_free(b);
		r->bufs.p[i] = r->bufs.p[--r->bufs.n];
	}
	return ret ? ret : PUT(r, ST_RUN_END, e, BI(run), BI(t1), BI(partial), BT(partial ? why : ""));
}

int rec_env(struct rec *r, int run, const char *key, const char *value, bool counts, struct err *e)
{
	int ret = PUT(r, ST_ENV_UPDATE, e, BI(run), BT(key), BT(value), BI(counts));

	if (ret || sqlite3_changes(r->db))
		return ret;
	return PUT(r, ST_ENV, e, BI(run), BT(key), BT(value), BI(counts));
}

int rec_clock(struct rec *r, int run, const char *name, nsec_t offset, nsec_t error, int *ret_clock, struct err *e)
{
	struct rec_clock_row c = { .run = run, .name = intern_keep(&r->kept, name), .offset = offset, .error = error };
	int ret = PUT(r, ST_CLOCK, e, BI(run), BT(name), BI(offset), BI(error));

	if (ret)
		return ret;
	c.id = (int)sqlite3_last_insert_rowid(r->db);
	vec_push(&r->clocks, c);
	*ret_clock = c.id;
	return 0;
}

static const char *or_empty(const char *s)
{
	return s ? s : "";
}

int rec_series(struct rec *r, const struct rec_series *s, int *ret_id, struct err *e)
{
	struct rec_series n = *s;
	int ret = ready(r, e);

	if (ret)
		return ret;
	if (s->kind < SERIES_SAMPLES || s->kind > SERIES_EVENTS)
		return err_set(e, -EINVAL, "series %s: there is no kind %d of series", s->name, (int)s->kind);
	for (size_t i = 0; i < r->series.n; i++) {
		const struct rec_series *o = &r->series.p[i];

		if (o->kind != s->kind || strcmp(o->name, s->name))
			continue;
		if (strcmp(o->unit, or_empty(s->unit)) || strcmp(o->group, or_empty(s->group)))
			return err_set(e, -EEXIST, "the record has a series %s of another unit or group (%s in %s)", s->name,
				       o->unit, o->group);
		*ret_id = o->id;
		return 0;
	}
	ret = PUT(r, ST_SERIES, e, BI(s->kind), BT(s->name), BT(s->unit), BT(s->meaning), BT(s->group));
	if (ret)
		return ret;
	n.id = (int)sqlite3_last_insert_rowid(r->db);
	n.name = intern_keep(&r->kept, s->name);
	n.unit = intern_keep(&r->kept, or_empty(s->unit));
	n.meaning = intern_keep(&r->kept, or_empty(s->meaning));
	n.group = intern_keep(&r->kept, or_empty(s->group));
	vec_push(&r->series, n);
	*ret_id = n.id;
	return 0;
}

int rec_series_attr(struct rec *r, int series, const char *key, const char *value, struct err *e)
{
	int ret = PUT(r, ST_ATTR_UPDATE, e, BI(series), BT(key), BT(value));

	if (ret || sqlite3_changes(r->db))
		return ret;
	return PUT(r, ST_ATTR, e, BI(series), BT(key), BT(value));
}

/* The buffer for rows of this kind, or why not. */
static int buffer(struct rec *r, enum series_kind kind, int run, int series, int clock, struct rec_buf **ret, struct err *e)
{
	struct rec_series s;
	int got = ready(r, e);

	if (got)
		return got;
	if (r->last && r->last->series == series && r->last->run == run && r->last->clock == clock && r->last->kind == kind) {
		*ret = r->last;
		return 0;
	}
	if (rec_series_get(r, series, &s) < 0 || s.kind != kind)
		return err_set(e, -EINVAL, "series %d of %s does not take such rows", series, r->path);
	*ret = r->last = rec_buf_get(r, kind, series, run, clock);
	return 0;
}

int rec_samples(struct rec *r, int run, int series, int clock, const struct sample *rows, uint32_t n, struct err *e)
{
	int64_t *col[SAMPLE_COLUMNS];
	struct rec_buf *b;
	int ret = buffer(r, SERIES_SAMPLES, run, series, clock, &b, e);

	while (!ret && n) {
		uint32_t k = rec_buf_room(b, n, col);

		sample_to_columns(rows, k, col);
		ret = rec_buf_added(r, b, k, e);
		rows += k;
		n -= k;
	}
	return ret;
}

int rec_counter(struct rec *r, int run, int series, nsec_t t, int64_t value, struct err *e)
{
	int64_t *col[2];
	struct rec_buf *b;
	int ret = buffer(r, SERIES_COUNTER, run, series, 0, &b, e);

	if (ret)
		return ret;
	rec_buf_room(b, 1, col);
	*col[0] = t;
	*col[1] = value;
	return rec_buf_added(r, b, 1, e);
}

int rec_events(struct rec *r, int run, int series, int clock, const struct event *rows, uint32_t n, struct err *e)
{
	int64_t *col[EVENT_COLUMNS];
	struct rec_buf *b;
	int ret = buffer(r, SERIES_EVENTS, run, series, clock, &b, e);

	while (!ret && n) {
		uint32_t k = rec_buf_room(b, n, col);

		event_to_columns(rows, k, col);
		ret = rec_buf_added(r, b, k, e);
		rows += k;
		n -= k;
	}
	return ret;
}

static uint32_t name_id(struct rec *r, struct intern *in, enum rec_stmt st, const char *text)
{
	bool is_new;
	uint32_t at;

	if (in->n >= REC_STRINGS_MAX)
		text = "(one of too many)";
	at = intern(in, text, &is_new);
	if (is_new && PUT(r, st, NULL, BI(at + 1), BT(text)))
		return 0;
	return at + 1;
}

uint32_t rec_string(struct rec *r, const char *s)
{
	if (!s || !*s)
		return 0;
	return name_id(r, &r->strings, ST_STRING, s);
}

uint32_t rec_stack(struct rec *r, const char *const *frames, int n)
{
	cleanup_strbuf struct strbuf b = STRBUF_INIT;

	for (int i = 0; i < n; i++) {
		size_t from = b.len;

		strbuf_addf(&b, "%s%s", i ? "\n" : "", frames[i]);
		for (char *c = b.s + from + !!i; *c; c++)
			if (*c == '\n')
				*c = ' ';	/* frames are told apart by it */
	}
	return n > 0 ? name_id(r, &r->stacks, ST_STACK, strbuf_str(&b)) : 0;
}

int rec_stall(struct rec *r, const struct rec_stall *s, struct err *e)
{
	return PUT(r, ST_STALL, e, BI(s->run), BI(s->series), BI(s->sample_id), BI(s->t), BI(s->waited), BI(s->pid), BI(s->tid),
		   BT(s->comm), BT(s->state), BT(s->wchan), BT(s->syscall), BI(s->stack));
}

int rec_note(struct rec *r, int run, enum note_kind kind, nsec_t t, const char *key, const char *text, struct err *e)
{
	return PUT(r, ST_NOTE, e, BI(run), BI(kind), BI(t), BT(key), BT(text));
}

int rec_truth(struct rec *r, int run, const struct truth *t, struct err *e)
{
	return PUT(r, ST_TRUTH, e, BI(run), BI(t->t), BI(t->dur), BT(t->kind), BI(t->culprit_pid), BI(t->victim_pid), BT(t->text));
}

int rec_flush(struct rec *r, bool whole, struct err *e)
{
	struct err why = { 0 };
	int ret = ready(r, e);

	for (size_t i = 0; !ret && i < r->bufs.n; i++)
		ret = rec_buf_flush(r, r->bufs.p[i], whole, e);
	if (ret || !r->in_transaction)
		return ret;
	r->in_transaction = false;
	if (sqlite3_exec(r->db, "COMMIT", NULL, NULL, NULL))
		return fail(r, rec_sql_error(r, "write", &why), &why, e);
	return 0;
}

int rec_commit(struct rec *r, struct err *e)
{
	return rec_flush(r, false, e);
}

void rec_close(struct rec *r)
{
	if (!r)
		return;
	if (r->writer && r->db)
		(void)rec_flush(r, true, NULL);
	for (size_t i = 0; i < r->bufs.n; i++)
		rec_buf_free(r->bufs.p[i]);
	for (int i = 0; i < ST_MAX; i++)
		sqlite3_finalize(r->st[i]);
	sqlite3_close(r->db);
	vec_done(&r->bufs);
	vec_done(&r->series);
	vec_done(&r->clocks);
	vec_done(&r->by_id);
	intern_done(&r->strings);
	intern_done(&r->stacks);
	intern_done(&r->kept);
	chunk_done(&r->coder);
	free(r->path);
	free(r);
}

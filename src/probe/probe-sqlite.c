/* SPDX-License-Identifier: MIT */
/*
 * What browsers, mail programs, phones and half of all desktop programs wait
 * for: one SQLite transaction, by the real library. It replaces ten rows and
 * updates a counter. With journal = delete a rollback journal is created,
 * written, fsynced and removed around the change of the database; with wal
 * the change goes to the end of a log, and every 1,000 pages the transaction
 * that is due copies the log back.
 */
#include "probe/probe.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

enum { JOURNAL_DELETE, JOURNAL_WAL };

struct conf {
	int journal, synchronous;
	uint64_t rows, value, keep;
};

struct state {
	sqlite3 *db;
	sqlite3_stmt *begin, *put, *bump, *commit;
	uint64_t next;
	unsigned char data[4096];
};

static const char *const journals[] = { "delete", "wal", NULL };
static const char *const synchronouses[] = { "full", "normal", NULL };

static const struct param params[] = {
	{ .name = "journal", .type = PARAM_WORD, .offset = offsetof(struct conf, journal), .def = "delete",
	  .help = "SQLite's journal_mode", .words = journals },
	{ .name = "synchronous", .type = PARAM_WORD, .offset = offsetof(struct conf, synchronous), .def = "full",
	  .help = "SQLite's synchronous; normal with wal syncs at checkpoints only", .words = synchronouses },
	{ .name = "rows", .type = PARAM_COUNT, .offset = offsetof(struct conf, rows), .def = "10",
	  .help = "rows replaced by one transaction", .min = 1, .max = 10000 },
	{ .name = "value", .type = PARAM_SIZE, .offset = offsetof(struct conf, value), .def = "200",
	  .help = "bytes in a row", .min = 1, .max = 4096 },
	{ .name = "keep", .type = PARAM_COUNT, .offset = offsetof(struct conf, keep), .def = "20000",
	  .help = "rows in the table; then the oldest are replaced", .min = 1, .max = 1e7 },
	{ 0 },
};

static const char *const steps[] = { "begin", "change", "commit", NULL };

static uint64_t space(const void *conf)
{
	const struct conf *c = conf;

	/* table with page overhead, as much again for journal or log, 1,000 pages until a checkpoint */
	return 2 * (c->keep * (c->value + 40) * 5 / 4) + (8 << 20);
}

static uint64_t writes(const void *conf)
{
	const struct conf *c = conf;

	return c->rows * (c->value + 40) + 4 * 4096;
}

static int failed(struct state *s, const char *what, struct err *e)
{
	int code = s->db ? sqlite3_extended_errcode(s->db) : SQLITE_NOMEM;
	int sys = s->db ? sqlite3_system_errno(s->db) : 0;
	int r = (code & 0xff) == SQLITE_FULL ? -ENOSPC : sys > 0 ? -sys : -EIO;

	return err_set(e, r, "SQLite cannot %s: %s", what, s->db ? sqlite3_errmsg(s->db) : "out of memory");
}

static int run(struct state *s, const char *sql, const char *what, struct err *e)
{
	return sqlite3_exec(s->db, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : failed(s, what, e);
}

static int step(struct state *s, sqlite3_stmt *st, const char *what, struct err *e)
{
	int r = sqlite3_step(st);

	if (r != SQLITE_DONE && r != SQLITE_ROW)
		failed(s, what, e);
	sqlite3_reset(st);
	return r == SQLITE_DONE || r == SQLITE_ROW ? 0 : e && e->code ? e->code : -EIO;
}

static int open_db(void *st, const void *conf, struct probe_once *p, struct err *e)
{
	static const char schema[] = "CREATE TABLE IF NOT EXISTS visits(id INTEGER PRIMARY KEY, at INTEGER, what BLOB);"
				     "CREATE TABLE IF NOT EXISTS counter(id INTEGER PRIMARY KEY, n INTEGER);"
				     "INSERT OR IGNORE INTO counter VALUES(1, 0);";
	const struct conf *c = conf;
	struct state *s = st;
	char path[4200], pragma[128];
	int r;

	if (snprintf(path, sizeof(path), "%s/test.sqlite", p->dir) >= (int)sizeof(path))
		return err_set(e, -ENAMETOOLONG, "the directory's name is too long for SQLite: %s", p->dir);
	if (sqlite3_open_v2(path, &s->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOFOLLOW, NULL))
		return failed(s, "open its database", e);
	snprintf(pragma, sizeof(pragma), "PRAGMA journal_mode=%s; PRAGMA synchronous=%s;",
		 journals[c->journal], synchronouses[c->synchronous]);
	r = run(s, "PRAGMA page_size=4096;", "set its page size", e);
	if (!r)
		r = run(s, pragma, "set its journal mode", e);
	if (!r)
		r = run(s, schema, "create its tables", e);
	if (r)
		return r;
	if (sqlite3_prepare_v2(s->db, "BEGIN IMMEDIATE", -1, &s->begin, NULL) ||
	    sqlite3_prepare_v2(s->db, "INSERT OR REPLACE INTO visits VALUES(?1, ?2, ?3)", -1, &s->put, NULL) ||
	    sqlite3_prepare_v2(s->db, "UPDATE counter SET n = n + 1 WHERE id = 1", -1, &s->bump, NULL) ||
	    sqlite3_prepare_v2(s->db, "COMMIT", -1, &s->commit, NULL))
		return failed(s, "prepare its statements", e);
	rng_fill(p->rng, s->data, sizeof(s->data));
	return 0;
}

static int change(struct state *s, const struct conf *c, struct probe_once *p, struct err *e)
{
	int r = 0;

	for (uint64_t i = 0; i < c->rows && !r; i++) {
		uint64_t x = rng_next(p->rng);

		memcpy(s->data, &x, c->value < sizeof(x) ? c->value : sizeof(x));
		sqlite3_bind_int64(s->put, 1, (sqlite3_int64)(s->next++ % c->keep));
		sqlite3_bind_int64(s->put, 2, (sqlite3_int64)x);
		sqlite3_bind_blob(s->put, 3, s->data, (int)c->value, SQLITE_STATIC);
		r = step(s, s->put, "replace a row", e);
	}
	return r ? r : step(s, s->bump, "update a row", e);
}

static int once(void *st, const void *conf, struct probe_once *p, struct err *e)
{
	const struct conf *c = conf;
	struct state *s = st;
	int r;

	p->step(p->ctx, 0);
	r = step(s, s->begin, "begin a transaction", e);
	p->step(p->ctx, 1);
	if (!r)
		r = change(s, c, p, e);
	p->step(p->ctx, 2);
	if (!r)
		r = step(s, s->commit, "commit", e);
	p->step(p->ctx, -1);
	if (r)		/* a transaction that failed half-way must not swallow the next one */
		sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
	else
		p->bytes = writes(conf);
	return r;
}

static void close_db(void *st)
{
	struct state *s = st;

	sqlite3_finalize(s->begin);
	sqlite3_finalize(s->put);
	sqlite3_finalize(s->bump);
	sqlite3_finalize(s->commit);
	sqlite3_close(s->db);
	memset(s, 0, offsetof(struct state, next));
}

const struct probe_ops probe_sqlite = {
	.plug = { .name = "sqlite", .about = "one SQLite transaction, as browsers and many desktop programs make",
		  .conf_size = sizeof(struct conf), .state_size = sizeof(struct state), .params = params },
	.measures = "one SQLite transaction",
	.loop = LOOP_CLOSED,
	.interval = NSEC_PER_SEC / 10,
	.limit = NSEC_PER_SEC,
	.interactive = true,
	.steps = steps,
	.space = space,
	.writes = writes,
	.once = once,
	.open = open_db,
	.close = close_db,
	.why_no_sim = "the real SQLite library makes the system calls",
};

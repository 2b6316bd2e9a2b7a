/* SPDX-License-Identifier: MIT */
/* The tables of a record, and how its file is opened: for writing, and as something hostile. */
#include "base/cleanup.h"
#include "record/rec.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CHUNKS(name)										\
	"CREATE TABLE " name "(id INTEGER PRIMARY KEY, run INTEGER NOT NULL, series INTEGER NOT NULL, "	\
	"clock INTEGER NOT NULL, t0 INTEGER NOT NULL, t1 INTEGER NOT NULL, n INTEGER NOT NULL, "	\
	"min INTEGER NOT NULL, max INTEGER NOT NULL, data BLOB NOT NULL) STRICT"

/* Version 1. A later version gets a list of its own; this one stays, so that old records open. */
static const char *const tables[] = {
	"CREATE TABLE run(id INTEGER PRIMARY KEY, scenario TEXT NOT NULL, scenario_text TEXT NOT NULL, "
	"command TEXT NOT NULL, producer TEXT NOT NULL, cell TEXT NOT NULL, version TEXT NOT NULL, "
	"wall_start INTEGER NOT NULL, wall_end INTEGER NOT NULL, t0 INTEGER NOT NULL, t1 INTEGER NOT NULL, "
	"measure_t0 INTEGER NOT NULL, measure_t1 INTEGER NOT NULL, partial INTEGER NOT NULL, "
	"why_partial TEXT NOT NULL) STRICT",
	"CREATE TABLE env(run INTEGER NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL, counts INTEGER NOT NULL) STRICT",
	"CREATE TABLE clock(id INTEGER PRIMARY KEY, run INTEGER NOT NULL, name TEXT NOT NULL, offset INTEGER NOT NULL, "
	"error INTEGER NOT NULL) STRICT",
	"CREATE TABLE series(id INTEGER PRIMARY KEY, kind INTEGER NOT NULL, name TEXT NOT NULL, unit TEXT NOT NULL, "
	"meaning TEXT NOT NULL, grp TEXT NOT NULL) STRICT",
	"CREATE TABLE series_attr(series INTEGER NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL) STRICT",
	CHUNKS("samples"),
	CHUNKS("counters"),
	CHUNKS("events"),
	"CREATE TABLE string(id INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT",
	"CREATE TABLE stack(id INTEGER PRIMARY KEY, frames TEXT NOT NULL) STRICT",
	"CREATE TABLE stall(id INTEGER PRIMARY KEY, run INTEGER NOT NULL, series INTEGER NOT NULL, "
	"sample_id INTEGER NOT NULL, t INTEGER NOT NULL, waited INTEGER NOT NULL, pid INTEGER NOT NULL, "
	"tid INTEGER NOT NULL, comm TEXT NOT NULL, state TEXT NOT NULL, wchan TEXT NOT NULL, syscall TEXT NOT NULL, "
	"stack INTEGER NOT NULL) STRICT",
	"CREATE TABLE note(id INTEGER PRIMARY KEY, run INTEGER NOT NULL, kind INTEGER NOT NULL, t INTEGER NOT NULL, "
	"key TEXT NOT NULL, text TEXT NOT NULL) STRICT",
	"CREATE TABLE truth(id INTEGER PRIMARY KEY, run INTEGER NOT NULL, t INTEGER NOT NULL, dur INTEGER NOT NULL, "
	"kind TEXT NOT NULL, culprit_pid INTEGER NOT NULL, victim_pid INTEGER NOT NULL, text TEXT NOT NULL) STRICT",
};

const char *const rec_chunk_table[4] = { NULL, "samples", "counters", "events" };

int rec_columns(enum series_kind kind)
{
	return kind == SERIES_SAMPLES ? SAMPLE_COLUMNS : kind == SERIES_COUNTER ? 2 : EVENT_COLUMNS;
}

int rec_sql_error(const struct rec *r, const char *what, struct err *e)
{
	int code;

	switch (sqlite3_errcode(r->db) & 0xff) {
	case SQLITE_FULL:
		code = -ENOSPC;
		break;
	case SQLITE_NOMEM:
		code = -ENOMEM;
		break;
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return err_set(e, -EBUSY, "%s is being written by a stallmark that still runs", r->path);
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
	case SQLITE_TOOBIG:
		return err_set(e, -EBADMSG, "cannot %s %s: the file is damaged (%s)", what, r->path, sqlite3_errmsg(r->db));
	case SQLITE_READONLY:
		return err_set(e, -EROFS, "%s was not closed by its writer; stallmark recover %s finishes it", r->path,
			       r->path);
	case SQLITE_CANTOPEN:
		code = -EACCES;
		break;
	default:
		code = -EIO;
	}
	return err_set(e, code, "cannot %s %s: %s", what, r->path, sqlite3_errmsg(r->db));
}

static int run_sql(struct rec *r, const char *sql, const char *what, struct err *e)
{
	return sqlite3_exec(r->db, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : rec_sql_error(r, what, e);
}

static int writer_settings(struct rec *r, struct err *e)
{
	/* Never WAL: a record is one file that people move. EXCLUSIVE: a reader can never hold the recorder up. */
	return run_sql(r, "PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = DELETE; PRAGMA synchronous = OFF; "
			  "PRAGMA temp_store = MEMORY; PRAGMA cache_size = -2000", "write", e);
}

int rec_db_create(struct rec *r, struct err *e)
{
	char sql[80];
	int ret, fd;

	/* O_EXCL: never through somebody's link, never over another record */
	fd = open(r->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	if (fd < 0)
		return err_sys(e, -errno, "cannot create the record %s", r->path);
	close(fd);
	if (sqlite3_open_v2(r->path, &r->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK)
		return rec_sql_error(r, "create", e);
	ret = run_sql(r, "PRAGMA page_size = 16384", "create", e);
	if (!ret)
		ret = writer_settings(r, e);
	if (!ret)
		ret = run_sql(r, "BEGIN", "create", e);
	for (size_t i = 0; !ret && i < ARRAY_SIZE(tables); i++)
		ret = run_sql(r, tables[i], "create", e);
	snprintf(sql, sizeof(sql), "PRAGMA user_version = %d; PRAGMA application_id = %d; COMMIT", RECORD_VERSION,
		 REC_APPLICATION_ID);
	if (!ret)
		ret = run_sql(r, sql, "create", e);
	r->version = RECORD_VERSION;
	return ret;
}

static uint32_t be32(const unsigned char *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* What the first 100 bytes say (sqlite.org/fileformat2.html, 1.3), before SQLite sees the file. */
static int check_header(struct rec *r, bool *ret_cut, struct err *e)
{
	unsigned char h[100];
	cleanup_close int fd = open(r->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	uint32_t page, pages;
	struct stat st;
	ssize_t n;

	if (fd < 0)
		return err_sys(e, -errno, "cannot open the record %s", r->path);
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return err_set(e, -EINVAL, "%s is not a file", r->path);
	n = pread(fd, h, sizeof(h), 0);
	if (n < (ssize_t)sizeof(h) || memcmp(h, "SQLite format 3", 16) || be32(h + 68) != REC_APPLICATION_ID)
		return err_set(e, -EINVAL, "%s is not a stallmark record", r->path);
	r->version = (int)be32(h + 60);
	if (r->version > RECORD_VERSION)
		return err_set(e, -EPROTONOSUPPORT, "%s was written by a newer stallmark: it is a record of version %d, "
			       "this program reads up to version %d", r->path, r->version, RECORD_VERSION);
	if (r->version < 1)
		return err_set(e, -EBADMSG, "%s has the impossible record version %d", r->path, r->version);
	page = (uint32_t)h[16] << 8 | h[17];
	page = page == 1 ? 65536 : page;
	pages = be32(h + 28);
	*ret_cut = page >= 512 && (uint64_t)page * pages > (uint64_t)st.st_size;
	/* generous for honest files, an end for others: our queries take a few steps a row and a row takes bytes */
	r->work_left = r->work_most = 1000000 + st.st_size * 16;
	return 0;
}

static int out_of_work(void *p)
{
	struct rec *r = p;

	r->work_left -= 10000;
	return r->work_left < 0;
}

static void harden(struct rec *r, bool cut)
{
	static const struct { int what, most; } limits[] = {
		{ SQLITE_LIMIT_LENGTH, CHUNK_BYTES_MAX + 65536 }, { SQLITE_LIMIT_SQL_LENGTH, 4096 },
		{ SQLITE_LIMIT_COLUMN, 32 }, { SQLITE_LIMIT_EXPR_DEPTH, 16 }, { SQLITE_LIMIT_COMPOUND_SELECT, 2 },
		{ SQLITE_LIMIT_VDBE_OP, 4000 }, { SQLITE_LIMIT_FUNCTION_ARG, 8 }, { SQLITE_LIMIT_ATTACHED, 0 },
		{ SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 64 }, { SQLITE_LIMIT_VARIABLE_NUMBER, 16 },
		{ SQLITE_LIMIT_TRIGGER_DEPTH, 1 }, { SQLITE_LIMIT_WORKER_THREADS, 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(limits); i++)
		sqlite3_limit(r->db, limits[i].what, limits[i].most);
	sqlite3_db_config(r->db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
	sqlite3_db_config(r->db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
	sqlite3_db_config(r->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	sqlite3_db_config(r->db, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, NULL);
	/* SQLite refuses a file that is shorter than it says; in this mode it reads what is there. The handle is
	 * read-only and runs our statements only, which is what DEFENSIVE would see to. */
	if (cut)
		sqlite3_db_config(r->db, SQLITE_DBCONFIG_WRITABLE_SCHEMA, 1, NULL);
	else
		sqlite3_db_config(r->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	if (!r->writer)
		sqlite3_progress_handler(r->db, 10000, out_of_work, r);
}

static int check_schema(struct rec *r, struct err *e)
{
	sqlite3_stmt *st;
	size_t i = 0;
	int sql;

	if (sqlite3_prepare_v2(r->db, "SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY rowid", -1, &st, NULL))
		return rec_sql_error(r, "read", e);
	while ((sql = sqlite3_step(st)) == SQLITE_ROW) {
		const char *text = (const char *)sqlite3_column_text(st, 3), *type = (const char *)sqlite3_column_text(st, 0);
		const char *name = (const char *)sqlite3_column_text(st, 1), *of = (const char *)sqlite3_column_text(st, 2);

		if (i == ARRAY_SIZE(tables) || !text || strcmp(text, tables[i]) || !type || strcmp(type, "table") || !name ||
		    !of || strcmp(name, of) || strncmp(text + 13, name, strlen(name)) || text[13 + strlen(name)] != '(') {
			err_set(e, -EBADMSG, "%s is not a record of ours: its table '%s' is not what version %d has there",
				r->path, name ? name : "?", r->version);
			sqlite3_finalize(st);
			return -EBADMSG;
		}
		i++;
	}
	sqlite3_finalize(st);
	if (sql != SQLITE_DONE)
		return rec_sql_error(r, "read", e);
	if (i != ARRAY_SIZE(tables))
		return err_set(e, -EBADMSG, "%s lacks the table of row %zu of its schema", r->path, i + 1);
	return 0;
}

int rec_db_open(struct rec *r, struct err *e)
{
	bool cut = false;
	int ret = check_header(r, &cut, e);

	if (ret)
		return ret;
	if (r->writer && cut)
		return err_set(e, -EBADMSG, "%s is shorter than it should be; nothing can be added to it", r->path);
	if (sqlite3_open_v2(r->path, &r->db, (r->writer ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY) |
			    SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK)
		return rec_sql_error(r, "open", e);
	harden(r, cut);
	if (!r->writer)
		sqlite3_busy_timeout(r->db, 200);
	ret = r->writer ? writer_settings(r, e) : run_sql(r, "PRAGMA cell_size_check = ON", "read", e);
	return ret ? ret : check_schema(r, e);
}

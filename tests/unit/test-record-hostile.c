/* SPDX-License-Identifier: MIT */
/* Records from strangers and from broken disks: what is wrong is said, what is whole is read, and nothing else happens. */
#include "unit.h"

#include "base/cleanup.h"
#include "base/mem.h"
#include "base/rng.h"
#include "record/record.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#define ROWS 30000

#define OK(call) do {									\
	int ok_ = (call);								\
	if (ok_)									\
		fail_msg("%s: %d %s", #call, ok_, e.msg);				\
} while (0)

static char dir[] = "/dev/shm/test-hostile-XXXXXX", good[64], path[64];

static struct sample make(uint64_t i)
{
	struct sample s = { .id = i, .intended = (nsec_t)i * 1000003, .pid = 1, .runq = -1, .bytes = i * i * UINT64_C(0x9E3779B97F4A7C15) };

	s.start = s.intended + 10;
	s.end = s.start + 5000 + (nsec_t)(i * 7919 % 100003);
	return s;
}

static int setup(void **state)
{
	struct rec_run info = { .scenario = "t", .producer = "run" };
	struct rec_series s = { .kind = SERIES_SAMPLES, .name = "wal", .unit = "ns", .group = "probe" };
	struct rec *r;
	int run, id;

	if (!mkdtemp(dir))
		return -1;
	snprintf(good, sizeof(good), "%s/good.smk", dir);
	snprintf(path, sizeof(path), "%s/bad.smk", dir);
	if (rec_create(good, &r, NULL) || rec_run_begin(r, &info, &run, NULL) || rec_series(r, &s, &id, NULL))
		return -1;
	for (uint64_t i = 0; i < ROWS; i++) {
		struct sample one = make(i);

		if (rec_samples(r, run, id, 0, &one, 1, NULL))
			return -1;
	}
	if (rec_note(r, run, NOTE_INFO, 0, "k", "text", NULL) || rec_run_end(r, run, 1, false, NULL, NULL))
		return -1;
	rec_close(r);
	return 0;
}

static int teardown(void **state)
{
	unlink(good);
	unlink(path);
	return rmdir(dir);
}

/* A copy of the good record with this done to it by somebody who knows SQLite. */
static void with_sql(const char *sql)
{
	sqlite3 *db;
	char *err = NULL;

	unlink(path);
	assert_int_equal(rec_copy(good, path, NULL), 0);
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	if (sqlite3_exec(db, sql, NULL, NULL, &err))
		fail_msg("%s: %s", sql, err);
	sqlite3_close(db);
}

struct seen {
	uint64_t n;
	uint64_t last;
	bool wrong;
};

static int see(void *ctx, int run, const struct sample *rows, uint32_t n)
{
	struct seen *s = ctx;

	for (uint32_t i = 0; i < n; i++) {
		struct sample want = make(rows[i].id);

		/* in order, each as it was written */
		s->wrong |= memcmp(&want, &rows[i], sizeof(want)) || (s->n && rows[i].id <= s->last);
		s->last = rows[i].id;
		s->n++;
	}
	return 0;
}

/* Opens path and reads all samples: the rows that came, and -EBADMSG or 0. */
static int read_all(struct seen *s, uint64_t *damaged, struct err *e)
{
	struct rec *r;
	int ret = rec_open(path, &r, e);

	memset(s, 0, sizeof(*s));
	*damaged = 0;
	if (ret)
		return ret;
	ret = rec_samples_each(r, 0, rec_series_find(r, SERIES_SAMPLES, "wal"), see, s, e);
	*damaged = rec_damaged(r);
	rec_close(r);
	return ret;
}

static void any_other_schema_is_refused(void **state)
{
	static const char *const sql[] = {
		"CREATE VIEW v AS SELECT 1",
		"CREATE TRIGGER t AFTER INSERT ON note BEGIN DELETE FROM run; END",
		"CREATE TABLE more(x)",
		"CREATE INDEX i ON samples(run)",
		"DROP TABLE truth",
		"DROP TABLE note; CREATE VIEW note AS SELECT 1 AS id, 1 AS run, 0 AS kind, 0 AS t, 'k' AS key, 'x' AS text",
		"ALTER TABLE env ADD COLUMN more TEXT",
		"CREATE VIRTUAL TABLE f USING fts5(x)",
		"PRAGMA writable_schema = 1; UPDATE sqlite_schema SET sql = replace(sql, 'STRICT', 'strict') WHERE name = 'env'",
		"PRAGMA writable_schema = 1; UPDATE sqlite_schema SET tbl_name = 'run' WHERE name = 'env'",
	};

	for (size_t i = 0; i < ARRAY_SIZE(sql); i++) {
		struct err e = { 0 };
		struct rec *r;
		int got;

		with_sql(sql[i]);
		got = rec_open(path, &r, &e);
		if (got != -EBADMSG)
			fail_msg("%s: %d", sql[i], got);
		assert_non_null(strstr(e.msg, path));
		assert_int_equal(rec_append(path, &r, &e), -EBADMSG);
	}
}

static void versions_and_other_files_are_told_apart(void **state)
{
	struct err e = { 0 };
	struct rec *r;
	FILE *f;

	with_sql("PRAGMA user_version = 7");
	assert_int_equal(rec_open(path, &r, &e), -EPROTONOSUPPORT);
	assert_non_null(strstr(e.msg, "version 7"));
	with_sql("PRAGMA user_version = 0");
	assert_int_equal(rec_open(path, &r, &e), -EBADMSG);
	with_sql("PRAGMA user_version = -3");
	assert_int_equal(rec_open(path, &r, &e), -EBADMSG);
	with_sql("PRAGMA application_id = 1");
	assert_int_equal(rec_open(path, &r, &e), -EINVAL);
	assert_non_null(strstr(e.msg, "is not a stallmark record"));
	assert_int_equal(rec_open(dir, &r, &e), -EINVAL);
	assert_int_equal(rec_open("/dev/zero", &r, &e), -EINVAL);
	f = fopen(path, "w");
	fclose(f);
	assert_int_equal(rec_open(path, &r, &e), -EINVAL);
	unlink(path);
	assert_int_equal(rec_open(path, &r, &e), -ENOENT);
}

static void a_bad_chunk_is_left_out_and_the_rest_is_read(void **state)
{
	/* chunk 3 of 15 (2048 rows each) is spoiled in every way */
	static const char *const sql[] = {
		"UPDATE samples SET n = 1000000000 WHERE id = 3",
		"UPDATE samples SET n = 0 WHERE id = 3",
		"UPDATE samples SET n = -1 WHERE id = 3",
		"UPDATE samples SET n = 2047 WHERE id = 3",
		"UPDATE samples SET n = 9223372036854775807 WHERE id = 3",
		"UPDATE samples SET data = x'' WHERE id = 3",
		"UPDATE samples SET data = zeroblob(1048577) WHERE id = 3",
		"UPDATE samples SET data = randomblob(1000) WHERE id = 3",
		"UPDATE samples SET data = substr(data, 1, length(data) - 1) WHERE id = 3",
		"UPDATE samples SET clock = 99 WHERE id = 3",
		/* the types that STRICT keeps out, put there behind its back */
		"PRAGMA writable_schema = 1; UPDATE sqlite_schema SET sql = replace(sql, ' STRICT', '') WHERE name = 'samples'; "
		"PRAGMA writable_schema = RESET; UPDATE samples SET n = 'many' WHERE id = 3; PRAGMA writable_schema = 1; "
		"UPDATE sqlite_schema SET sql = sql || ' STRICT' WHERE name = 'samples'",
		"PRAGMA writable_schema = 1; UPDATE sqlite_schema SET sql = replace(sql, ' STRICT', '') WHERE name = 'samples'; "
		"PRAGMA writable_schema = RESET; UPDATE samples SET data = 'text' WHERE id = 3; PRAGMA writable_schema = 1; "
		"UPDATE sqlite_schema SET sql = sql || ' STRICT' WHERE name = 'samples'",
	};

	for (size_t i = 0; i < ARRAY_SIZE(sql); i++) {
		struct err e = { 0 };
		struct seen s;
		uint64_t damaged;

		with_sql(sql[i]);
		if (read_all(&s, &damaged, &e) != -EBADMSG)
			fail_msg("%s: not seen", sql[i]);
		assert_false(s.wrong);
		assert_int_equal(s.n, ROWS - 2048);
		assert_int_equal(damaged, 1);
		assert_non_null(strstr(e.msg, "1 chunks of wal are left out"));
	}
}

static void set_blob(const void *blob, size_t n)
{
	sqlite3 *db;
	sqlite3_stmt *st;

	with_sql("SELECT 1");
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_prepare_v2(db, "UPDATE samples SET data = ?, n = 1 WHERE id = 3", -1, &st, NULL), SQLITE_OK);
	sqlite3_bind_blob(st, 1, blob, (int)n, SQLITE_STATIC);
	assert_int_equal(sqlite3_step(st), SQLITE_DONE);
	sqlite3_finalize(st);
	sqlite3_close(db);
}

static void bombs_and_impossible_rows_do_no_harm(void **state)
{
	static uint8_t bomb[1 << 20];
	size_t size = 256u << 20, n;
	cleanup_free char *zeros = mem_alloc(size);
	struct err e = { 0 };
	struct seen s;
	uint64_t damaged;
	/* one row whose `end` is the largest number: intended 0, so that a difference would still fit, but not with an offset */
	uint8_t row[26 + 16] = { 0 };

	n = ZSTD_compress(bomb, sizeof(bomb), zeros, size, 19);	/* 256 MiB in about 25 kB */
	assert_false(ZSTD_isError(n));
	set_blob(bomb, n);
	assert_int_equal(read_all(&s, &damaged, &e), -EBADMSG);
	assert_int_equal(s.n, ROWS - 2048);
	for (int what = 0; what < 3; what++) {
		uint8_t *p = row;

		memset(row, 0, sizeof(row));
		for (int c = 0; c < 26; c++) {
			int spoil = what == 0 ? 3 : what == 1 ? 1 : 8;	/* end; intended after end; phase */

			if (c == spoil && what == 0) {
				memset(p, 0xff, 9);
				p[0] = 0xfe;	/* zigzag of INT64_MAX */
				p[9] = 1;
				p += 10;
			} else {
				*p++ = c == spoil ? (what == 1 ? 2 : 126) : 0;
			}
		}
		n = ZSTD_compress(bomb, sizeof(bomb), row, (size_t)(p - row), 1);
		set_blob(bomb, n);
		assert_int_equal(read_all(&s, &damaged, &e), -EBADMSG);
		assert_non_null(strstr(e.msg, "impossible times"));
		assert_int_equal(s.n, ROWS - 2048);
	}
}

/* Writes len bytes of the good record, with some bytes changed. */
static void spoil(size_t len, struct rng *rng, int changes)
{
	cleanup_close int in = open(good, O_RDONLY), out = -1;
	struct stat st;
	char *buf;

	assert_int_equal(fstat(in, &st), 0);
	buf = mem_alloc((size_t)st.st_size);
	assert_int_equal(read(in, buf, (size_t)st.st_size), st.st_size);
	len = len < (size_t)st.st_size ? len : (size_t)st.st_size;
	for (int i = 0; i < changes; i++)
		buf[rng_below(rng, len)] = (char)rng_next(rng);
	unlink(path);
	out = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	assert_int_equal(write(out, buf, len), len);
	free(buf);
}

static void a_file_that_was_cut_gives_what_is_left(void **state)
{
	struct err e = { 0 };
	struct seen s;
	struct stat st;
	uint64_t damaged, last = 0;

	assert_int_equal(stat(good, &st), 0);
	for (int tenth = 3; tenth < 10; tenth++) {
		spoil((size_t)st.st_size * (size_t)tenth / 10, NULL, 0);
		assert_int_equal(read_all(&s, &damaged, &e), -EBADMSG);
		assert_false(s.wrong);
		assert_true(damaged >= 1);
		assert_true(s.n >= last);		/* more of the file, more rows */
		last = s.n;
	}
	assert_true(last >= ROWS / 2 && last < ROWS);
	for (size_t len = 0; len < 300; len += 7) {	/* not even the first page */
		spoil(len, NULL, 0);
		assert_true(read_all(&s, &damaged, &e) < 0);
		assert_int_equal(s.n, 0);
	}
}

static void changed_bytes_never_give_wrong_rows(void **state)
{
	struct rng rng;
	int readable = 0;

	rng_seed(&rng, 4711);
	for (int i = 0; i < 300; i++) {
		struct err e = { 0 };
		struct seen s;
		uint64_t damaged;
		int got;

		spoil(SIZE_MAX, &rng, 1 + i % 5);
		got = read_all(&s, &damaged, &e);
		assert_true(got <= 0);
		/* a changed id or t0 beside the blob is not covered by its checksum; what the blob says is */
		assert_false(s.wrong);
		readable += s.n > 0;
		assert_true(!got || e.msg[0]);
	}
	assert_true(readable > 150);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_other_schema_is_refused),
		cmocka_unit_test(versions_and_other_files_are_told_apart),
		cmocka_unit_test(a_bad_chunk_is_left_out_and_the_rest_is_read),
		cmocka_unit_test(bombs_and_impossible_rows_do_no_harm),
		cmocka_unit_test(a_file_that_was_cut_gives_what_is_left),
		cmocka_unit_test(changed_bytes_never_give_wrong_rows),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}

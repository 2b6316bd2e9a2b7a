/* SPDX-License-Identifier: MIT */
#include "cmd/side-load.h"
#include "base/cleanup.h"
#include "cmd/blk-import.h"
#include "format/memory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <string.h>
#include <sys/stat.h>

#define BUCKET_WAITS	1000000		/* counted buckets are spread into so many waits at most */
#define OVERLAP_SHARE	0.01		/* more waits that begin before the last one ended: not one after another */
#define OVERLAP_SLACK	(2 * NSEC_PER_MSEC)	/* stamps of fio logs are whole milliseconds */

/* ---- foreign files ---- */

static void *own(struct side *s, size_t n, size_t each)
{
	return side_own(s, mem_array(n ? n : 1, each), NULL);
}

/* Buckets know no order; each gives waits in its middle, fewer when there are very many. */
static void spread(struct side *s, const struct import_series *from, struct side_series *x)
{
	double total = 0, keep;
	size_t n = 0, k = 0;
	nsec_t *wait;
	uint8_t *kind;

	for (size_t i = 0; i < from->buckets.n; i++)
		total += (double)from->buckets.p[i].n;
	keep = MIN(1.0, BUCKET_WAITS / MAX(total, 1.0));
	for (size_t i = 0; i < from->buckets.n; i++)
		if (from->buckets.p[i].n)
			n += MAX((size_t)1, (size_t)((double)from->buckets.p[i].n * keep + 0.5));
	wait = own(s, n, sizeof(*wait));
	kind = own(s, n, sizeof(*kind));
	for (size_t i = 0; i < from->buckets.n; i++) {
		const struct import_bucket *b = &from->buckets.p[i];
		size_t times = b->n ? MAX((size_t)1, (size_t)((double)b->n * keep + 0.5)) : 0;

		for (size_t j = 0; j < times; j++) {
			wait[k] = b->clipped || b->hi == NSEC_NEVER ? b->lo : b->lo + (b->hi - b->lo) / 2;
			kind[k++] = b->clipped ? WAIT_LOWER : WAIT_EXACT;
		}
		x->clipped |= b->clipped && b->n;
	}
	x->w = (struct waits){ .x = wait, .kind = kind, .n = n, .no_cycle = true, .unordered = true };
	if (keep < 1)
		side_note(s, "%s: %.0f counted waits stand for %.0f", from->name, (double)n, total);
}

static void in_order(struct side *s, const struct import_series *from, nsec_t pause, struct side_series *x)
{
	nsec_t *wait = own(s, from->waits.n, sizeof(*wait)), *cycle = own(s, from->waits.n, sizeof(*cycle));
	nsec_t *t = own(s, from->waits.n, sizeof(*t));
	uint8_t *kind = own(s, from->waits.n, sizeof(*kind));
	size_t n = 0, overlaps = 0;
	bool stamped = true;

	for (size_t i = 0; i < from->waits.n; i++) {
		const struct import_wait *w = &from->waits.p[i];

		if (w->status == SAMPLE_ERROR) {
			x->errors++;
			continue;
		}
		stamped &= w->t_start != NSEC_NEVER;
		wait[n] = w->wait;
		t[n] = w->t_start;
		kind[n++] = w->status == SAMPLE_OK ? WAIT_EXACT : WAIT_LOWER;
	}
	for (size_t i = 0; stamped && i < n; i++) {
		cycle[i] = i + 1 < n ? t[i + 1] - t[i] : nsec_add(wait[i], MAX(pause, (nsec_t)0));
		overlaps += cycle[i] + OVERLAP_SLACK < wait[i];
	}
	x->w = (struct waits){ .x = wait, .kind = kind, .n = n, .open_loop = from->open_loop };
	if (stamped && n && (double)overlaps <= OVERLAP_SHARE * (double)n) {
		nsec_t first = t[0];

		for (size_t i = 0; i < n; i++) {
			cycle[i] = MAX(cycle[i], wait[i]);	/* rounded stamps */
			t[i] -= first;
		}
		x->w.cycle = cycle;
		x->t = t;
	} else if (pause >= 0 && !stamped) {
		x->w.pause = pause;
	} else {
		x->w.no_cycle = true;
	}
}

/* The fsync tester is known to sleep a second between two fsyncs. */
static nsec_t pause_of(const struct import_mem *m, const struct side_load_conf *conf)
{
	if (conf->pause >= 0)
		return conf->pause;
	return m->format && !strcmp(m->format, "fsync-tester") ? NSEC_PER_SEC : -1;
}

static void add_run(struct side *s, const struct import_mem *m, const struct import_run *from, const char *name,
		    const struct side_load_conf *conf)
{
	cleanup_free char *source = *from->label ? mem_printf("%s (%s)", name, from->label) : mem_dup(name);
	struct side_run *r = side_run(s, source, "import");

	for (size_t i = 0; i < from->series.n; i++) {
		const struct import_series *x = &from->series.p[i];
		struct side_series *to;

		if (!x->waits.n && !x->buckets.n)
			continue;
		to = side_series(r, x->name, x->meaning);
		to->limit = x->limit;
		if (x->waits.n)
			in_order(s, x, pause_of(m, conf), to);
		else
			spread(s, x, to);
	}
	for (size_t i = 0; i < from->numbers.n; i++)
		side_number(r, from->numbers.p[i].name, from->numbers.p[i].unit, from->numbers.p[i].value, from->numbers.p[i].better);
	for (size_t i = 0; i < from->facts.n; i++)
		side_fact(r, from->facts.p[i].key, from->facts.p[i].value, false);
	for (size_t i = 0; i < from->notes.n; i++)
		if (from->notes.p[i].kind != NOTE_INFO)
			side_note(s, "%s: %s", name, from->notes.p[i].text);
}

/* ---- records ---- */

static bool is_sqlite(const char *path)
{
	cleanup_close int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	char head[16];

	return fd >= 0 && read(fd, head, sizeof(head)) == sizeof(head) && !memcmp(head, "SQLite format 3", 16);
}

static int add_file(struct side *s, const char *path, const struct side_load_conf *conf, struct err *e)
{
	cleanup_import_mem struct import_mem *m = NULL;
	int r;

	if (strcmp(path, "-") && is_sqlite(path)) {
		struct rec *rec;

		r = rec_open(path, &rec, e);
		if (r)
			return r;
		r = side_add_record(s, rec, path, e);
		rec_close(rec);
		return r;
	}
	if (!conf->as && blk_import_is_trace(path)) {
		struct import_sink sink;

		m = import_mem_new();
		import_mem_sink(m, &sink);
		r = blk_import(path, &sink, e);
	} else {
		r = import_mem_read(path, conf->as, 0, &m, e);
	}
	if (r)
		return r;
	for (size_t i = 0; i < m->runs.n; i++) {
		if (m->runs.p[i].side)
			return err_set(e, -EINVAL, "%s has more than one column, each of them a side: compare it alone "
				       "(stallmark compare %s)", path, path);
		add_run(s, m, &m->runs.p[i], path, conf);
	}
	return 0;
}

/* ---- what the user named ---- */

static int by_name(const void *a, const void *b)
{
	return strverscmp(*(char *const *)a, *(char *const *)b);
}

/* Files of a directory or a glob: a broken one is named and left out. */
static int add_all(struct side *s, char **paths, size_t n, const struct side_load_conf *conf, struct err *e)
{
	size_t good = 0;

	for (size_t i = 0; i < n; i++) {
		struct err one = { 0 };

		if (add_file(s, paths[i], conf, &one)) {
			side_note(s, "left out: %s", one.msg);
			*conf->broken = true;
			continue;
		}
		good++;
	}
	return good ? 0 : err_set(e, -ENODATA, "%s holds no file that can be compared%s%s", s->label, s->notes.n ? "; " : "",
				  s->notes.n ? s->notes.p[0] : "");
}

int side_load_files(const char *label, char **paths, size_t n, const struct side_load_conf *conf, struct side **ret,
		    struct err *e)
{
	struct side *s = side_new(label);
	int r = add_all(s, paths, n, conf, e);

	if (r)
		side_free(s);
	else
		*ret = s;
	return r;
}

static int add_directory(struct side *s, const char *path, const struct side_load_conf *conf, struct err *e)
{
	DIR *d = opendir(path);
	VEC(char *) files = { 0 };
	struct dirent *de;
	int r;

	if (!d)
		return err_sys(e, -errno, "cannot open the directory %s", path);
	while ((de = readdir(d))) {
		char *full = mem_printf("%s/%s", path, de->d_name);
		struct stat st;

		if (de->d_name[0] != '.' && !stat(full, &st) && S_ISREG(st.st_mode))
			vec_push(&files, full);
		else
			free(full);
	}
	closedir(d);
	if (files.n)
		qsort(files.p, files.n, sizeof(*files.p), by_name);
	r = add_all(s, files.p, files.n, conf, e);
	for (size_t i = 0; i < files.n; i++)
		free(files.p[i]);
	vec_done(&files);
	return r;
}

int side_load(const char *path, const struct side_load_conf *conf, struct side **ret, struct err *e)
{
	struct side *s = side_new(path);
	struct stat st;
	glob_t g = { 0 };
	int r;

	if (!strcmp(path, "-") || !stat(path, &st)) {
		r = strcmp(path, "-") && S_ISDIR(st.st_mode) ? add_directory(s, path, conf, e) : add_file(s, path, conf, e);
	} else if (!conf->as && blk_import_is_trace(path)) {
		r = add_file(s, path, conf, e);
	} else if (strpbrk(path, "*?[") && !glob(path, 0, NULL, &g)) {
		r = add_all(s, g.gl_pathv, g.gl_pathc, conf, e);
		globfree(&g);
	} else {
		r = err_sys(e, -errno, "cannot open %s", path);
	}
	if (r)
		side_free(s);
	else
		*ret = s;
	return r;
}

int side_load_columns(const char *path, const struct side_load_conf *conf, struct side ***ret, size_t *ret_n, struct err *e)
{
	cleanup_import_mem struct import_mem *m = NULL;
	unsigned columns = 1;
	struct side **sides;
	int r;

	if (strcmp(path, "-") && is_sqlite(path))
		return err_set(e, -EINVAL, "one record cannot be compared with itself: name a second one");
	r = import_mem_read(path, conf->as, 0, &m, e);
	if (r)
		return r;
	for (size_t i = 0; i < m->runs.n; i++)
		columns = MAX(columns, m->runs.p[i].side + 1);
	if (columns < 2)
		return err_set(e, -EINVAL, "%s holds one side only: paste two columns, or name a second file",
			       strcmp(path, "-") ? path : "standard input");
	if (columns > 26)
		return err_set(e, -EINVAL, "%s has %u columns; at most 26 sides can be compared", path, columns);
	sides = mem_array(columns, sizeof(*sides));
	for (unsigned c = 0; c < columns; c++) {
		cleanup_free char *label = mem_printf("%s, column %u", strcmp(path, "-") ? path : "paste", c + 1);

		for (size_t i = 0; i < m->runs.n; i++)
			if (m->runs.p[i].side == c && *m->runs.p[i].label) {
				free(label);
				label = mem_dup(m->runs.p[i].label);
				break;
			}
		sides[c] = side_new(label);
		for (size_t i = 0; i < m->runs.n; i++)
			if (m->runs.p[i].side == c)
				add_run(sides[c], m, &m->runs.p[i], label, conf);
	}
	*ret = sides;
	*ret_n = columns;
	return 0;
}

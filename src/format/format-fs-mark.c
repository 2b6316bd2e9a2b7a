/* SPDX-License-Identifier: MIT */
/*
 * fs_mark: a line of names, then one row an iteration. Which columns there are is read from the names: FSUse%, Count,
 * Size, Files/sec, App Overhead (not in old versions), and with -v min, average and maximum of each system call in
 * microseconds. Files/sec is a number of the iteration; single waits are not in it.
 */
#include "base/cleanup.h"
#include "format/text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define COLS_MAX 32

enum kind { USE, COUNT, SIZE, RATE, OVERHEAD, CALL_MIN, CALL_AVG, CALL_MAX };

struct column {
	enum kind kind;
	const char *call;
};

struct mark {
	struct column col[COLS_MAX];
	unsigned n;
	uint64_t rows, odd;
};

static void add(struct mark *m, enum kind kind, const char *call)
{
	if (m->n < COLS_MAX)
		m->col[m->n++] = (struct column){ kind, call };
}

/* True when the line is one of names. */
static bool read_names(struct mark *m, const char *line)
{
	static const struct { const char *name; enum kind kind; } plain[] = {
		{ "FSUse%", USE }, { "Count", COUNT }, { "Size", SIZE }, { "Files/sec", RATE }, { "App Overhead", OVERHEAD },
	};
	static const struct { const char *name, *call; } calls[] = {
		{ "CREAT (Min/Avg/Max)", "creat" }, { "WRITE (Min/Avg/Max)", "write" }, { "FSYNC (Min/Avg/Max)", "fsync" },
		{ "SYNC (Min/Avg/Max)", "sync" }, { "CLOSE (Min/Avg/Max)", "close" }, { "UNLINK (Min/Avg/Max)", "unlink" },
	};
	const char *s = text_skip(line);

	if (*s == '#')
		s = text_skip(s + 1);
	if (strncmp(s, "FSUse%", 6))
		return false;
	m->n = 0;
	while (*s) {
		const char *from = s;

		for (size_t i = 0; i < ARRAY_SIZE(plain); i++)
			if (text_take(&s, plain[i].name))
				add(m, plain[i].kind, NULL);
		for (size_t i = 0; i < ARRAY_SIZE(calls); i++) {
			if (!text_take(&s, calls[i].name))
				continue;
			add(m, CALL_MIN, calls[i].call);
			add(m, CALL_AVG, calls[i].call);
			add(m, CALL_MAX, calls[i].call);
		}
		if (s == from)
			s += text_word(s);
		s = text_skip(s);
	}
	return m->n > 0;
}

static unsigned read_row(const char *line, double v[COLS_MAX])
{
	const char *s = text_skip(line);
	unsigned n = 0;

	while (*s && n < COLS_MAX) {
		if (!text_number(&s, &v[n]) || (*s && *s != ' ' && *s != '\t'))
			return 0;
		n++;
		s = text_skip(s);
	}
	return *s ? 0 : n;
}

static int emit(const struct mark *m, const double v[COLS_MAX], const struct import_sink *k)
{
	int r = 0;

	for (unsigned i = 0; !r && i < m->n; i++) {
		const struct column *c = &m->col[i];
		char name[32];

		if (v[i] < 0)
			continue;
		switch (c->kind) {
		case USE:
		case COUNT:
			break;
		case SIZE:
			r = k->number(k->ctx, "file_size", "bytes", v[i], 0);
			break;
		case RATE:
			r = k->number(k->ctx, "files_per_s", "/s", v[i], 1);
			break;
		case OVERHEAD:
			r = k->number(k->ctx, "app_overhead", "s", v[i] / 1e6, 0);
			break;
		case CALL_MIN:
			/* three zeros: the call was not used */
			if (i + 2 < m->n && !v[i] && !v[i + 1] && !v[i + 2])
				i += 2;
			break;
		case CALL_AVG:
		case CALL_MAX:
			snprintf(name, sizeof(name), "%s.%s", c->call, c->kind == CALL_AVG ? "mean" : "max");
			r = k->number(k->ctx, name, "s", v[i] / 1e6, -1);
			break;
		}
	}
	return r;
}

/* "3.3, 1 thread(s) starting at Mon Nov 30 18:04:01 2026" */
static int version(const struct import_sink *k, const char *s)
{
	size_t n = strcspn(s, ",");
	const char *threads = s[n] ? text_skip(s + n + 1) : "", *at = strstr(s, " starting at ");
	int r = text_fact(k, "tool", "fs_mark %.*s", (int)n, s);

	if (!r && strstr(threads, " thread"))
		r = text_fact(k, "fs_mark.threads", "%.*s", (int)text_word(threads), threads);
	return r || !at ? r : k->fact(k->ctx, "time", at + strlen(" starting at "));
}

static int comment(const struct import_sink *k, const char *line)
{
	const char *s = line + strspn(line, "# \t");

	if (!strncmp(s, "fs_mark ", 8))
		return k->fact(k->ctx, "command", s);
	if (text_take(&s, "Version "))
		return version(k, s);
	if (!strncmp(s, "Sync method: ", 13))
		return k->fact(k->ctx, "fs_mark.sync", s + 13);
	if (!strncmp(s, "Files info: ", 12))
		return k->fact(k->ctx, "fs_mark.files", s + 12);
	return 0;
}

static int fs_mark_import(struct input *in, const struct import_sink *sink, struct err *e)
{
	struct mark m = { .n = 0 };
	double v[COLS_MAX];
	char *line;
	int r = 0;

	while (!r && input_line(in, &line)) {
		unsigned n;

		if (read_names(&m, line))
			continue;
		if (*text_skip(line) == '#') {
			if (!m.rows)
				r = comment(sink, text_skip(line));
			continue;
		}
		n = read_row(line, v);
		if (!n)
			continue;
		if (!m.n && (n == 4 || n == 5))		/* a paste without its names */
			for (unsigned i = 0; i < n; i++)
				add(&m, (enum kind)i, NULL);
		if (n != m.n) {
			m.odd++;
			continue;
		}
		m.rows++;
		r = emit(&m, v, sink);
	}
	if (!r && !m.rows)
		r = err_set(e, -ENODATA, "'%s' holds no rows of fs_mark", in->name);
	if (!r && m.odd)
		r = text_note(sink, NOTE_WARNING, "%llu rows do not have the columns named above them and were left out",
			      (unsigned long long)m.odd);
	return r;
}

static void look_line(void *ctx, const char *line)
{
	struct mark m;

	*(unsigned *)ctx += read_names(&m, line);
}

static int fs_mark_sniff(const uint8_t *head, size_t n, const char *name)
{
	unsigned names = 0;

	text_head_lines(head, n, look_line, &names);
	return names ? 95 : 0;
}

const struct format_ops format_fs_mark = {
	.plug = { .name = "fs-mark", .about = "fs_mark's table, with and without -v" },
	.sniff = fs_mark_sniff,
	.import = fs_mark_import,
};

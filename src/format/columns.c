/* SPDX-License-Identifier: MIT */
#include "format/columns.h"
#include "base/cleanup.h"
#include "base/vec.h"
#include "format/text.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <strings.h>

#define COLS_MAX	16
#define VALUES_MAX	20000000
#define TABLES_MAX	256
#define HEADING_WORDS	3

struct cell {
	double x;		/* NAN: the column has no value here ("-", "nan") */
	nsec_t unit;		/* 0: none given */
	unsigned pos;		/* screen column, tabs counted */
};

struct row {
	struct cell c[COLS_MAX];
	unsigned n;
	bool prefixed, comma;
};

struct value {
	nsec_t wait;
	uint32_t table;
	uint32_t col;
};

struct table {
	struct input *in;
	const struct columns_conf *conf;
	VEC(struct value) values;
	VEC(char *) headings;			/* of each table */
	char *labels[COLS_MAX];
	nsec_t unit[COLS_MAX];			/* from a label that names one */
	unsigned pos[COLS_MAX];
	unsigned ncols;
	char *text[2];				/* the last two lines of text before the rows: [0] the nearer one */
	bool in_rows, prefixed;
	uint64_t noise, missing, no_unit;
};

static unsigned screen_column(const char *line, const char *at)
{
	unsigned col = 0;

	for (const char *s = line; s < at; s++)
		col = *s == '\t' ? (col / 8 + 1) * 8 : col + 1;
	return col;
}

static bool missing(const char *s, size_t n)
{
	return (n == 1 && *s == '-') || (n == 2 && !strncmp(s, "--", 2)) || (n == 3 && !strncasecmp(s, "nan", 3)) ||
	       (n == 3 && !strncasecmp(s, "n/a", 3));
}

/* False: the line is not a row of numbers only. */
static bool parse_row(const char *line, const char *prefix, struct row *row)
{
	memset(row, 0, sizeof(*row));
	for (const char *s = text_skip(line); *s; s = text_skip(s)) {
		const char *from = s;
		struct cell c = { .x = NAN };
		size_t n = text_word(s);

		if (prefix && text_take(&s, prefix)) {
			row->prefixed = true;
			continue;
		}
		if (n == 1 && (*s == '|' || *s == ';')) {
			s++;
			continue;
		}
		if (row->n == COLS_MAX)
			return false;
		c.pos = screen_column(line, from);
		if (missing(s, n)) {
			s += n;
		} else {
			const char *u;

			if (!text_number(&s, &c.x))
				return false;
			row->comma |= memchr(from, ',', (size_t)(s - from)) != NULL;
			u = text_skip(s);
			c.unit = text_unit(u, text_word(u));
			if (c.unit)
				s = u + text_word(u);
			if (*s && *s != ' ' && *s != '\t')
				return false;
		}
		row->c[row->n++] = c;
	}
	return row->n > 0;
}

/* The words of a line of labels: split at tabs, bars and two blanks, or at every blank when that gives `want`. */
static unsigned split_labels(const char *line, unsigned want, char *ret[COLS_MAX])
{
	for (int every = 0; every < 2; every++) {
		unsigned n = 0;
		const char *s = line;

		while (*s && n < COLS_MAX) {
			const char *from;

			s += strspn(s, " \t|");
			from = s;
			while (*s && *s != '\t' && *s != '|' && !(*s == ' ' && (every || s[1] == ' ' || !s[1])))
				s++;
			if (s > from)
				ret[n++] = mem_dupn(from, (size_t)(s - from));
		}
		if (n == want && !*s)
			return n;
		while (n) {
			free(ret[--n]);
			ret[n] = NULL;
		}
	}
	return 0;
}

static void keep_text(struct table *t, const char *line)
{
	free(t->text[1]);
	t->text[1] = t->text[0];
	t->text[0] = mem_dup(line);
}

static unsigned words(const char *s)
{
	unsigned n = 0;

	for (s = text_skip(s); *s; s = text_skip(s)) {
		n++;
		s += text_word(s);
	}
	return n;
}

/* A heading without decoration: "== ext3: ==" is "ext3". */
static char *heading(const char *s)
{
	size_t n;

	s += strspn(s, " \t=-#*:");
	n = strlen(s);
	while (n && strchr(" \t=-#*:", s[n - 1]))
		n--;
	return mem_dupn(s, n);
}

/* The lines of text before the first row of a table become labels and heading. */
static void begin_rows(struct table *t, const struct row *row)
{
	char *labels[COLS_MAX] = { 0 };
	const char *head = t->text[0];

	if (head && split_labels(head, row->n, labels) && (row->n > 1 || !t->conf->prefix)) {
		head = t->text[1];
		for (unsigned i = 0; i < row->n; i++) {
			t->unit[i] = text_unit(labels[i], strlen(labels[i]));
			if (t->labels[i] || t->unit[i]) {
				free(labels[i]);
				continue;
			}
			t->labels[i] = labels[i];
		}
	} else {
		for (unsigned i = 0; i < row->n; i++)
			free(labels[i]);
	}
	vec_push(&t->headings, head && words(head) <= HEADING_WORDS ? heading(head) : mem_dup(""));
	for (int i = 0; i < 2; i++) {
		free(t->text[i]);
		t->text[i] = NULL;
	}
	t->in_rows = true;
}

/* The column of a cell: in a full row its index, else the nearest start seen so far. */
static unsigned which_column(const struct table *t, const struct row *row, unsigned i)
{
	unsigned best = i;

	if (row->n >= t->ncols)
		return i;
	for (unsigned k = 0; k < t->ncols; k++)
		if (labs((long)t->pos[k] - (long)row->c[i].pos) < labs((long)t->pos[best] - (long)row->c[i].pos))
			best = k;
	return best;
}

static int add_row(struct table *t, const struct row *row, struct err *e)
{
	if (!t->in_rows && t->headings.n == TABLES_MAX)
		return err_set(e, -E2BIG, "'%s' holds more than %d tables", t->in->name, TABLES_MAX);
	if (!t->in_rows)
		begin_rows(t, row);
	if (row->n > t->ncols) {
		t->ncols = row->n;
		for (unsigned i = 0; i < row->n; i++)
			t->pos[i] = row->c[i].pos;
	}
	t->prefixed |= row->prefixed;
	for (unsigned i = 0; i < row->n; i++) {
		const struct cell *c = &row->c[i];
		unsigned col = which_column(t, row, i);
		nsec_t unit = c->unit ? c->unit : t->unit[col] ? t->unit[col] : t->in->unit ? t->in->unit : NSEC_PER_SEC;
		struct value v = { .table = (uint32_t)t->headings.n - 1, .col = col };

		if (isnan(c->x)) {
			t->missing++;
			continue;
		}
		if (!text_nsec(c->x, unit, &v.wait))
			return err_set(e, -EINVAL, "'%s' line %llu: %g is not a wait", t->in->name,
				       (unsigned long long)t->in->line, c->x);
		if (!c->unit && !t->unit[col] && !t->in->unit)
			t->no_unit++;
		if (t->values.n == VALUES_MAX)
			return err_set(e, -E2BIG, "'%s' holds more than %d values in columns", t->in->name, VALUES_MAX);
		vec_push(&t->values, v);
	}
	return 0;
}

static int read_rows(struct table *t, struct err *e)
{
	char *line;
	int r;

	while (input_line(t->in, &line)) {
		const char *s = text_skip(line);
		struct row row;

		if (!*s || *s == '#')
			continue;
		if (parse_row(line, t->conf->prefix, &row) &&
		    (!t->conf->prefix || row.prefixed || (t->prefixed && t->ncols > 1))) {
			r = add_row(t, &row, e);
			if (r)
				return r;
			continue;
		}
		if (words(s) > HEADING_WORDS && t->in_rows) {
			t->noise++;
			continue;
		}
		t->in_rows = false;
		keep_text(t, s);
	}
	return input_check(t->in, e);
}

static int emit(struct table *t, const struct import_sink *sink)
{
	const struct columns_conf *conf = t->conf;
	int r = 0;

	for (unsigned col = 0; !r && col < t->ncols; col++) {
		if (t->ncols > 1 || t->labels[col])
			r = sink->next_run(sink->ctx, t->labels[col] ? t->labels[col] : "", col > 0);
		for (size_t k = 0; !r && k < t->headings.n; k++) {
			cleanup_free char *name = t->headings.n > 1 && t->headings.p[k][0] ?
				mem_printf("%s@%s", conf->series, t->headings.p[k]) : mem_dup(conf->series);
			int series = -1;

			for (size_t i = 0; !r && i < t->values.n; i++) {
				const struct value *v = &t->values.p[i];

				if (v->col != col || v->table != k)
					continue;
				if (series < 0) {
					series = sink->series(sink->ctx, name, conf->meaning, false, 0);
					r = series < 0 ? series : !conf->interval_ns ? 0 :
					    sink->series_fact(sink->ctx, series, "interval_ns", conf->interval_ns);
				}
				if (!r)
					r = sink->wait(sink->ctx, series, NSEC_NEVER, v->wait, SAMPLE_OK, 0);
			}
		}
		if (!r && t->headings.n == 1 && t->headings.p[0][0])
			r = sink->fact(sink->ctx, "heading", t->headings.p[0]);
	}
	if (!r && t->noise)
		r = text_note(sink, NOTE_WARNING, "%llu lines are not %s and were left out", (unsigned long long)t->noise,
			      conf->what);
	if (!r && t->missing)
		r = text_note(sink, NOTE_WARNING, "%llu cells hold no value and were left out",
			      (unsigned long long)t->missing);
	if (!r && t->no_unit && !conf->prefix)
		r = text_note(sink, NOTE_INFO, "%llu numbers carry no unit; they were read as seconds",
			      (unsigned long long)t->no_unit);
	return r;
}

int columns_import(struct input *in, const struct columns_conf *conf, const struct import_sink *sink, struct err *e)
{
	struct table t = { .in = in, .conf = conf };
	int r = read_rows(&t, e);

	if (!r && !t.values.n)
		r = err_set(e, -ENODATA, "'%s' holds no %s", in->name, conf->what);
	if (!r)
		r = emit(&t, sink);
	for (size_t i = 0; i < t.headings.n; i++)
		free(t.headings.p[i]);
	for (unsigned i = 0; i < COLS_MAX; i++)
		free(t.labels[i]);
	free(t.text[0]);
	free(t.text[1]);
	vec_done(&t.headings);
	vec_done(&t.values);
	return r;
}

static void look_line(void *ctx, const char *line)
{
	struct columns_look *l = ctx;
	const char *s = text_skip(line);
	struct row row;

	if (!*s || *s == '#')
		return;
	if (!parse_row(line, l->prefix, &row)) {
		l->other++;
		return;
	}
	l->rows++;
	l->prefixed += row.prefixed;
	l->wide += row.n > 1;
	l->comma += row.comma;
}

void columns_look(const uint8_t *head, size_t n, struct columns_look *look)
{
	text_head_lines(head, n, look_line, look);
}

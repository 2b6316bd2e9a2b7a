/* SPDX-License-Identifier: MIT */
/*
 * CSV with a line of names. What a column holds comes from its name: a unit of
 * time or a word like "wait" or "latency" makes it a wait, "t" or "timestamp"
 * its start, "run", "probe", "status" and "bytes" what they say. When no name
 * tells of waits but columns of numbers are left, each is a side, in seconds.
 */
#include "base/cleanup.h"
#include "base/vec.h"
#include "format/csv.h"
#include "format/export.h"
#include "format/text.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <strings.h>

#define SIDES_VALUES_MAX	20000000
#define RUNS_MAX		10000

struct side_value {
	uint32_t col;
	nsec_t wait;
};

struct csv {
	struct input *in;
	const struct import_sink *sink;
	struct err *e;
	char sep;
	struct csv_column col[CSV_COLS_MAX];
	int series_id[CSV_COLS_MAX];		/* of wait columns in this run; -1: not asked for yet */
	size_t ncols, nwaits;
	int t, run, series, status, bytes, phase;	/* columns, -1: absent */
	bool sides;				/* columns without meaning: one side each */
	VEC(struct side_value) values;
	VEC(char *) runs;			/* labels seen */
	uint64_t rows, missing, short_rows, no_unit, other_phase;
};

static bool is_number(const char *s)
{
	double x;

	return text_number(&s, &x) && !*text_skip(s);
}

static int find_columns(struct csv *c, char *cell[], size_t n)
{
	size_t others = 0;

	c->t = c->run = c->series = c->status = c->bytes = c->phase = -1;
	for (size_t i = 0; i < n; i++) {
		struct csv_column *col = &c->col[i];
		int *where[] = { [CSV_T] = &c->t, [CSV_RUN] = &c->run, [CSV_SERIES] = &c->series,
				 [CSV_STATUS] = &c->status, [CSV_BYTES] = &c->bytes, [CSV_PHASE] = &c->phase };

		csv_column_of(cell[i], col);
		c->series_id[i] = -1;
		if (col->role >= CSV_T && *where[col->role] < 0)
			*where[col->role] = (int)i;
		c->nwaits += col->role == CSV_WAIT;
		others += col->role == CSV_OTHER;
	}
	c->ncols = n;
	if (!c->nwaits && c->t >= 0 && !strcasecmp(c->col[c->t].name, "time")) {
		c->col[c->t].role = CSV_WAIT;
		c->nwaits = 1;
		c->t = -1;
	}
	c->sides = !c->nwaits && others;
	if (c->nwaits || c->sides)
		return 0;
	return err_set(c->e, -EINVAL,
		       "'%s' has no column of waits; name one of its columns \"wait\" or after a unit (\"seconds\", \"fsync_ms\")",
		       c->in->name);
}

/* A value of a wait or time column: 0, 1 when the cell is empty or NaN, or an error. */
static int cell_nsec(struct csv *c, const char *s, nsec_t unit, nsec_t *ret)
{
	double x;

	if (!*s || !strcasecmp(s, "nan") || !strcmp(s, "-") || !strcasecmp(s, "null") || !strcasecmp(s, "n/a"))
		return 1;
	if (!text_amount(&s, unit, &x, NULL) || *text_skip(s))
		return err_set(c->e, -EINVAL, "'%s' line %llu: '%.40s' is not a number", c->in->name,
			       (unsigned long long)c->in->line, s);
	if (!text_nsec(x, unit, ret))
		return err_set(c->e, -EINVAL, "'%s' line %llu: %g is not a wait", c->in->name,
			       (unsigned long long)c->in->line, x);
	return 0;
}

static nsec_t unit_of(struct csv *c, size_t i)
{
	if (c->col[i].unit)
		return c->col[i].unit;
	if (c->in->unit)
		return c->in->unit;
	c->no_unit++;
	return NSEC_PER_SEC;
}

static int enter_run(struct csv *c, const char *label)
{
	if (c->runs.n && !strcmp(c->runs.p[c->runs.n - 1], label))
		return 0;
	for (size_t i = 0; i < c->runs.n; i++)
		if (!strcmp(c->runs.p[i], label))
			return err_set(c->e, -EINVAL, "'%s' line %llu: run %s begins again; sort the rows by run",
				       c->in->name, (unsigned long long)c->in->line, label);
	if (c->runs.n == RUNS_MAX)
		return err_set(c->e, -E2BIG, "'%s' holds more than %d runs", c->in->name, RUNS_MAX);
	vec_push(&c->runs, mem_dup(label));
	for (size_t i = 0; i < c->ncols; i++)
		c->series_id[i] = -1;
	return c->sink->next_run(c->sink->ctx, label, false);
}

static int status_of(const char *s)
{
	for (int i = 0; i < SAMPLE_STATUS_MAX; i++)
		if (!strcasecmp(s, sample_status_name((uint8_t)i)))
			return i;
	return SAMPLE_OK;
}

static int series_of(struct csv *c, char *cell[], size_t i)
{
	const char *name = c->col[i].name;

	if (c->series >= 0 && c->nwaits == 1)
		return c->sink->series(c->sink->ctx, cell[c->series], "", false, 0);
	if (c->series_id[i] < 0)
		c->series_id[i] = c->sink->series(c->sink->ctx, *name ? name : "wait", "", false, 0);
	return c->series_id[i];
}

static int wait_row(struct csv *c, char *cell[])
{
	nsec_t t = NSEC_NEVER;
	uint64_t bytes = 0;
	uint8_t status = c->status < 0 ? SAMPLE_OK : (uint8_t)status_of(cell[c->status]);
	int r = 0;

	if (c->phase >= 0 && strcmp(cell[c->phase], "measure")) {
		c->other_phase++;
		return 0;
	}
	if (c->run >= 0)
		r = enter_run(c, cell[c->run]);
	if (!r && c->t >= 0) {
		r = cell_nsec(c, cell[c->t], c->col[c->t].unit ? c->col[c->t].unit : NSEC_PER_SEC, &t);
		if (r == 1) {
			t = NSEC_NEVER;
			r = 0;
		}
	}
	if (c->bytes >= 0) {
		const char *s = cell[c->bytes];

		text_grouped(&s, &bytes);
	}
	for (size_t i = 0; !r && i < c->ncols; i++) {
		nsec_t wait;
		int series;

		if (c->col[i].role != CSV_WAIT)
			continue;
		r = cell_nsec(c, cell[i], unit_of(c, i), &wait);
		if (r == 1) {
			c->missing++;
			r = 0;
			continue;
		}
		series = r ? r : series_of(c, cell, i);
		r = series < 0 ? series : c->sink->wait(c->sink->ctx, series, t, wait, status, bytes);
	}
	return r;
}

static int side_row(struct csv *c, char *cell[])
{
	for (size_t i = 0; i < c->ncols; i++) {
		struct side_value v = { .col = (uint32_t)i };
		int r;

		if (c->col[i].role != CSV_OTHER)
			continue;
		r = cell_nsec(c, cell[i], unit_of(c, i), &v.wait);
		if (r < 0)
			return err_wrap(c->e, "column '%s' was taken for waits", c->col[i].name);
		if (c->values.n == SIDES_VALUES_MAX)
			return err_set(c->e, -E2BIG, "'%s' holds more than %d values", c->in->name, SIDES_VALUES_MAX);
		if (!r)
			vec_push(&c->values, v);
		c->missing += (uint64_t)r;
	}
	return 0;
}

static int emit_sides(struct csv *c)
{
	const struct import_sink *k = c->sink;
	bool first = true;
	int r = 0;

	for (size_t i = 0; !r && i < c->ncols; i++) {
		int series;

		if (c->col[i].role != CSV_OTHER)
			continue;
		r = k->next_run(k->ctx, c->col[i].name, !first);
		first = false;
		series = r ? r : k->series(k->ctx, "wait", "the numbers of one column", false, 0);
		r = series < 0 ? series : r;
		for (size_t v = 0; !r && v < c->values.n; v++)
			if (c->values.p[v].col == i)
				r = k->wait(k->ctx, series, NSEC_NEVER, c->values.p[v].wait, SAMPLE_OK, 0);
	}
	return r;
}

static int notes(struct csv *c)
{
	int r = 0;

	if (c->missing)
		r = text_note(c->sink, NOTE_WARNING, "%llu cells hold no value and were left out",
			      (unsigned long long)c->missing);
	if (!r && c->short_rows)
		r = text_note(c->sink, NOTE_WARNING, "%llu rows have fewer cells than the line of names and were left out",
			      (unsigned long long)c->short_rows);
	if (!r && c->other_phase)
		r = text_note(c->sink, NOTE_INFO, "%llu rows are of other phases than \"measure\" and were left out",
			      (unsigned long long)c->other_phase);
	if (!r && c->no_unit)
		r = text_note(c->sink, NOTE_INFO, "the names of the columns carry no unit; waits were read as seconds");
	return r;
}

static int read_table(struct csv *c)
{
	char *line, *cell[CSV_COLS_MAX];
	unsigned comments = 0;
	int r = 0;

	while (!r && input_line(c->in, &line)) {
		const char *s = text_skip(line);
		size_t n;

		if (!*s)
			continue;
		if (*s == '#') {
			s += strspn(s, "# ");
			if (*s && ++comments <= 8) {
				cleanup_free char *key = comments == 1 ? mem_dup("comment") : mem_printf("comment.%u", comments);

				r = c->sink->fact(c->sink->ctx, key, s);
			}
			continue;
		}
		if (!c->ncols) {
			c->sep = csv_separator(line);
			n = csv_split(line, c->sep ? c->sep : ',', cell);
			if (is_number(cell[0]))
				return err_set(c->e, -EINVAL, "'%s' has no line of names; begin it with one, like "
					       "\"t,wait_ms\" or \"seconds\"", c->in->name);
			r = find_columns(c, cell, n);
			continue;
		}
		n = csv_split(line, c->sep ? c->sep : ',', cell);
		if (n < c->ncols) {
			/* trailing empty cells may be left away; a row cut by the end of the file may not be used */
			c->short_rows++;
			continue;
		}
		c->rows++;
		r = c->sides ? side_row(c, cell) : wait_row(c, cell);
	}
	return r;
}

static int csv_import(struct input *in, const struct import_sink *sink, struct err *e)
{
	struct csv c = { .in = in, .sink = sink, .e = e };
	int r = read_table(&c);

	if (!r && !c.rows)
		r = err_set(e, -ENODATA, "'%s' holds no rows", in->name);
	if (!r && c.sides)
		r = emit_sides(&c);
	if (!r)
		r = notes(&c);
	for (size_t i = 0; i < c.runs.n; i++)
		free(c.runs.p[i]);
	vec_done(&c.runs);
	vec_done(&c.values);
	return r;
}

struct csv_look {
	char sep;
	size_t ncols, rows, other;
	bool names, waits, first;
};

static void look_line(void *ctx, const char *line)
{
	struct csv_look *l = ctx;
	cleanup_free char *copy = mem_dup(line);
	char *cell[CSV_COLS_MAX];
	size_t n, numbers = 0;

	if (!*text_skip(line) || *text_skip(line) == '#')
		return;
	if (!l->first) {
		l->sep = csv_separator(line);
		l->first = true;
		l->names = true;
		l->ncols = csv_split(copy, l->sep ? l->sep : ',', cell);
		for (size_t i = 0; i < l->ncols; i++) {
			struct csv_column col;

			csv_column_of(cell[i], &col);
			l->waits |= col.role == CSV_WAIT;
			l->names &= !is_number(cell[i]);
		}
		return;
	}
	n = csv_split(copy, l->sep ? l->sep : ',', cell);
	for (size_t i = 0; i < n; i++)
		numbers += is_number(cell[i]);
	if (n == l->ncols && numbers)
		l->rows++;
	else
		l->other++;
}

static int csv_sniff(const uint8_t *head, size_t n, const char *name)
{
	struct csv_look l = { 0 };
	const char *dot = strrchr(name, '.');
	bool called = dot && !strcasecmp(dot, ".csv");

	text_head_lines(head, n, look_line, &l);
	if (!l.rows || l.other > l.rows)
		return 0;
	if (!l.names)
		return l.sep ? 30 : 0;
	if (!l.sep && !l.waits)
		return 0;
	return l.waits ? 75 : called ? 65 : l.sep == ',' || l.sep == ';' ? 45 : 20;
}

struct csv_out {
	struct exporter *x;
	const struct rec_series *series;
};

/* Our own files end the unit question by their names: "t" and "wait" are seconds. */
static int export_rows(void *ctx, int run, const struct sample *rows, uint32_t n)
{
	struct csv_out *o = ctx;
	nsec_t t0 = export_t0(o->x, run);
	FILE *out = o->x->out;

	for (uint32_t i = 0; i < n; i++) {
		const struct sample *s = &rows[i];

		fprintf(out, "%d,", run);
		export_csv(out, scrub_name(&o->x->scrub, o->series->name));
		fputc(',', out);
		export_seconds(out, s->intended - t0);
		fputc(',', out);
		export_seconds(out, sample_wait(s));
		fprintf(out, ",%s,", sample_status_name(s->status));
		export_seconds(out, s->end - s->start);
		fprintf(out, ",%llu,%s,%s,%d,%llu\n", (unsigned long long)s->bytes, sample_cold_name(s->cold),
			sample_phase_name(s->phase), s->error, (unsigned long long)s->load_bytes_per_s);
	}
	return 0;
}

static int csv_export(struct rec *r, const struct export_conf *conf, FILE *out, struct err *e)
{
	struct exporter x;
	int err = export_begin(&x, r, conf, out, e);

	if (!err) {
		fputs("run,probe,t,wait,status,service,bytes,cold,phase,error,load_bytes_per_s\n", out);
		for (size_t k = 0; k < x.runs.n; k++) {
			for (size_t i = 0; i < x.series.n; i++) {
				struct csv_out o = { .x = &x, .series = &x.series.p[i] };

				if (o.series->kind == SERIES_SAMPLES)
					rec_samples_each(r, x.runs.p[k].id, o.series->id, export_rows, &o, NULL);
			}
		}
		err = export_check(out, e);
	}
	export_end(&x);
	return err;
}

const struct format_ops format_csv = {
	.plug = { .name = "csv", .about = "comma-separated values with a line of names; one row a wait when written" },
	.sniff = csv_sniff,
	.import = csv_import,
	.export_ = csv_export,
};

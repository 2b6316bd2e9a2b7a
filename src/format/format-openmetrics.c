/* SPDX-License-Identifier: MIT */
/*
 * OpenMetrics text that is also Prometheus text (node_exporter's textfile collector, promtool): no timestamps, only
 * types that both know, so totals of a finished run are gauges without "_total". One histogram a probe and run; nothing
 * is averaged over runs. Ends with "# EOF".
 */
#include "base/cleanup.h"
#include "format/export.h"
#include "stats/stuck.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct { nsec_t limit; const char *le; } bounds[] = {
	{ 1000000, "0.001" }, { 3000000, "0.003" }, { 10000000, "0.01" }, { 30000000, "0.03" }, { 100000000, "0.1" },
	{ 300000000, "0.3" }, { 1000000000, "1.0" }, { 3000000000, "3.0" }, { 10000000000, "10.0" }, { 30000000000, "30.0" },
	{ 100000000000, "100.0" },
};

struct cell {				/* one probe in one run */
	const struct rec_series *series;
	int run;
	VEC(nsec_t) x;
	VEC(nsec_t) t;
	VEC(uint8_t) kind;
	uint64_t le[ARRAY_SIZE(bounds)];
	uint64_t stalls;
	nsec_t max, limit, pause;
	double sum;
	bool open_loop, no_times;
};

static int take_rows(void *ctx, int run, const struct sample *rows, uint32_t n)
{
	struct cell *c = ctx;

	for (uint32_t i = 0; i < n; i++) {
		nsec_t wait = sample_wait(&rows[i]);

		if (rows[i].phase != PHASE_MEASURE || rows[i].status == SAMPLE_ERROR)
			continue;
		vec_push(&c->x, wait);
		vec_push(&c->t, rows[i].intended);
		vec_push(&c->kind, rows[i].status == SAMPLE_OK ? WAIT_EXACT : WAIT_LOWER);
		for (size_t k = 0; k < ARRAY_SIZE(bounds); k++)
			c->le[k] += wait <= bounds[k].limit;
		c->stalls += c->limit && wait > c->limit;
		c->sum += nsec_seconds(wait);
		c->max = MAX(c->max, wait);
	}
	return 0;
}

static void quoted(FILE *out, const char *s)
{
	fputc('"', out);
	for (; *s; s++) {
		if (*s == '"' || *s == '\\')
			fputc('\\', out);
		if (*s == '\n')
			fputs("\\n", out);
		else
			fputc((unsigned char)*s < 32 ? ' ' : *s, out);
	}
	fputc('"', out);
}

static void label(FILE *out, struct exporter *x, const char *s)
{
	quoted(out, scrub_text(&x->scrub, s ? s : ""));
}

static void labels(FILE *out, struct exporter *x, const struct cell *c, const char *more)
{
	fputs("{probe=", out);
	quoted(out, scrub_name(&x->scrub, c->series->name));
	fprintf(out, ",run=\"%d\"%s}", c->run, more);
}

static void histogram(FILE *out, struct exporter *x, const struct cell *c)
{
	char le[32];

	for (size_t k = 0; k < ARRAY_SIZE(bounds); k++) {
		snprintf(le, sizeof(le), ",le=\"%s\"", bounds[k].le);
		fputs("stallmark_wait_seconds_bucket", out);
		labels(out, x, c, le);
		fprintf(out, " %llu\n", (unsigned long long)c->le[k]);
	}
	fputs("stallmark_wait_seconds_bucket", out);
	labels(out, x, c, ",le=\"+Inf\"");
	fprintf(out, " %zu\nstallmark_wait_seconds_sum", c->x.n);
	labels(out, x, c, "");
	fprintf(out, " %.9g\nstallmark_wait_seconds_count", c->sum);
	labels(out, x, c, "");
	fprintf(out, " %zu\n", c->x.n);
}

static void family(FILE *out, const char *name, const char *type, const char *unit, const char *help)
{
	fprintf(out, "# TYPE %s %s\n", name, type);
	if (unit)
		fprintf(out, "# UNIT %s %s\n", name, unit);
	fprintf(out, "# HELP %s %s\n", name, help);
}

static void stuck(FILE *out, struct exporter *x, const struct cell *c)
{
	VEC(nsec_t) cycle = { 0 };
	struct stuck s;
	char limit[64];

	if (!c->limit || (!c->open_loop && c->no_times))
		return;
	for (size_t i = 0; !c->open_loop && i < c->x.n; i++)
		vec_push(&cycle, i + 1 < c->x.n ? c->t.p[i + 1] - c->t.p[i] : nsec_add(c->x.p[i], c->pause));
	stuck_share(&(struct waits){ .x = c->x.p, .kind = c->kind.p, .cycle = cycle.p, .n = c->x.n, .pause = c->pause,
				     .open_loop = c->open_loop }, c->limit, &s);
	vec_done(&cycle);
	if (!s.known)
		return;
	snprintf(limit, sizeof(limit), ",limit_seconds=\"%.9g\"", nsec_seconds(c->limit));
	fputs("stallmark_stuck_ratio", out);
	labels(out, x, c, limit);
	fprintf(out, " %.9g\n", s.share);
}

struct mean {
	nsec_t t0, t1;
	double sum;
	uint64_t n;
};

static int add_values(void *ctx, int run, const nsec_t *t, const int64_t *value, uint32_t n)
{
	struct mean *m = ctx;

	for (uint32_t i = 0; i < n; i++) {
		if (t[i] < m->t0 || t[i] > m->t1)
			continue;
		m->sum += (double)value[i];
		m->n++;
	}
	return 0;
}

/* What each load achieved while it was measured: the mean of its rates, one a second. */
static void load_rates(FILE *out, struct exporter *x)
{
	bool told = false;

	for (size_t k = 0; k < x->runs.n; k++) {
		for (size_t i = 0; i < x->series.n; i++) {
			const struct rec_series *s = &x->series.p[i];
			struct mean m = { .t0 = x->runs.p[k].measure_t0, .t1 = x->runs.p[k].measure_t1 };

			if (s->kind != SERIES_COUNTER || strcmp(s->group, "load") || strcmp(s->unit, "bytes/s"))
				continue;
			rec_counter_each(x->rec, x->runs.p[k].id, s->id, add_values, &m, NULL);
			if (!m.n)
				continue;
			if (!told)
				family(out, "stallmark_load_bytes_per_second", "gauge", NULL, "what a load read or wrote while it was measured");
			told = true;
			fputs("stallmark_load_bytes_per_second{load=", out);
			quoted(out, scrub_name(&x->scrub, s->name));
			fprintf(out, ",run=\"%d\"} %.9g\n", x->runs.p[k].id, m.sum / (double)m.n);
		}
	}
}

static int find_suffix(void *ctx, const char *key, const char *value, bool counts)
{
	const char **want = ctx;		/* [0]: the end of the key, [1]: the value found */
	size_t n = strlen(key), m = strlen(want[0]);

	if (!want[1] && n >= m && !strcmp(key + n - m, want[0]))
		want[1] = value;
	return 0;
}

static void info(FILE *out, struct exporter *x)
{
	static const char *const facts[][2] = {
		{ "kernel", "kernel.release" }, { "fs", ".type" }, { "scheduler", "scheduler" },
	};

	family(out, "stallmark_run_info", "gauge", NULL, "what was run, always 1");
	for (size_t k = 0; k < x->runs.n; k++) {
		const struct rec_run *run = &x->runs.p[k];

		fprintf(out, "stallmark_run_info{run=\"%d\",scenario=", run->id);
		label(out, x, run->scenario);
		fputs(",producer=", out);
		label(out, x, run->producer);
		for (size_t i = 0; i < ARRAY_SIZE(facts); i++) {
			const char *want[2] = { facts[i][1], NULL };

			rec_env_each(x->rec, run->id, find_suffix, want);
			fprintf(out, ",%s=", facts[i][0]);
			label(out, x, want[1]);
		}
		fputs(",version=", out);
		label(out, x, run->version);
		fputs("} 1\n", out);
	}
}

static void load_cell(struct exporter *x, struct cell *c)
{
	const char *loop = rec_series_attr_get(x->rec, c->series->id, "loop");
	const char *limit = rec_series_attr_get(x->rec, c->series->id, "limit_ns");
	const char *pause = rec_series_attr_get(x->rec, c->series->id, "interval_ns");

	c->open_loop = loop && !strcmp(loop, "open");
	c->limit = limit ? strtoll(limit, NULL, 10) : 0;
	c->pause = pause ? strtoll(pause, NULL, 10) : 0;
	/* an import that does not know when its waits were and how long the pauses: no share of time can be told */
	c->no_times = rec_series_attr_get(x->rec, c->series->id, "time") && !pause;
	rec_samples_each(x->rec, c->run, c->series->id, take_rows, c, NULL);
}

static void write_cells(struct exporter *x, struct cell *cells, size_t n)
{
	FILE *out = x->out;

	family(out, "stallmark_wait_seconds", "histogram", "seconds",
	       "how long one action of the probe took; waits that ended early count at their lower bound");
	for (size_t i = 0; i < n; i++)
		histogram(out, x, &cells[i]);
	family(out, "stallmark_wait_max_seconds", "gauge", "seconds", "the longest wait");
	for (size_t i = 0; i < n; i++) {
		fputs("stallmark_wait_max_seconds", out);
		labels(out, x, &cells[i], "");
		fprintf(out, " %.9g\n", nsec_seconds(cells[i].max));
	}
	family(out, "stallmark_stuck_ratio", "gauge", "ratio", "how likely a request at a random moment waits longer than the limit");
	for (size_t i = 0; i < n; i++)
		stuck(out, x, &cells[i]);
	family(out, "stallmark_stalls", "gauge", NULL, "waits longer than the limit of the probe");
	for (size_t i = 0; i < n; i++) {
		if (!cells[i].limit)
			continue;
		fputs("stallmark_stalls", out);
		labels(out, x, &cells[i], "");
		fprintf(out, " %llu\n", (unsigned long long)cells[i].stalls);
	}
}

static int openmetrics_export(struct rec *r, const struct export_conf *conf, FILE *out, struct err *e)
{
	struct exporter x;
	VEC(struct cell) cells = { 0 };
	int err = export_begin(&x, r, conf, out, e);

	for (size_t k = 0; !err && k < x.runs.n; k++) {
		for (size_t i = 0; i < x.series.n; i++) {
			struct cell c = { .series = &x.series.p[i], .run = x.runs.p[k].id };

			if (c.series->kind != SERIES_SAMPLES)
				continue;
			load_cell(&x, &c);
			if (c.x.n)
				vec_push(&cells, c);
		}
	}
	if (!err && !cells.n)
		err = err_set(e, -ENODATA, "%s holds no measured waits", rec_path(r));
	if (!err) {
		write_cells(&x, cells.p, cells.n);
		load_rates(out, &x);
		info(out, &x);
		fputs("# EOF\n", out);
		err = export_check(out, e);
	}
	for (size_t i = 0; i < cells.n; i++) {
		vec_done(&cells.p[i].x);
		vec_done(&cells.p[i].t);
		vec_done(&cells.p[i].kind);
	}
	vec_done(&cells);
	export_end(&x);
	return err;
}

const struct format_ops format_openmetrics = {
	.plug = { .name = "openmetrics", .about = "for Prometheus, node_exporter's textfile collector" },
	.export_ = openmetrics_export,
};

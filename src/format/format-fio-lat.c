/* SPDX-License-Identifier: MIT */
/*
 * fio's write_lat_log: one line an I/O, "time_ms, latency, direction, block size[, offset[, priority[, issue_ns]]]".
 * The latency is in nanoseconds (fio 3 and later; microseconds before, which the file does not say). These logs get
 * large: each line is parsed by hand, nothing is kept.
 */
#include "base/cleanup.h"
#include "format/export.h"
#include "format/text.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

#define DIRS 6
#define MAX_VALUES 8

static const char *const dir_name[DIRS] = { "read", "write", "trim", "sync", "datasync", "sync_file_range" };

/* The comma-separated whole numbers of a line; 0 when it holds anything else. */
static inline unsigned values(const char *s, uint64_t v[MAX_VALUES])
{
	unsigned n = 0;

	for (;;) {
		uint64_t x = 0;
		const char *from;

		while (*s == ' ')
			s++;
		from = s;
		while ((unsigned char)(*s - '0') < 10)
			x = x * 10 + (uint64_t)(*s++ - '0');
		if (s == from || s - from > 19)
			return 0;
		if (*s == 'x' && x == 0) {	/* priorities of some versions are hexadecimal; nobody needs them */
			s++;
			s += strspn(s, "0123456789abcdefABCDEF");
		}
		v[n++] = x;
		if (*s == ',' && n < MAX_VALUES) {
			s++;
			continue;
		}
		while (*s == ' ' || *s == '\r')
			s++;
		return *s ? 0 : n;
	}
}

/* Bandwidth and iops logs look the same; only their names tell. */
static const char *other_kind(const char *name)
{
	const char *base = strrchr(name, '/') ? strrchr(name, '/') + 1 : name;

	return strstr(base, "_bw.") || !strncmp(base, "bw.", 3) ? "bandwidth" :
	       strstr(base, "_iops.") || !strncmp(base, "iops.", 5) ? "I/O rates" : NULL;
}

struct lat {
	int series[DIRS];
	uint64_t rows, bad, no_size;
	unsigned columns;
	bool averages;
};

static int row(struct lat *l, const struct import_sink *sink, const uint64_t *v, unsigned n, nsec_t unit)
{
	nsec_t wait, t;

	if (v[2] >= DIRS || v[1] > (uint64_t)INT64_MAX / (uint64_t)unit || v[0] > INT64_MAX / NSEC_PER_MSEC) {
		l->bad++;
		return 0;
	}
	wait = (nsec_t)v[1] * unit;
	/* The time is that of the end, in milliseconds; with log_issue_time the beginning is there to the nanosecond. */
	t = n >= 7 && v[6] <= INT64_MAX ? (nsec_t)v[6] : (nsec_t)v[0] * NSEC_PER_MSEC - wait;
	if (t < 0)
		t = 0;
	if (l->series[v[2]] < 0) {
		l->series[v[2]] = sink->series(sink->ctx, dir_name[v[2]], "I/Os of a fio latency log", false, 0);
		if (l->series[v[2]] < 0)
			return l->series[v[2]];
	}
	l->rows++;
	l->no_size += !v[3];
	l->columns = n;
	return sink->wait(sink->ctx, l->series[v[2]], t, wait, SAMPLE_OK, v[3]);
}

static int tell(const struct lat *l, struct input *in, const struct import_sink *sink, struct err *e)
{
	int r = 0;

	if (!l->rows || l->bad > l->rows)
		return err_set(e, -ENODATA, "'%s' holds no latency log of fio", in->name);
	if (l->averages && !in->told)
		return err_set(e, -EINVAL, "'%s' holds averages over intervals (log_avg_msec), not waits; log again without it, "
			       "or say --as fio-lat to read the averages as waits", in->name);
	if (l->averages)
		r = text_note(sink, NOTE_WARNING, "these are averages over intervals (log_avg_msec): their percentiles are not "
			      "those of waits");
	if (!r && l->bad)
		r = text_note(sink, NOTE_WARNING, "%llu lines are no rows of a latency log and were left out",
			      (unsigned long long)l->bad);
	if (!r && !in->unit)
		r = text_note(sink, NOTE_INFO, "latencies were read as nanoseconds (fio 3 and later); for a log of fio 2 say "
			      "--unit us");
	if (!r && l->columns < 7)
		r = text_note(sink, NOTE_INFO, "the times of a latency log are rounded to milliseconds");
	return r;
}

static int fio_lat_import(struct input *in, const struct import_sink *sink, struct err *e)
{
	struct lat l = { .series = { -1, -1, -1, -1, -1, -1 } };
	nsec_t unit = in->unit ? in->unit : 1;
	uint64_t v[MAX_VALUES];
	const char *other = other_kind(in->name);
	char *line;
	size_t n;
	int r = 0;

	if (other && !in->told)
		return err_set(e, -EINVAL, "'%s' holds %s, not latencies (its name says so); import the _lat or _clat log",
			       in->name, other);
	while (!r && input_raw_line(in, &line, &n)) {
		unsigned k = values(line, v);

		if (k < 4) {
			/* cleaned once more as text: a quoted or overwritten line */
			k = n ? values(input_clean(line, n), v) : 0;
			if (k < 4) {
				l.bad += n > 0;
				continue;
			}
		}
		r = row(&l, sink, v, k, unit);
	}
	/* fio writes averages with a block size of 0, and never with the time of issue */
	l.averages = l.no_size == l.rows && l.columns < 7;
	return r ? r : tell(&l, in, sink, e);
}

struct look {
	uint64_t good, other, hist;
};

static void look_line(void *ctx, const char *line)
{
	struct look *l = ctx;
	uint64_t v[MAX_VALUES];
	unsigned n;

	if (!*line)
		return;
	n = values(line, v);
	if (n >= 4 && n <= 7 && v[2] < DIRS)
		l->good++;
	else
		l->other++;
}

static int fio_lat_sniff(const uint8_t *head, size_t n, const char *name)
{
	const char *dot = strrchr(name, '.');
	struct look l = { 0 };

	text_head_lines(head, n, look_line, &l);
	if (!l.good || l.other > l.good)
		return 0;
	return dot && !strcasecmp(dot, ".log") ? 85 : 55;
}

/* Which of fio's directions a probe is most like. */
static int direction(const char *name)
{
	static const char *const reads[] = { "read", "open", "stat", "metadata", "mmap", "start" };

	if (!strncmp(name, "trim", 4))
		return 2;
	for (size_t i = 0; i < sizeof(reads) / sizeof(reads[0]); i++)
		if (strstr(name, reads[i]))
			return 0;
	return 1;
}

struct lat_out {
	struct exporter *x;
	int ddir;
	uint64_t rows;
};

static int export_rows(void *ctx, int run, const struct sample *rows, uint32_t n)
{
	struct lat_out *o = ctx;
	nsec_t t0 = export_t0(o->x, run);

	for (uint32_t i = 0; i < n; i++) {
		const struct sample *s = &rows[i];

		if (s->phase != PHASE_MEASURE || s->status == SAMPLE_ERROR)
			continue;
		o->rows++;
		fprintf(o->x->out, "%lld, %lld, %d, %llu, 0, 0, %lld\n", (long long)((s->end - t0) / NSEC_PER_MSEC),
			(long long)sample_wait(s), o->ddir, (unsigned long long)s->bytes, (long long)(s->intended - t0));
	}
	return 0;
}

/* One log holds one series of one run after another, as fio has one file a job. */
static int fio_lat_export(struct rec *r, const struct export_conf *conf, FILE *out, struct err *e)
{
	struct lat_out o = { .x = NULL };
	struct exporter x;
	int err = export_begin(&x, r, conf, out, e);

	o.x = &x;
	if (!err && export_count(&x, SERIES_SAMPLES) > 1) {
		cleanup_strbuf struct strbuf names = STRBUF_INIT;

		for (size_t i = 0; i < x.series.n; i++)
			if (x.series.p[i].kind == SERIES_SAMPLES)
				strbuf_addf(&names, "%s%s", names.len ? ", " : "", x.series.p[i].name);
		err = err_set(e, -EINVAL, "a fio log holds one probe, and %s has %s; choose one with --series", rec_path(r),
			      strbuf_str(&names));
	}
	for (size_t i = 0; !err && i < x.series.n; i++) {
		if (x.series.p[i].kind != SERIES_SAMPLES)
			continue;
		o.ddir = direction(x.series.p[i].name);
		rec_samples_each(r, 0, x.series.p[i].id, export_rows, &o, NULL);
	}
	if (!err && !o.rows)
		err = err_set(e, -ENODATA, "%s holds no measured waits", rec_path(r));
	if (!err)
		err = export_check(out, e);
	export_end(&x);
	return err;
}

const struct format_ops format_fio_lat = {
	.plug = { .name = "fio-lat", .about = "fio's write_lat_log, one line an I/O" },
	.sniff = fio_lat_sniff,
	.import = fio_lat_import,
	.export_ = fio_lat_export,
};

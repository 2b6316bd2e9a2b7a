/* SPDX-License-Identifier: MIT */
/*
 * HdrHistogram's interval log, versions 1.0 to 1.3: "[Tag=NAME,]start,length,max,histogram". Histograms of one tag are one
 * series. The log does not say the unit of its values; nanoseconds are usual.
 */
#include "base/cleanup.h"
#include "format/export.h"
#include "format/hdr.h"
#include "format/text.h"

#include <errno.h>
#include <string.h>

struct log {
	const struct import_sink *sink;
	struct err *e;
	nsec_t unit;
	int series;
	uint64_t lines, bad;
	bool overflow;
};

static int one_count(void *ctx, const struct hdr_layout *l, uint32_t index, uint64_t count)
{
	struct log *g = ctx;
	uint64_t lo, hi;

	hdr_range(l, index, &lo, &hi);
	if (hi > (uint64_t)INT64_MAX / (uint64_t)g->unit) {
		g->overflow = true;
		return 0;
	}
	return g->sink->bucket(g->sink->ctx, g->series, (nsec_t)lo * g->unit, (nsec_t)(hi + 1) * g->unit - 1, count, false);
}

/* Three numbers with commas behind; then the histogram. NULL: not a line of the log. */
static const char *behind_numbers(const char *s)
{
	for (int i = 0; i < 3; i++) {
		size_t n = strspn(s, "0123456789.");

		if (!n || s[n] != ',')
			return NULL;
		s += n + 1;
	}
	return s;
}

static bool split_line(char *line, const char **ret_tag, const char **ret_text)
{
	const char *s = line, *text;

	*ret_tag = "wait";
	if (text_take(&s, "Tag=")) {
		char *comma = strchr(line, ',');

		if (!comma)
			return false;
		*comma = 0;
		*ret_tag = s;
		s = comma + 1;
	}
	text = behind_numbers(s);
	*ret_text = text;
	return text && !strncmp(text, "HIST", 4);
}

static int hdr_import(struct input *in, const struct import_sink *sink, struct err *e)
{
	struct log g = { .sink = sink, .e = e, .unit = in->unit ? in->unit : 1 };
	struct err why = { 0 };
	char *line;
	int r = 0;

	while (!r && input_line(in, &line)) {
		struct err one = { 0 };
		const char *tag, *text;

		if (!*line || *line == '#' || *line == '"')
			continue;
		if (!split_line(line, &tag, &text)) {
			g.bad++;
			continue;
		}
		g.series = sink->series(sink->ctx, tag, "values of a HdrHistogram log", false, 0);
		if (g.series < 0)
			return g.series;
		r = hdr_decode(text, one_count, &g, &one);
		if (r && one.code == r) {		/* this one is damaged: the others may be fine */
			why = one;
			g.bad++;
			r = 0;
			continue;
		}
		g.lines += !r;
	}
	if (!r && !g.lines && why.code)
		r = err_set(e, -EINVAL, "'%s' holds no histogram that can be read: %s", in->name, why.msg);
	if (!r && !g.lines)
		r = err_set(e, -ENODATA, "'%s' holds no histograms", in->name);
	if (!r && g.bad)
		r = text_note(sink, NOTE_LOSS, "%llu lines are damaged and were left out%s%s", (unsigned long long)g.bad,
			      why.code ? ": " : "", why.msg);
	if (!r && g.overflow)
		r = text_note(sink, NOTE_LOSS, "values of more than 292 years were left out");
	if (!r && !in->unit)
		r = text_note(sink, NOTE_INFO, "the log does not say its unit; values were read as nanoseconds (--unit us for "
			      "microseconds)");
	return r;
}

struct look {
	unsigned lines;
};

static void look_line(void *ctx, const char *line)
{
	cleanup_free char *copy = mem_dup(line);
	const char *tag, *text;
	struct look *l = ctx;

	l->lines += split_line(copy, &tag, &text);
}

static int hdr_sniff(const uint8_t *head, size_t n, const char *name)
{
	struct look l = { 0 };

	text_head_lines(head, n, look_line, &l);
	if (memmem(head, n, "[Histogram log format version", 29) ||
	    memmem(head, n, "Interval_Compressed_Histogram", 29))
		return 95;
	return l.lines ? 90 : 0;
}

/* ---- writing: one line for each second of each series ---- */

#define INTERVAL NSEC_PER_SEC

static const struct hdr_layout layout = { .lowest = 1, .highest = INT64_C(86400000000000), .digits = 3 };

struct line {
	nsec_t start;
	size_t order;			/* of equal starts: as they came */
	char *text;
};

struct hdr_out {
	struct exporter *x;
	const struct rec_series *series;
	uint64_t *counts;		/* of the present interval */
	uint32_t used;			/* indexes below this may be set */
	uint64_t n, bounds;
	nsec_t start, wall, max;	/* wall: of the run's begin, 0: unknown */
	VEC(struct line) lines;
	uint64_t rows;
};

/* A tag must not hold a comma, a space or a newline. */
static void add_tag(struct strbuf *b, const char *name)
{
	for (; *name; name++)
		strbuf_addc(b, *name == ',' || (unsigned char)*name <= ' ' || *name == 127 ? '_' : *name);
}

static void end_interval(struct hdr_out *o)
{
	cleanup_strbuf struct strbuf b = STRBUF_INIT;
	struct line l = { .start = nsec_add(o->start, o->wall), .order = o->lines.n };

	if (!o->n)
		return;
	strbuf_adds(&b, "Tag=");
	add_tag(&b, scrub_name(&o->x->scrub, o->series->name));
	strbuf_addf(&b, ",%.3f,%.3f,%.3f,", nsec_seconds(l.start), nsec_seconds(INTERVAL), (double)o->max / 1e6);
	hdr_encode(&layout, o->counts, o->used, &b);
	strbuf_addc(&b, '\n');
	l.text = strbuf_detach(&b);
	vec_push(&o->lines, l);
	memset(o->counts, 0, o->used * sizeof(*o->counts));
	o->used = 0;
	o->n = 0;
	o->max = 0;
}

static int export_rows(void *ctx, int run, const struct sample *rows, uint32_t n)
{
	struct hdr_out *o = ctx;
	nsec_t t0 = export_t0(o->x, run);

	for (uint32_t i = 0; i < n; i++) {
		const struct sample *s = &rows[i];
		nsec_t at = s->intended - t0, wait = sample_wait(s);
		uint32_t index;

		if (s->phase != PHASE_MEASURE || s->status == SAMPLE_ERROR)
			continue;
		if (at >= o->start + INTERVAL) {
			end_interval(o);
			o->start = at - at % INTERVAL;
		}
		if (wait > (nsec_t)layout.highest)
			wait = (nsec_t)layout.highest;
		index = hdr_index(&layout, (uint64_t)wait);
		o->counts[index]++;
		o->used = MAX(o->used, index + 1);
		o->max = MAX(o->max, wait);
		o->bounds += s->status != SAMPLE_OK;
		o->n++;
		o->rows++;
	}
	return 0;
}

static int earlier(const void *a, const void *b)
{
	const struct line *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->order < y->order ? -1 : 1;
}

static void write_log(struct hdr_out *o, nsec_t base)
{
	FILE *out = o->x->out;

	fprintf(out, "#[Waits in nanoseconds, written by stallmark %s]\n", o->x->conf->version);
	if (o->bounds)
		fprintf(out, "#[%llu of them are lower bounds: ended early or still waiting]\n", (unsigned long long)o->bounds);
	fprintf(out, "#[Histogram log format version 1.3]\n#[StartTime: %.3f (seconds since epoch)]\n", nsec_seconds(base));
	fputs("\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"\n", out);
	if (o->lines.n)
		qsort(o->lines.p, o->lines.n, sizeof(*o->lines.p), earlier);
	for (size_t i = 0; i < o->lines.n; i++)
		fputs(o->lines.p[i].text, out);
}

static int hdr_export(struct rec *r, const struct export_conf *conf, FILE *out, struct err *e)
{
	struct hdr_out o = { .counts = mem_array(hdr_counts(&layout), sizeof(uint64_t)) };
	struct exporter x;
	int err = export_begin(&x, r, conf, out, e);

	o.x = &x;
	for (size_t k = 0; !err && k < x.runs.n; k++) {
		o.wall = x.runs.p[k].wall_start;
		for (size_t i = 0; i < x.series.n; i++) {
			o.series = &x.series.p[i];
			if (o.series->kind != SERIES_SAMPLES)
				continue;
			o.start = 0;
			rec_samples_each(r, x.runs.p[k].id, o.series->id, export_rows, &o, NULL);
			end_interval(&o);
		}
	}
	if (!err && !o.rows)
		err = err_set(e, -ENODATA, "%s holds no measured waits", rec_path(r));
	if (!err) {
		write_log(&o, x.runs.p[0].wall_start);
		err = export_check(out, e);
	}
	for (size_t i = 0; i < o.lines.n; i++)
		free(o.lines.p[i].text);
	vec_done(&o.lines);
	free(o.counts);
	export_end(&x);
	return err;
}

const struct format_ops format_hdr = {
	.plug = { .name = "hdr", .about = "HdrHistogram's interval log, encoding V2" },
	.sniff = hdr_sniff,
	.import = hdr_import,
	.export_ = hdr_export,
};

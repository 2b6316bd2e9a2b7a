/* SPDX-License-Identifier: MIT */
/*
 * HdrHistogram's interval log, versions 1.0 to 1.3: "[Tag=NAME,]start,length,max,histogram". Histograms of one tag are one
 * series. The log does not say the unit of its values; nanoseconds are usual.
 */
#include "base/cleanup.h"
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

const struct format_ops format_hdr = {
	.plug = { .name = "hdr", .about = "HdrHistogram's interval log, encoding V2" },
	.sniff = hdr_sniff,
	.import = hdr_import,
};

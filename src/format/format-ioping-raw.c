/* SPDX-License-Identifier: MIT */
/*
 * ioping -B: one line of raw numbers (ioping(1), "Raw statistics"): requests, their time in ns, requests/s, bytes/s, min,
 * average, max and deviation in ns, and since 1.0 requests and time including warm-up and pauses. With -p or -P the
 * lines before the last are interim. There are no single waits in it.
 */
#include "format/text.h"

#include <errno.h>
#include <string.h>

#define RAW_MIN 8
#define RAW_MAX 10

struct raw {
	double v[RAW_MAX];
	unsigned n;
};

/* The numbers fit together: there are requests, and min <= average <= max. */
static bool read_raw(const char *line, struct raw *ret)
{
	const char *s = text_skip(line);

	ret->n = 0;
	while (*s) {
		if (ret->n == RAW_MAX || !text_number(&s, &ret->v[ret->n]) || ret->v[ret->n] < 0 || (*s && *s != ' '))
			return false;
		ret->n++;
		s = text_skip(s);
	}
	return (ret->n == RAW_MIN || ret->n == RAW_MAX) && ret->v[0] >= 1 && ret->v[4] <= ret->v[5] && ret->v[5] <= ret->v[6];
}

static int ioping_raw_import(struct input *in, const struct import_sink *sink, struct err *e)
{
	static const struct { int at; const char *name, *unit; double factor; int better; } numbers[] = {
		{ 0, "requests", "count", 1, 0 }, { 2, "iops", "/s", 1, 1 }, { 3, "bandwidth", "bytes/s", 1, 1 },
		{ 4, "min", "s", 1e-9, -1 }, { 5, "mean", "s", 1e-9, -1 }, { 6, "max", "s", 1e-9, -1 },
		{ 7, "deviation", "s", 1e-9, 0 },
	};
	struct raw raw, last = { .n = 0 };
	uint64_t lines = 0;
	char *line;
	int r = 0;

	while (input_line(in, &line)) {
		if (read_raw(line, &raw)) {
			last = raw;
			lines++;
		}
	}
	if (!lines)
		return err_set(e, -ENODATA, "'%s' holds no raw statistics of ioping", in->name);
	for (size_t i = 0; !r && i < sizeof(numbers) / sizeof(numbers[0]); i++)
		r = sink->number(sink->ctx, numbers[i].name, numbers[i].unit, last.v[numbers[i].at] * numbers[i].factor,
				 numbers[i].better);
	if (!r && lines > 1)
		r = text_note(sink, NOTE_INFO, "%llu lines before the last are interim results and were left out",
			      (unsigned long long)(lines - 1));
	return r;
}

struct look {
	unsigned raw, other;
};

static void look_line(void *ctx, const char *line)
{
	struct look *l = ctx;
	struct raw raw;

	if (!*text_skip(line))
		return;
	if (read_raw(line, &raw) && raw.n == RAW_MAX && raw.v[8] >= raw.v[0] && raw.v[9] >= raw.v[1])
		l->raw++;
	else
		l->other++;
}

static int ioping_raw_sniff(const uint8_t *head, size_t n, const char *name)
{
	struct look l = { 0 };

	text_head_lines(head, n, look_line, &l);
	return l.raw && !l.other ? 75 : 0;
}

const struct format_ops format_ioping_raw = {
	.plug = { .name = "ioping-raw", .about = "ioping -B, raw statistics" },
	.sniff = ioping_raw_sniff,
	.import = ioping_raw_import,
};

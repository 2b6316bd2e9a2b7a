/* SPDX-License-Identifier: MIT */
/*
 * sysbench fileio, 1.0 and 0.4: rates, throughput, latency. With --histogram each line is a bucket, known by its middle
 * on a logarithmic scale of 1024 buckets from 0.001 to 100000 ms (sb_histogram.c), so half a bucket is a factor of
 * 10^(8/1023/2). A latency printed as 0.00 is unknown: it was below half of the last digit.
 */
#include "base/cleanup.h"
#include "format/text.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#define BUCKET_HALF	1.0090447	/* 10^(8/2046) */
#define HISTOGRAM_TOP	99999.0		/* ms; the last bucket holds everything above */

static const struct { const char *label, *name, *unit; double factor; int better; } labels[] = {
	{ "reads/s:", "reads_per_s", "/s", 1, 1 }, { "writes/s:", "writes_per_s", "/s", 1, 1 },
	{ "fsyncs/s:", "fsyncs_per_s", "/s", 1, 1 },
	{ "read, MiB/s:", "read", "bytes/s", 1048576, 1 }, { "written, MiB/s:", "written", "bytes/s", 1048576, 1 },
	{ "total time:", "total_time", "s", 1, 0 }, { "total number of events:", "events", "count", 1, 0 },
	{ "min:", "min", "s", 1e-3, -1 }, { "avg:", "mean", "s", 1e-3, -1 }, { "max:", "max", "s", 1e-3, -1 },
	{ "95th percentile:", "p95", "s", 1e-3, -1 }, { "99th percentile:", "p99", "s", 1e-3, -1 },
	{ "approx.  95 percentile:", "p95", "s", 1e-3, -1 },
};

struct bench {
	const struct import_sink *sink;
	int series;
	uint64_t numbers, buckets, rounded;
	bool histogram, clipped;
};

/* "  0.002 |***      123" */
static bool bucket_line(const char *line, double *ret_ms, uint64_t *ret_n)
{
	const char *s = text_skip(line);

	if (!text_number(&s, ret_ms) || *ret_ms < 0)
		return false;
	s = text_skip(s);
	if (*s++ != '|')
		return false;
	s = text_skip(s + strspn(s, "*"));
	return text_grouped(&s, ret_n) && !*text_skip(s);
}

static int bucket(struct bench *b, double ms, uint64_t n)
{
	bool clipped = ms >= HISTOGRAM_TOP;
	nsec_t lo, hi;

	if (!n)
		return 0;
	if (b->series < 0) {
		b->series = b->sink->series(b->sink->ctx, "event", "events of sysbench, counted in its buckets", false, 0);
		if (b->series < 0)
			return b->series;
	}
	/* the middle is printed with three digits behind the point */
	if (!text_nsec(fmax(0, ms - .0005) / BUCKET_HALF, NSEC_PER_MSEC, &lo) ||
	    !text_nsec((ms + .0005) * BUCKET_HALF, NSEC_PER_MSEC, &hi))
		return 0;
	b->buckets++;
	b->clipped |= clipped;
	return b->sink->bucket(b->sink->ctx, b->series, lo, clipped ? NSEC_NEVER : hi, n, clipped);
}

static int label_line(struct bench *b, const char *line)
{
	const char *s = text_skip(line);
	double x;

	for (size_t i = 0; i < ARRAY_SIZE(labels); i++) {
		const char *v = s;

		if (!text_take(&v, labels[i].label))
			continue;
		v = text_skip(v);
		if (!text_number(&v, &x) || x < 0)
			return 0;
		if (labels[i].factor == 1e-3 && x == 0) {
			b->rounded++;
			return 0;
		}
		b->numbers++;
		return b->sink->number(b->sink->ctx, labels[i].name, labels[i].unit, x * labels[i].factor, labels[i].better);
	}
	/* 0.4: "  908.72 Requests/sec executed" */
	if (text_number(&s, &x) && strstr(s, "Requests/sec executed")) {
		b->numbers++;
		return b->sink->number(b->sink->ctx, "requests_per_s", "/s", x, 1);
	}
	return 0;
}

static int fact_line(struct bench *b, const char *line)
{
	static const struct { const char *label, *key; } facts[] = {
		{ "Number of threads: ", "sysbench.threads" }, { "Block size ", "sysbench.block-size" },
		{ "Doing ", "sysbench.mode" }, { "Read/Write ratio for combined random IO test: ", "sysbench.rw-ratio" },
		{ "Extra file open flags: ", "sysbench.open-flags" },
	};
	const char *s = text_skip(line);

	for (size_t i = 0; i < ARRAY_SIZE(facts); i++)
		if (text_take(&s, facts[i].label))
			return b->sink->fact(b->sink->ctx, facts[i].key, s);
	if (!strncmp(s, "sysbench ", 9))
		return b->sink->fact(b->sink->ctx, "tool", s);
	return 0;
}

static int sysbench_import(struct input *in, const struct import_sink *sink, struct err *e)
{
	struct bench b = { .sink = sink, .series = -1 };
	char *line;
	int r = 0;

	while (!r && input_line(in, &line)) {
		uint64_t n;
		double ms;

		if (strstr(line, "Latency histogram"))
			b.histogram = true;
		else if (b.histogram && bucket_line(line, &ms, &n))
			r = bucket(&b, ms, n);
		else
			r = label_line(&b, line);
		if (!r)
			r = fact_line(&b, line);
	}
	if (!r && !b.numbers && !b.buckets)
		r = err_set(e, -ENODATA, "'%s' holds no results of sysbench", in->name);
	if (!r && b.rounded)
		r = text_note(sink, NOTE_INFO, "%llu latencies are printed as 0.00 ms: rounded, and so unknown",
			      (unsigned long long)b.rounded);
	if (!r && b.buckets)
		r = text_note(sink, NOTE_INFO, "sysbench's buckets are 1.8 %% wide and rounded to 0.001 ms");
	if (!r && b.clipped)
		r = text_note(sink, NOTE_WARNING, "sysbench's histogram ends at 100 s: longer waits are only known to be at least that");
	return r;
}

static int sysbench_sniff(const uint8_t *head, size_t n, const char *name)
{
	return memmem(head, n, "sysbench ", 9) && (memmem(head, n, "threads", 7) || memmem(head, n, "file", 4)) &&
	       (memmem(head, n, "General statistics", 18) || memmem(head, n, "Running the test", 16) ||
		memmem(head, n, "Test execution summary", 22)) ? 95 : 0;
}

const struct format_ops format_sysbench = {
	.plug = { .name = "sysbench", .about = "sysbench fileio, with or without --histogram" },
	.sniff = sysbench_sniff,
	.import = sysbench_import,
};

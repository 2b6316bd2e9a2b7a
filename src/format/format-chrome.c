/* SPDX-License-Identifier: MIT */
/*
 * The Trace Event Format, which ui.perfetto.dev and chrome://tracing open: each probe a row of slices with its steps
 * inside, tasks with their waits, disks with their requests, journals with their commits, counters as curves, phases as
 * marks, and arrows from a sample to the waits of its thread. Slices of one row nest or are apart. Times are microseconds
 * from the begin of the run, exact to the nanosecond.
 */
#include "base/cleanup.h"
#include "format/export.h"
#include "format/lanes.h"

#include <stdlib.h>
#include <string.h>

#define SLICES_MAX 300000		/* of samples, and of each kind of event: the longest are kept */

enum part { PROBES = 1, TASKS, DISKS, JOURNALS, PARTS };

static const char *const part_name[PARTS] = { "", "probes", "tasks", "disks", "journals" };

struct span {				/* a sample that was written, to find whose wait a wait is */
	uint32_t tid;
	nsec_t start, end;
	int row;
};

struct chrome {
	struct exporter *x;
	const struct rec_run *run;
	const struct rec_series *series;	/* whose samples are being written */
	struct lanes lanes;
	bool first, named[PARTS];
	VEC(nsec_t) length;			/* of all slices of the present kind */
	nsec_t shortest;			/* shorter ones are left out */
	uint32_t kind;
	VEC(struct span) spans;
	char *step[SAMPLE_STEPS];
	uint64_t left_out, flows;
};

static FILE *begin(struct chrome *c, const char *ph, enum part part)
{
	FILE *out = c->x->out;

	fprintf(out, "%s\n{\"ph\":\"%s\",\"pid\":%d", c->first ? "" : ",", ph, c->run->id * 10 + (int)part);
	c->first = false;
	return out;
}

static void microseconds(FILE *out, const char *key, nsec_t t)
{
	uint64_t u = t < 0 ? 0 : (uint64_t)t;

	fprintf(out, ",\"%s\":%llu.%03llu", key, (unsigned long long)(u / 1000), (unsigned long long)(u % 1000));
}

static void name(struct chrome *c, const char *s)
{
	fputs(",\"name\":", c->x->out);
	export_json(c->x->out, scrub_text(&c->x->scrub, s));
}

static void series_name(struct chrome *c)
{
	fputs(",\"name\":", c->x->out);
	export_json(c->x->out, scrub_name(&c->x->scrub, c->series->name));
}

/* The row for a slice; rows and parts get their names when they first appear. 0: no place. */
static int row_for(struct chrome *c, enum part part, uint64_t key, nsec_t t, nsec_t end, const char *title)
{
	bool is_new = false;
	int nth = 0, row = lane_for(&c->lanes, (uint64_t)part << 56 ^ key, t, end, &nth, &is_new);
	FILE *out;

	if (!row) {
		c->left_out++;
		return 0;
	}
	if (!c->named[part]) {
		out = begin(c, "M", part);
		fputs(",\"name\":\"process_name\",\"args\":{\"name\":", out);
		fprintf(out, "\"run %d: %s\"}}", c->run->id, part_name[part]);
		c->named[part] = true;
	}
	if (is_new) {
		cleanup_free char *full = nth ? mem_printf("%s (%d)", title, nth + 1) : mem_dup(title);

		out = begin(c, "M", part);
		fprintf(out, ",\"tid\":%d,\"name\":\"thread_name\",\"args\":{\"name\":", row);
		export_json(out, scrub_text(&c->x->scrub, full));
		fputs("}}", out);
	}
	return row;
}

static FILE *slice(struct chrome *c, enum part part, int row, nsec_t t, nsec_t end, const char *title)
{
	FILE *out = begin(c, "X", part);

	fprintf(out, ",\"tid\":%d", row);
	microseconds(out, "ts", t - c->run->t0);
	microseconds(out, "dur", end - t);
	name(c, title);
	return out;
}

static int by_length(const void *a, const void *b)
{
	nsec_t x = *(const nsec_t *)a, y = *(const nsec_t *)b;

	return x < y ? 1 : x > y ? -1 : 0;
}

/* From the lengths of all: which are among the longest SLICES_MAX. */
static void choose(struct chrome *c)
{
	c->shortest = 0;
	if (c->length.n > SLICES_MAX) {
		qsort(c->length.p, c->length.n, sizeof(*c->length.p), by_length);
		c->shortest = c->length.p[SLICES_MAX] + 1;
	}
	c->length.n = 0;
}

/* ---- samples ---- */

static int sample_length(void *ctx, int run, const struct sample *rows, uint32_t n)
{
	struct chrome *c = ctx;

	for (uint32_t i = 0; i < n; i++)
		vec_push(&c->length, rows[i].end - rows[i].start);
	return 0;
}

static void steps(struct chrome *c, const struct sample *s, int row)
{
	nsec_t t = s->start;

	for (int k = 0; k < SAMPLE_STEPS && t < s->end; k++) {
		nsec_t end = MIN(nsec_add(t, s->step[k]), s->end);

		if (s->step[k] <= 0 || !c->step[k])
			continue;
		slice(c, PROBES, row, t, end, c->step[k]);
		fputc('}', c->x->out);
		t = end;
	}
}

static int one_sample(void *ctx, int run, const struct sample *rows, uint32_t n)
{
	struct chrome *c = ctx;

	for (uint32_t i = 0; i < n; i++) {
		const struct sample *s = &rows[i];
		FILE *out;
		int row;

		if (s->end - s->start < c->shortest) {
			c->left_out++;
			continue;
		}
		row = row_for(c, PROBES, (uint64_t)c->series->id, s->start, s->end, c->series->name);
		if (!row)
			continue;
		out = slice(c, PROBES, row, s->start, s->end, c->series->name);
		fprintf(out, ",\"args\":{\"id\":%llu,\"wait_ms\":%.6f,\"status\":\"%s\",\"phase\":\"%s\"}}",
			(unsigned long long)s->id, (double)sample_wait(s) / 1e6, sample_status_name(s->status),
			sample_phase_name(s->phase));
		steps(c, s, row);
		if (s->tid)
			vec_push(&c->spans, ((struct span){ s->tid, s->start, s->end, row }));
	}
	return 0;
}

static void samples(struct chrome *c)
{
	const char *names = rec_series_attr_get(c->x->rec, c->series->id, "steps");

	for (int k = 0; names && *names && k < SAMPLE_STEPS; k++) {
		size_t n = strcspn(names, ",");

		c->step[k] = mem_dupn(names, n);
		names += n + (names[n] == ',');
	}
	rec_samples_each(c->x->rec, c->run->id, c->series->id, sample_length, c, NULL);
	choose(c);
	rec_samples_each(c->x->rec, c->run->id, c->series->id, one_sample, c, NULL);
	for (int k = 0; k < SAMPLE_STEPS; k++) {
		free(c->step[k]);
		c->step[k] = NULL;
	}
}

/* ---- counters ---- */

static int one_counter(void *ctx, int run, const nsec_t *t, const int64_t *value, uint32_t n)
{
	struct chrome *c = ctx;

	for (uint32_t i = 0; i < n; i++) {
		FILE *out = begin(c, "C", PROBES);

		microseconds(out, "ts", t[i] - c->run->t0);
		series_name(c);
		fputs(",\"args\":{", out);
		export_json(out, c->series->unit);
		fprintf(out, ":%lld}}", (long long)value[i]);
	}
	return 0;
}

/* ---- events ---- */

static int by_tid(const void *a, const void *b)
{
	const struct span *x = a, *y = b;

	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return x->start < y->start ? -1 : x->start > y->start;
}

/* The sample of this thread that was going on at t, or NULL. */
static const struct span *span_at(const struct chrome *c, uint32_t tid, nsec_t t)
{
	size_t lo = 0, hi = c->spans.n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		const struct span *s = &c->spans.p[mid];

		if (s->tid < tid || (s->tid == tid && s->start <= t))
			lo = mid + 1;
		else
			hi = mid;
	}
	if (!lo || c->spans.p[lo - 1].tid != tid || c->spans.p[lo - 1].end < t)
		return NULL;
	return &c->spans.p[lo - 1];
}

static void arrow(struct chrome *c, const struct event *e, int row)
{
	const struct span *s = span_at(c, e->tid, e->t);
	FILE *out;

	if (!s)
		return;
	c->flows++;
	out = begin(c, "s", PROBES);
	fprintf(out, ",\"tid\":%d,\"cat\":\"wait\",\"name\":\"waits\",\"id\":%llu", s->row, (unsigned long long)c->flows);
	microseconds(out, "ts", e->t - c->run->t0);
	fputc('}', out);
	out = begin(c, "f", TASKS);
	fprintf(out, ",\"tid\":%d,\"cat\":\"wait\",\"name\":\"waits\",\"bp\":\"e\",\"id\":%llu", row, (unsigned long long)c->flows);
	microseconds(out, "ts", e->t - c->run->t0);
	fputc('}', out);
}

static void wait_slice(struct chrome *c, const struct event *e, nsec_t end)
{
	const char *comm = rec_string_get(c->x->rec, e->comm);
	cleanup_free char *title = mem_printf("%s %u", *comm ? comm : "task", e->tid);
	int row = row_for(c, TASKS, e->tid, e->t, end, title);

	if (!row)
		return;
	slice(c, TASKS, row, e->t, end, wait_words(e->class));
	fprintf(c->x->out, ",\"args\":{\"class\":\"%s\",\"pid\":%u}}", wait_name(e->class), e->pid);
	arrow(c, e, row);
}

static void request_slice(struct chrome *c, const struct event *e, nsec_t end)
{
	cleanup_free char *title = mem_printf("disk %u:%u", e->dev >> 20, e->dev & 0xfffff);
	const char *what = e->flags & EVF_FLUSH ? "flush" : e->flags & EVF_DISCARD ? "discard" :
			   e->flags & EVF_WRITE ? "write" : "read";
	int row = row_for(c, DISKS, e->dev, e->t, end, title);

	if (!row)
		return;
	slice(c, DISKS, row, e->t, end, what);
	fprintf(c->x->out, ",\"args\":{\"sector\":%llu,\"bytes\":%llu,\"pid\":%u}}", (unsigned long long)e->a,
		(unsigned long long)e->b, e->pid);
}

static void commit_slice(struct chrome *c, const struct event *e, nsec_t end)
{
	cleanup_free char *title = mem_printf("journal %u:%u", e->dev >> 20, e->dev & 0xfffff);
	int row = row_for(c, JOURNALS, e->dev, e->t, end, title);

	if (!row)
		return;
	slice(c, JOURNALS, row, e->t, end, "commit");
	fprintf(c->x->out, ",\"args\":{\"transaction\":%llu}}", (unsigned long long)e->a);
}

static void mark(struct chrome *c, const struct event *e)
{
	FILE *out = begin(c, "i", PROBES);

	microseconds(out, "ts", e->t - c->run->t0);
	fputs(",\"tid\":0,\"s\":\"g\"", out);
	name(c, rec_string_get(c->x->rec, e->name));
	fputc('}', out);
}

static int event_length(void *ctx, int run, const struct event *rows, uint32_t n)
{
	struct chrome *c = ctx;

	for (uint32_t i = 0; i < n; i++)
		if (rows[i].kind == c->kind)
			vec_push(&c->length, rows[i].dur);
	return 0;
}

static int one_event(void *ctx, int run, const struct event *rows, uint32_t n)
{
	struct chrome *c = ctx;

	for (uint32_t i = 0; i < n; i++) {
		const struct event *e = &rows[i];
		nsec_t end = nsec_add(e->t, e->dur);

		if (e->kind != c->kind)
			continue;
		if (e->dur < c->shortest) {
			c->left_out++;
			continue;
		}
		switch (e->kind) {
		case EV_WAIT:
			wait_slice(c, e, end);
			break;
		case EV_BLK_RQ:
			request_slice(c, e, end);
			break;
		case EV_JBD2_COMMIT:
		case EV_BTRFS_COMMIT:
			commit_slice(c, e, end);
			break;
		default:
			mark(c, e);
			break;
		}
	}
	return 0;
}

static void events(struct chrome *c, const struct rec_series *s)
{
	static const uint32_t kinds[] = { EV_WAIT, EV_BLK_RQ, EV_JBD2_COMMIT, EV_BTRFS_COMMIT, EV_PHASE, EV_SETTING, EV_POKE };

	for (size_t k = 0; k < ARRAY_SIZE(kinds); k++) {
		c->kind = kinds[k];
		rec_events_each(c->x->rec, c->run->id, s->id, 0, NSEC_NEVER, event_length, c, NULL);
		if (!c->length.n)
			continue;
		choose(c);
		rec_events_each(c->x->rec, c->run->id, s->id, 0, NSEC_NEVER, one_event, c, NULL);
	}
}

static void one_run(struct chrome *c)
{
	memset(c->named, 0, sizeof(c->named));
	c->spans.n = 0;
	lanes_done(&c->lanes);
	for (size_t i = 0; i < c->x->series.n; i++) {
		c->series = &c->x->series.p[i];
		if (c->series->kind == SERIES_SAMPLES)
			samples(c);
		else if (c->series->kind == SERIES_COUNTER)
			rec_counter_each(c->x->rec, c->run->id, c->series->id, one_counter, c, NULL);
	}
	if (c->spans.n)
		qsort(c->spans.p, c->spans.n, sizeof(*c->spans.p), by_tid);
	for (size_t i = 0; i < c->x->series.n; i++)
		if (c->x->series.p[i].kind == SERIES_EVENTS)
			events(c, &c->x->series.p[i]);
}

static int chrome_export(struct rec *r, const struct export_conf *conf, FILE *out, struct err *e)
{
	struct chrome c = { .first = true };
	struct exporter x;
	int err = export_begin(&x, r, conf, out, e);

	c.x = &x;
	if (!err) {
		fputs("{\"displayTimeUnit\":\"ms\",\"traceEvents\":[", out);
		for (size_t k = 0; k < x.runs.n; k++) {
			c.run = &x.runs.p[k];
			one_run(&c);
		}
		fputs("],\n\"otherData\":{\"producer\":", out);
		fprintf(out, "\"stallmark %s\",\"left_out\":\"%llu\"}}\n", conf->version, (unsigned long long)c.left_out);
		err = export_check(out, e);
	}
	lanes_done(&c.lanes);
	vec_done(&c.length);
	vec_done(&c.spans);
	export_end(&x);
	return err;
}

const struct format_ops format_chrome = {
	.plug = { .name = "chrome", .about = "for ui.perfetto.dev: slices, counters, arrows" },
	.export_ = chrome_export,
};

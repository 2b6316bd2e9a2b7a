/* SPDX-License-Identifier: MIT */
#include "analyze/blk.h"
#include "base/cleanup.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/vec.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

static void record(void *ctx, const struct blk_rec *r)
{
	blk_track_record(ctx, r);
}

__attribute__((format(printf, 2, 3)))
static void say(struct blk_trace *t, const char *fmt, ...)
{
	struct strbuf b = STRBUF_INIT;
	va_list ap;

	va_start(ap, fmt);
	strbuf_vaddf(&b, fmt, ap);
	va_end(ap);
	t->said = mem_realloc(t->said, (t->nsaid + 1) * sizeof(*t->said));
	t->said[t->nsaid++] = strbuf_detach(&b);
}

/* What a reader of the numbers must know about the input. */
static void about_input(struct blk_trace *t, const struct blk_input *in)
{
	const struct blk_seen *s = &t->seen;

	for (unsigned i = 0; i < in->nfiles; i++)
		if (in->files[i].error)
			say(t, "%s could not be read (%s): the trace is not whole", in->files[i].path, strerror(-in->files[i].error));
	for (unsigned i = 0; i < in->nsets; i++)
		if (in->sets[i].missing_cpu >= 0)
			say(t, "%s.blktrace.%d is missing: what CPU %d did is not in the numbers", in->sets[i].name,
			    in->sets[i].missing_cpu, in->sets[i].missing_cpu);
	if (!s->records)
		say(t, "there is no trace record in %s", t->name);
	if (s->stopped)
		say(t, "reading was stopped: this is the trace up to then");
	if (s->skipped_bytes)
		say(t, "%" PRIu64 " bytes are not trace records; reading went on behind them (%" PRIu64 " places)",
		    s->skipped_bytes, s->resyncs + s->torn);
	if (s->lost)
		say(t, "%" PRIu64 " records are missing by their sequence numbers: totals are too low", s->lost);
	if (s->absurd)
		say(t, "%" PRIu64 " records have a time 30 days or more away from their neighbours; the neighbour's was taken",
		    s->absurd);
	if (s->backwards)
		say(t, "time runs back %" PRIu64 " times within one CPU's records", s->backwards);
	if (s->wrong_cpu)
		say(t, "%" PRIu64 " records name another CPU than their file does; they are counted", s->wrong_cpu);
	if (s->version[0] && s->version[1])
		say(t, "the trace mixes version 7 (%" PRIu64 " records) and version 8 (%" PRIu64 ")", s->version[0], s->version[1]);
	if (s->swapped && s->swapped < s->records)
		say(t, "the trace mixes both byte orders");
	if (!t->exact)
		say(t, "this was read once only: quantiles are within 1/8192 of their value");
}

static char *name_of(const struct blk_input *in)
{
	struct strbuf b = STRBUF_INIT;

	for (unsigned i = 0; i < in->nsets; i++)
		strbuf_addf(&b, "%s%s", i ? " " : "", in->sets[i].name);
	return strbuf_detach(&b);
}

int blk_load(const struct blk_input *in, const struct blk_filter *filter, const volatile int *stop,
	     struct blk_trace **ret, struct err *e)
{
	struct blk_trace *t = mem_alloc(sizeof(*t));
	uint64_t first = UINT64_MAX, last = 0;
	struct blk_seen again;
	int r;

	t->name = name_of(in);
	t->filter = *filter;
	t->track = blk_track_new(filter);
	r = blk_read(in, record, t->track, stop, &t->seen, e);
	if (r) {
		blk_free(t);
		return r;
	}
	blk_track_end(t->track);
	t->exact = !blk_track_counted(t->track);
	if (!t->exact && !in->stream && !t->seen.stopped) {
		blk_track_again(t->track);
		t->exact = !blk_read(in, record, t->track, stop, &again, NULL) && !again.stopped;
	}
	t->devs = blk_track_devices(t->track, &t->ndevs);
	t->open = mem_array(t->ndevs + 1, sizeof(*t->open));
	for (size_t i = 0; i < t->ndevs; i++) {
		t->open[i] = blk_track_open(t->track, t->devs[i].dev);
		first = MIN(first, t->devs[i].first);
		last = MAX(last, t->devs[i].last);
	}
	t->procs = blk_track_procs(t->track, &t->nprocs);
	t->seconds = last > first ? (double)(last - first) / 1e9 : 0;
	about_input(t, in);
	*ret = t;
	return 0;
}

int blk_load_path(const char *path, struct blk_trace **ret, struct err *e)
{
	struct blk_filter all = { 0 };
	struct blk_input in;
	int r = blk_input_open(&path, 1, false, &in, e);

	if (r)
		return r;
	r = blk_load(&in, &all, NULL, ret, e);
	blk_input_close(&in);
	return r;
}

void blk_free(struct blk_trace *t)
{
	if (!t)
		return;
	blk_track_free(t->track);
	for (size_t i = 0; i < t->nsaid; i++)
		free(t->said[i]);
	free(t->said);
	free(t->open);
	free(t->name);
	free(t);
}

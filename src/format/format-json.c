/* SPDX-License-Identifier: MIT */
/*
 * A whole record as one JSON document, schema stallmark.record/1: runs with their facts, series, samples and counters as
 * arrays of columns, stalls, notes. Times are seconds from the begin of the run, exact to the nanosecond. Trace events are
 * counted, not written: explain and the chrome export read them.
 */
#include "base/cleanup.h"
#include "format/export.h"

#include <string.h>

struct json_out {
	struct exporter *x;
	bool first;			/* of the present list */
	int col;			/* of a sample: which member is being written */
	uint64_t n;
};

static void comma(struct json_out *o)
{
	if (!o->first)
		fputc(',', o->x->out);
	o->first = false;
}

static void text(struct json_out *o, const char *s)
{
	export_json(o->x->out, scrub_text(&o->x->scrub, s ? s : ""));
}

static void plain_name(struct json_out *o, const char *s)
{
	export_json(o->x->out, scrub_name(&o->x->scrub, s ? s : ""));
}

static int one_fact(void *ctx, const char *key, const char *value, bool counts)
{
	struct json_out *o = ctx;

	if (!scrub_fact(&o->x->scrub, key))
		return 0;
	comma(o);
	fputs("\n    ", o->x->out);
	plain_name(o, key);
	fputs(": ", o->x->out);
	text(o, value);
	return 0;
}

static int one_note(void *ctx, int run, enum note_kind kind, nsec_t t, const char *key, const char *said)
{
	static const char *const kinds[] = { "info", "warning", "loss", "check-ok", "check-failed", "scaled", "limit" };
	struct json_out *o = ctx;

	comma(o);
	fprintf(o->x->out, "\n   {\"kind\": \"%s\", \"t\": ", (unsigned)kind < ARRAY_SIZE(kinds) ? kinds[kind] : "info");
	export_seconds(o->x->out, t - export_t0(o->x, run));
	fputs(", \"key\": ", o->x->out);
	text(o, key);
	fputs(", \"text\": ", o->x->out);
	text(o, said);
	fputc('}', o->x->out);
	return 0;
}

static void one_run(struct json_out *o, const struct rec_run *run)
{
	FILE *out = o->x->out;

	fprintf(out, "\n  {\"run\": %d,\n   \"scenario\": ", run->id);
	text(o, run->scenario);
	fputs(",\n   \"producer\": ", out);
	text(o, run->producer);
	fputs(",\n   \"cell\": ", out);
	text(o, run->cell);
	fputs(",\n   \"command\": ", out);
	if (o->x->conf->scrub)
		fputs("null", out);
	else
		text(o, run->command);
	fputs(",\n   \"version\": ", out);
	text(o, run->version);
	fputs(",\n   \"wall_start\": ", out);
	if (run->wall_start)
		export_seconds(out, run->wall_start);
	else
		fputs("null", out);
	fputs(",\n   \"length\": ", out);
	export_seconds(out, run->t1 - run->t0);
	if (run->measure_t1 > run->measure_t0) {
		fputs(",\n   \"measured\": [", out);
		export_seconds(out, run->measure_t0 - run->t0);
		fputs(", ", out);
		export_seconds(out, run->measure_t1 - run->t0);
		fputc(']', out);
	}
	fprintf(out, ",\n   \"partial\": %s,\n   \"why_partial\": ", run->partial ? "true" : "false");
	text(o, run->why_partial);
	fputs(",\n   \"env\": {", out);
	o->first = true;
	rec_env_each(o->x->rec, run->id, one_fact, o);
	fputs("},\n   \"notes\": [", out);
	o->first = true;
	rec_notes_each(o->x->rec, run->id, one_note, o);
	fputs("]}", out);
}

static void one_series(struct json_out *o, const struct rec_series *s)
{
	static const char *const kinds[] = { "", "samples", "counter", "events" };
	static const char *const attrs[] = { "loop", "limit_ns", "interval_ns", "interactive", "wants_cold", "steps", "time",
					     "bucket_width" };
	FILE *out = o->x->out;

	fputs("\n  {\"name\": ", out);
	plain_name(o, s->name);
	fprintf(out, ", \"kind\": \"%s\", \"unit\": ", kinds[s->kind]);
	plain_name(o, s->unit);
	fputs(", \"group\": ", out);
	plain_name(o, s->group);
	fputs(", \"meaning\": ", out);
	text(o, s->meaning);
	for (size_t i = 0; i < ARRAY_SIZE(attrs); i++) {
		const char *v = rec_series_attr_get(o->x->rec, s->id, attrs[i]);

		if (!v)
			continue;
		fprintf(out, ", \"%s\": ", attrs[i]);
		text(o, v);
	}
	fputc('}', out);
}

enum { COL_T, COL_WAIT, COL_SERVICE, COL_STATUS, COL_PHASE, COL_COLD, COL_BYTES, COL_LOAD, COL_RUNQ, COL_MAX };

static const char *const col_name[COL_MAX] = {
	"t", "wait", "service", "status", "phase", "cold", "bytes", "load_bytes_per_s", "runq",
};

static int sample_column(void *ctx, int run, const struct sample *rows, uint32_t n)
{
	struct json_out *o = ctx;
	nsec_t t0 = export_t0(o->x, run);
	FILE *out = o->x->out;

	for (uint32_t i = 0; i < n; i++) {
		const struct sample *s = &rows[i];

		if (o->n++)
			fputs(o->n % 12 == 1 ? ",\n    " : ", ", out);
		switch (o->col) {
		case COL_T:
			export_seconds(out, s->intended - t0);
			break;
		case COL_WAIT:
			export_seconds(out, sample_wait(s));
			break;
		case COL_SERVICE:
			export_seconds(out, s->end - s->start);
			break;
		case COL_STATUS:
			fprintf(out, "\"%s\"", sample_status_name(s->status));
			break;
		case COL_PHASE:
			fprintf(out, "\"%s\"", sample_phase_name(s->phase));
			break;
		case COL_COLD:
			fprintf(out, "\"%s\"", sample_cold_name(s->cold));
			break;
		case COL_BYTES:
			fprintf(out, "%llu", (unsigned long long)s->bytes);
			break;
		case COL_LOAD:
			fprintf(out, "%llu", (unsigned long long)s->load_bytes_per_s);
			break;
		case COL_RUNQ:
			if (s->runq < 0)
				fputs("null", out);
			else
				export_seconds(out, s->runq);
			break;
		}
	}
	return 0;
}

static void samples(struct json_out *o, const struct rec_run *run, const struct rec_series *s)
{
	comma(o);
	fprintf(o->x->out, "\n  {\"run\": %d, \"series\": ", run->id);
	plain_name(o, s->name);
	for (o->col = 0; o->col < COL_MAX; o->col++) {
		o->n = 0;
		fprintf(o->x->out, ",\n   \"%s\": [", col_name[o->col]);
		rec_samples_each(o->x->rec, run->id, s->id, sample_column, o, NULL);
		fputc(']', o->x->out);
	}
	fputc('}', o->x->out);
}

static int counter_t(void *ctx, int run, const nsec_t *t, const int64_t *value, uint32_t n)
{
	struct json_out *o = ctx;

	for (uint32_t i = 0; i < n; i++) {
		if (o->n++)
			fputs(", ", o->x->out);
		export_seconds(o->x->out, t[i] - export_t0(o->x, run));
	}
	return 0;
}

static int counter_value(void *ctx, int run, const nsec_t *t, const int64_t *value, uint32_t n)
{
	struct json_out *o = ctx;

	for (uint32_t i = 0; i < n; i++)
		fprintf(o->x->out, "%s%lld", o->n++ ? ", " : "", (long long)value[i]);
	return 0;
}

static void counters(struct json_out *o, const struct rec_run *run, const struct rec_series *s)
{
	comma(o);
	fprintf(o->x->out, "\n  {\"run\": %d, \"series\": ", run->id);
	plain_name(o, s->name);
	fputs(",\n   \"t\": [", o->x->out);
	o->n = 0;
	rec_counter_each(o->x->rec, run->id, s->id, counter_t, o, NULL);
	fputs("],\n   \"value\": [", o->x->out);
	o->n = 0;
	rec_counter_each(o->x->rec, run->id, s->id, counter_value, o, NULL);
	fputs("]}", o->x->out);
}

static int one_stall(void *ctx, const struct rec_stall *s)
{
	struct json_out *o = ctx;
	struct rec_series series;
	FILE *out = o->x->out;

	comma(o);
	fprintf(out, "\n  {\"run\": %d, \"series\": ", s->run);
	if (s->series && !rec_series_get(o->x->rec, s->series, &series))
		plain_name(o, series.name);
	else
		fputs("null", out);
	fputs(", \"t\": ", out);
	export_seconds(out, s->t - export_t0(o->x, s->run));
	fputs(", \"waited\": ", out);
	export_seconds(out, s->waited);
	fputs(", \"comm\": ", out);
	text(o, s->comm);
	fputs(", \"wchan\": ", out);
	text(o, s->wchan);
	fputs(", \"syscall\": ", out);
	text(o, s->syscall);
	fputc('}', out);
	return 0;
}

static int count_events(void *ctx, int run, const struct event *rows, uint32_t n)
{
	*(uint64_t *)ctx += n;
	return 0;
}

static int json_export(struct rec *r, const struct export_conf *conf, FILE *out, struct err *e)
{
	struct json_out o = { .x = NULL };
	uint64_t events = 0;
	struct exporter x;
	int err = export_begin(&x, r, conf, out, e);

	o.x = &x;
	if (err) {
		export_end(&x);
		return err;
	}
	fputs("{\"schema\": \"stallmark.record/1\",\n \"runs\": [", out);
	for (size_t i = 0; i < x.runs.n; i++) {
		fputs(i ? "," : "", out);
		one_run(&o, &x.runs.p[i]);
	}
	fputs("],\n \"series\": [", out);
	for (size_t i = 0; i < x.series.n; i++) {
		fputs(i ? "," : "", out);
		one_series(&o, &x.series.p[i]);
	}
	fputs("],\n \"samples\": [", out);
	o.first = true;
	for (size_t k = 0; k < x.runs.n; k++)
		for (size_t i = 0; i < x.series.n; i++)
			if (x.series.p[i].kind == SERIES_SAMPLES)
				samples(&o, &x.runs.p[k], &x.series.p[i]);
	fputs("],\n \"counters\": [", out);
	o.first = true;
	for (size_t k = 0; k < x.runs.n; k++)
		for (size_t i = 0; i < x.series.n; i++)
			if (x.series.p[i].kind == SERIES_COUNTER)
				counters(&o, &x.runs.p[k], &x.series.p[i]);
	fputs("],\n \"stalls\": [", out);
	o.first = true;
	rec_stalls_each(r, 0, one_stall, &o);
	for (size_t i = 0; i < x.series.n; i++)
		if (x.series.p[i].kind == SERIES_EVENTS)
			rec_events_each(r, 0, x.series.p[i].id, 0, NSEC_NEVER, count_events, &events, NULL);
	fprintf(out, "],\n \"events\": %llu,\n \"damaged\": %llu}\n", (unsigned long long)events,
		(unsigned long long)rec_damaged(r));
	err = export_check(out, e);
	export_end(&x);
	return err;
}

const struct format_ops format_json = {
	.plug = { .name = "json", .about = "the whole record as one JSON document" },
	.export_ = json_export,
};

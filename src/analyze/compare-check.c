/* SPDX-License-Identifier: MIT */
/* Figures that cannot all be true together, and runs that did not measure what they say. In words, never a verdict. */
#include "analyze/compare-parts.h"
#include "base/cleanup.h"
#include "base/units.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define ENOUGH_WARM	0.05	/* of the samples of a cold test */
#define LOAD_GAP	0.10	/* of the seconds of a run without any load */
#define TIME_SLACK	1.02	/* waits in a row may not be longer than the run */
#define FAR		0.05	/* a change in one figure that another of the same thing has not */

static void say(text_list *out, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void say(text_list *out, const char *fmt, ...)
{
	va_list ap;
	char *s;

	va_start(ap, fmt);
	if (vasprintf(&s, fmt, ap) < 0)
		abort();
	va_end(ap);
	vec_push(out, s);
}

static void check_time(const struct side_run *r, text_list *out)
{
	for (size_t i = 0; i < r->series.n; i++) {
		const struct side_series *x = &r->series.p[i];
		double sum = 0;

		if (x->w.open_loop || r->length <= 0)
			continue;
		for (size_t k = 0; k < x->w.n; k++)
			sum += nsec_seconds(x->w.x[k]);
		/* the last action may end after the window */
		if (x->w.n > 1 && sum - nsec_seconds(x->w.x[x->w.n - 1]) > nsec_seconds(r->length) * TIME_SLACK)
			say(out, "%s: the waits of %s add up to %.0f s, one after another, in a run of %.0f s", r->source, x->name, sum,
			    nsec_seconds(r->length));
	}
}

static void check_cold(const struct side_run *r, text_list *out)
{
	for (size_t i = 0; i < r->series.n; i++) {
		const struct side_series *x = &r->series.p[i];

		if (x->wants_cold && x->w.n && (double)x->warm > ENOUGH_WARM * (double)x->w.n)
			say(out, "%s: %zu of %zu samples of %s were warm: a part of this is the page cache, not the disk", r->source,
			    x->warm, x->w.n, x->name);
	}
}

static double load_missing(const struct side_run *r)
{
	size_t zero = 0;

	for (size_t i = 0; i < r->nload; i++)
		zero += !(r->load[i] > 0);
	return r->nload ? (double)zero / (double)r->nload : 0;
}

static void check_load(const struct compared *k, text_list *out)
{
	for (size_t s = 0; s < k->n; s++)
		for (size_t i = 0; i < k->sides[s]->runs.n; i++) {
			const struct side_run *r = &k->sides[s]->runs.p[i];
			double missing = load_missing(r);

			if (r->load && missing > LOAD_GAP && missing < 1)
				say(out, "%s: the load moved nothing in %.0f %% of the seconds", r->source, missing * 100);
			else if (r->load && missing >= 1)
				say(out, "%s: there was no load at all", r->source);
		}
}

/* "sdb.capacity" style facts: what the device can do at most, as its profile says. */
static void check_device(const struct side_run *r, text_list *out)
{
	const char *limit = side_fact_find(r, "disk.max-rate");
	double most = 0, top;
	uint64_t bytes;
	char a[UNITS_TEXT], b[UNITS_TEXT];

	if (!limit || units_size(limit, &bytes, NULL))
		return;
	top = (double)bytes;
	for (size_t i = 0; i < r->nload; i++)
		most += r->load[i] / (double)r->nload;
	if (r->nload && most > top * 1.05)
		say(out, "%s: the load averages %s, more than the device's %s: a part of it never reached the device", r->source,
		    units_rate_text(most, a), units_rate_text(top, b));
}

static const struct side_number *number(const struct side_run *r, const char *name)
{
	for (size_t i = 0; i < r->numbers.n; i++)
		if (!strcmp(r->numbers.p[i].name, name))
			return &r->numbers.p[i];
	return NULL;
}

/* "read.p99" above "read.max": a percentile is a wait that happened. */
static void check_percentiles(const struct side_run *r, text_list *out)
{
	for (size_t i = 0; i < r->numbers.n; i++) {
		const struct side_number *p = &r->numbers.p[i], *max;
		const char *dot = strstr(p->name, ".p");
		cleanup_free char *name = NULL;

		if (!dot || dot[2] < '0' || dot[2] > '9')
			continue;
		name = mem_printf("%.*s.max", (int)(dot - p->name), p->name);
		max = number(r, name);
		if (max && max->value > 0 && p->value > max->value * 1.001)
			say(out, "%s: %s is %.4g %s, above the maximum of %.4g: that wait did not happen", r->source, p->name, p->value,
			    p->unit, max->value);
	}
}

/* ---- two sides: one figure fell and others of the same work did not ---- */

static double one(const struct side *s, const char *suffix, const char **ret_name)
{
	double x = NAN;
	size_t n = 0;

	for (size_t i = 0; i < s->runs.n; i++)
		for (size_t j = 0; j < s->runs.p[i].numbers.n; j++) {
			const struct side_number *m = &s->runs.p[i].numbers.p[j];
			size_t len = strlen(m->name), sl = strlen(suffix);

			if (len < sl || strcmp(m->name + len - sl, suffix) || (len > sl && m->name[len - sl - 1] != '.'))
				continue;
			x = n++ ? x + (m->value - x) / (double)n : m->value;
			*ret_name = m->name;
		}
	return x;
}

struct both {
	double a, b;
	const char *name;
};

static struct both both(const struct side *a, const struct side *b, const char *suffix)
{
	struct both x = { 0 };

	x.a = one(a, suffix, &x.name);
	x.b = one(b, suffix, &x.name);
	return x;
}

static bool have(struct both x)
{
	return x.a > 0 && x.b > 0;
}

static double change(struct both x)
{
	return x.b / x.a - 1;
}

/* How long the trace was: bytes over bytes per second. */
static double seconds_of(struct both bytes, struct both rate, bool b)
{
	return b ? bytes.b / rate.b : bytes.a / rate.a;
}

static void check_rate_against_bytes(const struct side *a, const struct side *b, text_list *out)
{
	struct both files = both(a, b, "files_per_s"), size = both(a, b, "file_size"), time = { 0 };
	struct both bytes = both(a, b, "process_write_bytes"), device = both(a, b, "write_dispatches_bytes");
	struct both rate = both(a, b, "write_throughput");
	cleanup_strbuf struct strbuf s = STRBUF_INIT;
	const char *of = "written by its processes";

	if (!have(files) || fabs(change(files)) < FAR)
		return;
	if (!have(bytes)) {
		bytes = device;
		of = "written to the device";
	}
	if (!have(bytes) || fabs(change(bytes) - change(files)) < FAR)
		return;
	strbuf_addf(&s, "files/s changed by %+.1f %%, but the bytes %s by %+.1f %%", change(files) * 100, of, change(bytes) * 100);
	if (have(device) && bytes.a != device.a)
		strbuf_addf(&s, " and the bytes written to the device by %+.1f %%", change(device) * 100);
	if (have(device) && have(rate)) {
		time.a = seconds_of(device, rate, false);
		time.b = seconds_of(device, rate, true);
		strbuf_addf(&s, " (traces of %.0f and %.0f s)", time.a, time.b);
	}
	if (have(size) && have(time))
		strbuf_addf(&s, "; by the bytes it was %.0f and %.0f files a second of wall-clock time", bytes.a / size.a / time.a,
			    bytes.b / size.b / time.b);
	strbuf_adds(&s, ": the files/s figure counts something else than the writes");
	vec_push(out, strbuf_detach(&s));
}

static void check_write_size(const struct side *a, const struct side *b, text_list *out)
{
	struct both count = both(a, b, "write_dispatches"), bytes = both(a, b, "write_dispatches_bytes");

	if (!have(count) || !have(bytes) || fabs(change(count)) < 0.2 || fabs(change(bytes)) > 0.1)
		return;
	say(out, "write dispatches changed by %+.0f %% for the same bytes (%+.1f %%): the mean write %s from %.1f to %.1f KiB",
	    change(count) * 100, change(bytes) * 100, count.b < count.a ? "grew" : "shrank", bytes.a / count.a / 1024,
	    bytes.b / count.b / 1024);
}

void checks_make(const struct compared *k, text_list *ret)
{
	for (size_t s = 0; s < k->n; s++)
		for (size_t i = 0; i < k->sides[s]->runs.n; i++) {
			const struct side_run *r = &k->sides[s]->runs.p[i];

			check_time(r, ret);
			check_cold(r, ret);
			check_device(r, ret);
			check_percentiles(r, ret);
		}
	check_load(k, ret);
	for (size_t s = 1; s < k->n; s++) {
		check_rate_against_bytes(k->sides[0], k->sides[s], ret);
		check_write_size(k->sides[0], k->sides[s], ret);
	}
}

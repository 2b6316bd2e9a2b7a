/* SPDX-License-Identifier: MIT */
/*
 * fio --output-format=json and json+. json+ has the whole histogram ("bins"),
 * from which buckets are made; plain JSON has only fio's own percentiles, which
 * become numbers. Interim results (--status-interval) are cumulative: of each
 * run only the last complete document counts.
 */
#include "base/cleanup.h"
#include "base/vec.h"
#include "format/fiobins.h"
#include "format/jsondoc.h"
#include "format/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct sum {
	char *name;
	const char *unit;
	double x;
};

struct fio {
	const struct import_sink *sink;
	struct input *in;
	bool cut;			/* the document at hand is cut */
	uint64_t series, numbers;	/* found in all */
	uint64_t without_bins;
	char nth[16];			/* "#2": the second job of this name; "" for the first */
	VEC(struct sum) sums;		/* rates of jobs of one name are added up */
	double clip;			/* seconds at which its histogram ends; 0: not met */
};

#define JOBS_LOOK_BACK 1000	/* more jobs of one name than this are numbered wrongly, not slowly */

struct dir {
	const char *key, *what;
};

static const struct dir dirs[] = {
	{ "read", "reads" }, { "write", "writes" }, { "trim", "trims" }, { "sync", "fsync and fdatasync" },
};

static json_t *jobs_of(const json_t *doc)
{
	json_t *jobs = json_object_get(doc, "jobs");

	return jobs ? jobs : json_object_get(doc, "client_stats");
}

/* Milliseconds of the epoch when the run began; 0: unknown. */
static double start_of(const json_t *doc)
{
	const json_t *job = json_array_get(jobs_of(doc), 0);
	double start, stamp, elapsed;

	if (jsondoc_number(job, "job_start", &start))
		return start;
	if (!jsondoc_number(doc, "timestamp_ms", &stamp)) {
		if (!jsondoc_number(doc, "timestamp", &stamp))
			return 0;
		stamp *= 1000;
	}
	return jsondoc_number(job, "elapsed", &elapsed) ? stamp - elapsed * 1000 : 0;
}

static double total_ios(const json_t *job)
{
	double sum = 0, n;

	for (size_t i = 0; i < ARRAY_SIZE(dirs); i++) {
		char path[32];

		snprintf(path, sizeof(path), "%s/total_ios", dirs[i].key);
		if (jsondoc_number(job, path, &n))
			sum += n;
	}
	return sum;
}

/* Is `a` an interim result of the run whose later document is `b`? */
static bool interim(const json_t *a, const json_t *b)
{
	const json_t *ja = jobs_of(a), *jb = jobs_of(b);
	double sa = start_of(a), sb = start_of(b), ea = 0, eb = 0;
	bool exact = jsondoc_at(json_array_get(ja, 0), "job_start") != NULL;

	if (!sa || !sb || json_array_size(ja) != json_array_size(jb))
		return false;
	/* without job_start: `elapsed` is rounded up to whole seconds */
	if (exact ? sa != sb : sa - sb > 1001 || sb - sa > 1001)
		return false;
	for (size_t i = 0; i < json_array_size(ja); i++) {
		double ia = total_ios(json_array_get(ja, i)), ib = total_ios(json_array_get(jb, i));

		jsondoc_number(json_array_get(ja, i), "elapsed", &ea);
		jsondoc_number(json_array_get(jb, i), "elapsed", &eb);
		if (ia > ib || ea > eb || (ea == eb && ia != ib && !exact))
			return false;
	}
	return true;
}

static int number(struct fio *f, const char *series, const char *name, const char *unit, double x, int better)
{
	cleanup_free char *full = mem_printf("%s%s.%s", series, f->nth, name);

	f->numbers++;
	return f->sink->number(f->sink->ctx, full, unit, x, better);
}

static void rate(struct fio *f, const char *series, const char *name, const char *unit, double x)
{
	struct sum s = { .name = mem_printf("%s.%s", series, name), .unit = unit, .x = x };

	f->numbers++;
	for (size_t i = 0; i < f->sums.n; i++) {
		if (!strcmp(f->sums.p[i].name, s.name)) {
			f->sums.p[i].x += x;
			free(s.name);
			return;
		}
	}
	vec_push(&f->sums, s);
}

static int tell_rates(struct fio *f)
{
	int r = 0;

	for (size_t i = 0; i < f->sums.n; i++) {
		if (!r)
			r = f->sink->number(f->sink->ctx, f->sums.p[i].name, f->sums.p[i].unit, f->sums.p[i].x, 1);
		free(f->sums.p[i].name);
	}
	vec_done(&f->sums);
	return r;
}

/* fio's own percentiles and extremes, for documents without bins. */
static int summary(struct fio *f, const char *series, json_t *lat, double unit)
{
	static const char *const each[] = { "min", "mean", "max" };
	const char *key;
	json_t *v;
	double x;
	int r = 0;

	for (size_t i = 0; !r && i < ARRAY_SIZE(each); i++)
		if (jsondoc_number(lat, each[i], &x))
			r = number(f, series, each[i], "s", x * unit / 1e9, -1);
	json_object_foreach(json_object_get(lat, "percentile"), key, v) {
		double p = strtod(key, NULL);
		char name[32];

		if (r || !(p > 0) || p > 100 || !json_is_number(v))
			continue;
		snprintf(name, sizeof(name), "p%.6g", p);
		r = number(f, series, name, "s", json_number_value(v) * unit / 1e9, -1);
	}
	return r;
}

struct bins {
	uint64_t sum, strange, end;	/* end: behind the highest bucket, in units */
};

static int one_bin(struct fio *f, int series, const char *key, json_t *v, unsigned total, uint64_t unit, double min,
		   double max, struct bins *b)
{
	char *end;
	uint64_t mid = strtoull(key, &end, 10);
	double count = json_number_value(v);
	struct fiobin bin;
	nsec_t lo, hi;
	bool clipped;

	if (*end || !(count >= 1) || count > 9e15)
		return 0;
	if (!fiobin_of_middle(mid, total, &bin)) {
		b->strange++;
		return 0;
	}
	clipped = bin.clipped;
	/* The extremes are exact: they narrow the buckets they fall into. */
	if (min > (double)bin.lo && min <= (double)bin.hi)
		bin.lo = (uint64_t)min;
	lo = (nsec_t)(bin.lo * unit);
	hi = (nsec_t)((bin.hi + 1) * unit - 1);
	if (clipped) {
		f->clip = (double)lo / 1e9;
		hi = max >= (double)bin.lo && max < 9e18 / (double)unit ? (nsec_t)(max * (double)unit) : NSEC_NEVER;
		if (hi < lo)
			hi = NSEC_NEVER;
	} else if (max >= (double)bin.lo && max < (double)bin.hi) {
		hi = (nsec_t)(max * (double)unit) + (nsec_t)unit - 1;
	}
	b->sum += (uint64_t)count;
	if (bin.hi + 1 > b->end)
		b->end = bin.hi + 1;
	return f->sink->bucket(f->sink->ctx, series, lo, hi, (uint64_t)count, clipped);
}

static int bins_of(struct fio *f, const char *name, const struct dir *d, const char *kind, json_t *lat, uint64_t unit)
{
	const struct import_sink *k = f->sink;
	cleanup_free char *meaning = mem_printf("%s of fio, %s, counted in its buckets", d->what, kind);
	int series = k->series(k->ctx, name, meaning, false, 0), r = 0;
	double n = 0, max = -1, min = -1;
	struct bins b = { 0 };
	const char *key;
	json_t *v;

	if (series < 0)
		return series;
	f->series++;
	jsondoc_number(lat, "min", &min);
	jsondoc_number(lat, "max", &max);
	jsondoc_number(lat, "N", &n);
	json_object_foreach(json_object_get(lat, "bins"), key, v) {
		r = one_bin(f, series, key, v, unit == 1 ? FIOBINS_NS : FIOBINS_US, unit, min, max, &b);
		if (r)
			return r;
	}
	if (b.strange)
		r = text_note(k, NOTE_WARNING, "%llu buckets of %s have no place in fio's histogram and were left out",
			      (unsigned long long)b.strange, name);
	if (r || !(n > (double)b.sum))
		return r;
	if (f->cut && max >= (double)b.end && max < 9e15) {
		uint64_t rest = (uint64_t)n - b.sum;

		r = k->bucket(k->ctx, series, (nsec_t)(b.end * unit), (nsec_t)((uint64_t)max * unit), rest, false);
		return r ? r : text_note(k, NOTE_LOSS,
					 "the buckets of %s are cut off; %llu waits lie between the last one and the longest", name,
					 (unsigned long long)rest);
	}
	return text_note(k, NOTE_WARNING, "the buckets of %s hold %llu of its %.0f waits", name, (unsigned long long)b.sum, n);
}

/* What to read: the histogram of the whole latency where there is one, else of the completion latency. */
static int latency(struct fio *f, const char *name, const struct dir *d, json_t *job)
{
	static const struct { const char *key, *kind; uint64_t unit; } where[] = {
		{ "lat_ns", "submission to completion", 1 }, { "clat_ns", "completion latency", 1 },
		{ "lat", "submission to completion", 1000 }, { "clat", "completion latency", 1000 },
	};
	json_t *o = json_object_get(job, d->key), *first = NULL;
	uint64_t unit = 1;

	for (size_t i = 0; i < ARRAY_SIZE(where); i++) {
		json_t *lat = json_object_get(o, where[i].key);

		if (json_object_size(json_object_get(lat, "bins")))
			return bins_of(f, name, d, where[i].kind, lat, where[i].unit);
		if (lat && (!first || (!json_object_get(first, "percentile") && json_object_get(lat, "percentile")))) {
			first = lat;
			unit = where[i].unit;
		}
	}
	f->without_bins++;
	return first ? summary(f, name, first, (double)unit) : 0;
}

static int direction(struct fio *f, const char *prefix, const struct dir *d, json_t *job)
{
	json_t *o = json_object_get(job, d->key);
	cleanup_free char *name = mem_printf("%s%s", prefix, d->key);
	double ios = 0, x;
	int r;

	if (!jsondoc_number(o, "total_ios", &ios) && !jsondoc_number(o, "io_bytes", &ios))
		jsondoc_number(o, "lat_ns/N", &ios);
	if (!(ios > 0))
		return 0;
	r = latency(f, name, d, job);
	if (!r && jsondoc_number(o, "iops", &x))
		rate(f, name, "iops", "/s", x);
	if (!r && jsondoc_number(o, "bw_bytes", &x))
		rate(f, name, "bandwidth", "bytes/s", x);
	else if (!r && jsondoc_number(o, "bw", &x))
		rate(f, name, "bandwidth", "bytes/s", x * 1024);
	return r;
}

static int options(struct fio *f, const char *prefix, json_t *o)
{
	const char *key;
	json_t *v;
	int r = 0;

	json_object_foreach(o, key, v) {
		cleanup_free char *full = mem_printf("fio.%s%s", prefix, key);

		if (!r && json_is_string(v))
			r = f->sink->fact(f->sink->ctx, full, json_string_value(v));
	}
	return r;
}

static int one_job(struct fio *f, json_t *job, bool alone)
{
	const char *jobname = jsondoc_string(job, "jobname"), *host = jsondoc_string(job, "hostname");
	cleanup_free char *prefix = alone || !jobname ? mem_dup("") : mem_printf("%s.", jobname);
	double error;
	int r = 0;

	if (jobname && !strcmp(jobname, "All clients"))
		return 0;
	if (host)
		r = f->sink->fact(f->sink->ctx, "host", host);
	if (!r)
		r = options(f, prefix, json_object_get(job, "job options"));
	if (!r && jsondoc_number(job, "error", &error) && error)
		r = text_note(f->sink, NOTE_WARNING, "fio's job %s ended with error %.0f", jobname ? jobname : "?", error);
	for (size_t i = 0; !r && i < ARRAY_SIZE(dirs); i++)
		r = direction(f, prefix, &dirs[i], job);
	return r;
}

static int emit(struct fio *f, json_t *doc)
{
	json_t *jobs = jobs_of(doc), *job;
	const char *name = NULL;
	bool alone = true;
	size_t i;
	int r = 0, rates;

	json_array_foreach(jobs, i, job) {
		const char *n = jsondoc_string(job, "jobname");

		alone &= !name || !n || !strcmp(name, n);
		name = n ? n : name;
	}
	if (jsondoc_string(doc, "fio version"))
		r = f->sink->fact(f->sink->ctx, "tool", jsondoc_string(doc, "fio version"));
	if (!r && jsondoc_string(doc, "time"))
		r = f->sink->fact(f->sink->ctx, "time", jsondoc_string(doc, "time"));
	if (!r)
		r = options(f, "", json_object_get(doc, "global options"));
	json_array_foreach(jobs, i, job) {
		size_t nth = 1;

		for (size_t k = i > JOBS_LOOK_BACK ? i - JOBS_LOOK_BACK : 0; k < i; k++) {
			const char *a = jsondoc_string(json_array_get(jobs, k), "jobname"), *b = jsondoc_string(job, "jobname");

			nth += a && b && !strcmp(a, b);
		}
		f->nth[0] = 0;
		if (nth > 1)
			snprintf(f->nth, sizeof(f->nth), "#%zu", nth);
		if (!r)
			r = one_job(f, job, alone);
	}
	rates = tell_rates(f);
	return r ? r : rates;
}

static int fio_json_import(struct input *in, const struct import_sink *sink, struct err *e)
{
	struct fio f = { .sink = sink, .in = in };
	struct jsondoc d;
	json_t *doc, *pending = NULL;
	bool pending_cut = false;
	uint64_t dropped = 0, runs = 0;
	int r = jsondoc_open(in, &d, e);

	if (r)
		return r;
	while ((r = jsondoc_next(&d, &doc, e)) > 0) {
		in->truncated |= d.truncated;
		if (!json_is_array(jobs_of(doc))) {
			d.broken += !d.truncated;
			json_decref(doc);
			continue;
		}
		if (pending && d.truncated && start_of(doc) && start_of(pending) &&
		    start_of(doc) - start_of(pending) < 1001 && start_of(pending) - start_of(doc) < 1001) {
			json_decref(doc);	/* the complete one before says more */
			dropped++;
			continue;
		}
		if (pending && interim(pending, doc)) {
			dropped++;
		} else if (pending) {
			f.cut = pending_cut;
			r = emit(&f, pending);
			runs++;
			if (!r)
				r = sink->next_run(sink->ctx, "", false);
		}
		json_decref(pending);
		pending = doc;
		pending_cut = d.truncated;
		if (r < 0)
			break;
	}
	if (!r && pending) {
		f.cut = pending_cut;
		r = emit(&f, pending);
	}
	json_decref(pending);
	if (!r && !f.series && !f.numbers)
		r = err_set(e, -ENODATA, "'%s' holds no results of fio", in->name);
	if (!r && dropped)
		r = text_note(sink, NOTE_INFO, "%llu documents are interim results of the same run and were left out",
			      (unsigned long long)dropped);
	if (!r && f.without_bins)
		r = text_note(sink, NOTE_WARNING, "there are no buckets (fio --output-format=json+): single waits are unknown, "
			      "only fio's own percentiles");
	if (!r && f.clip > 0)
		r = text_note(sink, NOTE_WARNING, "fio's histogram ends at %.1f s: longer waits are only known to be at least that",
			      f.clip);
	if (!r)
		r = jsondoc_notes(&d, sink);
	jsondoc_close(&d);
	return r;
}

static int fio_json_sniff(const uint8_t *head, size_t n, const char *name)
{
	return jsondoc_sniff(head, n, "\"fio version\"") ? 95 :
	       jsondoc_sniff(head, n, "\"jobs\"") && jsondoc_sniff(head, n, "\"jobname\"") ? 80 : 0;
}

const struct format_ops format_fio_json = {
	.plug = { .name = "fio-json", .about = "fio --output-format=json or json+" },
	.sniff = fio_json_sniff,
	.import = fio_json_import,
};

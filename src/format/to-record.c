/* SPDX-License-Identifier: MIT */
#include "format/to-record.h"
#include "base/cleanup.h"
#include "base/rng.h"
#include "format/text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define SERIES_MAX	1000
#define BATCH		1024
#define BUCKETS_MAX	10000000
#define COUNT_MAX	(UINT64_C(1) << 40)	/* in one bucket: all of them together still fit into 64 bits */

struct bucket {
	nsec_t lo, hi;
	uint64_t n;
	bool clipped;
};

struct part {					/* one series in the present run */
	int series;				/* in the record */
	char *name;
	nsec_t pause;
	struct thin thin;
	struct import_waits waits;
	VEC(struct bucket) buckets;
};

struct to_record {
	struct to_record_conf conf;
	char *path;
	struct rec *rec;
	int run;				/* 0: not begun */
	char *label;
	int side;				/* 1..., of what comes now */
	bool full;				/* the present run holds something */
	nsec_t t_end;				/* of the present run */
	VEC(struct part) parts;
	VEC(char *) results;			/* names of numbers in the present run, for repeats */
	uint64_t buckets;			/* in all */
	struct to_record_sum sum;
	struct err err;				/* the first failure */
};

static bool wanted(const struct to_record *t)
{
	return !t->conf.side || t->conf.side == t->side;
}

int to_record_begin(const char *path, const struct to_record_conf *conf, struct to_record **ret, struct err *e)
{
	struct to_record *t = mem_alloc(sizeof(*t));
	int r = rec_create(path, &t->rec, e);

	if (r) {
		free(t);
		return r;
	}
	t->conf = *conf;
	t->path = mem_dup(path);
	t->label = mem_dup("");
	t->side = 1;
	t->sum.sides = 1;
	*ret = t;
	return 0;
}

static int begin_run(struct to_record *t)
{
	struct rec_run run = {
		.scenario = t->conf.format, .scenario_text = "", .command = t->conf.command ? t->conf.command : "",
		.producer = "import", .cell = t->label, .version = t->conf.version, .t0 = TO_RECORD_BASE, .partial = true,
	};
	int r;

	if (t->run)
		return 0;
	t->t_end = TO_RECORD_BASE;
	r = rec_run_begin(t->rec, &run, &t->run, &t->err);
	if (!r)
		r = rec_env(t->rec, t->run, "import.format", t->conf.format, false, &t->err);
	if (!r)
		r = rec_env(t->rec, t->run, "import.file", t->conf.file, false, &t->err);
	return r;
}

static int to_series(void *ctx, const char *name, const char *meaning, bool open_loop, nsec_t limit)
{
	struct to_record *t = ctx;
	struct rec_series s = { .kind = SERIES_SAMPLES, .name = name, .unit = "ns", .meaning = meaning ? meaning : "",
				.group = "probe" };
	struct part p = { .name = NULL };
	char ns[32];
	int r;

	if (!wanted(t))
		return 0;
	for (size_t i = 0; i < t->parts.n; i++)
		if (!strcmp(t->parts.p[i].name, name))
			return (int)i;
	if (t->parts.n == SERIES_MAX)
		return err_set(&t->err, -E2BIG, "there are more than %d series in one run", SERIES_MAX);
	r = begin_run(t);
	if (!r)
		r = rec_series(t->rec, &s, &p.series, &t->err);
	if (!r)
		r = rec_series_attr(t->rec, p.series, "loop", open_loop ? "open" : "closed", &t->err);
	snprintf(ns, sizeof(ns), "%lld", (long long)(limit ? limit : t->conf.limit));
	if (!r && (limit || t->conf.limit))
		r = rec_series_attr(t->rec, p.series, "limit_ns", ns, &t->err);
	if (r)
		return r;
	p.name = mem_dup(name);
	vec_push(&t->parts, p);
	t->full = true;
	return (int)t->parts.n - 1;
}

static int to_series_fact(void *ctx, int series, const char *key, const char *value)
{
	struct to_record *t = ctx;

	if (!wanted(t))
		return 0;
	if (!strcmp(key, "interval_ns"))
		t->parts.p[series].pause = strtoll(value, NULL, 10);
	return rec_series_attr(t->rec, t->parts.p[series].series, key, value, &t->err);
}

static int to_wait(void *ctx, int series, nsec_t t_start, nsec_t wait, uint8_t status, uint64_t bytes)
{
	struct to_record *t = ctx;
	struct import_wait w = { .t_start = t_start, .wait = wait, .bytes = bytes, .status = status };

	if (wanted(t))
		thin_put(&t->parts.p[series].thin, &t->parts.p[series].waits, &w);
	return 0;
}

static int to_bucket(void *ctx, int series, nsec_t lo, nsec_t hi, uint64_t n, bool clipped)
{
	struct to_record *t = ctx;

	if (!wanted(t))
		return 0;
	if (n > COUNT_MAX || ++t->buckets > BUCKETS_MAX)
		return err_set(&t->err, -E2BIG, "there are more buckets, or more waits in one, than can be kept");
	vec_push(&t->parts.p[series].buckets, ((struct bucket){ lo, hi, n, clipped }));
	return 0;
}

/* The second of a name is "NAME#2". */
static int to_number(void *ctx, const char *name, const char *unit, double value, int better)
{
	struct to_record *t = ctx;
	cleanup_free char *key = NULL, *text = NULL;
	size_t nth = 1;
	int r;

	if (!wanted(t))
		return 0;
	r = begin_run(t);
	for (size_t i = 0; i < t->results.n; i++)
		nth += !strcmp(t->results.p[i], name);
	if (t->results.n >= 10000)
		return err_set(&t->err, -E2BIG, "there are more than 10000 numbers in one run");
	vec_push(&t->results, mem_dup(name));
	key = nth == 1 ? mem_printf("result.%s", name) : mem_printf("result.%s#%zu", name, nth);
	text = mem_printf("%.10g %s%s", value, unit, better > 0 ? ", more is better" : better < 0 ? ", less is better" : "");
	t->full = true;
	t->sum.numbers++;
	return r ? r : rec_env(t->rec, t->run, key, text, false, &t->err);
}

/* A difference in these is a difference between two sides. */
static bool counts(const char *key)
{
	static const char *const keys[] = {
		"tool", "fstype", "fio.rw", "fio.bs", "fio.iodepth", "fio.ioengine", "fio.direct", "fio.numjobs", "fio.fsync",
		"fio.fdatasync", "fio.size", "fio.runtime", "fio.rate", "fio.rate_iops", "fs_mark.sync", "fs_mark.files", "fs_mark.threads",
		"sysbench.threads", "sysbench.block-size", "sysbench.mode", "sysbench.rw-ratio", "sysbench.open-flags",
	};

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		if (!strcmp(keys[i], key))
			return true;
	return false;
}

static int to_fact(void *ctx, const char *key, const char *value)
{
	struct to_record *t = ctx;
	int r = wanted(t) ? begin_run(t) : 0;

	return r || !wanted(t) ? r : rec_env(t->rec, t->run, key, value, counts(key), &t->err);
}

static int to_note(void *ctx, enum note_kind kind, const char *text)
{
	struct to_record *t = ctx;
	int r = begin_run(t);

	return r ? r : rec_note(t->rec, t->run, kind, TO_RECORD_BASE, "import", text, &t->err);
}

/* Samples on their way to the record. */
struct out {
	struct to_record *t;
	const struct part *p;
	struct sample *rows;
	uint32_t n;
	uint64_t id;
	nsec_t clock;			/* where the next one begins when the file says no times */
};

static int flush_rows(struct out *o)
{
	int r = o->n ? rec_samples(o->t->rec, o->t->run, o->p->series, 0, o->rows, o->n, &o->t->err) : 0;

	o->n = 0;
	return r;
}

static int put(struct out *o, nsec_t begin, nsec_t wait, uint8_t status, uint64_t bytes)
{
	struct sample *s = &o->rows[o->n++];

	*s = (struct sample){ .id = o->id++, .intended = begin, .start = begin, .end = nsec_add(begin, wait),
			      .status = status, .cold = COLD_UNKNOWN, .phase = PHASE_MEASURE, .bytes = bytes, .runq = -1 };
	if (s->end > REC_TIME_MAX)
		return err_set(&o->t->err, -ERANGE, "the waits of %s add up to more than 70 years", o->p->name);
	if (s->end > o->t->t_end)
		o->t->t_end = s->end;
	o->clock = nsec_add(s->end, o->p->pause);
	o->t->sum.waits++;
	return o->n == BATCH ? flush_rows(o) : 0;
}

static int put_waits(struct out *o)
{
	const struct import_waits *w = &o->p->waits;
	bool times = true;
	int r = 0;

	for (size_t i = 0; i < w->n; i++)
		times &= w->p[i].t_start != NSEC_NEVER;
	for (size_t i = 0; !r && i < w->n; i++)
		r = put(o, times ? nsec_add(w->p[i].t_start, TO_RECORD_BASE) : o->clock, w->p[i].wait, w->p[i].status,
			w->p[i].bytes);
	if (!r && w->n && !times)
		r = rec_series_attr(o->t->rec, o->p->series, "time", "order", &o->t->err);
	return r;
}

struct counted {			/* what comes out of the buckets of one series */
	VEC(uint32_t) order;		/* index of a bucket for each sample */
	uint64_t total, every;
	double widest;
};

/* Every k-th of the counted waits, so that at most a million come out; the longest bucket at least once. */
static void count_out(const struct part *p, struct counted *c)
{
	uint64_t phase = 0;
	size_t last = 0;

	c->every = c->total / THIN_MAX + 1;
	for (size_t i = 0; i < p->buckets.n; i++)
		if (p->buckets.p[i].lo >= p->buckets.p[last].lo)
			last = i;
	for (size_t i = 0; i < p->buckets.n; i++) {
		const struct bucket *b = &p->buckets.p[i];
		uint64_t n = (phase + b->n) / c->every;
		double width = b->clipped || b->hi <= 0 ? 0 : (double)(b->hi - b->lo) / (double)b->hi;

		phase = (phase + b->n) % c->every;
		if (i == last && !n)
			n = 1;
		if (width > c->widest)
			c->widest = width;
		while (n--)
			vec_push(&c->order, (uint32_t)i);
	}
}

/* The file does not say in which order they came. Sorted they would look like a drift, so they are shuffled, always alike. */
static void shuffle(struct counted *c)
{
	struct rng rng;

	rng_seed(&rng, c->order.n);
	for (size_t i = c->order.n; i > 1; i--) {
		size_t k = rng_below(&rng, i);
		uint32_t x = c->order.p[k];

		c->order.p[k] = c->order.p[i - 1];
		c->order.p[i - 1] = x;
	}
}

static int bucket_facts(struct to_record *t, const struct part *p, const struct counted *c)
{
	char text[240];
	int r;

	snprintf(text, sizeof(text), "%.4g", c->widest);
	r = rec_series_attr(t->rec, p->series, "time", "none", &t->err);
	if (!r)
		r = rec_series_attr(t->rec, p->series, "bucket_width", text, &t->err);
	snprintf(text, sizeof(text), "the waits of %.60s are counts in buckets up to %.1f %% wide: each stands at the middle of "
		 "its bucket, and their order is shuffled, for it is unknown", p->name, 100 * c->widest);
	if (!r)
		r = rec_note(t->rec, t->run, NOTE_INFO, TO_RECORD_BASE, "import", text, &t->err);
	if (r || c->every == 1)
		return r;
	snprintf(text, sizeof(text), "of %llu waits of %.60s every %lluth is kept, and the longest (%zu in all)",
		 (unsigned long long)c->total, p->name, (unsigned long long)c->every, c->order.n);
	return rec_note(t->rec, t->run, NOTE_LOSS, TO_RECORD_BASE, "import", text, &t->err);
}

static int put_buckets(struct out *o, uint64_t total)
{
	struct counted c = { .total = total };
	int r = 0;

	count_out(o->p, &c);
	shuffle(&c);
	for (size_t i = 0; !r && i < c.order.n; i++) {
		const struct bucket *b = &o->p->buckets.p[c.order.p[i]];

		r = put(o, o->clock, b->clipped ? b->lo : b->lo + (b->hi - b->lo) / 2, b->clipped ? SAMPLE_CENSORED : SAMPLE_OK, 0);
	}
	if (!r)
		r = bucket_facts(o->t, o->p, &c);
	vec_done(&c.order);
	return r;
}

static int write_part(struct to_record *t, struct part *p)
{
	struct out o = { .t = t, .p = p, .rows = mem_array(BATCH, sizeof(struct sample)), .clock = TO_RECORD_BASE };
	uint64_t total = 0;
	int r;

	thin_end(&p->thin, &p->waits);
	r = put_waits(&o);
	if (!r && p->thin.stride > 1) {
		cleanup_free char *words = thin_words(&p->thin, &p->waits, p->name);

		r = rec_note(t->rec, t->run, NOTE_LOSS, TO_RECORD_BASE, "import", words, &t->err);
	}
	for (size_t i = 0; i < p->buckets.n; i++)
		total += p->buckets.p[i].n;
	if (!r && total)
		r = put_buckets(&o, total);
	if (!r)
		r = flush_rows(&o);
	free(o.rows);
	return r;
}

static void forget_parts(struct to_record *t)
{
	for (size_t i = 0; i < t->parts.n; i++) {
		free(t->parts.p[i].name);
		vec_done(&t->parts.p[i].waits);
		vec_done(&t->parts.p[i].buckets);
	}
	for (size_t i = 0; i < t->results.n; i++)
		free(t->results.p[i]);
	vec_done(&t->parts);
	vec_done(&t->results);
}

static int end_run(struct to_record *t, bool truncated)
{
	int r = 0;

	for (size_t i = 0; !r && i < t->parts.n; i++)
		r = write_part(t, &t->parts.p[i]);
	forget_parts(t);
	if (!r && t->run && t->t_end > TO_RECORD_BASE)
		r = rec_run_window(t->rec, t->run, TO_RECORD_BASE, t->t_end, &t->err);
	if (!r && t->run)
		r = rec_run_end(t->rec, t->run, t->t_end, truncated, truncated ? "the imported file is cut off" : "", &t->err);
	if (!r && t->run)
		r = rec_commit(t->rec, &t->err);
	t->sum.runs += t->run != 0;
	t->run = 0;
	t->full = false;
	return r;
}

static int to_next_run(void *ctx, const char *label, bool other_side)
{
	struct to_record *t = ctx;
	int r = 0;

	if (other_side && !t->conf.side)
		return err_set(&t->err, -EINVAL, "'%s' holds several sides, and a record holds one; choose it with --side 1, "
			       "--side 2 ..., or give the file to stallmark compare", t->conf.file);
	if (t->full)
		r = end_run(t, false);
	t->side += other_side;
	t->sum.sides += other_side;
	free(t->label);
	t->label = mem_dup(label ? label : "");
	return r;
}

void to_record_sink(struct to_record *t, struct import_sink *ret_sink)
{
	*ret_sink = (struct import_sink){
		.ctx = t, .series = to_series, .series_fact = to_series_fact, .wait = to_wait, .bucket = to_bucket,
		.number = to_number, .fact = to_fact, .note = to_note, .next_run = to_next_run,
	};
}

int to_record_end(struct to_record *t, int result, bool truncated, const char *target, struct to_record_sum *ret_sum,
		  struct err *e)
{
	int r = result;

	if (!r && t->conf.side > (int)t->sum.sides)
		r = err_set(&t->err, -ENOENT, "'%s' has no side %d, only %u", t->conf.file, t->conf.side, t->sum.sides);
	if (!r)
		r = end_run(t, truncated);
	forget_parts(t);
	if (r) {
		rec_close(t->rec);
		unlink(t->path);
		if (e && !e->msg[0])
			*e = t->err;
		if (e && !e->msg[0])
			err_sys(e, r, "importing '%s' failed", t->conf.file);
	} else {
		r = rec_finish(t->rec, target, e);
	}
	*ret_sum = t->sum;
	free(t->path);
	free(t->label);
	free(t);
	return r;
}

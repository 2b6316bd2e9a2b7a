/* SPDX-License-Identifier: MIT */
#include "run/recorder.h"
#include "base/cleanup.h"
#include "base/mem.h"
#include "base/vec.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

#define PERIOD		(50 * NSEC_PER_MSEC)
#define IDLE_KEPT	4096
#define OWED_MAX	65536

struct rec_probe {
	struct ring *ring;
	int series;
	uint64_t lost_said;
	nsec_t *idle;			/* the first IDLE_KEPT waits of the idle phase */
	size_t nidle;
	nsec_t p90;			/* of them; 0: not computed */
	nsec_t recent[3];		/* the last waits of actions begun in recovery */
	unsigned nrecent;
	uint64_t n;
	nsec_t last, worst;
	uint32_t late;
};

struct rec_load {
	const struct slot *slots;
	unsigned workers;
	int read, written, units;	/* series */
	uint64_t last_read, last_written;
};

struct rec_source {
	const struct source_ops *ops;
	void *st, *conf;
	bool running;
	uint64_t lost;
};

struct queued_note {
	enum note_kind kind;
	nsec_t t;
	char *key, *text;
};

struct recorder {
	struct recorder_conf conf;
	struct source_env env;
	struct rec_probe *probe;
	struct rec_load *load;
	size_t nprobes, nloads;
	VEC(struct rec_source) sources;
	int phase_series;
	pthread_t thread;
	volatile int stop;
	volatile nsec_t stop_at;	/* censored samples end here */
	pthread_mutex_t lock;		/* all below, and the numbers of probes that views read */
	nsec_t phase_t[PHASE_MAX];
	bool phase_written[PHASE_MAX];
	enum sample_phase phase;
	VEC(struct queued_note) notes;
	struct err error;
	uint64_t load_read_s, load_written_s, written;
	struct sample *buf;		/* the thread's */
	nsec_t last_second;
};

static void failed(struct recorder *r, const struct err *e)
{
	pthread_mutex_lock(&r->lock);
	if (!r->error.code)
		r->error = *e;
	pthread_mutex_unlock(&r->lock);
}

static void look_at(struct recorder *r, struct rec_probe *p, const struct sample *s, uint32_t n)
{
	pthread_mutex_lock(&r->lock);
	for (uint32_t i = 0; i < n; i++) {
		nsec_t wait = sample_wait(&s[i]);

		if (s[i].status == SAMPLE_ERROR)
			continue;
		if (s[i].phase == PHASE_IDLE && p->nidle < IDLE_KEPT)
			p->idle[p->nidle++] = wait;
		if (s[i].phase == PHASE_RECOVERY)
			p->recent[p->nrecent++ % 3] = wait;
		if (s[i].phase == PHASE_MEASURE) {
			p->n++;
			p->worst = MAX(p->worst, wait);
			p->late += p->ring->limit && wait > p->ring->limit;
		}
		p->last = wait;
	}
	pthread_mutex_unlock(&r->lock);
}

static void drain_rings(struct recorder *r)
{
	struct err e = { 0 };

	for (size_t i = 0; i < r->nprobes; i++) {
		struct rec_probe *p = &r->probe[i];
		uint32_t n;

		while ((n = ring_take(p->ring, r->buf, RING_ENTRIES)) > 0) {
			look_at(r, p, r->buf, n);
			if (rec_samples(r->conf.rec, r->conf.run, p->series, 0, r->buf, n, &e))
				failed(r, &e);
		}
	}
}

static void count_loads(struct recorder *r, nsec_t now)
{
	double dt = nsec_seconds(now - r->last_second);
	uint64_t read_s = 0, written_s = 0, written_all = 0;
	struct err e = { 0 };
	int bad = 0;

	if (dt <= 0)
		return;
	for (size_t i = 0; i < r->nloads; i++) {
		struct rec_load *l = &r->load[i];
		uint64_t read = 0, written = 0, units = 0, rs, ws;

		for (unsigned w = 0; w < l->workers; w++) {
			read += l->slots[w].tally.bytes_read;
			written += l->slots[w].tally.bytes_written;
			units += l->slots[w].tally.units;
		}
		rs = (uint64_t)((double)(read - l->last_read) / dt);
		ws = (uint64_t)((double)(written - l->last_written) / dt);
		l->last_read = read;
		l->last_written = written;
		read_s += rs;
		written_s += ws;
		written_all += written;
		bad |= rec_counter(r->conf.rec, r->conf.run, l->read, now, (int64_t)rs, &e);
		bad |= rec_counter(r->conf.rec, r->conf.run, l->written, now, (int64_t)ws, &e);
		if (l->units)
			bad |= rec_counter(r->conf.rec, r->conf.run, l->units, now, (int64_t)units, &e);
	}
	for (size_t i = 0; i < r->nprobes; i++)
		r->probe[i].ring->load_bytes_per_s = read_s + written_s;
	pthread_mutex_lock(&r->lock);
	r->load_read_s = read_s;
	r->load_written_s = written_s;
	r->written = written_all;
	pthread_mutex_unlock(&r->lock);
	if (bad)
		failed(r, &e);
	r->last_second = now;
}

static void write_phases_and_notes(struct recorder *r)
{
	struct event ev[PHASE_MAX];
	uint32_t n = 0;
	VEC(struct queued_note) notes = { 0 };
	struct err e = { 0 };
	int bad = 0;

	pthread_mutex_lock(&r->lock);
	for (int i = 0; i < PHASE_MAX; i++) {
		if (!r->phase_t[i] || r->phase_written[i])
			continue;
		r->phase_written[i] = true;
		ev[n++] = (struct event){ .t = r->phase_t[i], .kind = EV_PHASE, .a = (uint64_t)i };
	}
	notes.p = r->notes.p;
	notes.n = r->notes.n;
	r->notes.p = NULL;
	r->notes.n = r->notes.cap = 0;
	pthread_mutex_unlock(&r->lock);
	for (uint32_t i = 0; i < n; i++)
		ev[i].name = rec_string(r->conf.rec, sample_phase_name((uint8_t)ev[i].a));
	if (n)
		bad |= rec_events(r->conf.rec, r->conf.run, r->phase_series, 0, ev, n, &e);
	for (size_t i = 0; i < notes.n; i++) {
		struct queued_note *q = &notes.p[i];

		bad |= rec_note(r->conf.rec, r->conf.run, q->kind, q->t, q->key, q->text, &e);
		free(q->key);
		free(q->text);
	}
	free(notes.p);
	if (bad)
		failed(r, &e);
}

static void say_losses(struct recorder *r)
{
	for (size_t i = 0; i < r->nprobes; i++) {
		struct rec_probe *p = &r->probe[i];
		uint64_t lost = p->ring->lost;
		char text[200];

		if (lost == p->lost_said)
			continue;
		snprintf(text, sizeof(text), "probe %s: %llu samples did not fit into its ring and are lost", p->ring->series,
			 (unsigned long long)(lost - p->lost_said));
		p->lost_said = lost;
		recorder_note(r, NOTE_LOSS, "ring-lost", text);
	}
}

static void drain_sources(struct recorder *r, nsec_t now)
{
	for (size_t i = 0; i < r->sources.n; i++) {
		struct rec_source *s = &r->sources.p[i];
		struct err e = { 0 };

		if (!s->running || (s->ops->due && s->ops->due(s->st, now) > now))
			continue;
		if (s->ops->drain(s->st, now, &e)) {
			s->running = false;
			recorder_note(r, NOTE_WARNING, "source-failed", e.msg);
		}
	}
}

static nsec_t next_wake(struct recorder *r, nsec_t now)
{
	nsec_t t = now + PERIOD;

	for (size_t i = 0; i < r->sources.n; i++) {
		struct rec_source *s = &r->sources.p[i];

		if (s->running && s->ops->due)
			t = MIN(t, MAX(s->ops->due(s->st, now), now + NSEC_PER_MSEC));
	}
	return t;
}

static void stop_sources(struct recorder *r)
{
	for (size_t i = 0; i < r->sources.n; i++) {
		struct rec_source *s = &r->sources.p[i];
		struct err e = { 0 };
		uint64_t lost;

		if (s->running) {
			s->ops->drain(s->st, nsec_now(), &e);
			if (s->ops->stop)
				s->ops->stop(s->st, &e);
		}
		lost = s->ops->lost ? s->ops->lost(s->st) : 0;
		if (lost) {
			char text[200];

			snprintf(text, sizeof(text), "source %s lost %llu events", s->ops->plug.name, (unsigned long long)lost);
			recorder_note(r, NOTE_LOSS, "source-lost", text);
		}
		s->ops->close(s->st);
		param_done(s->ops->plug.params, s->conf);
		free(s->st);
		free(s->conf);
	}
	vec_done(&r->sources);
}

static void write_owed(struct recorder *r)
{
	struct sample *owed = mem_array(OWED_MAX, sizeof(*owed));
	struct err e = { 0 };

	for (size_t i = 0; i < r->nprobes; i++) {
		struct rec_probe *p = &r->probe[i];
		struct in_flight fl = ring_now(p->ring);
		uint32_t n = ring_owed(p->ring, &fl, r->stop_at, owed, OWED_MAX);

		look_at(r, p, owed, n);
		if (n && rec_samples(r->conf.rec, r->conf.run, p->series, 0, owed, n, &e))
			failed(r, &e);
		if (p->ring->thinned) {
			char text[240];

			snprintf(text, sizeof(text), "probe %s: above a million samples only every 10th and each stall were "
				 "kept (%llu left out): its n and quantiles count stalls too heavily", p->ring->series,
				 (unsigned long long)p->ring->thinned);
			recorder_note(r, NOTE_LOSS, "thinned", text);
		}
	}
	free(owed);
}

static void *work(void *arg)
{
	struct recorder *r = arg;
	nsec_t now = nsec_now(), commit = now + NSEC_PER_SEC, count = now + r->conf.plan->period;
	struct err e = { 0 };

	prctl(PR_SET_NAME, "recorder");
	r->last_second = now;
	while (!r->stop) {
		struct timespec ts;
		nsec_t t;

		now = nsec_now();
		drain_rings(r);
		drain_sources(r, now);
		if (now >= count) {
			count_loads(r, now);
			count += MAX(r->conf.plan->period, now - count);
		}
		write_phases_and_notes(r);
		if (now >= commit) {
			say_losses(r);
			if (r->conf.hooks && r->conf.hooks->second)
				r->conf.hooks->second(r->conf.hooks->ctx, r->conf.rec, r->conf.run, now);
			if (rec_commit(r->conf.rec, &e))
				failed(r, &e);
			commit = nsec_now() + NSEC_PER_SEC;
		}
		t = next_wake(r, nsec_now());
		ts = (struct timespec){ .tv_sec = t / NSEC_PER_SEC, .tv_nsec = t % NSEC_PER_SEC };
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL);
	}
	drain_rings(r);
	write_owed(r);
	stop_sources(r);
	count_loads(r, nsec_now());
	say_losses(r);
	write_phases_and_notes(r);
	if (rec_commit(r->conf.rec, &e))
		failed(r, &e);
	return NULL;
}

static int series_of_load(struct recorder *r, const struct plan_load *pl, const char *what, const char *unit,
			  const char *meaning, int *ret, struct err *e)
{
	cleanup_free char *name = mem_printf("load.%s.%s", pl->name, what);
	struct rec_series s = { .kind = SERIES_COUNTER, .name = name, .unit = unit, .meaning = meaning, .group = "load" };

	return rec_series(r->conf.rec, &s, ret, e);
}

static int attr(struct recorder *r, int series, const char *key, const char *value, struct err *e)
{
	return rec_series_attr(r->conf.rec, series, key, value, e);
}

static int describe_probe(struct recorder *r, const struct plan_probe *pp, int series, struct err *e)
{
	cleanup_strbuf struct strbuf steps = STRBUF_INIT;
	char limit[32], interval[32], iteration[32];

	for (const char *const *s = pp->ops->steps; s && *s; s++)
		strbuf_addf(&steps, "%s%s", steps.len ? "," : "", *s);
	snprintf(limit, sizeof(limit), "%lld", (long long)pp->limit);
	snprintf(interval, sizeof(interval), "%lld", (long long)pp->interval);
	if (pp->ops->iteration) {
		int r1;

		snprintf(iteration, sizeof(iteration), "%llu", (unsigned long long)pp->ops->iteration(pp->conf));
		r1 = attr(r, series, "iteration", iteration, e) ?: attr(r, series, "makes", pp->ops->makes, e);
		if (r1)
			return r1;
	}
	return attr(r, series, "loop", pp->ops->loop == LOOP_OPEN ? "open" : "closed", e) ?:
	       attr(r, series, "limit_ns", limit, e) ?:
	       attr(r, series, "interval_ns", interval, e) ?:
	       attr(r, series, "interactive", pp->ops->interactive ? "1" : "0", e) ?:
	       attr(r, series, "wants_cold", pp->ops->wants_cold ? "1" : "0", e) ?:
	       attr(r, series, "steps", strbuf_str(&steps), e) ?:
	       attr(r, series, "probe", pp->ops->plug.name, e) ?:
	       attr(r, series, "dir", r->conf.plan->dirs.p[pp->dir].path, e);
}

static int describe_load(struct recorder *r, const struct plan_load *pl, struct rec_load *l, struct err *e)
{
	char workers[16];
	int res = series_of_load(r, pl, "read", "bytes/s", "read by this load", &l->read, e) ?:
		  series_of_load(r, pl, "written", "bytes/s", "written by this load", &l->written, e);

	if (!res && pl->ops->unit_name)
		res = series_of_load(r, pl, "units", "count", pl->ops->unit_name, &l->units, e);
	snprintf(workers, sizeof(workers), "%u", pl->workers);
	return res ?: attr(r, l->written, "load", pl->ops->plug.name, e) ?: attr(r, l->written, "workers", workers, e) ?:
	       attr(r, l->written, "about", pl->ops->plug.about, e) ?:
	       attr(r, l->written, "dir", r->conf.plan->dirs.p[pl->dir].path, e);
}

static int open_series(struct recorder *r, struct err *e)
{
	const struct plan *plan = r->conf.plan;
	struct rec_series phases = { .kind = SERIES_EVENTS, .name = "phases", .unit = "", .meaning = "phases of the run",
				     .group = "run" };
	int res = rec_series(r->conf.rec, &phases, &r->phase_series, e);

	for (size_t i = 0; i < plan->probes.n && !res; i++) {
		const struct plan_probe *pp = &plan->probes.p[i];
		struct rec_series s = { .kind = SERIES_SAMPLES, .name = pp->name, .unit = "ns",
					.meaning = pp->ops->measures, .group = "probe" };

		r->probe[i].ring = r->conf.rings[i];
		r->probe[i].idle = mem_array(IDLE_KEPT, sizeof(nsec_t));
		res = rec_series(r->conf.rec, &s, &r->probe[i].series, e) ?:
		      describe_probe(r, pp, r->probe[i].series, e);
	}
	for (size_t i = 0; i < plan->loads.n && !res; i++) {
		r->load[i].slots = r->conf.first[i];
		r->load[i].workers = plan->loads.p[i].workers;
		res = describe_load(r, &plan->loads.p[i], &r->load[i], e);
	}
	return res;
}

/* Sources are helpers: one that cannot run is a note, not an end. */
static void open_source(struct recorder *r, const struct source_ops *ops)
{
	struct rec_source s = { .ops = ops };
	struct err e = { 0 };
	char text[400];

	if (ops->supported && ops->supported(&e)) {
		snprintf(text, sizeof(text), "source %s is not there: %s", ops->plug.name, e.msg);
		recorder_note(r, NOTE_INFO, "source-missing", text);
		return;
	}
	s.conf = mem_alloc(ops->plug.conf_size + 1);
	s.st = mem_alloc(ops->plug.state_size + 1);
	param_defaults(ops->plug.params, s.conf);
	for (const struct param *p = ops->plug.params; p && p->name; p++) {
		char value[32];

		if (!strcmp(p->name, "after") && p->type == PARAM_NSEC) {
			snprintf(value, sizeof(value), "%lldns", (long long)r->conf.plan->stacks);
			param_set(ops->plug.params, s.conf, ops->plug.name, "after", value, NULL);
		}
		if (!strcmp(p->name, "keep") && p->type == PARAM_WORD && !strcmp(r->conf.plan->trace, "full"))
			param_set(ops->plug.params, s.conf, ops->plug.name, "keep", "full", NULL);
	}
	if (ops->open(s.st, s.conf, &r->env, &e) || (ops->start && ops->start(s.st, &e))) {
		snprintf(text, sizeof(text), "source %s could not start: %s", ops->plug.name, e.msg);
		recorder_note(r, NOTE_WARNING, "source-missing", text);
		ops->close(s.st);
		param_done(ops->plug.params, s.conf);
		free(s.st);
		free(s.conf);
		return;
	}
	s.running = true;
	vec_push(&r->sources, s);
}

static void open_sources(struct recorder *r)
{
	const char *trace = r->conf.plan->trace;

	for (const void *const *t = source_table; *t; t++) {
		const struct source_ops *ops = *t;
		bool tracer = !strcmp(ops->plug.name, "bpf") || !strcmp(ops->plug.name, "blk");

		if (tracer && (strcmp(ops->plug.name, "bpf") || (strcmp(trace, "stalls") && strcmp(trace, "full"))))
			continue;
		open_source(r, ops);
	}
}

static void recorder_free(struct recorder *r)
{
	for (size_t i = 0; i < r->nprobes; i++)
		free(r->probe[i].idle);
	for (size_t i = 0; i < r->notes.n; i++) {
		free(r->notes.p[i].key);
		free(r->notes.p[i].text);
	}
	vec_done(&r->notes);
	vec_done(&r->sources);
	free(r->probe);
	free(r->load);
	free(r->buf);
	pthread_mutex_destroy(&r->lock);
	free(r);
}

int recorder_start(const struct recorder_conf *conf, struct recorder **ret, struct err *e)
{
	struct recorder *r = mem_alloc(sizeof(*r));
	int res;

	r->conf = *conf;
	r->env = *conf->env;
	r->env.rec = conf->rec;
	r->env.run = conf->run;
	r->env.period = conf->plan->period;
	r->nprobes = conf->plan->probes.n;
	r->nloads = conf->plan->loads.n;
	r->probe = mem_array(r->nprobes + 1, sizeof(*r->probe));
	r->load = mem_array(r->nloads + 1, sizeof(*r->load));
	r->buf = mem_array(RING_ENTRIES, sizeof(*r->buf));
	pthread_mutex_init(&r->lock, NULL);
	res = open_series(r, e);
	if (!res) {
		open_sources(r);
		res = -pthread_create(&r->thread, NULL, work, r);
		if (res)
			err_sys(e, res, "cannot start the recorder thread");
	}
	if (res) {
		stop_sources(r);
		recorder_free(r);
		return res;
	}
	*ret = r;
	return 0;
}

void recorder_phase(struct recorder *r, enum sample_phase phase, nsec_t t)
{
	for (size_t i = 0; i < r->nprobes; i++)
		ring_set_phase(r->probe[i].ring, phase, t);
	pthread_mutex_lock(&r->lock);
	r->phase_t[phase] = t;
	r->phase = phase;
	pthread_mutex_unlock(&r->lock);
}

void recorder_note(struct recorder *r, enum note_kind kind, const char *key, const char *text)
{
	struct queued_note q = { .kind = kind, .t = nsec_now(), .key = mem_dup(key), .text = mem_dup(text) };

	pthread_mutex_lock(&r->lock);
	vec_push(&r->notes, q);
	pthread_mutex_unlock(&r->lock);
}

bool recorder_failed(struct recorder *r, struct err *e)
{
	bool bad;

	pthread_mutex_lock(&r->lock);
	bad = r->error.code;
	if (bad && e)
		*e = r->error;
	pthread_mutex_unlock(&r->lock);
	return bad;
}

static int by_nsec(const void *a, const void *b)
{
	nsec_t x = *(const nsec_t *)a, y = *(const nsec_t *)b;

	return (x > y) - (x < y);
}

bool recorder_recovered(struct recorder *r)
{
	bool all = true;

	pthread_mutex_lock(&r->lock);
	for (size_t i = 0; i < r->nprobes; i++) {
		struct rec_probe *p = &r->probe[i];

		if (p->nidle < 3)	/* no baseline to return to */
			continue;
		if (!p->p90) {
			qsort(p->idle, p->nidle, sizeof(nsec_t), by_nsec);
			p->p90 = p->idle[(p->nidle * 9 + 9) / 10 - 1];
		}
		if (p->nrecent < 3)
			all = false;
		for (int k = 0; k < 3 && all; k++)
			all = p->recent[k] <= 2 * p->p90;
	}
	pthread_mutex_unlock(&r->lock);
	return all;
}

void recorder_view(struct recorder *r, struct run_view *v)
{
	nsec_t now = nsec_now();

	pthread_mutex_lock(&r->lock);
	v->load_read_s = r->load_read_s;
	v->load_written_s = r->load_written_s;
	v->written = r->written;
	v->nprobes = (int)MIN(r->nprobes, (size_t)RUN_VIEW_PROBES);
	for (int i = 0; i < v->nprobes; i++) {
		const struct rec_probe *p = &r->probe[i];
		struct in_flight fl = ring_now(p->ring);

		v->probe[i].name = p->ring->series;
		v->probe[i].n = p->n;
		v->probe[i].last = p->last;
		v->probe[i].worst = p->worst;
		v->probe[i].limit = p->ring->limit;
		v->probe[i].late = p->late;
		v->probe[i].in_flight = fl.started ? now - fl.intended : 0;
		v->probe[i].tid = fl.tid;
	}
	pthread_mutex_unlock(&r->lock);
}

int recorder_stop(struct recorder *r, nsec_t t1, nsec_t limit, struct err *e)
{
	struct timespec ts;
	nsec_t until = nsec_now() + limit;
	int res;

	r->stop_at = t1;
	__atomic_store_n(&r->stop, 1, __ATOMIC_RELEASE);
	ts = (struct timespec){ .tv_sec = until / NSEC_PER_SEC, .tv_nsec = until % NSEC_PER_SEC };
	res = pthread_clockjoin_np(r->thread, NULL, CLOCK_MONOTONIC, &ts);
	if (res)
		return err_set(e, -ETIMEDOUT, "the recorder did not end in time; the record holds what was there a second before");
	res = r->error.code;
	if (res && e)
		*e = r->error;
	recorder_free(r);
	return res;
}

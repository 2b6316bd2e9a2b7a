/* SPDX-License-Identifier: MIT */
/* The tracer as a source of a run: stalls, and while there are any what the block layer did. */
#include "base/cleanup.h"
#include "base/strbuf.h"
#include "collect/bpf/why.h"
#include "collect/fs-rows.h"
#include "collect/source.h"
#include "config.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

struct bpf_conf {
	nsec_t threshold;
	nsec_t probe_threshold;
	bool requests;
	int keep;
};

static const char *const keep_words[] = { "stalls", "full", NULL };

static const struct param params[] = {
	PARAM(struct bpf_conf, threshold, PARAM_NSEC, "20ms", "waits from this on are stalls"),
	PARAM(struct bpf_conf, probe_threshold, PARAM_NSEC, "1ms", "shorter waits of the run's own probes are kept from this on"),
	PARAM(struct bpf_conf, requests, PARAM_BOOL, "yes", "follow block requests, to say what was served meanwhile"),
	{ .name = "keep", .type = PARAM_WORD, .offset = offsetof(struct bpf_conf, keep), .def = "stalls", .words = keep_words,
	  .help = "which requests the record keeps: those around stalls, or all" },
	{ 0 }
};

#if HAVE_BPF
#include "collect/bpf/rows.h"
#include "collect/bpf/tracer.h"

#define PERIOD		(100 * NSEC_PER_MSEC)	/* the ring holds 3 s at 20,000 requests a second */
#define COST_AFTER	NSEC_PER_SEC		/* what the programs cost is measured in one early second */
#define COST_FOR	NSEC_PER_SEC
#define PROGRAMS	64

enum cost_state { COST_BEFORE, COST_RUNNING, COST_DONE };

struct bpf_state {
	struct source_env env;
	struct tracer *tracer;
	struct rows *rows;
	nsec_t started, next, cost_from;
	enum cost_state cost;
	uint64_t requests_at_cost;
	bool stopped;
};

static int bpf_supported(struct err *why)
{
	return tracer_supported(why);
}

static int bpf_open(void *state, const void *conf, const struct source_env *env, struct err *e)
{
	struct rec_series series = { .kind = SERIES_EVENTS, .name = "trace", .unit = "", .group = "trace",
				     .meaning = "stalls, who caused them and what the disk served meanwhile" };
	const struct bpf_conf *c = conf;
	struct tracer_conf tc = { .threshold = c->threshold, .probe_threshold = c->probe_threshold, .requests = c->requests };
	cleanup_strbuf struct strbuf missing = STRBUF_INIT;
	struct bpf_state *s = state;
	char threshold[24];
	int id, r;

	s->env = *env;
	r = tracer_open(&tc, &s->tracer, &missing, e);
	if (r < 0)
		return r;
	snprintf(threshold, sizeof(threshold), "%lld", (long long)c->threshold);
	r = rec_series(env->rec, &series, &id, e);
	if (!r)
		r = rec_series_attr(env->rec, id, "threshold_ns", threshold, e);
	if (!r)
		r = rec_series_attr(env->rec, id, "backend", "bpf", e);
	if (!r && missing.len) {
		cleanup_strbuf struct strbuf b = STRBUF_INIT;

		strbuf_addf(&b, "this kernel lacks tracepoints for: %s", strbuf_str(&missing));
		r = rec_note(env->rec, env->run, NOTE_INFO, nsec_now(), "trace-missing", strbuf_str(&b), e);
	}
	if (r < 0)
		return r;
	s->rows = rows_new(env->rec, env->run, env->clock, id, c->threshold, c->keep == 1);
	for (int i = 0; i < env->npids; i++) {
		const char *name = env->pid_names ? env->pid_names[i] : NULL;

		if (name)
			rows_ours(s->rows, (uint32_t)env->pids[i], name, nsec_now());
		if (name && !strncmp(name, "probe", 5))
			tracer_watch(s->tracer, (uint32_t)env->pids[i]);
	}
	return fs_rows(env->rec, env->run, id, env->clock, e);
}

static int bpf_start(void *state, struct err *e)
{
	struct bpf_state *s = state;

	s->started = s->next = nsec_now();
	return tracer_attach(s->tracer, e);
}

static nsec_t bpf_due(void *state, nsec_t now)
{
	struct bpf_state *s = state;

	return s->next;
}

/* "tracing took 0.8 % of one CPU, 520 ns a request" goes into the record: rule 12 of the design. */
static int write_cost(struct bpf_state *s, nsec_t now, struct err *e)
{
	struct tracer_cost c[PROGRAMS];
	int n = MIN(tracer_cost(s->tracer, c, PROGRAMS), PROGRAMS);
	uint64_t ns = 0, block_ns = 0, events = 0, requests = s->rows->requests - s->requests_at_cost;
	double share;
	char text[200];

	for (int i = 0; i < n; i++) {
		ns += c[i].ns;
		events += c[i].runs;
		if (!strncmp(c[i].program, "block_", 6))
			block_ns += c[i].ns;
	}
	share = (double)ns / (double)(now - s->cost_from) * 100;
	snprintf(text, sizeof(text), "tracing took %.2f %% of one CPU in the kernel (%llu events in %.1f s%s", share,
		 (unsigned long long)events, nsec_seconds(now - s->cost_from), requests >= 1000 ? "" : ")");
	if (requests >= 1000)	/* fewer say nothing */
		snprintf(text + strlen(text), sizeof(text) - strlen(text), ", %.0f ns a block request)",
			 (double)block_ns / (double)requests);
	return rec_note(s->env.rec, s->env.run, NOTE_INFO, now, "trace-cost", text, e);
}

static int bpf_drain(void *state, nsec_t now, struct err *e)
{
	struct bpf_state *s = state;
	int r = tracer_read(s->tracer, rows_take, s->rows, e);

	s->next = now + PERIOD;
	if (r < 0)
		return r;
	if (s->cost == COST_BEFORE && now - s->started >= COST_AFTER) {
		s->cost = tracer_cost_begin(s->tracer) ? COST_DONE : COST_RUNNING;
		s->cost_from = now;
		s->requests_at_cost = s->rows->requests;
	} else if (s->cost == COST_RUNNING && now - s->cost_from >= COST_FOR) {
		s->cost = COST_DONE;
		r = write_cost(s, now, e);
		tracer_cost_end(s->tracer);
		if (r < 0)
			return r;
	}
	return rows_flush(s->rows, now, false, e);
}

static int bpf_stop(void *state, struct err *e)
{
	struct bpf_state *s = state;
	nsec_t now = nsec_now();
	char text[200];
	uint64_t lost;
	int r;

	if (s->stopped)
		return 0;
	s->stopped = true;
	r = tracer_read(s->tracer, rows_take, s->rows, e);
	if (r >= 0)
		r = tracer_open_waits(s->tracer, rows_take, s->rows, e);
	if (r >= 0)
		r = rows_flush(s->rows, now, true, e);
	lost = tracer_lost(s->tracer);
	if (r >= 0 && lost) {
		struct event ev = { .kind = EV_LOST, .t = now, .a = lost };

		snprintf(text, sizeof(text), "%llu trace events were lost, the ring buffer was full; explanations may lack parts",
			 (unsigned long long)lost);
		r = rec_events(s->env.rec, s->env.run, s->rows->series, s->env.clock, &ev, 1, e);
		if (r >= 0)
			r = rec_note(s->env.rec, s->env.run, NOTE_LOSS, now, "trace-lost", text, e);
	}
	if (r >= 0 && s->rows->truncated) {
		snprintf(text, sizeof(text), "%llu stalls began before the oldest block request that was still in memory; what the "
			 "disk did at their beginning is unknown", (unsigned long long)s->rows->truncated);
		r = rec_note(s->env.rec, s->env.run, NOTE_LOSS, now, "trace-truncated", text, e);
	}
	if (r >= 0 && s->rows->syms_failed)
		r = rec_note(s->env.rec, s->env.run, NOTE_WARNING, now, "trace-symbols",
			     "kernel symbols are hidden (kptr_restrict): waits could not be classified by their stack", e);
	return r < 0 ? r : 0;
}

static uint64_t bpf_lost(const void *state)
{
	const struct bpf_state *s = state;

	return s->tracer ? tracer_lost(s->tracer) : 0;
}

static void bpf_close(void *state)
{
	struct bpf_state *s = state;

	tracer_close(s->tracer);
	rows_free(s->rows);
}
#else
struct bpf_state {
	int none;
};

static int bpf_supported(struct err *why)
{
	return bpf_why_not(why);
}

static int bpf_open(void *state, const void *conf, const struct source_env *env, struct err *e)
{
	return bpf_why_not(e);
}

static int bpf_start(void *state, struct err *e)
{
	return bpf_why_not(e);
}

static nsec_t bpf_due(void *state, nsec_t now)
{
	return NSEC_NEVER;
}

static int bpf_drain(void *state, nsec_t now, struct err *e)
{
	return 0;
}

static int bpf_stop(void *state, struct err *e)
{
	return 0;
}

static uint64_t bpf_lost(const void *state)
{
	return 0;
}

static void bpf_close(void *state)
{
}
#endif

const struct source_ops source_bpf = {
	.plug = { .name = "bpf", .about = "stalls traced in the kernel: waits, block requests, journals, dirtying",
		  .conf_size = sizeof(struct bpf_conf), .state_size = sizeof(struct bpf_state), .params = params },
	.supported = bpf_supported,
	.open = bpf_open,
	.start = bpf_start,
	.due = bpf_due,
	.drain = bpf_drain,
	.stop = bpf_stop,
	.lost = bpf_lost,
	.close = bpf_close,
};

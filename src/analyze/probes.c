/* SPDX-License-Identifier: MIT */
#include "analyze/probes.h"
#include "base/cleanup.h"
#include "base/mem.h"
#include "base/vec.h"

#include <stdlib.h>
#include <string.h>

struct growing {			/* a probe_part while it grows */
	VEC(nsec_t) wait;
	VEC(nsec_t) cycle;
	VEC(nsec_t) t;
	VEC(uint8_t) kind;
	size_t warm, cold, errors;
	nsec_t runq;
};

struct load {
	struct probe_data *p;
	struct growing *part[3];	/* measured, idle, recovery; nruns each */
	const int *runs;
	size_t steps_n;
};

static size_t run_index(const struct load *l, int run)
{
	for (size_t i = 0; i < l->p->nruns; i++)
		if (l->runs[i] == run)
			return i;
	return SIZE_MAX;
}

static enum wait_kind kind_of(const struct sample *s)
{
	if (s->status == SAMPLE_OK)
		return WAIT_EXACT;
	return s->start ? WAIT_LOWER : WAIT_MISSED;
}

static int take_rows(void *ctx, int run, const struct sample *rows, uint32_t n)
{
	struct load *l = ctx;
	size_t at = run_index(l, run);

	if (at == SIZE_MAX)
		return 0;
	for (uint32_t i = 0; i < n; i++) {
		const struct sample *s = &rows[i];
		int which = s->phase == PHASE_MEASURE ? 0 : s->phase == PHASE_IDLE ? 1 : s->phase == PHASE_RECOVERY ? 2 : -1;
		struct growing *g;

		if (which < 0)
			continue;
		g = &l->part[which][at];
		if (s->status == SAMPLE_ERROR) {
			g->errors++;
			l->p->last_error = s->error;
			continue;
		}
		vec_push(&g->wait, sample_wait(s));
		vec_push(&g->t, s->intended);
		vec_push(&g->kind, (uint8_t)kind_of(s));
		g->warm += s->cold == COLD_NO;
		g->cold += s->cold == COLD_YES;
		if (s->runq >= 0)
			g->runq = (g->runq < 0 ? 0 : g->runq) + s->runq;
		if (which)
			continue;
		if (!l->p->worst.end || sample_wait(s) > sample_wait(&l->p->worst)) {
			l->p->worst = *s;
			l->p->worst_run = run;
		}
		if (s->status == SAMPLE_OK) {
			for (int k = 0; k < MIN(s->nsteps, SAMPLE_STEPS); k++)
				l->p->step_mean[k] += nsec_seconds(s->step[k]);
			l->steps_n++;
		}
	}
	return 0;
}

/* The time from the begin of each action to the begin of the next; the last one: its wait and the pause. */
static void cycles(struct growing *g, nsec_t pause)
{
	for (size_t i = 0; i < g->wait.n; i++)
		vec_push(&g->cycle, i + 1 < g->wait.n ? g->t.p[i + 1] - g->t.p[i] : nsec_add(g->wait.p[i], pause));
}

static struct probe_part *finish(struct growing *g, size_t nruns, const int *runs, const struct probe_data *p)
{
	struct probe_part *out = mem_array(nruns, sizeof(*out));

	for (size_t i = 0; i < nruns; i++) {
		if (!p->open_loop)
			cycles(&g[i], p->interval);
		out[i] = (struct probe_part){ .run = runs[i], .n = g[i].wait.n, .wait = g[i].wait.p, .cycle = g[i].cycle.p,
					      .t = g[i].t.p, .kind = g[i].kind.p, .warm = g[i].warm, .cold = g[i].cold,
					      .errors = g[i].errors, .runq = g[i].runq };
	}
	free(g);
	return out;
}

static struct waits *as_waits(const struct probe_part *part, size_t n, const struct probe_data *p)
{
	struct waits *w = mem_array(n, sizeof(*w));

	for (size_t i = 0; i < n; i++)
		w[i] = (struct waits){ .x = part[i].wait, .kind = part[i].kind, .cycle = part[i].cycle, .n = part[i].n,
				       .pause = p->interval, .open_loop = p->open_loop, .no_cycle = p->no_cycle,
				       .unordered = p->unordered };
	return w;
}

static bool yes(const char *s)
{
	return s && (!strcmp(s, "yes") || !strcmp(s, "1"));
}

static void facts(struct rec *r, struct probe_data *p)
{
	const char *loop = rec_series_attr_get(r, p->series, "loop"), *v, *steps, *time;

	p->open_loop = loop && !strcmp(loop, "open");
	p->loop = p->open_loop ? "open" : "closed";
	p->interactive = yes(rec_series_attr_get(r, p->series, "interactive"));
	p->wants_cold = yes(rec_series_attr_get(r, p->series, "wants_cold"));
	v = rec_series_attr_get(r, p->series, "limit_ns");
	p->limit = v ? strtoll(v, NULL, 10) : 0;
	v = rec_series_attr_get(r, p->series, "interval_ns");
	p->interval = v ? strtoll(v, NULL, 10) : 0;
	/* Imported: "order" or "none" say what the file did not tell about the times of its waits. */
	time = rec_series_attr_get(r, p->series, "time");
	p->unordered = time && !strcmp(time, "none");
	p->no_cycle = time && !p->open_loop && !v;
	steps = rec_series_attr_get(r, p->series, "steps");
	while (steps && *steps && p->nsteps < SAMPLE_STEPS) {
		size_t len = strcspn(steps, ",");

		p->steps[p->nsteps++] = mem_dupn(steps, len);
		steps += len + (steps[len] == ',');
	}
}

struct walk {
	VEC(struct rec_series) found;
};

static int keep_samples(void *ctx, const struct rec_series *s)
{
	struct walk *w = ctx;

	if (s->kind == SERIES_SAMPLES)
		vec_push(&w->found, *s);
	return 0;
}

static int load_one(struct rec *r, const struct rec_series *s, const int *runs, size_t nruns, struct probe_data *p,
		    struct err *e)
{
	struct load l = { .p = p, .runs = runs };
	int err;

	*p = (struct probe_data){ .series = s->id, .name = s->name, .measures = s->meaning, .nruns = nruns };
	facts(r, p);
	for (int k = 0; k < 3; k++) {
		l.part[k] = mem_array(nruns, sizeof(*l.part[k]));
		for (size_t i = 0; i < nruns; i++)
			l.part[k][i].runq = -1;
	}
	err = rec_samples_each(r, 0, s->id, take_rows, &l, e);
	p->measured = finish(l.part[0], nruns, runs, p);
	p->idle = finish(l.part[1], nruns, runs, p);
	p->recovery = finish(l.part[2], nruns, runs, p);
	p->waits = as_waits(p->measured, nruns, p);
	p->idle_waits = as_waits(p->idle, nruns, p);
	for (int k = 0; k < SAMPLE_STEPS && l.steps_n; k++)
		p->step_mean[k] /= (double)l.steps_n;
	return err;
}

int probes_load(struct rec *r, struct probes *ret, struct err *e)
{
	struct walk w = { 0 };
	struct probes out = { 0 };
	int nruns = rec_run_count(r), err = 0;
	int *runs = mem_array((size_t)nruns, sizeof(*runs));

	for (int i = 0; i < nruns; i++) {
		struct rec_run run = { 0 };

		if (!rec_run_get(r, i, &run))
			runs[i] = run.id;
	}
	rec_series_each(r, keep_samples, &w);
	out.p = mem_array(w.found.n, sizeof(*out.p));
	for (size_t i = 0; i < w.found.n && !err; i++) {
		err = load_one(r, &w.found.p[i], runs, (size_t)nruns, &out.p[i], e);
		out.n++;
	}
	vec_done(&w.found);
	free(runs);
	if (err)
		probes_done(&out);
	else
		*ret = out;
	return err;
}

static void part_done(struct probe_part *p, size_t n)
{
	for (size_t i = 0; p && i < n; i++) {
		free(p[i].wait);
		free(p[i].cycle);
		free(p[i].t);
		free(p[i].kind);
	}
	free(p);
}

void probes_done(struct probes *p)
{
	for (size_t i = 0; i < p->n; i++) {
		part_done(p->p[i].measured, p->p[i].nruns);
		part_done(p->p[i].idle, p->p[i].nruns);
		part_done(p->p[i].recovery, p->p[i].nruns);
		free(p->p[i].waits);
		free(p->p[i].idle_waits);
		for (int k = 0; k < p->p[i].nsteps; k++)
			free((char *)p->p[i].steps[k]);
	}
	free(p->p);
	*p = (struct probes){ 0 };
}

/* SPDX-License-Identifier: MIT */
#include "analyze/probes.h"
#include "analyze/side.h"
#include "base/cleanup.h"

#include <math.h>
#include <string.h>

#define LOAD_SECONDS_MAX	(7 * 24 * 3600)

struct seconds {
	struct side *side;
	size_t first;			/* the side's run that is the record's first */
	const struct rec_run *runs;
	size_t nruns;
};

static struct side_run *run_of(struct seconds *s, int run, const struct rec_run **ret)
{
	for (size_t i = 0; i < s->nruns; i++)
		if (s->runs[i].id == run) {
			*ret = &s->runs[i];
			return &s->side->runs.p[s->first + i];
		}
	return NULL;
}

/* A rate holds for the second before its stamp; several loads add up. */
static int add_rates(void *ctx, int run, const nsec_t *t, const int64_t *value, uint32_t n)
{
	const struct rec_run *rr = NULL;
	struct side_run *r = run_of(ctx, run, &rr);

	if (!r || !r->load)
		return 0;
	for (uint32_t i = 0; i < n; i++) {
		nsec_t at = t[i] - rr->measure_t0;

		if (at <= 0 || t[i] > rr->measure_t1 + NSEC_PER_SEC / 2)
			continue;
		r->load[MIN((size_t)((at - 1) / NSEC_PER_SEC), r->nload - 1)] += (double)value[i];
	}
	return 0;
}

struct walk {
	VEC(struct rec_series) found;
};

static int keep_loads(void *ctx, const struct rec_series *s)
{
	struct walk *w = ctx;

	if (s->kind == SERIES_COUNTER && s->group && !strcmp(s->group, "load") && !strcmp(s->unit, "bytes/s"))
		vec_push(&w->found, *s);
	return 0;
}

static int add_loads(struct seconds *s, struct rec *r, struct err *e)
{
	struct walk w = { 0 };
	int err = 0;

	rec_series_each(r, keep_loads, &w);
	for (size_t i = 0; w.found.n && i < s->nruns; i++) {
		struct side_run *run = &s->side->runs.p[s->first + i];
		nsec_t seconds = run->length / NSEC_PER_SEC;

		if (seconds < 1 || seconds > LOAD_SECONDS_MAX)
			continue;
		run->nload = (size_t)seconds;
		run->load = mem_array(run->nload, sizeof(*run->load));
	}
	for (size_t i = 0; i < w.found.n && !err; i++)
		err = rec_counter_each(r, 0, w.found.p[i].id, add_rates, s, e);
	vec_done(&w.found);
	return err;
}

/* An import's single number: "result.NAME" or "result.NAME#2" (an iteration) = "307.288 /s, more is better". */
static void add_result(struct side_run *run, const char *key, const char *value)
{
	cleanup_free char *name = mem_dupn(key, strcspn(key, "#")), *unit = NULL;
	char *end;
	double x = strtod(value, &end);

	if (end == value || !isfinite(x))
		return;
	end += *end == ' ';
	unit = mem_dupn(end, strcspn(end, ","));
	side_number(run, name, unit, x, strstr(end, ", more is better") ? 1 : strstr(end, ", less is better") ? -1 : 0);
}

static int add_fact(void *ctx, const char *key, const char *value, bool counts)
{
	if (!strncmp(key, "result.", 7))
		add_result(ctx, key + 7, value);
	else
		side_fact(ctx, key, value, counts);
	return 0;
}

struct noting {
	struct side *side;
	const char *name;
};

static int add_note(void *ctx, int run, enum note_kind kind, nsec_t t, const char *key, const char *text)
{
	struct noting *n = ctx;

	if (kind == NOTE_CHECK_FAILED || kind == NOTE_LOSS)
		side_note(n->side, "%s, run %d: %s: %s", n->name, run, key, text);
	return 0;
}

static void take_series(struct seconds *s, struct probes *probes)
{
	for (size_t i = 0; i < probes->n; i++) {
		struct probe_data *p = &probes->p[i];

		for (size_t k = 0; k < p->nruns; k++) {
			struct probe_part *part = &p->measured[k];
			const struct rec_run *rr = NULL;
			struct side_run *run = run_of(s, part->run, &rr);
			struct side_series *x;

			if (!run || (!part->n && !part->errors))
				continue;
			x = side_series(run, p->name, p->measures);
			x->w = p->waits[k];
			x->t = part->t;
			x->limit = p->limit;
			x->interactive = p->interactive;
			x->wants_cold = p->wants_cold;
			x->warm = part->warm;
			x->cold = part->cold;
			x->errors = part->errors;
			for (size_t j = 0; j < part->n; j++)
				part->t[j] -= rr->measure_t0;
		}
	}
}

static void replace(char **to, const char *text)
{
	free(*to);
	*to = mem_dup(text ? text : "");
}

static void done_probes(void *p)
{
	probes_done(p);
	free(p);
}

int side_add_record(struct side *s, struct rec *r, const char *name, struct err *e)
{
	cleanup_free struct rec_run *runs = NULL;
	struct probes *probes = mem_alloc(sizeof(*probes));
	struct seconds sec = { .side = s, .first = s->runs.n };
	struct noting noting = { .side = s, .name = name };
	int n = rec_run_count(r), err;

	runs = mem_array((size_t)MAX(n, 1), sizeof(*runs));
	err = probes_load(r, probes, e);
	if (err) {
		free(probes);
		return err;
	}
	side_own(s, probes, done_probes);
	for (int i = 0; i < n; i++) {
		cleanup_free char *source = NULL;
		struct side_run *run;

		if (rec_run_get(r, i, &runs[sec.nruns]))
			continue;
		source = n > 1 ? mem_printf("%s, run %d", name, runs[sec.nruns].id) : mem_dup(name);
		run = side_run(s, source, runs[sec.nruns].producer);
		replace(&run->command, runs[sec.nruns].command);
		replace(&run->version, runs[sec.nruns].version);
		replace(&run->scenario, runs[sec.nruns].scenario);
		replace(&run->scenario_text, runs[sec.nruns].scenario_text);
		replace(&run->cell, runs[sec.nruns].cell);
		run->partial = runs[sec.nruns].partial;
		run->length = runs[sec.nruns].measure_t1 - runs[sec.nruns].measure_t0;
		if (run->partial)
			side_note(s, "%s ended early: %s", source, runs[sec.nruns].why_partial ? runs[sec.nruns].why_partial : "unknown why");
		rec_env_each(r, runs[sec.nruns].id, add_fact, run);
		sec.nruns++;
	}
	sec.runs = runs;
	take_series(&sec, probes);
	rec_notes_each(r, 0, add_note, &noting);
	err = add_loads(&sec, r, e);
	if (rec_damaged(r))
		side_note(s, "%s is damaged: %llu parts of it could not be read and are left out", name,
			  (unsigned long long)rec_damaged(r));
	return err;
}

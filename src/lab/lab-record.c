/* SPDX-License-Identifier: MIT */
/* What a lab writes into a run's record: facts, served requests, faults, how late it was. */
#include "base/cleanup.h"
#include "base/mem.h"
#include "lab/lab-internal.h"
#include "model/drive.h"
#include "record/truth.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

#define BATCH 4096

static int fact(struct lab *lab, struct rec *r, int run, const char *what, const char *value, bool counts, struct err *e)
{
	cleanup_free char *key = mem_printf("lab.%s.%s", lab->conf.name, what);

	return value ? rec_env(r, run, key, value, counts, e) : 0;
}

int lab_facts(struct lab *lab, struct rec *r, int run, struct err *e)
{
	const struct lab_conf *c = &lab->conf;
	cleanup_strbuf struct strbuf values = STRBUF_INIT;
	int err = 0;

	for (const struct param *p = lab_params; p->name && !err; p++) {
		char text[300];

		err = fact(lab, r, run, p->name, param_get_text(p, c, text, sizeof(text)), strcmp(p->name, "file"), e);
	}
	for (size_t i = 0; i < c->tunables.n && !err; i++) {
		cleanup_free char *key = mem_printf("sched.%s", c->tunables.p[i].key);

		err = fact(lab, r, run, key, c->tunables.p[i].value, true, e);
	}
	for (size_t i = 0; i < lab->profile->nlines; i++)
		strbuf_addf(&values, "%s%s=%s", i ? " " : "", lab->profile->lines[i].key, lab->profile->lines[i].value);
	if (!err)
		err = fact(lab, r, run, "model", lab->profile->ops->plug.name, true, e);
	if (!err)
		err = fact(lab, r, run, "profile", strbuf_str(&values), true, e);
	if (!err)
		err = fact(lab, r, run, "device", lab->loop.path, false, e);
	for (const char *line = lab->said.s; line && *line && !err;) {
		size_t n = strcspn(line, "\n");
		cleanup_free char *text = mem_printf("lab %s: %.*s", c->name, (int)n, line);

		err = rec_note(r, run, NOTE_WARNING, 0, "lab-refused", text, e);
		line += n + (line[n] == '\n');
	}
	return err;
}

static void to_event(const struct lab *lab, const struct log_entry *x, struct event *ret)
{
	*ret = (struct event){
		.t = x->submitted, .dur = x->due - x->submitted, .kind = EV_SERVED,
		.dev = (uint32_t)(major(lab->loop.dev) << 20 | minor(lab->loop.dev)),
		.a = x->sector, .b = x->bytes, .c = x->late_ns, .d = x->op, .e = x->queue,
		.flags = (x->op == RQ_WRITE ? EVF_WRITE : x->op == RQ_FLUSH ? EVF_FLUSH : x->op == RQ_DISCARD ? EVF_DISCARD : 0) |
			 (x->error ? EVF_ERROR : 0),
	};
}

static int pokes(struct lab *lab, struct rec *r, int run, int series, int clock, struct err *e)
{
	uint64_t n = __atomic_load_n(&lab->log->npokes, __ATOMIC_ACQUIRE);
	int err = 0;

	for (; lab->pokes_seen < n && !err; lab->pokes_seen++) {
		const struct log_poke *p = &lab->log->poke[lab->pokes_seen % LOG_POKES];
		cleanup_free char *kind = mem_dupn(p->text, strcspn(p->text, "= "));
		struct fault f = { 0 };
		struct event ev;

		if (fault_parse(p->text, &f, NULL))
			continue;
		ev = (struct event){ .t = p->t, .dur = f.time == NSEC_NEVER ? 0 : f.time, .kind = EV_POKE, .a = f.amount,
				     .b = (uint64_t)f.time, .name = rec_string(r, p->text),
				     .dev = (uint32_t)(major(lab->loop.dev) << 20 | minor(lab->loop.dev)) };
		err = rec_events(r, run, series, clock, &ev, 1, e);
		if (!err)
			err = rec_truth(r, run, &(struct truth){ .t = p->t, .dur = ev.dur, .kind = kind, .text = p->text }, e);
	}
	return err;
}

int lab_record(struct lab *lab, struct rec *r, int run, int clock, struct err *e)
{
	cleanup_free char *name = mem_printf("lab.%s", lab->conf.name);
	cleanup_free struct log_entry *x = mem_array(BATCH, sizeof(*x));
	cleanup_free struct event *ev = mem_array(BATCH, sizeof(*ev));
	struct rec_series s = { .kind = SERIES_EVENTS, .name = name, .unit = "", .meaning = "requests that the modelled disk served",
				.group = "lab" };
	uint64_t lost;
	uint32_t n;
	int series, err = rec_series(r, &s, &series, e);

	if (!err)
		err = pokes(lab, r, run, series, clock, e);
	while (!err && (n = log_take(lab->log, &lab->tail, x, BATCH, &lost)) + lost > 0) {
		lab->lost += lost;
		for (uint32_t i = 0; i < n; i++)
			to_event(lab, &x[i], &ev[i]);
		if (n)
			err = rec_events(r, run, series, clock, ev, n, e);
	}
	return err;
}

int lab_record_end(struct lab *lab, struct rec *r, int run, int clock, struct err *e)
{
	nsec_t service = lab->profile->ops->expect_random_read(lab->profile->conf, lab->conf.size);
	nsec_t limit = service ? MIN(service / 10, 500 * NSEC_PER_USEC) : 500 * NSEC_PER_USEC;
	char p50[NSEC_TEXT], p99[NSEC_TEXT], max[NSEC_TEXT], lim[NSEC_TEXT];
	struct lateness late;
	int err = lab_record(lab, r, run, clock, e);

	if (!err && lab->lost) {
		cleanup_free char *text = mem_printf("lab %s: %llu served requests were overwritten before they could be recorded",
						     lab->conf.name, (unsigned long long)lab->lost);

		err = rec_note(r, run, NOTE_LOSS, 0, "lab-lost", text, e);
		lab->lost = 0;
	}
	log_lateness(lab->log, lab->first_head, &late);
	lab->first_head = lab->tail;
	if (!err && late.n) {
		bool bad = late.p99 > limit;
		cleanup_free char *text = mem_printf("lab %s answered %s late as a rule, %s at 1 in 100, %s at worst (n = %llu); limit %s",
						     lab->conf.name, nsec_text(late.p50, p50), nsec_text(late.p99, p99),
						     nsec_text(late.max, max), (unsigned long long)late.n, nsec_text(limit, lim));

		err = rec_note(r, run, bad ? NOTE_CHECK_FAILED : NOTE_CHECK_OK, 0, "lab-lateness", text, e);
	}
	return err;
}

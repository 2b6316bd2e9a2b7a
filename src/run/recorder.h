/* SPDX-License-Identifier: MIT */
/*
 * The only thread that touches the record while a run goes on: empties the
 * rings, lets the sources drain, counts what the loads achieve, commits once a
 * second. It writes to tmpfs and reads /proc, never the filesystem under test.
 *
 * recorder_start() -> phases, notes -> recorder_stop(). What it lost or could
 * not do is in the record; a failed record ends the run (recorder_failed).
 */
#ifndef RUN_RECORDER_H
#define RUN_RECORDER_H

#include "run/board.h"
#include "run/plan.h"
#include "run/ring.h"
#include "run/run.h"

#include "collect/source.h"

struct recorder;

struct recorder_conf {
	struct rec *rec;
	int run;
	const struct plan *plan;
	struct ring *const *rings;	/* one a probe of the plan */
	const struct slot *const *first;	/* one a load of the plan: its workers' slots, in a row */
	const struct source_env *env;	/* pids, directories, devices; rec, run and period are filled in here */
	const struct run_hooks *hooks;
};

int recorder_start(const struct recorder_conf *conf, struct recorder **ret, struct err *e);
void recorder_phase(struct recorder *r, enum sample_phase phase, nsec_t t);
void recorder_note(struct recorder *r, enum note_kind kind, const char *key, const char *text);	/* queued */
bool recorder_failed(struct recorder *r, struct err *e);

/* Have the last 3 actions of each probe since recovery began been within 2 x p90 of its idle ones? */
bool recorder_recovered(struct recorder *r);
/* For people: what each probe does now. */
void recorder_view(struct recorder *r, struct run_view *ret);

/* Ends the thread: in flight actions become censored samples that end at t1. -ETIMEDOUT when it does not end within
 * `limit`: then the record is left as the last commit made it, and r must not be used again. */
int recorder_stop(struct recorder *r, nsec_t t1, nsec_t limit, struct err *e);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * The probes of a record as arrays of waits: what show, compare and report all
 * start from. Measured and idle samples apart, run by run, in time order;
 * failed actions are counted and left out.
 */
#ifndef ANALYZE_PROBES_H
#define ANALYZE_PROBES_H

#include "base/err.h"
#include "record/record.h"
#include "stats/waits.h"

struct probe_part {			/* one phase of one run */
	int run;
	size_t n;
	nsec_t *wait, *cycle, *t;	/* t: when it was intended, in the run's main clock */
	uint8_t *kind;			/* enum wait_kind */
	size_t warm, cold, errors;
	nsec_t runq;			/* time spent runnable in all of them; -1: unknown */
};

struct probe_data {
	int series;
	const char *name, *measures, *loop;	/* loop: "open" or "closed" */
	bool open_loop, interactive, wants_cold;
	bool no_cycle, unordered;	/* as in struct waits */
	nsec_t limit, interval;
	const char *steps[SAMPLE_STEPS];
	int nsteps;
	size_t nruns;
	struct probe_part *measured, *idle, *recovery;	/* nruns of each */
	struct waits *waits, *idle_waits;		/* the same, for stats/ */
	struct sample worst;				/* of the measured ones; end == 0: there is none */
	int worst_run;
	double step_mean[SAMPLE_STEPS];			/* seconds, over the measured samples */
	int last_error;					/* of the failed actions, -errno */
};

struct probes {
	struct probe_data *p;
	size_t n;
};

/* Strings live as long as the record. A damaged chunk is left out; rec_ says so. */
int probes_load(struct rec *r, struct probes *ret, struct err *e);
void probes_done(struct probes *p);

#endif

/* SPDX-License-Identifier: MIT */
/* The parts of the one screen; for the show-*.c of this folder only. */
#ifndef ANALYZE_SHOW_H
#define ANALYZE_SHOW_H

#include "analyze/probes.h"
#include "page/page.h"
#include "stats/summary.h"

struct show_run {
	struct rec_run r;
	nsec_t idle_t0, idle_t1;	/* the idle phase; both 0: none */
};

struct show {
	struct rec *rec;
	struct page *page;
	struct probes probes;
	struct summary *sum;		/* one a probe, of the measured waits */
	struct summary *idle;
	struct show_run *runs;
	size_t nruns;
	bool partial;
	int worst_probe;		/* of the interactive ones with the worst grade and share; -1: none */
	char grade;			/* of it; 0: none */
	int longest;			/* the probe with the longest wait; -1: none */
};

/* "run 3 at 0:41", without the run when there is one only. t in the run's clock. */
void show_when(const struct show *s, int run, nsec_t t, struct strbuf *out);

void show_probes(struct show *s, struct node *parent);		/* the table, JSON details */
void show_worst(struct show *s, struct node *parent);		/* the worst wait, its steps and its stack in words */
void show_loads(struct show *s, struct node *parent);
void show_checks(struct show *s, struct node *parent);
int show_limits(struct show *s, struct node *parent, struct err *e);	/* how many fail in *s; 0 or -errno */
void show_notes(struct show *s, struct node *parent);

/* The value of a gate's metric as a page value. */
struct value show_gate_value(int metric, double x, bool known, bool at_least);

#endif

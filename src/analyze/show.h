/* SPDX-License-Identifier: MIT */
/* The parts of the one screen; for the show-*.c of this folder only. */
#ifndef ANALYZE_SHOW_H
#define ANALYZE_SHOW_H

#include "analyze/probes.h"
#include "base/strbuf.h"
#include "base/vec.h"
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
	int worst_probe;		/* of the interactive ones that with the largest stuck share; -1: none */
	char grade;			/* the worst of interactive probes with a limit of a second or less; 0: none */
	int grade_probe;		/* whose it is */
	int longest;			/* the probe with the longest wait; -1: none */
};

/* "run 3 at 0:41", without the run when there is one only. t in the run's clock. */
void show_when(const struct show *s, int run, nsec_t t, struct strbuf *out);

/* A limit without needless digits: "0.1s", "10s". */
const char *show_short(nsec_t t, char buf[NSEC_TEXT]);

void show_probes(struct show *s, struct node *parent);		/* the table, JSON details */
void show_rates(struct show *s, struct node *parent);		/* of probes that make something: files/s as fs_mark counts */
void show_worst(struct show *s, struct node *parent);		/* the worst wait, its steps and its stack in words */
void show_load_words(struct show *s, struct strbuf *out);	/* "Load: write 112 MB/s, copy 80 MB/s" */
void show_loads(struct show *s, struct node *parent);
void show_checks(struct show *s, struct node *parent);
int show_limits(struct show *s, struct node *parent, struct err *e);	/* how many fail in *s; 0 or -errno */
void show_notes(struct show *s, struct node *parent);

/* A counter of one run. */
struct show_points {
	VEC(nsec_t) t;
	VEC(int64_t) v;
};
int show_take_points(void *ctx, int run, const nsec_t *t, const int64_t *v, uint32_t n);
bool show_get_points(struct show *s, int run, const char *name, struct show_points *ret);	/* false: none; done() all the same */
void show_points_done(struct show_points *p);
/* Each value is a rate that holds since the one before: the sum over [t0, t1]. */
double show_total_of(const struct show_points *p, nsec_t t0, nsec_t t1);

#endif

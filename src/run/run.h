/* SPDX-License-Identifier: MIT */
/*
 * ONE run, from preparing to cleaning up (design, phases): the conductor. It
 * forks the children, leads them through the phases, and ends them whatever
 * happens: an error, Ctrl-C, a closed terminal. It never touches the filesystem
 * under test and never waits without a limit for a task in D state.
 *
 *	run_guard()	block the signals (once, before the first run)
 *	run_do()	one run into an open record
 *	run_leave()	after the record is closed: what is left in the way of
 *			children and folders is dealt with, if need be by a detached child
 */
#ifndef RUN_RUN_H
#define RUN_RUN_H

#include "record/record.h"
#include "run/plan.h"

#define RUN_VIEW_PROBES 32

struct run_view {			/* for progress lines and the live screen */
	enum sample_phase phase;
	nsec_t since, until;		/* of the phase; until 0: not known */
	nsec_t now;
	uint64_t load_read_s, load_written_s;	/* bytes/s of all loads */
	uint64_t written;		/* by loads so far */
	int nprobes;
	struct {
		const char *name;
		uint64_t n;
		nsec_t last, worst, limit;
		nsec_t in_flight;	/* how long the current action has taken; 0: none */
		uint32_t tid;			/* who does it */
		uint32_t late;		/* waits over the limit while measuring */
	} probe[RUN_VIEW_PROBES];
	const char *say;		/* what is being waited for, "" nothing special */
};

/* Around a run: labs, pokes, tracers of others. All may be NULL; a negative result of begin ends the run. */
struct run_hooks {
	void *ctx;
	int (*begin)(void *ctx, struct rec *rec, int run, struct err *e);	/* before any child, main thread */
	void (*phase)(void *ctx, enum sample_phase phase, nsec_t t);		/* main thread */
	void (*second)(void *ctx, struct rec *rec, int run, nsec_t now);	/* recorder thread */
	void (*end)(void *ctx, struct rec *rec, int run, bool partial);		/* recorder has ended */
	void (*progress)(void *ctx, const struct run_view *v);			/* main thread, about 5 times a second */
};

struct run_conf {
	const struct plan *plan;
	struct rec *rec;
	const char *record_dir;		/* the folder of the record, for rings */
	const char *command;		/* the command line, for the record */
	const char *version;
	const char *producer;		/* "run", "lab" */
	const struct run_hooks *hooks;
};

enum run_end { RUN_WHOLE, RUN_PARTIAL, RUN_SIGNAL };

struct run_result {
	int run;			/* id in the record, 0: not begun */
	enum run_end how;
	int signal;			/* RUN_SIGNAL: which */
	char why[700];			/* RUN_PARTIAL: the sentence */
	bool record_stuck;		/* the recorder did not end in time: do not touch the record */
	struct leftovers *left;		/* what run_leave() has to do */
};

void run_guard(void);
/* Negative: could not begin, nothing is left behind. 0: there is a run in the record, whole or not. */
int run_do(const struct run_conf *conf, struct run_result *ret, struct err *e);

/* Takes away folders and reports who is still finishing in the kernel ("2 writers still finishing ..."), which it
 * does not wait for. in_background: does it in a detached child, together with copying `record` to `target` (may be
 * NULL), and returns at once. Frees res->left. */
void run_leave(struct run_result *res, bool in_background, const char *record, const char *target, struct strbuf *said);

/* Runs fn(ctx), which may wait for a disk, in a process of its own, and waits for its end; fn ends with _exit(code).
 * The exit code, or -EINTR: a signal came, the process goes on alone. */
int run_wait_helper(void (*fn)(void *ctx), void *ctx);

#endif

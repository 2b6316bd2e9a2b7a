/* SPDX-License-Identifier: MIT */
/*
 * What one run will do: a scenario (one cell) plus the plug-ins, with every
 * number decided and nothing done yet. Consent prints it, the conductor obeys
 * it. plan_make() only looks at the machine (free space, memory, who has files
 * open); it writes nothing.
 *
 * Keys that every [probe] section understands besides the probe's own:
 *	rate = 20/s		open loops: ticks a second
 *	pause = 1s		closed loops: between the end of one action and the next
 *	limit = 1s		longer is "stuck"
 *	backlog = 10s		open loops: older ticks are given up (censored)
 *	dir = DIR		elsewhere than --dir
 * Keys that every [load] section understands: dir.
 * Global keys: time, idle, load-up, recovery, recovery-max, scale, write-budget,
 * stacks (a waiter is looked at after so long), period (of the counters),
 * limit (service scenarios: "PROBE.METRIC < VALUE (its source)", may be repeated).
 */
#ifndef RUN_PLAN_H
#define RUN_PLAN_H

#include "base/strbuf.h"
#include "base/vec.h"
#include "load/load.h"
#include "perform/perform.h"
#include "probe/probe.h"
#include "scenario/scenario.h"
#include "sys/topology.h"

#include <sys/types.h>

struct plan_dir {			/* one directory where probes or loads work; made absolute */
	char *path;
	dev_t dev;
	uint64_t free_bytes, need_bytes;
	struct topology topo;
};

struct plan_probe {
	const struct probe_ops *ops;
	char *name;			/* series: "fsync", "fsync@LABEL" for a second one */
	void *conf;
	nsec_t interval, limit, backlog;
	size_t dir;			/* in plan.dirs */
	uint64_t space;
};

struct plan_load {
	const struct load_ops *ops;
	char *name;			/* label */
	void *conf;
	unsigned workers;
	size_t dir;
	uint64_t space;
	bool program;			/* runs one that the scenario names */
};

struct plan_limit {
	char *text, *source;		/* "wal.p99 < 10ms"; where the number comes from, may be "" */
};

struct plan {
	const struct scenario *scenario;
	char *cell;
	VEC(struct plan_dir) dirs;
	VEC(struct plan_probe) probes;
	VEC(struct plan_load) loads;
	VEC(struct plan_limit) limits;
	nsec_t time, idle, load_up_max, recovery_max, period, stacks;
	uint64_t write_budget;
	double scale;			/* 0: decide */
	bool drop_caches;
	char *trace;			/* "off", "stalls", "full", "proc" */
	VEC(char *) scaled;		/* one sentence for each thing that was made smaller */
	VEC(char *) notes;		/* what cannot be measured here, and why */
	VEC(char *) programs;		/* what loads and probes will execute */
	uint64_t seed;
};

struct plan_conf {
	const struct scenario *scenario;
	const char *cell;
	const char *dir, *load_dir;	/* load_dir NULL: dir */
	const char *time, *scale;	/* from the command line; NULL: the scenario's */
	const char *write_budget;
	const char *trace;
	bool no_idle, no_recovery, drop_caches, allow_commands;
};

int plan_make(const struct plan_conf *conf, struct plan **ret, struct err *e);
void plan_free(struct plan *p);

/* Free space, memory and time at hand: makes loads smaller, says so in p->scaled; -ENOSPC when even that is too much. */
int plan_scale(struct plan *p, struct err *e);

/* How long the run takes at most, without preparing. */
nsec_t plan_duration(const struct plan *p);

#endif

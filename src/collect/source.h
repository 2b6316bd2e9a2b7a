/* SPDX-License-Identifier: MIT */
/*
 * A live source: something that watches while a run goes on and writes what it
 * saw into the record. drain() runs on the recorder thread only, never on a
 * probe's; what a source lost goes into the record.
 *
 * supported -> open -> start -> (due, drain)... -> stop -> close. open makes its
 * series; close accepts what a failed open left. The env stays valid until
 * close, but the arrays in it only until open returns: copy what you need. Sources whose conf has `after` or `level` get the run's settings.
 */
#ifndef COLLECT_SOURCE_H
#define COLLECT_SOURCE_H

#include "base/nsec.h"
#include "base/plug.h"
#include "record/record.h"

#include <sys/types.h>

struct source_env {
	struct rec *rec;
	int run;
	int clock;			/* the main clock's id */
	nsec_t period;			/* of sampling sources (1 s; down to 10 ms) */
	const dev_t *devices;		/* every block device under the directories, partitions resolved */
	int ndevices;
	const char *const *dirs;	/* directories of probes and loads */
	int ndirs;
	const pid_t *pids;		/* controller, probes and loads; ours is never blamed as "other" */
	const char *const *pid_names;	/* "probe fsync", "load write/0" */
	int npids;
	const char *const *rings;	/* ring files of the probes */
	int nrings;
	/* What each probe does now, for stuck operations: read with in_flight_read (record/sample.h). */
	const struct in_flight *const *in_flight;
	const char *const *in_flight_series;	/* names of the probes' sample series */
	int nin_flight;
};

struct source_ops {
	struct plug plug;		/* "proc", "psi", "stacks", "bpf", "blk" */
	int (*supported)(struct err *why);	/* 0, or -ENOTSUP and the reason in words */
	int (*open)(void *st, const void *conf, const struct source_env *env, struct err *e);
	int (*start)(void *st, struct err *e);
	nsec_t (*due)(void *st, nsec_t now);	/* when drain() wants to run next */
	int (*drain)(void *st, nsec_t now, struct err *e);
	int (*stop)(void *st, struct err *e);
	uint64_t (*lost)(const void *st);
	void (*close)(void *st);
};

extern const void *const source_table[];

#endif

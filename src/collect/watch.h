/* SPDX-License-Identifier: MIT */
/*
 * `stallmark trace`: recording what is already there, with no load of ours.
 * One run whose producer is "trace", written in tmpfs by this process alone.
 *
 * As a recorder for the next freeze (neither time nor command) it is bounded:
 * when a record has grown to 64 MiB a new one is begun and only the last four
 * are kept; and with a sync folder each record is copied there, fsynced, at
 * most every five seconds when something new was recorded, by a child, so that
 * neither a slow disk nor a power cut takes what was seen.
 */
#ifndef COLLECT_WATCH_H
#define COLLECT_WATCH_H

#include "base/err.h"
#include "base/nsec.h"
#include "base/strbuf.h"

#include <stdbool.h>
#include <stdint.h>

struct watch_conf {
	nsec_t threshold;
	nsec_t time;			/* 0: until the command ends or *stop */
	char *const *command;		/* NULL: none */
	bool full;			/* keep every block request */
	bool sampled;			/* only sampled stacks (--trace=proc) */
	const char *scope;		/* "pid 12", "comm dd", "cgroup /x", "all": kept for the reader */
	const char *output;		/* where the record goes at the end */
	const char *sync_dir;		/* NULL: none */
	const char *version, *command_line;
	const volatile int *stop;	/* set by a signal */
};

struct watch_result {
	int exit_status;		/* of the command, as wait(2) gives it */
	bool stopped;			/* by *stop */
	unsigned segments;		/* records written; the last is `output` */
	char backend[16];		/* "bpf", "stacks", "none" */
	char note[1000];		/* why not the better one; "" */
};

int watch(const struct watch_conf *c, struct watch_result *ret, struct err *e);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * The events of one run in the order explanations ask for them. Loaded whole
 * (a run keeps stalls only, some ten thousand rows), read-only afterwards.
 * Strings live as long as the record.
 */
#ifndef ANALYZE_TRACE_H
#define ANALYZE_TRACE_H

#include "base/err.h"
#include "base/vec.h"
#include "event/event.h"
#include "record/record.h"

#include <stdbool.h>
#include <stddef.h>

struct tr_task {
	uint32_t tid, pid, parent;
	const char *comm, *cgroup;	/* "" unknown */
	const char *before;		/* the number was used before, by this other process; NULL: not */
	nsec_t seen;			/* first row that names it so */
	uint64_t started;		/* start time as /proc tells it, 0 unknown */
	const char *ours;		/* "probe fsync"; NULL: not a process of the run */
	bool kthread;
};

typedef VEC(struct event) events_t;
typedef VEC(struct tr_task) tasks_t;

struct trace {
	struct rec *rec;
	int run;
	nsec_t t0, t1;			/* of the run */
	nsec_t threshold;		/* what the collector called a stall */
	bool sampled;			/* no tracer: waits come from sampled stacks */
	events_t wait, runq;		/* by tid, t */
	events_t rq;			/* by dev, t */
	events_t own;			/* the same by tid of the submitter, t */
	events_t commit;		/* by dev, t */
	events_t inode, handle;		/* by dev, t */
	events_t dirty;			/* by dev, ino, t */
	events_t fsync;			/* by tid, t */
	events_t throttle, reclaim;	/* by tid, t */
	events_t signal, force;		/* by t; force: XFS log forces */
	events_t fs, disk, poke;
	tasks_t task;			/* by tid */
	nsec_t longest_rq, longest_handle;
	uint64_t lost;
};

/* run: 1.. ; 0: the first. -ENODATA: the run was not traced and has no sampled stacks either. */
int trace_load(struct rec *r, int run, struct trace *ret, struct err *e);
/* Sorts and links rows that were pushed by hand (tests). */
void trace_index(struct trace *t);
void trace_done(struct trace *t);

const struct tr_task *trace_task(const struct trace *t, uint32_t tid);	/* NULL: never seen */
/* "dd (pid 311)", "jbd2/sda1-8", "pid 12"; to buf. */
const char *trace_who(const struct trace *t, uint32_t tid, char *buf, size_t size);
bool trace_is_kthread(const struct trace *t, uint32_t tid);

/* Rows [*ret_n] of v with this key and t + dur > a, t < b; v sorted by key then t, none longer than `longest`. */
const struct event *trace_by_tid(const events_t *v, uint32_t tid, nsec_t a, nsec_t longest, size_t *ret_n);
const struct event *trace_by_dev(const events_t *v, uint32_t dev, nsec_t a, nsec_t longest, size_t *ret_n);

uint32_t trace_disk_of(const struct trace *t, uint32_t fs_dev);		/* the whole disk; fs_dev itself when unknown */
const char *trace_disk_name(const struct trace *t, uint32_t disk, char *buf, size_t size);	/* "sda" or "7:1" */
const char *trace_file_name(const struct trace *t, uint32_t dev, uint64_t ino);	/* "" unknown */
const struct event *trace_fs(const struct trace *t, uint32_t fs_dev);	/* NULL unknown; name "ext4 /mnt" */

#endif

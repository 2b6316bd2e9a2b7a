/* SPDX-License-Identifier: MIT */
/*
 * What can happen: one row type for everything that collectors, the lab and
 * the simulator report and that analysis reads. Kinds are listed in event.def,
 * wait classes in wait.def. Unused numbers are 0.
 */
#ifndef EVENT_EVENT_H
#define EVENT_EVENT_H

#include "base/nsec.h"

#include <stdbool.h>
#include <stdint.h>

enum event_kind {
#define EVENT(id, ...) EV_##id,
#include "event/event.def"
#undef EVENT
	EV_MAX
};

enum wait_class {
#define WAIT_CLASS(id, ...) WAIT_##id,
#include "event/wait.def"
#undef WAIT_CLASS
	WAIT_MAX
};

/* How sure a link from one thing to the next is; stored in EVF_CONF of a row, printed with each link. */
enum event_conf { CONF_UNKNOWN, CONF_TIME, CONF_WAKER, CONF_COMPLETION, CONF_OWNER, CONF_EXACT, CONF_MAX };

/* request flags of BLK_RQ rows (bits of `flags`) */
#define EVF_WRITE	(1u << 0)
#define EVF_FLUSH	(1u << 1)
#define EVF_FUA		(1u << 2)
#define EVF_SYNC	(1u << 3)
#define EVF_META	(1u << 4)
#define EVF_PRIO	(1u << 5)
#define EVF_RAHEAD	(1u << 6)
#define EVF_BACKGROUND	(1u << 7)
#define EVF_DISCARD	(1u << 8)
#define EVF_ERROR	(1u << 9)
#define EVF_REQUEUED	(1u << 10)
#define EVF_BDEV	(1u << 11)	/* pages of the block device itself: journal, metadata */
/* task flags of WAIT rows */
#define EVF_IOWAIT	(1u << 16)
#define EVF_UNINTR	(1u << 17)	/* D state */
#define EVF_OPEN	(1u << 18)	/* still waiting when the recording ended: dur is a lower bound */
#define EVF_KTHREAD	(1u << 19)	/* a kernel thread; also in TASK rows */
#define EVF_OURS	(1u << 20)	/* TASK rows: a process of stallmark's run (probe or load; name says which) */

struct event {
	nsec_t t;		/* begin, in the clock of its chunk */
	nsec_t dur;		/* 0: a point in time */
	uint32_t kind;		/* enum event_kind */
	uint32_t class;		/* enum wait_class of WAIT rows */
	uint32_t pid, tid;	/* whose it is (kernel tgid and pid) */
	uint32_t other;		/* another thread: lock owner */
	uint32_t dev;		/* kernel dev_t: major << 20 | minor */
	uint64_t ino;
	uint64_t a, b, c, d, e, f;	/* by kind, see event.def */
	uint32_t stack;		/* id in the record, 0: none */
	uint32_t name;		/* string id in the record: file, setting */
	uint32_t comm;		/* string id in the record: the task's name */
	uint32_t flags;		/* EVF_* */
};

#define EVENT_COLUMNS 19	/* one 64-bit column for each member above */

/* "blk-rq"; "what one row says"; the name of number i (0..5, "" = unused). NULL/"" for an unknown kind. */
const char *event_name(uint32_t kind);
const char *event_about(uint32_t kind);
const char *event_arg_name(uint32_t kind, int i);
uint32_t event_by_name(const char *name);	/* EV_NONE when unknown */

const char *wait_name(uint32_t class);		/* "jbd2-commit-wait" */
const char *wait_words(uint32_t class);		/* "a journal commit" */
uint32_t wait_by_name(const char *name);	/* WAIT_UNKNOWN when unknown */
const char *conf_name(uint32_t conf);		/* "exact", "owner", ... */

/* Rows to columns and back: col[i] holds member i of each row, in the order of struct event. */
void event_to_columns(const struct event *rows, uint32_t n, int64_t *const col[EVENT_COLUMNS]);
void event_from_columns(int64_t *const col[EVENT_COLUMNS], uint32_t n, struct event *ret_rows);

#endif

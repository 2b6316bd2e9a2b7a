/* SPDX-License-Identifier: MIT */
/*
 * What the files that conduct a run share; nobody else includes this.
 *
 * run.c		the phases, in order
 * wait.c		the only place where the conductor waits: signals, children, the budget, progress
 * children.c	starting and ending processes
 * barrier.c	is the load up?
 * leave.c	folders, tasks still in the kernel, the detached child
 */
#ifndef RUN_CONDUCT_H
#define RUN_CONDUCT_H

#include "run/board.h"
#include "run/recorder.h"
#include "run/run.h"
#include "sys/folder.h"

struct child {
	char name[80];			/* "probe fsync", "load write/3" */
	pid_t pid;
	struct slot *slot;
	size_t index;			/* of its probe or load in the plan */
	bool load, program;		/* program: may have started others */
	bool gone, said;
	int status;			/* of waitpid, when gone */
};

struct work_dir {			/* one of ours, below a directory of the plan */
	char path[PATH_MAX], token[FOLDER_TOKEN];
	bool made;
};

/* In shared memory: made by a helper process, used by all. */
struct area {
	size_t n;
	struct err error;
	struct work_dir dir[];
};

struct leftovers {
	struct area *area;
	VEC(struct child) still;	/* children that did not end yet */
};

struct conductor {
	const struct run_conf *conf;
	const struct plan *plan;
	struct run_result *res;
	struct board *board;
	struct area *area;
	VEC(struct child) kids;
	struct ring **rings;
	char **ring_paths;
	int alive[2];			/* the pipe whose closing ends all children */
	struct recorder *recorder;
	struct source_env env;		/* and what it points to; valid until the recorder has ended */
	struct env_arrays *env_arrays;
	enum sample_phase phase;
	nsec_t phase_began, phase_until, next_progress;
	nsec_t t0, measure_t0, measure_t1;
	const char *say;
	int signal;			/* first of INT, TERM, HUP that arrived */
	char why[700];			/* not empty: the run ends early, with this sentence */
	size_t probes_alive;
};

/* Why waiting ended. */
enum wait_end { WAIT_DONE, WAIT_TIME, WAIT_BROKEN };	/* BROKEN: a signal, or c->why */

/* Waits until cond says true (may be NULL), `until`, or the run is to end. */
enum wait_end conduct_wait(struct conductor *c, nsec_t until, bool (*cond)(struct conductor *c));
void conduct_phase(struct conductor *c, enum sample_phase phase, nsec_t until);
void conduct_note(struct conductor *c, enum note_kind kind, const char *key, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* The signal that arrived, 0 if none; does not wait. */
int conduct_signal(struct conductor *c);

int children_start(struct conductor *c, struct err *e);
void children_go(struct conductor *c, bool loads);
void children_reap(struct conductor *c);
bool children_ready(struct conductor *c);
/* Asks them to stop, waits up to grace, kills, waits up to `last` more. hurry: kills at once. */
void children_stop(struct conductor *c, bool loads, nsec_t grace, nsec_t last);
void children_kill(struct conductor *c);	/* all of them, now, without waiting */
uint64_t children_written(const struct conductor *c);
uint64_t children_bytes(const struct conductor *c);

/* -ETIMEDOUT/-EINTR: it did not come about in time. */
int area_make(struct conductor *c, struct err *e);
const char *area_path(const struct conductor *c, bool load, size_t index);	/* of a probe or load; static buffer */

/* Waits for the load to be up; says what it saw in a note. */
void barrier_wait(struct conductor *c);

/* Runs fn(ctx) in a process of its own that may wait for the disk. It sees no signals of the terminal. */
pid_t helper_start(void (*fn)(void *ctx), void *ctx, bool outlives);
/* Kernel's view of a task: 'D', 'R', ... 0: gone. */
char task_state(pid_t pid);

#endif

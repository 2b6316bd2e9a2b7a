/* SPDX-License-Identifier: MIT */
/*
 * The processes of a run: forked from the controller without exec, so that a
 * plug-in's conf is simply there. Each is a process group of its own, ends when
 * the controller dies (PR_SET_PDEATHSIG, and the pipe in `alive` closes), and
 * touches the filesystem under test so that the controller never has to.
 */
#ifndef RUN_CHILD_H
#define RUN_CHILD_H

#include "run/board.h"
#include "run/plan.h"
#include "run/ring.h"

#include <sys/types.h>

struct child_setup {
	pid_t controller;
	int alive;			/* read end of a pipe whose write end only the controller has */
	const char *dir;		/* its own folder, exists */
	struct slot *slot;
	uint64_t seed;
};

/* Names the process, makes it a group, ties it to the controller, closes what it need not have. */
void child_become(const struct child_setup *cs, const char *name);
/* The sentence goes into the slot, the state becomes CHILD_FAILED. */
void child_fail(const struct child_setup *cs, const struct err *e) __attribute__((noreturn));
/* Waits for slot->go; ends the process when the controller is gone or says stop. */
void child_wait_go(const struct child_setup *cs);

void child_probe(const struct child_setup *cs, const struct plan_probe *pp, struct ring *ring) __attribute__((noreturn));
/* first: worker 0 lays out files; the others wait until first->state is CHILD_READY. */
void child_load(const struct child_setup *cs, const struct plan_load *pl, int worker, const struct slot *first)
	__attribute__((noreturn));

#endif

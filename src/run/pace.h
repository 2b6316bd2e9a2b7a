/* SPDX-License-Identifier: MIT */
/*
 * When a probe acts (design, rules of measurement 1).
 *
 * Open loop: ticks every `interval` from `first` on, each a sample. What is due
 * while the last one runs is performed as soon as possible, its response
 * counted from the intended time. A tick older than `backlog` when the probe
 * becomes free is given up: recorded as censored, not performed.
 *
 * Closed loop: the next action begins `interval` after the last one ended.
 *
 * Waiting sleeps until PACE_SPIN before the time and spins the rest, so that
 * the wake-up of the timer is not measured as waiting.
 */
#ifndef RUN_PACE_H
#define RUN_PACE_H

#include "base/nsec.h"

#include <stdbool.h>

#define PACE_SPIN	(250 * NSEC_PER_USEC)

struct pace {
	bool open_loop;
	nsec_t interval, backlog;
	nsec_t due;		/* the next intended time */
	uint64_t id;		/* of the next sample */
};

enum pace_verdict {
	PACE_WAIT,		/* not due yet: wait until p->due */
	PACE_GO,		/* due: perform it */
	PACE_GIVE_UP,		/* too old: record as censored, then pace_done() */
};

void pace_start(struct pace *p, bool open_loop, nsec_t interval, nsec_t backlog, nsec_t first);
enum pace_verdict pace_look(const struct pace *p, nsec_t now);
/* The action of p->due is over (or given up) at `end`. */
void pace_done(struct pace *p, nsec_t end);

/* Waits until t. Returns early, with false, when *stop becomes non-zero or `fd` (may be -1) becomes readable or closed. */
bool pace_wait(nsec_t t, const volatile int *stop, int fd);

#endif

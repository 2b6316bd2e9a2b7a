/* SPDX-License-Identifier: MIT */
/*
 * One user action: a script of ops performed and timed as one sample.
 *
 *	action_before()		asks for the script, does what lies outside the measured time (making cold, asking
 *				what is cached). An open loop does it before the tick is due.
 *	action_perform()	the measured part
 *	action_after()		what lies outside behind it (unlink, sync between iterations)
 *
 * Nothing is allocated, and between action.start and action.end no system call
 * is made but those of the ops. An action whose script ends with OP_MORE asks
 * for the next batch inside the measured time: scripts only fill arrays.
 */
#ifndef PERFORM_ACTION_H
#define PERFORM_ACTION_H

#include "perform/perform.h"

#define ACTION_OPS	64	/* one batch */
#define ACTION_STEPS	12

struct action {			/* what came out */
	nsec_t start, end;
	nsec_t step[ACTION_STEPS];
	unsigned nsteps;	/* 1 + the highest step that was performed */
	uint64_t bytes_read, bytes_written;
	struct op_proof proof;	/* all zero asked and blocks: nothing is proved */
	int error;		/* 0 or -errno of the first op that failed; -EINTR: stopped */
	struct op failed;	/* that op and its result, for perform_explain() */
	struct op_result failed_res;
};

struct actor {
	/* set by the caller */
	const struct perform_ops *perform;
	void *st;				/* the performer's state, opened */
	/* As probe_ops.script: ops[0] says whether an action begins or goes on (op_goes_on()). */
	int (*script)(void *ctx, struct op *ops, int max);
	void *ctx;
	void (*on_step)(void *on_ctx, unsigned step, nsec_t now);	/* a step begins; the first: the action. May be NULL */
	void *on_ctx;
	bool wants_proof;			/* ask which blocks the thread had to read: two system calls an action */
	const volatile int *stop;		/* looked at before each op; the action then ends with -EINTR. May be NULL */
	/* inner */
	struct op ops[ACTION_OPS];
	int n, at;
};

/* 0, or -errno when the script has none or an op failed (ret->error; the action is over then). */
int action_before(struct actor *a, struct action *ret);
int action_perform(struct actor *a, struct action *ret);
int action_after(struct actor *a, struct action *ret);

/* All three; what a closed loop does. */
int action_run(struct actor *a, struct action *ret);

/* Lays out files: `script` is called until it returns 0. ret->error and ret->failed as above. */
int action_prepare(struct actor *a, struct action *ret, const volatile int *stop);

#endif

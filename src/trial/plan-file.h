/* SPDX-License-Identifier: MIT */
/*
 * The plan of an `ab` and its log, one text file in the folder of its records:
 * what is to be done, each run that was done with its kernel, and each look
 * with its verdict. Appended durably after every run, so that --resume goes on
 * after Ctrl-C, a crash or a reboot. Read only from a file that its caller owns
 * and nobody else may write.
 */
#ifndef TRIAL_PLAN_FILE_H
#define TRIAL_PLAN_FILE_H

#include "base/err.h"
#include "base/vec.h"

#include <stdbool.h>

#define AB_ROUNDS_MAX 1000

struct ab_run {
	char side;			/* 'a', 'b' */
	char *record;			/* file name in the folder */
	char *kernel;
};

struct ab_plan {
	char *scenario, *dir, *a, *b, *time;	/* time "": the scenario's */
	VEC(char *) define;		/* -D of both sides */
	unsigned rounds;
	bool until_decided;		/* looks after 5, 10 and 20 rounds; rounds is 20 then */
	VEC(struct ab_run) done;
	unsigned looks;			/* looks already taken */
	bool ended;			/* decided, or all rounds done */
};

/* Makes the folder's file `path`; -EEXIST when it is there. */
int ab_plan_create(const char *path, const struct ab_plan *p, struct err *e);
int ab_plan_read(const char *path, struct ab_plan *ret, struct err *e);
int ab_plan_add_run(const char *path, struct ab_plan *p, char side, const char *record, const char *kernel, struct err *e);
int ab_plan_add_look(const char *path, struct ab_plan *p, unsigned rounds, const char *verdict, bool ended, struct err *e);
void ab_plan_done(struct ab_plan *p);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * What a producer knows to be true: which fault was planted, what caused a
 * simulated stall. Written by lab, sim and the exam's plants; only tests/score
 * may read it. No analysis includes this header (a check in ./test).
 */
#ifndef RECORD_TRUTH_H
#define RECORD_TRUTH_H

#include "record/record.h"

struct truth {
	nsec_t t, dur;
	const char *kind;	/* "freeze", "ordered-data", ... */
	uint32_t culprit_pid;	/* 0: nobody */
	uint32_t victim_pid;
	const char *text;
};

int rec_truth(struct rec *r, int run, const struct truth *truth, struct err *e);
int rec_truth_each(struct rec *r, int run, int (*fn)(void *ctx, const struct truth *truth), void *ctx);

#endif

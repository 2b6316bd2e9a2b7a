/* SPDX-License-Identifier: MIT */
/*
 * Kernel stacks out of whatever was pasted: /proc/PID/stack (one or many, with
 * head's "==> /proc/1/stack <==", grep's "/proc/1/stack:" or a line of one's
 * own before each), hung-task and sysrq reports from dmesg or a log file, the
 * 2.6 format, perf script, bcc and bpftrace, folded stacks. The text is
 * foreign: everything is bounded, unknown lines are counted and left out.
 */
#ifndef ANALYZE_STACK_PARSE_H
#define ANALYZE_STACK_PARSE_H

#include "base/err.h"
#include "base/vec.h"

#include <stddef.h>
#include <stdint.h>

#define STACK_FRAMES	64	/* deeper ones are dropped */
#define STACK_TASKS	100000

struct stack_task {
	char comm[32];		/* "" unknown */
	char title[80];		/* the line above the stack when it named no task */
	uint32_t pid;		/* 0 unknown */
	uint32_t owner_pid;	/* of the lock, where a hung-task report names it */
	char owner[32];
	char state;		/* 'D', 'S', ... or 0 */
	uint32_t blocked_s;	/* "blocked for more than N seconds" */
	uint64_t count;		/* folded stacks: how often or how long */
	char *frame[STACK_FRAMES];	/* innermost first, as printed */
	int nframes;
};

struct stack_text {
	VEC(struct stack_task) task;
	size_t odd_lines;	/* neither frame nor anything we know */
};

/* -ENODATA: no stack in it; the sentence says what is accepted. */
int stack_parse(const char *text, size_t len, struct stack_text *ret, struct err *e);
void stack_text_done(struct stack_text *t);

#endif

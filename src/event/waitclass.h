/* SPDX-License-Identifier: MIT */
/*
 * From a kernel stack to what its task waits for. Pure text matching against
 * the table wait-pattern.def; used by every reader of stacks (the tracer, the
 * sampled stacks, `stallmark stack`). Frames come innermost first and may be as
 * the kernel prints them: "[<0>] foo.isra.0+0x1a/0x2b0 [ext4]", or bare.
 */
#ifndef EVENT_WAITCLASS_H
#define EVENT_WAITCLASS_H

#include "event/event.h"

#include <stddef.h>

#define STACK_SYMBOL 64

/*
 * The bare symbol of a frame: without address, offset, module, and what the
 * compiler appends (.isra.0, .constprop.1, .part.2, .cold, .llvm.123). "" when
 * there is no symbol in it (a number: symbols are hidden by kptr_restrict).
 * Longer symbols are cut. Returns buf.
 */
const char *stack_symbol(const char *frame, char buf[STACK_SYMBOL]);

struct stack_verdict {
	enum wait_class class;
	int frame;		/* the index that decided; -1: none */
	const char *words;	/* what it waits for, closer than the class where possible; static */
	bool weak;		/* only the way it sleeps is known */
};

struct stack_verdict stack_judge(const char *const *frames, int n);

/* Only the class; WAIT_UNKNOWN when no pattern matches. */
enum wait_class stack_classify(const char *const *frames, int n);

/*
 * What the task was doing when it began to wait: "fsync", "openat", "page
 * fault", "the journal thread", "the flusher"; "" when the stack does not
 * say. Written to buf, which is returned.
 */
const char *stack_operation(const char *const *frames, int n, char buf[STACK_SYMBOL]);

/* Frames of the scheduler itself say nothing about what is waited for. */
bool stack_is_scheduler(const char *symbol);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * What the controller and its children tell each other beside the rings:
 * anonymous shared memory, one slot a child. Made before the children, dies
 * with the last of them.
 */
#ifndef RUN_BOARD_H
#define RUN_BOARD_H

#include "load/load.h"

#include <stddef.h>

enum child_state { CHILD_STARTING, CHILD_PREPARING, CHILD_READY, CHILD_RUNNING, CHILD_ENDED, CHILD_FAILED };

struct slot {
	/* the child's */
	uint32_t state;			/* enum child_state */
	int32_t error;			/* -errno of CHILD_FAILED */
	struct load_tally tally;
	char msg[600];			/* the sentence of CHILD_FAILED, or a remark; valid once state says so */
	/* the controller's */
	volatile int go;		/* begin with the work */
	volatile int stop;		/* end after the current operation */
} __attribute__((aligned(64)));

struct board {
	size_t nslots;
	struct slot slot[];
};

struct board *board_new(size_t nslots);		/* NULL: no memory */
void board_free(struct board *b);

static inline uint32_t slot_state(const struct slot *s)
{
	return __atomic_load_n(&s->state, __ATOMIC_ACQUIRE);
}

static inline void slot_set(struct slot *s, enum child_state state)
{
	__atomic_store_n(&s->state, state, __ATOMIC_RELEASE);
}

#endif

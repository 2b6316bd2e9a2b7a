/* SPDX-License-Identifier: MIT */
/*
 * A priority queue of (time, tie, pointer), smallest first; equal times leave
 * in the order of `tie`, so that runs repeat exactly. heap_done() frees it.
 */
#ifndef BASE_HEAP_H
#define BASE_HEAP_H

#include "base/nsec.h"

#include <stdbool.h>

struct heap_item {
	nsec_t t;
	uint64_t tie;
	void *what;
};

struct heap {
	struct heap_item *p;
	size_t n, cap;
};

void heap_push(struct heap *h, nsec_t t, uint64_t tie, void *what);
bool heap_pop(struct heap *h, struct heap_item *ret_item);	/* false: empty */
nsec_t heap_first(const struct heap *h);			/* NSEC_NEVER when empty */
void heap_done(struct heap *h);

#endif

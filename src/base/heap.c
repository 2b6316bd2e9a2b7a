/* SPDX-License-Identifier: MIT */
#include "base/heap.h"
#include "base/mem.h"

#include <stdlib.h>

static bool before(const struct heap_item *a, const struct heap_item *b)
{
	return a->t != b->t ? a->t < b->t : a->tie < b->tie;
}

void heap_push(struct heap *h, nsec_t t, uint64_t tie, void *what)
{
	struct heap_item it = { t, tie, what };
	size_t i = h->n++;

	if (h->n > h->cap) {
		h->cap = h->cap ? h->cap * 2 : 64;
		h->p = mem_realloc(h->p, h->cap * sizeof(*h->p));
	}
	while (i && before(&it, &h->p[(i - 1) / 4])) {
		h->p[i] = h->p[(i - 1) / 4];
		i = (i - 1) / 4;
	}
	h->p[i] = it;
}

bool heap_pop(struct heap *h, struct heap_item *ret_item)
{
	struct heap_item last;
	size_t i = 0;

	if (!h->n)
		return false;
	*ret_item = h->p[0];
	last = h->p[--h->n];
	for (;;) {
		size_t kid = 4 * i + 1, best;

		if (kid >= h->n)
			break;
		best = kid;
		for (size_t k = kid + 1; k < kid + 4 && k < h->n; k++)
			if (before(&h->p[k], &h->p[best]))
				best = k;
		if (!before(&h->p[best], &last))
			break;
		h->p[i] = h->p[best];
		i = best;
	}
	h->p[i] = last;
	return true;
}

nsec_t heap_first(const struct heap *h)
{
	return h->n ? h->p[0].t : NSEC_NEVER;
}

void heap_done(struct heap *h)
{
	free(h->p);
	*h = (struct heap){ 0 };
}

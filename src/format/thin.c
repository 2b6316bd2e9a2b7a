/* SPDX-License-Identifier: MIT */
#include "format/thin.h"

#include <string.h>

static void halve(struct thin *t, struct import_waits *w)
{
	size_t n = 0;

	for (size_t i = 0; i < w->n; i += 2)
		w->p[n++] = w->p[i];
	w->n = n;
	t->stride *= 2;
}

void thin_put(struct thin *t, struct import_waits *w, const struct import_wait *x)
{
	uint64_t at = t->seen++;

	if (x->wait > t->longest.wait || !at) {
		t->longest = *x;
		t->longest_at = at;
	}
	if (!t->stride)
		t->stride = 1;
	if (at & (t->stride - 1))
		return;
	if (w->n == THIN_MAX) {
		halve(t, w);
		if (at & (t->stride - 1))
			return;
	}
	vec_push(w, *x);
}

void thin_end(struct thin *t, struct import_waits *w)
{
	size_t at;

	if (t->stride <= 1 || !(t->longest_at & (t->stride - 1)))
		return;
	at = (size_t)(t->longest_at / t->stride) + 1;
	vec_push(w, t->longest);
	memmove(w->p + at + 1, w->p + at, (w->n - 1 - at) * sizeof(*w->p));
	w->p[at] = t->longest;
	t->longest_at = 0;		/* it is there now */
}

char *thin_words(const struct thin *t, const struct import_waits *w, const char *series)
{
	return mem_printf("of %llu waits of %s every %lluth is kept, and the longest (%zu in all)",
			  (unsigned long long)t->seen, series, (unsigned long long)t->stride, w->n);
}

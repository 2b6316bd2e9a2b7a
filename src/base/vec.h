/* SPDX-License-Identifier: MIT */
/*
 * An array that grows: VEC(struct sample) v = {0}; vec_push(&v, x); v.p[i], v.n; vec_done(&v).
 */
#ifndef BASE_VEC_H
#define BASE_VEC_H

#include "base/mem.h"

#include <stdlib.h>

#define VEC(type) struct { type *p; size_t n, cap; }

#define vec_reserve(v, want) do {							\
	size_t vec_w_ = (want);								\
	if (vec_w_ > (v)->cap) {							\
		(v)->cap = vec_w_ < 16 ? 16 : vec_w_ + vec_w_ / 2;			\
		(v)->p = mem_realloc((v)->p, (v)->cap * sizeof(*(v)->p));		\
	}										\
} while (0)

#define vec_push(v, x) do {								\
	vec_reserve((v), (v)->n + 1);							\
	(v)->p[(v)->n++] = (x);								\
} while (0)

#define vec_done(v) do {								\
	free((v)->p);									\
	(v)->p = NULL;									\
	(v)->n = (v)->cap = 0;								\
} while (0)

#endif

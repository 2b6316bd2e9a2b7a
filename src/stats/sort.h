/* SPDX-License-Identifier: MIT */
/* Sorting of waits: radix sort, linear in n, so that two million waits cost tens of milliseconds. */
#ifndef STATS_SORT_H
#define STATS_SORT_H

#include "base/nsec.h"

/* Ascending, in place. Values may be negative. */
void sort_nsec(nsec_t *x, size_t n);

/* ret_order[k] is the index of the k-th smallest of x; equal values keep their order. */
void sort_order(const nsec_t *x, size_t n, uint32_t *ret_order);

/* A sorted copy; the caller frees it. NULL only when n is 0. */
nsec_t *sort_copy(const nsec_t *x, size_t n);

#endif

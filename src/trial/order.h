/* SPDX-License-Identifier: MIT */
/*
 * Who goes first in each round of `ab`: AB BA BA AB BA AB AB BA ... (the
 * Thue-Morse sequence). Each pair of rounds is ABBA or BAAB, so neither a disk
 * that gets fuller nor a machine that gets warmer favours a side, and no fixed
 * order inside the pairs biases either.
 */
#ifndef TRIAL_ORDER_H
#define TRIAL_ORDER_H

/* The side (0: A, 1: B) of run `i`, counted from 0; round i / 2. */
static inline int order_side(unsigned i)
{
	int b_first = __builtin_popcount(i / 2) & 1;

	return b_first ^ (int)(i & 1);
}

#endif

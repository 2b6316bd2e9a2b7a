/* SPDX-License-Identifier: MIT */
/*
 * A red-black tree (Cormen et al., chapter 13; the kernel's rbtree balances the
 * same way) of numbers in one growing array. btt keeps its state in such trees,
 * and two of its results depend on their shape: what lies at the root, and the order
 * of a walk. Index 0 is "none". Starts as BLK_TREE_INIT; blk_tree_done() frees it.
 */
#ifndef ANALYZE_BLK_TREE_H
#define ANALYZE_BLK_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct blk_node {
	uint64_t key, end;	/* end: of a range [key, end), for the user */
	uint32_t left, right, parent, value;
	bool red;
};

struct blk_tree {
	struct blk_node *n;
	uint32_t root, free, top, cap;
};

#define BLK_TREE_INIT { 0 }

/* The node with that key, made when it is not there (*ret_new). Pointers into n move when the tree grows. */
uint32_t blk_tree_insert(struct blk_tree *t, uint64_t key, bool *ret_new);
void blk_tree_remove(struct blk_tree *t, uint32_t node);
void blk_tree_done(struct blk_tree *t);

#endif

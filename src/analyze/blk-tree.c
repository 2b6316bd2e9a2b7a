/* SPDX-License-Identifier: MIT */
#include "analyze/blk-tree.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

static void rotate(struct blk_tree *t, uint32_t x, bool left)
{
	struct blk_node *n = t->n;
	uint32_t y = left ? n[x].right : n[x].left, inner = left ? n[y].left : n[y].right;

	if (left)
		n[x].right = inner;
	else
		n[x].left = inner;
	if (inner)
		n[inner].parent = x;
	n[y].parent = n[x].parent;
	if (!n[x].parent)
		t->root = y;
	else if (n[n[x].parent].left == x)
		n[n[x].parent].left = y;
	else
		n[n[x].parent].right = y;
	if (left)
		n[y].left = x;
	else
		n[y].right = x;
	n[x].parent = y;
}

static void after_insert(struct blk_tree *t, uint32_t x)
{
	struct blk_node *n = t->n;

	while (n[x].parent && n[n[x].parent].red) {
		uint32_t p = n[x].parent, g = n[p].parent;
		bool left = n[g].left == p;
		uint32_t uncle = left ? n[g].right : n[g].left;

		if (uncle && n[uncle].red) {
			n[p].red = n[uncle].red = false;
			n[g].red = true;
			x = g;
			continue;
		}
		if (x == (left ? n[p].right : n[p].left)) {
			rotate(t, p, left);
			x = p;
			p = n[x].parent;
		}
		n[p].red = false;
		n[g].red = true;
		rotate(t, g, !left);
	}
	n[t->root].red = false;
}

uint32_t blk_tree_insert(struct blk_tree *t, uint64_t key, bool *ret_new)
{
	uint32_t at = t->root, parent = 0, x;

	while (at) {
		parent = at;
		if (t->n[at].key == key) {
			*ret_new = false;
			return at;
		}
		at = key < t->n[at].key ? t->n[at].left : t->n[at].right;
	}
	*ret_new = true;
	x = t->free;
	if (x) {
		t->free = t->n[x].left;
	} else {
		if (t->top + 1 >= t->cap) {
			t->cap = t->cap ? t->cap * 2 : 64;
			t->n = mem_realloc(t->n, t->cap * sizeof(*t->n));
			if (!t->top)
				memset(t->n, 0, sizeof(*t->n));	/* "none": black, no key */
		}
		x = ++t->top;
	}
	t->n[x] = (struct blk_node){ .key = key, .parent = parent, .red = true };
	if (!parent)
		t->root = x;
	else if (key < t->n[parent].key)
		t->n[parent].left = x;
	else
		t->n[parent].right = x;
	after_insert(t, x);
	return x;
}

static void after_remove(struct blk_tree *t, uint32_t x, uint32_t p)
{
	struct blk_node *n = t->n;

	while (x != t->root && !(x && n[x].red)) {
		bool left = n[p].left == x;
		uint32_t w = left ? n[p].right : n[p].left, near, far;

		if (n[w].red) {
			n[w].red = false;
			n[p].red = true;
			rotate(t, p, left);
			w = left ? n[p].right : n[p].left;
		}
		near = left ? n[w].left : n[w].right;
		far = left ? n[w].right : n[w].left;
		if (!n[near].red && !n[far].red) {
			n[w].red = true;
			x = p;
			p = n[x].parent;
			continue;
		}
		if (!n[far].red) {
			n[near].red = false;
			n[w].red = true;
			rotate(t, w, !left);
			w = left ? n[p].right : n[p].left;
			far = left ? n[w].right : n[w].left;
		}
		n[w].red = n[p].red;
		n[p].red = false;
		n[far].red = false;
		rotate(t, p, left);
		x = t->root;
	}
	if (x)
		n[x].red = false;
}

static void put_in_place(struct blk_tree *t, uint32_t old, uint32_t new)
{
	struct blk_node *n = t->n;
	uint32_t p = n[old].parent;

	if (!p)
		t->root = new;
	else if (n[p].left == old)
		n[p].left = new;
	else
		n[p].right = new;
	if (new)
		n[new].parent = p;
}

void blk_tree_remove(struct blk_tree *t, uint32_t z)
{
	struct blk_node *n = t->n;
	uint32_t x, p;
	bool black = !n[z].red;

	if (!n[z].left || !n[z].right) {
		x = n[z].left ? n[z].left : n[z].right;
		p = n[z].parent;
		put_in_place(t, z, x);
	} else {
		uint32_t y = n[z].right;

		while (n[y].left)
			y = n[y].left;
		black = !n[y].red;
		x = n[y].right;
		p = n[y].parent == z ? y : n[y].parent;
		if (n[y].parent != z) {
			put_in_place(t, y, x);
			n[y].right = n[z].right;
			n[n[y].right].parent = y;
		}
		put_in_place(t, z, y);
		n[y].left = n[z].left;
		n[n[y].left].parent = y;
		n[y].red = n[z].red;
	}
	if (black)
		after_remove(t, x, p);
	n[z] = (struct blk_node){ .left = t->free };
	t->free = z;
}

void blk_tree_done(struct blk_tree *t)
{
	free(t->n);
	memset(t, 0, sizeof(*t));
}

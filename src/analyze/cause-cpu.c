/* SPDX-License-Identifier: MIT */
#include "analyze/cause.h"
#include "analyze/walk.h"

static void follow(struct walk *k, struct walk_node *n, const struct event *w)
{
	walk_add_leaf(k, n, LEAF_CPU, n->ns, CONF_EXACT, NULL);
}

const struct cause_ops cause_cpu = {
	.plug = { .name = "cpu", .about = "a CPU to run on; this is not I/O" },
	.classes = { WAIT_CPU },
	.whom = "whoever keeps the CPUs busy: this is not the disk",
	.follow = follow,
};

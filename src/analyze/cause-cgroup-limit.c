/* SPDX-License-Identifier: MIT */
#include "analyze/cause.h"
#include "analyze/walk.h"

static void follow(struct walk *k, struct walk_node *n, const struct event *w)
{
	walk_add_leaf(k, n, LEAF_LIMIT, n->ns, CONF_EXACT, NULL);
}

const struct cause_ops cause_cgroup_limit = {
	.plug = { .name = "cgroup-limit", .about = "an I/O controller holds this cgroup back" },
	.classes = { WAIT_CGROUP_THROTTLE, WAIT_IOCOST },
	.whom = "the limit of the cgroup the task is in: io.max, blkio.throttle, io.latency or io.cost",
	.follow = follow,
};

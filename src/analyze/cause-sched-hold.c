/* SPDX-License-Identifier: MIT */
#include "analyze/cause.h"
#include "analyze/walk.h"

/* Whoever is served while this request is held. */
static void follow(struct walk *k, struct walk_node *n, const struct event *w)
{
	uint32_t conf, disk = walk_find_disk(k, w, &conf);

	if (disk)
		walk_disk(k, n, disk, n->a, n->b, LEAF_DISK, conf);
}

const struct cause_ops cause_sched_hold = {
	.plug = { .name = "sched-hold", .about = "the I/O scheduler holds the request back" },
	.classes = { WAIT_SCHED_HOLD },
	.whom = "the scheduler, which serves another process first",
	.remedy = "another scheduler",
	.ab = "stallmark ab quick --dir DIR --a '' --b scheduler=mq-deadline",
	.follow = follow,
};

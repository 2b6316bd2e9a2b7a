/* SPDX-License-Identifier: MIT */
#include "analyze/cause.h"
#include "analyze/walk.h"

/* Whoever holds the slots meanwhile: requests from their allocation to their completion. */
static void follow(struct walk *k, struct walk_node *n, const struct event *w)
{
	uint32_t conf, disk = walk_find_disk(k, w, &conf);

	if (disk)
		walk_disk(k, n, disk, n->a, n->b, LEAF_SLOTS, conf);
}

const struct cause_ops cause_tags = {
	.plug = { .name = "tags", .about = "all request slots of the queue are taken" },
	.classes = { WAIT_TAGS },
	.whom = "whoever has many requests in the queue of that device, often a flusher on behalf of a "
		"large writer",
	.remedy = "more slots in the queue",
	.ab = "stallmark ab quick --dir DIR --a '' --b queue.nr_requests=1024",
	.follow = follow,
};

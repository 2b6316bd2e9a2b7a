/* SPDX-License-Identifier: MIT */
#include "analyze/cause.h"
#include "analyze/walk.h"

/* Whoever holds the allowance meanwhile: requests from their allocation to their completion. */
static void follow(struct walk *k, struct walk_node *n, const struct event *w)
{
	uint32_t conf, disk = walk_find_disk(k, w, &conf);

	if (disk)
		walk_disk(k, n, disk, n->a, n->b, LEAF_WBT, conf);
}

const struct cause_ops cause_wbt = {
	.plug = { .name = "wbt", .about = "writeback throttling holds background writes back" },
	.classes = { WAIT_WBT },
	.whom = "nobody in particular: the block layer keeps background writes short so that readers are "
		"served; many writes of one program share the allowance",
	.remedy = "wbt_lat_usec sets the aim (0: off)",
	.ab = "stallmark ab quick --dir DIR --a '' --b queue.wbt_lat_usec=0",
	.follow = follow,
};

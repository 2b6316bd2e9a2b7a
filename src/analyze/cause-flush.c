/* SPDX-License-Identifier: MIT */
#include "analyze/cause.h"
#include "analyze/walk.h"

/* While the flush is in service its time is its own leaf; before that the disk serves what is in front of it. */
static void follow(struct walk *k, struct walk_node *n, const struct event *w)
{
	uint32_t conf, disk = walk_find_disk(k, w, &conf);

	if (disk)
		walk_disk(k, n, disk, n->a, n->b, LEAF_DISK, conf);
}

const struct cause_ops cause_flush = {
	.plug = { .name = "flush", .about = "the disk empties its write cache" },
	.classes = { WAIT_DEVICE_FLUSH },
	.whom = "the disk: a cache flush takes as long as all writes it holds in its cache, whoever wrote "
		"them",
	.remedy = "without barriers (unsafe, in a lab only) shows how much of it is the flush",
	.ab = "stallmark run torture-fsync --lab fs=ext4,mount=barrier=0",
	.follow = follow,
};

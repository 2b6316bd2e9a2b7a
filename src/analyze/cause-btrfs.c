/* SPDX-License-Identifier: MIT */
#include "analyze/cause.h"
#include "analyze/walk.h"
#include "base/cleanup.h"

/* The task that commits is the one that wakes the others up; its own waits tell what the commit waits for. */
static void follow(struct walk *k, struct walk_node *n, const struct event *w)
{
	uint32_t conf, disk, waker = (uint32_t)w->b;
	size_t m = 0;
	const struct event *x = waker ? trace_by_tid(&k->t->wait, waker, n->a, INT64_MAX / 4, &m) : NULL;

	for (size_t i = 0; i < m; i++) {
		nsec_t both = MIN(x[i].t + x[i].dur, n->b) - MAX(x[i].t, n->a);

		if (both > (n->b - n->a) / 4 && (x[i].class == WAIT_BTRFS_COMMIT || x[i].class == WAIT_BTRFS_LOG ||
						 x[i].class == WAIT_WRITEBACK || x[i].class == WAIT_SYNC_BIO) &&
		    walk_follow(k, n, waker, n->a, n->b, CONF_WAKER))
			return;
	}
	disk = walk_find_disk(k, w, &conf);
	if (disk)
		walk_disk(k, n, disk, n->a, n->b, LEAF_JOURNAL, conf);
}

const struct cause_ops cause_btrfs = {
	.plug = { .name = "btrfs", .about = "a btrfs log or transaction commit, or space reservation" },
	.classes = { WAIT_BTRFS_LOG, WAIT_BTRFS_COMMIT, WAIT_BTRFS_SPACE },
	.whom = "the task that commits the transaction, and whoever dirtied the data and metadata in it",
	.remedy = "smaller dirty limits make commits shorter",
	.ab = "stallmark ab quick --dir DIR --a '' --b vm.dirty_bytes=64M",
	.follow = follow,
};

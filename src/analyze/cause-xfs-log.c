/* SPDX-License-Identifier: MIT */
#include "analyze/cause.h"
#include "analyze/walk.h"

/* Log writes and metadata writeback go to the filesystem's disk; a lock's owner is followed first. */
static void follow(struct walk *k, struct walk_node *n, const struct event *w)
{
	uint32_t conf, disk;

	if (w->other && walk_follow(k, n, w->other, n->a, n->b, CONF_OWNER))
		return;
	disk = walk_find_disk(k, w, &conf);
	if (disk)
		walk_disk(k, n, disk, n->a, n->b, LEAF_JOURNAL, conf);
}

const struct cause_ops cause_xfs_log = {
	.plug = { .name = "xfs-log", .about = "the XFS log" },
	.classes = { WAIT_XFS_LOG, WAIT_XFS_BUFFER },
	.whom = "the log write or, when space is short, the metadata writeback (xfsaild) that must free "
		"it; whoever changes much metadata fills it",
	.remedy = "smaller dirty limits leave less to write before a log write",
	.ab = "stallmark ab fsmark-fio --dir DIR --a '' --b vm.dirty_bytes=64M",
	.follow = follow,
};

/* SPDX-License-Identifier: MIT */
#include "analyze/cause.h"
#include "analyze/walk.h"

/* The commit writes this block: its thread is behind it, or at least its disk. */
static void follow(struct walk *k, struct walk_node *n, const struct event *w)
{
	uint32_t conf, dev, disk;

	if (w->other && walk_follow(k, n, w->other, n->a, n->b, CONF_OWNER))
		return;
	dev = walk_find_journal(k, w, &conf);
	if (dev && w->class == WAIT_JBD2_SHADOW && walk_follow_commit(k, n, dev, conf))
		return;
	disk = dev ? trace_disk_of(k->t, dev) : walk_find_disk(k, w, &conf);
	if (disk)
		walk_disk(k, n, disk, n->a, n->b, LEAF_JOURNAL, conf);
}

const struct cause_ops cause_journal_shadow = {
	.plug = { .name = "journal-shadow", .about = "a metadata block that a commit is just writing" },
	.classes = { WAIT_JBD2_SHADOW, WAIT_BUFFER_LOCK },
	.whom = "the journal commit that is writing this very block; it may be modified again when the "
		"block is on the disk",
	.remedy = "data=writeback shortens commits; in a lab, as the mount differs",
	.ab = "stallmark run fsmark-fio --lab fs=ext4,mount=data=writeback",
	.follow = follow,
};

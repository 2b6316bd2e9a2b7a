/* SPDX-License-Identifier: MIT */
#include "analyze/cause.h"
#include "analyze/walk.h"

/*
 * Three ways to wait for space: behind another task that checkpoints (the owner of the mutex), for the running
 * commit, or for one's own checkpoint writes.
 */
static void follow(struct walk *k, struct walk_node *n, const struct event *w)
{
	uint32_t conf, dev, disk;

	if (w->other && walk_follow(k, n, w->other, n->a, n->b, CONF_OWNER))
		return;
	dev = walk_find_journal(k, w, &conf);
	for (size_t i = 0; i < k->t->commit.n; i++)
		if (w->b && k->t->commit.p[i].tid == (uint32_t)w->b && walk_follow_commit(k, n, k->t->commit.p[i].dev, CONF_WAKER))
			return;
	disk = dev ? trace_disk_of(k->t, dev) : walk_find_disk(k, w, &conf);
	if (disk)
		walk_disk(k, n, disk, n->a, n->b, LEAF_DISK, conf);
}

const struct cause_ops cause_journal_space = {
	.plug = { .name = "journal-space", .about = "free space in the journal" },
	.classes = { WAIT_JBD2_SPACE },
	.whom = "the checkpoint: the journal is full, and old transactions' metadata must reach its place "
		"on the disk first; whoever changes much metadata fills it",
	.remedy = "a larger journal fills less often; in a lab, as mkfs differs",
	.ab = "stallmark run fsmark-fio --lab fs=ext4,mkfs=-J+size=256",
	.follow = follow,
};

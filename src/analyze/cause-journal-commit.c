/* SPDX-License-Identifier: MIT */
#include "analyze/cause.h"
#include "analyze/walk.h"

/* The journal thread of the filesystem, over the same interval; without commit rows the waker, which is that thread. */
static void follow(struct walk *k, struct walk_node *n, const struct event *w)
{
	uint32_t conf, dev = walk_find_journal(k, w, &conf);

	if (dev && walk_follow_commit(k, n, dev, conf))
		return;
	if (!walk_follow(k, n, (uint32_t)w->b, n->a, n->b, CONF_WAKER))
		walk_follow_thread(k, n, "jbd2/");
}

const struct cause_ops cause_journal_commit = {
	.plug = { .name = "journal-commit", .about = "a journal commit that this task asked for (fsync) or has to wait for" },
	.classes = { WAIT_JBD2_COMMIT_WAIT },
	.whom = "the journal thread of that filesystem (jbd2/DEV or kjournald): its own stack says what "
		"the commit waits for, most often file data that another program wrote",
	.remedy = "data=writeback frees a commit from other programs' file data; in a lab, as the mount differs",
	.ab = "stallmark run torture-fsync --lab fs=ext4,mount=data=writeback",
	.follow = follow,
};

/* SPDX-License-Identifier: MIT */
#include "analyze/cause.h"
#include "analyze/walk.h"

/* A commit that locks its transaction lets nobody in. */
static void follow(struct walk *k, struct walk_node *n, const struct event *w)
{
	uint32_t conf, dev = walk_find_journal(k, w, &conf);

	if (dev && walk_follow_commit(k, n, dev, conf))
		return;
	if (!walk_follow(k, n, (uint32_t)w->b, n->a, n->b, CONF_WAKER))
		walk_follow_thread(k, n, "jbd2/");
}

const struct cause_ops cause_journal_handle = {
	.plug = { .name = "journal-handle", .about = "permission to join the running transaction" },
	.classes = { WAIT_JBD2_HANDLE },
	.whom = "a commit that is locking its transaction, and with it the tasks that still hold a handle "
		"of that transaction open",
	.remedy = "a larger journal locks less often; in a lab, as mkfs differs",
	.ab = "stallmark run fsmark-fio --lab fs=ext4,mkfs=-J+size=256",
	.follow = follow,
};

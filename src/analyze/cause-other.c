/* SPDX-License-Identifier: MIT */
#include "analyze/cause.h"
#include "analyze/walk.h"

/* Waiting for somebody else's work: that task, if it is known to have waited itself; else it is not the disk. */
static void follow(struct walk *k, struct walk_node *n, const struct event *w)
{
	const struct tr_task *waker = w->b ? trace_task(k->t, (uint32_t)w->b) : NULL;
	uint32_t conf, disk;

	if (w->class == WAIT_FUSE || w->class == WAIT_NETFS) {
		walk_add_leaf(k, n, LEAF_SERVER, n->ns, CONF_EXACT, NULL);
		return;
	}
	if (w->class == WAIT_URING) {
		disk = walk_find_disk(k, w, &conf);
		if (disk)
			walk_disk(k, n, disk, n->a, n->b, LEAF_DISK, conf);
		return;
	}
	if (w->class == WAIT_UNKNOWN && !(w->flags & EVF_IOWAIT) && !w->d && !waker)
		return;
	if (w->class == WAIT_UNKNOWN && (w->flags & EVF_IOWAIT || w->d)) {	/* some I/O: the disk says more */
		disk = walk_find_disk(k, w, &conf);
		if (disk && conf >= CONF_COMPLETION)
			walk_disk(k, n, disk, n->a, n->b, LEAF_DISK, conf);
		return;
	}
	if (waker && waker->tid != w->tid && walk_follow(k, n, waker->tid, n->a, n->b, CONF_WAKER))
		return;
	if (w->class != WAIT_UNKNOWN)
		walk_add_leaf(k, n, LEAF_OTHER, n->ns, CONF_EXACT, NULL);
}

const struct cause_ops cause_other = {
	.plug = { .name = "other", .about = "anything else" },
	.classes = { WAIT_SLEEP, WAIT_IDLE, WAIT_TASK, WAIT_INPUT, WAIT_URING, WAIT_NETFS, WAIT_FUSE, WAIT_WORKQUEUE },
	.follow = follow,
};

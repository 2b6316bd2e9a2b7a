/* SPDX-License-Identifier: MIT */
#include "analyze/cause.h"
#include "analyze/walk.h"

/*
 * The disk served this and other requests meanwhile; each second goes to those in service. For data on its way to the
 * disk the object is known (the folio's file), for reads the requests the task itself made.
 */
static void follow(struct walk *k, struct walk_node *n, const struct event *w)
{
	uint32_t conf, disk = walk_find_disk(k, w, &conf);

	if (disk)
		walk_disk(k, n, disk, n->a, n->b, LEAF_DISK, conf);
	if (n->nkids || !w->b || trace_is_kthread(k->t, (uint32_t)w->b))
		return;
	walk_follow(k, n, (uint32_t)w->b, n->a, n->b, CONF_WAKER);	/* a page locked by another program's read */
}

const struct cause_ops cause_device = {
	.plug = { .name = "device", .about = "a request to the disk" },
	.classes = { WAIT_WRITEBACK, WAIT_PAGE_READ, WAIT_DIRECT_IO, WAIT_META_READ, WAIT_SYNC_BIO, WAIT_DEVICE },
	.whom = "the disk, and whoever has requests in front of this one",
	.remedy = "another scheduler orders requests differently",
	.ab = "stallmark ab quick --dir DIR --a '' --b scheduler=bfq",
	.follow = follow,
};

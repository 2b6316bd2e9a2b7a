/* SPDX-License-Identifier: MIT */
#include "analyze/cause.h"
#include "analyze/walk.h"

#define LATELY (5 * NSEC_PER_SEC)

/* The kernel stops writers in proportion to what they dirty; so is it charged. */
static void follow(struct walk *k, struct walk_node *n, const struct event *w)
{
	struct bill bill = { 0 };
	uint32_t disk = 0;
	size_t m;
	const struct event *x = trace_by_tid(&k->t->throttle, w->tid, w->t, NSEC_PER_SEC, &m);

	for (size_t i = 0; i < m && x[i].t <= w->t + NSEC_PER_MSEC; i++)
		disk = x[i].dev;	/* the row right before the sleep names the disk */
	blame_dirtiers(k->t, disk, n->a - LATELY, n->b, n->ns, CONF_EXACT, &bill);
	if (!bill.c.n)
		blame_dirtiers(k->t, 0, n->a - LATELY, n->b, n->ns, CONF_TIME, &bill);
	walk_add_leaf(k, n, LEAF_THROTTLE, n->ns, CONF_EXACT, &bill)->dev = disk;
}

const struct cause_ops cause_dirty_throttle = {
	.plug = { .name = "dirty-throttle", .about = "the kernel makes writers sleep while too much dirty data waits" },
	.classes = { WAIT_DIRTY_THROTTLE },
	.whom = "whoever writes much at the moment, which may be this task itself; the limits may be low "
		"because memory is",
	.remedy = "other dirty limits move the point where writers are stopped",
	.ab = "stallmark ab quick --dir DIR --a '' --b vm.dirty_bytes=64M",
	.follow = follow,
};

/* SPDX-License-Identifier: MIT */
#include "analyze/cause.h"
#include "analyze/walk.h"

#include <string.h>

#define LATELY (5 * NSEC_PER_SEC)

/* In a memory cgroup only its own members can be behind it; else whoever dirtied most lately. */
static void follow(struct walk *k, struct walk_node *n, const struct event *w)
{
	const struct tr_task *me = trace_task(k->t, w->tid);
	struct bill all = { 0 }, bill = { 0 };
	size_t m;
	const struct event *r = trace_by_tid(&k->t->reclaim, w->tid, n->a, 60 * NSEC_PER_SEC, &m);
	bool memcg = false;
	double sum = 0;

	for (size_t i = 0; i < m && r[i].t < n->b; i++)
		memcg |= r[i].t + r[i].dur > n->a && r[i].c;
	blame_dirtiers(k->t, 0, n->a - LATELY, n->b, n->ns, CONF_TIME, &all);
	for (int pass = 0; memcg && me && pass < 2; pass++) {
		for (size_t i = 0; i < all.c.n; i++) {
			const struct tr_task *who = trace_task(k->t, all.c.p[i].pid);

			if (!who || strcmp(who->cgroup, me->cgroup))
				continue;
			if (pass == 0)
				sum += all.c.p[i].ns;
			else
				bill_add(&bill, all.c.p[i].pid, all.c.p[i].dev, all.c.p[i].ino, n->ns * all.c.p[i].ns / sum, CONF_TIME);
		}
	}
	walk_add_leaf(k, n, LEAF_RECLAIM, n->ns, CONF_EXACT, bill.c.n ? &bill : &all);
	bill_done(&bill);
	bill_done(&all);
}

const struct cause_ops cause_reclaim = {
	.plug = { .name = "reclaim", .about = "memory was short and the task had to free some itself" },
	.classes = { WAIT_RECLAIM },
	.whom = "whoever fills the memory (or the memory cgroup) with dirty pages that must be written "
		"before they can be reused",
	.remedy = "less dirty data leaves clean pages to reclaim",
	.ab = "stallmark ab quick --dir DIR --a '' --b vm.dirty_bytes=64M",
	.follow = follow,
};

/* SPDX-License-Identifier: MIT */
#include "analyze/cause.h"
#include "analyze/walk.h"

/* The owner when the task began to wait; where the kernel does not name it, the task that woke it, which released it. */
static void follow(struct walk *k, struct walk_node *n, const struct event *w)
{
	struct bill bill = { 0 };
	uint32_t tid = w->other ? w->other : (uint32_t)w->b, pid = w->other ? (uint32_t)w->f : 0;
	const struct tr_task *who;

	if (!tid || !walk_follow(k, n, tid, n->a, n->b, w->other ? CONF_OWNER : CONF_WAKER))
		return;
	/* what the holder spends running or unaccounted is charged to it: it kept the lock */
	who = trace_task(k->t, tid);
	pid = who ? who->pid : pid ? pid : tid;
	if (trace_is_kthread(k->t, tid))
		return;
	n = n->kid[n->nkids - 1];
	for (size_t i = 0; i < n->nkids; i++) {
		if (n->kid[i]->kind == WALK_LEAF && n->kid[i]->leaf == LEAF_RUNNING) {
			bill_add(&bill, pid, 0, 0, n->kid[i]->ns, CONF_OWNER);
			n->kid[i]->leaf = LEAF_LOCK;
			bill_join(&n->kid[i]->bill, &bill, 1);
			bill_done(&bill);
		}
	}
}

const struct cause_ops cause_lock = {
	.plug = { .name = "lock", .about = "a lock that another task holds" },
	.classes = { WAIT_LOCK },
	.whom = "the holder of the lock (a hung-task report of 6.16 and later names it): see what that "
		"task waits for",
	.follow = follow,
};

/* SPDX-License-Identifier: MIT */
#include "analyze/cause.h"
#include "analyze/walk.h"

/* The last stop signal to this process before it stopped names its sender. */
static void follow(struct walk *k, struct walk_node *n, const struct event *w)
{
	const struct event *by = NULL;
	struct bill bill = { 0 };

	for (size_t i = 0; i < k->t->signal.n; i++) {
		const struct event *s = &k->t->signal.p[i];

		if (s->other == w->pid && s->a != 18 && s->t <= w->t + 10 * NSEC_PER_MSEC)
			by = s;
	}
	if (by && by->pid != w->pid && !trace_is_kthread(k->t, by->tid))
		bill_add(&bill, by->pid, 0, 0, n->ns, CONF_EXACT);
	walk_add_leaf(k, n, LEAF_STOPPED, n->ns, CONF_EXACT, &bill);
}

const struct cause_ops cause_stopped = {
	.plug = { .name = "stopped", .about = "the task was stopped by a signal or debugger; this is not I/O" },
	.classes = { WAIT_STOPPED },
	.whom = "whoever stopped it (SIGSTOP, a debugger, the freezer): this is not the disk",
	.follow = follow,
};

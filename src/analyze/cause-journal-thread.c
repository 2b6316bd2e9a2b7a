/* SPDX-License-Identifier: MIT */
#include "analyze/cause.h"
#include "analyze/walk.h"

/* Before "flushing" the commit waits for handles that are still open: follow who holds one for long. */
static bool waits_for_handles(struct walk *k, struct walk_node *n, const struct event *c)
{
	const struct event *longest = NULL, *h;
	nsec_t end = c->d ? c->t + (nsec_t)c->c : c->t + c->dur;
	size_t m;

	if (n->b > end + NSEC_PER_MSEC)
		return false;
	h = trace_by_dev(&k->t->handle, c->dev, n->a, k->t->longest_handle, &m);
	for (size_t i = 0; i < m; i++)
		if (h[i].a == c->a && h[i].dur && h[i].t < n->b && h[i].t + h[i].dur > n->a &&
		    (!longest || h[i].dur > longest->dur))
			longest = &h[i];
	return longest && walk_follow(k, n, longest->tid, n->a, n->b, CONF_EXACT);
}

static void follow(struct walk *k, struct walk_node *n, const struct event *w)
{
	const struct event *c = NULL, *all;
	uint32_t conf, disk = walk_find_disk(k, w, &conf);

	for (size_t i = 0; i < k->t->commit.n; i++) {
		all = &k->t->commit.p[i];
		if (all->tid == w->tid && all->t < n->b && all->t + all->dur > n->a)
			c = all;
	}
	if (w->ino) {		/* folio_wait_writeback: ordered data of this very file */
		walk_disk(k, n, disk, n->a, n->b, LEAF_ORDERED, CONF_EXACT);
		for (size_t i = 0; i < n->nkids; i++)
			if (n->kid[i]->leaf == LEAF_ORDERED) {
				n->kid[i]->ino = w->ino;
				n->kid[i]->dev = w->dev;
			}
		return;
	}
	if (c) {
		n->transaction = (uint32_t)c->a;
		if (waits_for_handles(k, n, c))
			return;
		disk = trace_disk_of(k->t, c->dev);
		conf = CONF_EXACT;
	}
	if (disk)
		walk_disk(k, n, disk, n->a, n->b, LEAF_JOURNAL, conf);
}

const struct cause_ops cause_journal_thread = {
	.plug = { .name = "journal-thread", .about = "the journal thread at work on a commit" },
	.classes = { WAIT_JBD2_THREAD },
	.whom = "whoever dirtied the ordered data or metadata of this transaction; every fsync on the "
		"filesystem waits with it",
	.remedy = "smaller dirty limits leave less data for a commit to flush",
	.ab = "stallmark ab torture-fsync --dir DIR --a '' --b vm.dirty_bytes=64M",
	.follow = follow,
};

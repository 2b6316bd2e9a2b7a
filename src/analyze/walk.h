/* SPDX-License-Identifier: MIT */
/*
 * One explanation: a tree from the waiter down to leaves. Every node covers a
 * part of its parent's interval; the seconds of the leaves sum to the stall.
 *
 *	TASK	what this task did meanwhile: its waits, and the rest
 *	WAIT	one wait of it, explained by the cause of its class
 *	LEAF	seconds that are not followed any further, with the bill
 *
 * A cause adds children to its WAIT node; what it leaves uncovered becomes an
 * unknown leaf by itself. Nodes belong to the tree.
 */
#ifndef ANALYZE_WALK_H
#define ANALYZE_WALK_H

#include "analyze/serve.h"
#include "base/strbuf.h"

enum walk_kind { WALK_TASK, WALK_WAIT, WALK_LEAF };

/* What a leaf is; the name is what --json, --folded and the exam use. */
#define WALK_LEAVES(use)							\
	use(DISK, "disk", "the disk served requests")				\
	use(ORDERED, "ordered-data", "ordered data had to reach the disk before the commit")	\
	use(JOURNAL, "journal-write", "the journal was written")			\
	use(FLUSH, "flush", "the disk emptied its write cache")			\
	use(SILENT, "silent", "the disk did not answer")			\
	use(HELD, "held", "requests were held back, the disk was free")		\
	use(SLOTS, "tags", "all request slots were taken")			\
	use(WBT, "wbt", "writeback throttling held writes back")		\
	use(LIMIT, "cgroup-limit", "an I/O limit of the cgroup")		\
	use(THROTTLE, "dirty-throttle", "too much dirty data: writers are made to sleep")	\
	use(RECLAIM, "reclaim", "memory had to be freed")			\
	use(LOCK, "lock", "somebody held the lock")				\
	use(CPU, "cpu", "no CPU was free; this is not I/O")			\
	use(RUNNING, "running", "it ran, or waited for less than is recorded")	\
	use(STOPPED, "stopped", "it was stopped; this is not I/O")		\
	use(SERVER, "server", "another server worked (FUSE or network)")	\
	use(OTHER, "other", "it waited for something that is not the disk")	\
	use(UNKNOWN, "unknown", "not known")

enum walk_leaf {
#define WALK_LEAF_ID(id, name, words) LEAF_##id,
	WALK_LEAVES(WALK_LEAF_ID)
#undef WALK_LEAF_ID
	LEAF_MAX
};

const char *walk_leaf_name(enum walk_leaf l);
const char *walk_leaf_words(enum walk_leaf l);

struct walk_node {
	enum walk_kind kind;
	enum walk_leaf leaf;
	uint32_t class;		/* WAIT: enum wait_class */
	uint32_t conf;		/* how sure the step from the parent to here is */
	uint32_t tid;		/* whose node it is */
	uint32_t dev;		/* LEAF: the disk, or the filesystem of ino */
	uint64_t ino;
	uint32_t transaction;	/* of a journal; 0: none */
	nsec_t a, b;
	double ns;		/* covered seconds; b - a for all but leaves and merged nodes */
	uint32_t stack;
	const char *cause;	/* WAIT: name of the cause */
	struct bill bill;	/* LEAF */
	uint64_t reads, sync_writes, async_writes, meta, flushes, bytes;	/* LEAF on a disk */
	struct walk_node *parent, **kid;
	size_t nkids, count;	/* count: how many nodes were merged into this one */
};

struct walk {
	const struct trace *t;
	size_t nodes;		/* made so far; a limit ends the recursion */
	uint32_t victim_pid;
};

/* What the task did in [a, b]. NULL never; free with walk_free(). */
struct walk_node *walk_task(const struct trace *t, uint32_t tid, nsec_t a, nsec_t b);
void walk_free(struct walk_node *n);

/* Siblings that read the same become one; biggest first. For people. */
void walk_merge(struct walk_node *n);

/* ---- for causes ---- */

/* Another task is behind it: adds a TASK child over the interval. False: unknown tid, cycle, or too deep. */
bool walk_follow(struct walk *k, struct walk_node *n, uint32_t tid, nsec_t a, nsec_t b, uint32_t conf);
/* A leaf of ns; *bill is taken over (may be NULL). Returns it. */
struct walk_node *walk_add_leaf(struct walk *k, struct walk_node *n, enum walk_leaf l, double ns, uint32_t conf, struct bill *bill);
/* Divides [a, b] by what the disk did: busy time becomes `busy`, the rest FLUSH, SILENT, HELD and UNKNOWN. */
void walk_disk(struct walk *k, struct walk_node *n, uint32_t disk, nsec_t a, nsec_t b, enum walk_leaf busy, uint32_t conf);
/* The disk this wait is about: by object, by the waiter's own requests, by the completion before the wake-up, by the
 * waiter's files. 0: unknown. */
uint32_t walk_find_disk(struct walk *k, const struct event *w, uint32_t *ret_conf);
/* The journal this wait is about: its filesystem's dev_t, by the fsync it is in, the waker, the task's handles; 0: unknown. */
uint32_t walk_find_journal(struct walk *k, const struct event *w, uint32_t *ret_conf);
/* The journal thread of that filesystem over [a, b]. */
bool walk_follow_commit(struct walk *k, struct walk_node *n, uint32_t fs_dev, uint32_t conf);
/* The journal this wait is about, over the node's interval; without commit rows its waker, else any jbd2 thread. The
 * `follow` of every cause whose wait ends with a commit. */
void walk_follow_journal(struct walk *k, struct walk_node *n, const struct event *w);
/* The kernel thread whose name begins so and that waited most of [a, b]; for sampled stacks, which know no more. */
bool walk_follow_thread(struct walk *k, struct walk_node *n, const char *prefix);
double walk_left(const struct walk_node *n);		/* seconds no child covers yet */

#endif

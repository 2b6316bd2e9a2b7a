/* SPDX-License-Identifier: MIT */
/* What the parts of the BPF object share: knobs, the ring, what is kept for each task. */
#ifndef COLLECT_BPF_COMMON_H
#define COLLECT_BPF_COMMON_H

#include "collect/bpf/kernel.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>
#include "collect/bpf/wire.h"

/* Set by user space before loading. */
const volatile __u64 user_ns = 5000000;		/* waits of programs shorter than this are not sent */
const volatile __u64 kthread_ns = 1000000;	/* waits of kernel threads */
const volatile __u64 probe_ns = 1000000;		/* waits of the processes in `watched`, asleep in any way */
const volatile __u64 runq_ns = 5000000;		/* runnable but not running */
const volatile __u32 self_tgid = 0;		/* the tracer: never sent */

__u64 lost;					/* the ring was full */

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 23);
} ring SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__type(key, u32);			/* tgid */
	__type(value, u32);
} watched SEC(".maps");

struct task_state {
	u64 off;		/* when it left the CPU; 0: running */
	u64 woken;		/* when it became runnable again */
	u32 state, iowait;
	u32 waker, waker_pid;
	u32 owner, owner_pid;
	u64 last_age, last_sector;
	u32 last_dev;
	u32 folio_dev;		/* what folio_wait_writeback() was called for, forgotten after the wait */
	u64 folio_ino;
	u64 fsync_t, fsync_ino;
	u32 fsync_dev, fsync_tid;
	u64 handle_t;		/* the open journal handle */
	u64 sum_t;		/* handles of one transaction added up */
	u32 handle_dev, handle_tid;
	u32 sum_dev, sum_tid, sum_blocks, sum_n;
	u64 reclaim_t;
	u32 reclaim_order, reclaim_throttled;
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct task_state);
} tasks SEC(".maps");

static __always_inline struct task_state *my_state(bool make)
{
	return bpf_task_storage_get(&tasks, bpf_get_current_task_btf(), 0, make ? BPF_LOCAL_STORAGE_GET_F_CREATE : 0);
}


/* bpf_ringbuf_reserve wants a constant size, hence a macro. */
#define RESERVE(type) ({								\
	type *r_ = bpf_ringbuf_reserve(&ring, sizeof(type), 0);				\
	if (!r_)									\
		__sync_fetch_and_add(&lost, 1);						\
	r_; })

static __always_inline void send(void *row)
{
	bpf_ringbuf_submit(row, BPF_RB_NO_WAKEUP);	/* the reader comes by itself: a wake-up costs 3.8 us */
}

static __always_inline void head_current(struct wire_head *h, u32 type, u32 dev, u64 t, u64 dur)
{
	u64 id = bpf_get_current_pid_tgid();

	h->type = type;
	h->pid = id >> 32;
	h->tid = (u32)id;
	h->dev = dev;
	h->t = t;
	h->dur = dur;
	bpf_get_current_comm(h->comm, sizeof(h->comm));
}

/* One row of plain numbers about the running task. */
static __always_inline void send_numbers(u32 type, u32 dev, u64 ino, u64 t, u64 dur, u64 a, u64 b, u64 c, u64 d, u64 e,
					 u64 f, u32 other)
{
	struct wire_numbers *n = RESERVE(struct wire_numbers);

	if (!n)
		return;
	head_current(&n->h, type, dev, t, dur);
	n->ino = ino;
	n->a = a;
	n->b = b;
	n->c = c;
	n->d = d;
	n->e = e;
	n->f = f;
	n->other = other;
	n->pad = 0;
	send(n);
}

#endif

/* SPDX-License-Identifier: MIT */
/*
 * What the BPF programs send up through the ring buffer, and the knobs they
 * are given before loading. Included by both sides; plain fixed-size structs
 * of 64- and 32-bit numbers without holes. Times are CLOCK_MONOTONIC.
 */
#ifndef COLLECT_BPF_WIRE_H
#define COLLECT_BPF_WIRE_H

#ifndef __bpf__
#include <stdint.h>
typedef uint64_t wire_u64;
typedef uint32_t wire_u32;
#else
typedef unsigned long long wire_u64;
typedef unsigned int wire_u32;
#endif

#define WIRE_STACK	24
#define WIRE_COMM	16
#define WIRE_NAME	48

enum wire_type {
	WIRE_WAIT = 1,
	WIRE_RUNQ,
	WIRE_RQ,
	WIRE_DIRTY,
	WIRE_THROTTLE,
	WIRE_RECLAIM,
	WIRE_COMMIT,
	WIRE_INODE,
	WIRE_HANDLE,
	WIRE_FSYNC,
	WIRE_SIGNAL,
	WIRE_BTRFS,
	WIRE_XFS,
	WIRE_CHECKPOINT,
	WIRE_MAX
};

struct wire_head {
	wire_u32 type;
	wire_u32 pid, tid;		/* whose it is: tgid and pid of the kernel */
	wire_u32 dev;			/* kernel dev_t */
	wire_u64 t, dur;
	char comm[WIRE_COMM];
};

#define WIRE_KTHREAD	(1u << 0)
#define WIRE_IOWAIT	(1u << 1)
#define WIRE_UNINTR	(1u << 2)
#define WIRE_STOPPED	(1u << 3)
#define WIRE_OPEN	(1u << 4)	/* still waiting */

struct wire_wait {
	struct wire_head h;		/* dev, of the folio it waits for or of the fsync it is in */
	wire_u64 runnable;		/* after the sleep, until it ran */
	wire_u64 ino;			/* of the folio it waits for */
	wire_u64 last_sector, last_age;	/* the completion before the wake-up on that CPU; age 0: none */
	wire_u32 last_dev;
	wire_u32 waker, waker_pid;
	wire_u32 owner, owner_pid;
	wire_u32 parent;
	wire_u32 flags;
	wire_u32 nstack;
	wire_u64 stack[WIRE_STACK];
};

struct wire_runq {
	struct wire_head h;
	wire_u32 other, other_pid;	/* who had the CPU last */
	wire_u32 parent, flags;
};

/* request flags, as EVF_* of event.h */
struct wire_rq {
	struct wire_head h;		/* dev: the whole disk; t: queued; dur: until completed */
	wire_u64 sector, ino;
	wire_u32 ino_dev, bytes;
	wire_u32 flags;
	wire_u32 getrq, insert, issue;	/* microseconds after t; 0xffffffff: did not happen */
};

struct wire_dirty {
	struct wire_head h;		/* dev: of the filesystem */
	wire_u64 ino, pages;
	char name[WIRE_NAME];
};

struct wire_numbers {			/* THROTTLE, RECLAIM, INODE, HANDLE, FSYNC, SIGNAL, BTRFS, XFS, CHECKPOINT, COMMIT */
	struct wire_head h;
	wire_u64 ino;
	wire_u64 a, b, c, d, e, f;	/* as in event.def */
	wire_u32 other, pad;
};

#endif

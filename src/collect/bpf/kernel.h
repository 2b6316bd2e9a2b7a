/* SPDX-License-Identifier: MIT */
/*
 * The few kernel types the BPF programs read, with only the members they use.
 * Offsets are taken from the running kernel's BTF when the programs are loaded
 * (preserve_access_index), so order and size here mean nothing. Numbers that
 * are kernel ABI (map types, PF_KTHREAD, task states) are written out.
 */
#ifndef COLLECT_BPF_KERNEL_H
#define COLLECT_BPF_KERNEL_H

typedef unsigned char __u8;
typedef unsigned short __u16;
typedef unsigned int __u32;
typedef unsigned long long __u64;
typedef signed char __s8;
typedef short __s16;
typedef int __s32;
typedef long long __s64;
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u64 __be64;
typedef __u32 __wsum;
typedef __u8 u8;
typedef __u32 u32;
typedef __u64 u64;
typedef __s32 s32;
typedef _Bool bool;
#define true 1
#define false 0

enum {
	BPF_MAP_TYPE_HASH = 1,
	BPF_MAP_TYPE_ARRAY = 2,
	BPF_MAP_TYPE_PERCPU_ARRAY = 6,
	BPF_MAP_TYPE_LRU_HASH = 9,
	BPF_MAP_TYPE_RINGBUF = 27,
	BPF_MAP_TYPE_TASK_STORAGE = 29,
};
#define BPF_ANY 0
#define BPF_NOEXIST 1
#define BPF_F_NO_PREALLOC 1
#define BPF_LOCAL_STORAGE_GET_F_CREATE 1
#define BPF_RB_NO_WAKEUP 1

#define PF_KTHREAD	0x00200000
#define TASK_UNINTERRUPTIBLE 0x2
#define TASK_STOPPED	0x4
#define TASK_TRACED	0x8
#define TASK_NOLOAD	0x400

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

typedef struct { s32 counter; } atomic_t;
typedef struct { __s64 counter; } atomic_long_t;

struct mutex { atomic_long_t owner; };
struct rw_semaphore { atomic_long_t owner; };

struct task_struct {
	int pid, tgid;
	unsigned int flags;
	unsigned int in_iowait : 1;
	unsigned long blocker;		/* 6.16+: the lock it sleeps on, kind in the low two bits */
	char comm[16];
	struct task_struct *real_parent;
};

struct hlist_node { struct hlist_node *next; };
struct hlist_head { struct hlist_node *first; };

struct qstr { const unsigned char *name; };

struct dentry {
	struct qstr d_name;
	union { struct hlist_node d_alias; } d_u;
};

struct super_block { u32 s_dev; };

struct inode {
	struct super_block *i_sb;
	unsigned long i_ino;
	u32 i_rdev;
	unsigned short i_mode;
	struct hlist_head i_dentry;
	struct address_space *i_mapping;
};

struct address_space {
	struct inode *host;
	unsigned long nrpages;
};

struct file { struct inode *f_inode; };

struct page { unsigned long compound_head; };

struct folio {
	struct address_space *mapping;
	unsigned long _flags_1;
};

struct block_device {
	u32 bd_dev;
	struct gendisk *bd_disk;
};

struct gendisk { struct block_device *part0; };
struct request_queue { struct gendisk *disk; };

struct bio_vec { struct page *bv_page; };
struct bvec_iter { unsigned int bi_size; };

struct bio {
	struct block_device *bi_bdev;
	unsigned int bi_opf;
	struct bvec_iter bi_iter;
	struct bio_vec *bi_io_vec;
	unsigned short bi_vcnt;
	void *bi_private;
};

struct request {
	struct request_queue *q;
	unsigned int cmd_flags;
	unsigned int __data_len;
	u64 __sector;
	struct bio *bio;
	u64 start_time_ns;
};

struct journal_s {
	struct block_device *j_fs_dev;
};

struct transaction_s {
	u32 t_tid;
	unsigned int t_synchronous_commit : 1;
};

struct transaction_run_stats_s { u32 rs_blocks_logged; };

struct ext4_inode_info {
	struct inode vfs_inode;
	u32 i_sync_tid, i_datasync_tid;
};

struct device { u32 devt; };
struct backing_dev_info { struct device *dev; };
struct bdi_writeback { struct backing_dev_info *bdi; };

struct dirty_throttle_control {
	unsigned long dirty, thresh, wb_dirty, wb_thresh;
};

struct xfs_mount { struct super_block *m_super; };
struct btrfs_fs_info {
	u64 generation;
	struct super_block *sb;
};

enum req_flag_bits { __REQ_SYNC = 11, __REQ_META, __REQ_PRIO, __REQ_FUA = 17, __REQ_PREFLUSH, __REQ_RAHEAD, __REQ_BACKGROUND };
enum pageflags { PG_head = 6 };

struct bpf_iter_meta { struct seq_file *seq; };
struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
};

#pragma clang attribute pop

#endif

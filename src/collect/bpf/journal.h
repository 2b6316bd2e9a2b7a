/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/* Journals: phases of jbd2 commits, ordered inodes, handles; fsync of ext4; log forces of XFS; commits of btrfs. */

struct commit {
	u64 t, locking, flushing, logging;
	u32 transaction, blocks;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 256);
	__type(key, u32);			/* dev of the filesystem */
	__type(value, struct commit);
} commits SEC(".maps");

static __always_inline struct commit *commit_of(struct journal_s *j, u32 transaction)
{
	u32 dev = j->j_fs_dev->bd_dev;
	struct commit *c = bpf_map_lookup_elem(&commits, &dev);

	return c && c->transaction == transaction ? c : 0;
}

SEC("tp_btf/jbd2_start_commit")
int BPF_PROG(jbd2_start_commit, struct journal_s *j, struct transaction_s *x)
{
	struct commit c = { .t = bpf_ktime_get_ns(), .transaction = x->t_tid };
	u32 dev = j->j_fs_dev->bd_dev;

	bpf_map_update_elem(&commits, &dev, &c, BPF_ANY);
	return 0;
}

SEC("tp_btf/jbd2_commit_locking")
int BPF_PROG(jbd2_commit_locking, struct journal_s *j, struct transaction_s *x)
{
	struct commit *c = commit_of(j, x->t_tid);

	if (c)
		c->locking = bpf_ktime_get_ns() - c->t;
	return 0;
}

SEC("tp_btf/jbd2_commit_flushing")
int BPF_PROG(jbd2_commit_flushing, struct journal_s *j, struct transaction_s *x)
{
	struct commit *c = commit_of(j, x->t_tid);

	if (c)
		c->flushing = bpf_ktime_get_ns() - c->t;
	return 0;
}

SEC("tp_btf/jbd2_commit_logging")
int BPF_PROG(jbd2_commit_logging, struct journal_s *j, struct transaction_s *x)
{
	struct commit *c = commit_of(j, x->t_tid);

	if (c)
		c->logging = bpf_ktime_get_ns() - c->t;
	return 0;
}

SEC("tp_btf/jbd2_run_stats")
int BPF_PROG(jbd2_run_stats, u32 dev, u32 tid, struct transaction_run_stats_s *st)
{
	struct commit *c = bpf_map_lookup_elem(&commits, &dev);

	if (c && c->transaction == tid)
		c->blocks = st->rs_blocks_logged;
	return 0;
}

SEC("tp_btf/jbd2_end_commit")
int BPF_PROG(jbd2_end_commit, struct journal_s *j, struct transaction_s *x)
{
	struct commit *c = commit_of(j, x->t_tid);
	u64 now = bpf_ktime_get_ns();
	u32 dev = j->j_fs_dev->bd_dev;

	if (!c)
		return 0;
	send_numbers(WIRE_COMMIT, dev, 0, c->t, now - c->t, c->transaction, c->locking, c->flushing, c->logging, c->blocks,
		     BPF_CORE_READ_BITFIELD_PROBED(x, t_synchronous_commit), 0);
	bpf_map_delete_elem(&commits, &dev);
	return 0;
}

SEC("tp_btf/jbd2_submit_inode_data")
int BPF_PROG(jbd2_submit_inode_data, struct inode *inode)
{
	u32 dev = inode->i_sb->s_dev;
	struct commit *c = bpf_map_lookup_elem(&commits, &dev);

	send_numbers(WIRE_INODE, dev, inode->i_ino, bpf_ktime_get_ns(), 0, c ? c->transaction : 0, inode->i_mapping->nrpages,
		     0, 0, 0, 0, 0);
	return 0;
}

SEC("tp_btf/jbd2_checkpoint")
int BPF_PROG(jbd2_checkpoint, struct journal_s *j, int result)
{
	send_numbers(WIRE_CHECKPOINT, j->j_fs_dev->bd_dev, 0, bpf_ktime_get_ns(), 0, 0, result, 0, 0, 0, 0, 0);
	return 0;
}

SEC("tp_btf/jbd2_handle_start")
int BPF_PROG(jbd2_handle_start, u32 dev, u32 tid)
{
	struct task_state *s = my_state(true);

	if (s && !s->handle_t) {
		s->handle_t = bpf_ktime_get_ns();
		s->handle_dev = dev;
		s->handle_tid = tid;
	}
	return 0;
}

/*
 * One row for each task and transaction would come too late, one for each
 * handle is too much: the first handle of a transaction is sent at once, the
 * rest added up and sent with a long one, after 64, or with the next transaction.
 */
SEC("tp_btf/jbd2_handle_stats")
int BPF_PROG(jbd2_handle_stats, u32 dev, u32 tid, unsigned int type, unsigned int line, int interval, int sync,
	     int requested, int blocks)
{
	struct task_state *s = my_state(true);
	u64 now = bpf_ktime_get_ns(), t;

	if (!s)
		return 0;
	t = s->handle_t ? s->handle_t : now;
	s->handle_t = 0;
	if (s->sum_n && (s->sum_tid != tid || s->sum_dev != dev)) {
		if (s->sum_blocks)
			send_numbers(WIRE_HANDLE, s->sum_dev, 0, s->sum_t, 0, s->sum_tid, s->sum_blocks, type, s->sum_n, 0, 0, 0);
		s->sum_n = s->sum_blocks = 0;
	}
	if (s->sum_tid != tid || s->sum_dev != dev || now - t >= probe_ns || s->sum_n >= 64) {
		send_numbers(WIRE_HANDLE, dev, 0, t, now - t, tid, (blocks > 0 ? blocks : 0) + s->sum_blocks, type, s->sum_n + 1,
			     0, 0, 0);
		s->sum_n = s->sum_blocks = 0;
		s->sum_tid = tid;
		s->sum_dev = dev;
		return 0;
	}
	if (!s->sum_n)
		s->sum_t = t;
	s->sum_n += 1;
	s->sum_blocks += blocks > 0 ? blocks : 0;
	return 0;
}

SEC("tp_btf/ext4_sync_file_enter")
int BPF_PROG(ext4_sync_file_enter, struct file *file, int datasync)
{
	struct inode *inode = file->f_inode;
	struct ext4_inode_info *ei;
	struct task_state *s = my_state(true);

	if (!s || !inode)
		return 0;
	s->fsync_t = bpf_ktime_get_ns();
	s->fsync_ino = inode->i_ino;
	s->fsync_dev = inode->i_sb->s_dev;
	ei = (struct ext4_inode_info *)((char *)inode - bpf_core_field_offset(struct ext4_inode_info, vfs_inode));
	s->fsync_tid = datasync ? BPF_CORE_READ(ei, i_datasync_tid) : BPF_CORE_READ(ei, i_sync_tid);
	return 0;
}

SEC("tp_btf/ext4_sync_file_exit")
int BPF_PROG(ext4_sync_file_exit, struct inode *inode, int result)
{
	struct task_state *s = my_state(false);
	u64 now = bpf_ktime_get_ns();

	if (!s || !s->fsync_t)
		return 0;
	if (now - s->fsync_t >= probe_ns)
		send_numbers(WIRE_FSYNC, s->fsync_dev, s->fsync_ino, s->fsync_t, now - s->fsync_t, 0, s->fsync_tid, 0, 0, 0, 0, 0);
	s->fsync_t = 0;
	return 0;
}

SEC("tp_btf/xfs_log_force")
int BPF_PROG(xfs_log_force, struct xfs_mount *mp, __s64 lsn)
{
	send_numbers(WIRE_XFS, BPF_CORE_READ(mp, m_super, s_dev), 0, bpf_ktime_get_ns(), 0, lsn, 0, 0, 0, 0, 0, 0);
	return 0;
}

SEC("tp_btf/btrfs_transaction_commit")
int BPF_PROG(btrfs_transaction_commit, struct btrfs_fs_info *fs)
{
	send_numbers(WIRE_BTRFS, BPF_CORE_READ(fs, sb, s_dev), 0, bpf_ktime_get_ns(), 0, BPF_CORE_READ(fs, generation), 0, 0, 0,
		     0, 0, 0);
	return 0;
}

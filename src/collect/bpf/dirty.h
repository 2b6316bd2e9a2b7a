/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/* Who dirtied which inode, who waits for which folio, and the policies that make writers sleep. */

struct dirty_key {
	u64 ino;
	u32 dev, pid;
};

struct dirty_value {
	u64 pages, t0, t1;	/* since the last row: how many, from, to */
	u64 sent;
	char comm[WIRE_COMM];
	char name[WIRE_NAME];
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 8192);
	__type(key, struct dirty_key);
	__type(value, struct dirty_value);
} dirtied SEC(".maps");

#define DIRTY_ROW_NS	200000000ull	/* at most five rows a second for one inode and process ... */
#define DIRTY_ROW_PAGES	2048		/* ... or one for each 8 MiB */

static __always_inline void inode_name(struct inode *inode, char *name)
{
	struct hlist_node *h = BPF_CORE_READ(inode, i_dentry.first);
	struct dentry *d;

	name[0] = 0;
	if (!h)
		return;
	d = (struct dentry *)((char *)h - bpf_core_field_offset(struct dentry, d_u.d_alias));
	bpf_probe_read_kernel_str(name, WIRE_NAME, BPF_CORE_READ(d, d_name.name));
}

static __always_inline u64 folio_pages(struct folio *f)
{
	unsigned long flags = 0, order = 0;

	bpf_probe_read_kernel(&flags, sizeof(flags), f);	/* the flags are first in every kernel */
	if (!(flags & (1ul << bpf_core_enum_value(enum pageflags, PG_head))) || !bpf_core_field_exists(f->_flags_1))
		return 1;
	order = BPF_CORE_READ(f, _flags_1) & 0xff;
	return order < 20 ? 1ull << order : 1;
}

static __always_inline void send_dirty(struct dirty_key *k, struct dirty_value *v, u64 now)
{
	struct wire_dirty *w = RESERVE(struct wire_dirty);

	if (!w)
		return;
	w->h.type = WIRE_DIRTY;
	w->h.pid = w->h.tid = k->pid;
	w->h.dev = k->dev;
	w->h.t = v->t0;
	w->h.dur = now - v->t0;
	__builtin_memcpy(w->h.comm, v->comm, sizeof(w->h.comm));
	w->ino = k->ino;
	w->pages = v->pages;
	__builtin_memcpy(w->name, v->name, sizeof(w->name));
	send(w);
	v->pages = 0;
	v->t0 = now;
	v->sent = now;
}

SEC("tp_btf/writeback_dirty_folio")
int BPF_PROG(writeback_dirty_folio, struct folio *f, struct address_space *m)
{
	u64 now = bpf_ktime_get_ns();
	struct inode *inode = m ? m->host : 0;
	struct dirty_key k = {};
	struct dirty_value *v, fresh = {};

	if (!inode || (inode->i_mode & 0170000) == 0060000)
		return 0;
	k.dev = inode->i_sb->s_dev;
	k.ino = inode->i_ino;
	k.pid = bpf_get_current_pid_tgid() >> 32;
	v = bpf_map_lookup_elem(&dirtied, &k);
	if (!v) {
		fresh.t0 = now;
		bpf_get_current_comm(fresh.comm, sizeof(fresh.comm));
		inode_name(inode, fresh.name);
		bpf_map_update_elem(&dirtied, &k, &fresh, BPF_ANY);
		v = bpf_map_lookup_elem(&dirtied, &k);
		if (!v)
			return 0;
	}
	if (!v->pages)
		v->t0 = now;
	v->pages += folio_pages(f);
	v->t1 = now;
	if (now - v->sent >= DIRTY_ROW_NS || v->pages >= DIRTY_ROW_PAGES)
		send_dirty(&k, v, now);
	return 0;
}

/* Waiting for this folio: the object of the wait, exactly. */
SEC("tp_btf/folio_wait_writeback")
int BPF_PROG(folio_wait_writeback, struct folio *f, struct address_space *m)
{
	struct task_state *s;
	struct inode *inode = m ? m->host : 0;

	if (!inode)
		return 0;
	s = my_state(true);
	if (!s)
		return 0;
	s->folio_ino = inode->i_ino;
	s->folio_dev = inode->i_sb->s_dev;
	return 0;
}

/* The pause is in jiffies and only a wish; the sleep that follows is a wait row of its own. */
SEC("tp_btf/balance_dirty_pages")
int BPF_PROG(balance_dirty_pages, struct bdi_writeback *wb, struct dirty_throttle_control *dtc, unsigned long dirty_rate,
	     unsigned long task_rate, unsigned long pages_dirtied, unsigned long period, long pause)
{
	struct device *d;

	if (pause <= 0)
		return 0;
	d = wb->bdi->dev;
	send_numbers(WIRE_THROTTLE, d ? d->devt : 0, 0, bpf_ktime_get_ns(), 0, dtc->dirty, dtc->thresh, dtc->wb_dirty,
		     dtc->wb_thresh, task_rate, pages_dirtied, 0);
	return 0;
}

static __always_inline int reclaim_begins(int order)
{
	struct task_state *s = my_state(true);

	if (s) {
		s->reclaim_t = bpf_ktime_get_ns();
		s->reclaim_order = order;
		s->reclaim_throttled = 0;
	}
	return 0;
}

static __always_inline int reclaim_ends(u64 reclaimed, bool memcg)
{
	struct task_state *s = my_state(false);
	u64 now = bpf_ktime_get_ns(), t;

	if (!s || !s->reclaim_t)
		return 0;
	t = s->reclaim_t;
	s->reclaim_t = 0;
	if (now - t >= probe_ns)
		send_numbers(WIRE_RECLAIM, 0, 0, t, now - t, s->reclaim_order, reclaimed, memcg, s->reclaim_throttled, 0, 0, 0);
	return 0;
}

SEC("tp_btf/mm_vmscan_direct_reclaim_begin")
int BPF_PROG(reclaim_begin, int order)
{
	return reclaim_begins(order);
}

SEC("tp_btf/mm_vmscan_direct_reclaim_end")
int BPF_PROG(reclaim_end, unsigned long reclaimed)
{
	return reclaim_ends(reclaimed, false);
}

SEC("tp_btf/mm_vmscan_memcg_reclaim_begin")
int BPF_PROG(memcg_begin, int order)
{
	return reclaim_begins(order);
}

SEC("tp_btf/mm_vmscan_memcg_reclaim_end")
int BPF_PROG(memcg_end, unsigned long reclaimed)
{
	return reclaim_ends(reclaimed, true);
}

SEC("tp_btf/mm_vmscan_throttled")
int BPF_PROG(reclaim_throttled, int nid, int usec_timeout, int usec_delayed, int reason)
{
	struct task_state *s = my_state(false);

	if (s)
		s->reclaim_throttled += 1;
	return 0;
}

/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * Block requests: who submitted them, for which inode, and when each was
 * queued, got its request, was inserted, issued and completed.
 *
 * Two direct-mapped tables instead of hashes: an array look-up is inlined and
 * costs a few nanoseconds. A slot names its owner (key); a collision overwrites
 * it, and the loser is reported with an unknown submitter.
 *
 * A bio that is too large is split: the piece in front is a new bio chained to
 * the old one through bi_private, so a piece finds its origin there.
 */
#define BIO_SLOTS	(1u << 15)
#define RQ_SLOTS	(1u << 14)

struct bio_slot {
	u64 key, t, getrq;
	u64 ino;
	u32 ino_dev, flags;
	u32 pid, tid;
	char comm[WIRE_COMM];
};

struct rq_slot {
	u64 key, start, t, getrq, insert, issue;	/* start tells one use of the request from the next */
	u64 ino;
	u32 ino_dev, flags;
	u32 pid, tid;
	char comm[WIRE_COMM];
};

struct last_completion {
	u64 t, sector;
	u32 dev, pad;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, BIO_SLOTS);
	__type(key, u32);
	__type(value, struct bio_slot);
} bios SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, RQ_SLOTS);
	__type(key, u32);
	__type(value, struct rq_slot);
} requests SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct last_completion);
} last_done SEC(".maps");

#define F_WRITE	(1u << 0)	/* as EVF_* in event/event.h */
#define F_FLUSH	(1u << 1)
#define F_FUA	(1u << 2)
#define F_SYNC	(1u << 3)
#define F_META	(1u << 4)
#define F_PRIO	(1u << 5)
#define F_RAHEAD (1u << 6)
#define F_BACKGROUND (1u << 7)
#define F_DISCARD (1u << 8)
#define F_ERROR	(1u << 9)
#define F_REQUEUED (1u << 10)
#define F_BDEV	(1u << 11)

/*
 * A kernel pointer as a plain number that names it. The verifier refuses to hash a pointer, but the difference of two
 * is a number to it: all names are relative to the address of one variable.
 */
volatile __u64 origin;

static __always_inline u64 name_of(const void *p)
{
	u64 x = (u64)p - (u64)&lost;

	barrier_var(x);
	return x;
}

static __always_inline u64 name_of_number(u64 p)
{
	origin = (u64)&lost;	/* read back from memory it is a number */
	return p - origin;
}

static __always_inline u32 slot_of(u64 p, u32 slots)
{
	return (u32)((p * 0x9e3779b97f4a7c15ull) >> 40) & (slots - 1);
}

static __always_inline u32 flags_of(u32 opf)
{
	u32 op = opf & 0xff, f = 0;

#define BIT_OF(bit) (1u << bpf_core_enum_value(enum req_flag_bits, bit))
	if (op & 1)
		f |= F_WRITE;
	if (op == 2)
		f |= F_FLUSH;
	if (op == 3 || op == 5)
		f |= F_DISCARD;
	if (opf & BIT_OF(__REQ_SYNC))
		f |= F_SYNC;
	if (opf & BIT_OF(__REQ_META))
		f |= F_META;
	if (opf & BIT_OF(__REQ_PRIO))
		f |= F_PRIO;
	if (opf & BIT_OF(__REQ_FUA))
		f |= F_FUA;
	if (opf & BIT_OF(__REQ_RAHEAD))
		f |= F_RAHEAD;
	if (opf & BIT_OF(__REQ_BACKGROUND))
		f |= F_BACKGROUND;
#undef BIT_OF
	return f;
}

/* The inode whose page cache the first page belongs to. Pages of the block device itself are metadata. */
static __always_inline void find_inode(struct bio *b, struct bio_slot *s)
{
	struct address_space *m;
	struct inode *inode;
	struct page *p;
	unsigned long head;

	s->ino = 0;
	s->ino_dev = 0;
	if (!b->bi_iter.bi_size || !b->bi_io_vec)
		return;
	p = BPF_CORE_READ(b, bi_io_vec, bv_page);
	if (!p)
		return;
	head = BPF_CORE_READ(p, compound_head);
	if (head & 1)
		p = (struct page *)(head - 1);
	m = BPF_CORE_READ((struct folio *)p, mapping);
	if (!m || (u64)m & 3)		/* anonymous memory */
		return;
	inode = BPF_CORE_READ(m, host);
	if (!inode)
		return;
	if ((BPF_CORE_READ(inode, i_mode) & 0170000) == 0060000) {
		s->ino_dev = BPF_CORE_READ(inode, i_rdev);
		s->flags |= F_BDEV | F_META;
		return;
	}
	s->ino = BPF_CORE_READ(inode, i_ino);
	s->ino_dev = BPF_CORE_READ(inode, i_sb, s_dev);
}

static __always_inline struct bio_slot *bio_find(u64 key)
{
	u32 i = slot_of(key, BIO_SLOTS);
	struct bio_slot *s = bpf_map_lookup_elem(&bios, &i);

	return s && s->key == key ? s : 0;
}

static __always_inline struct bio_slot *bio_fill(u64 key, u64 now)
{
	u32 i = slot_of(key, BIO_SLOTS);
	struct bio_slot *s = bpf_map_lookup_elem(&bios, &i);
	u64 id;

	if (!s)
		return 0;
	id = bpf_get_current_pid_tgid();
	s->key = key;
	s->t = now;
	s->getrq = 0;
	s->ino = 0;
	s->ino_dev = 0;
	s->flags = 0;
	s->pid = id >> 32;
	s->tid = (u32)id;
	bpf_get_current_comm(s->comm, sizeof(s->comm));
	return s;
}

SEC("tp_btf/block_bio_queue")
int BPF_PROG(block_bio_queue, struct bio *b)
{
	bio_fill(name_of(b), bpf_ktime_get_ns());
	return 0;
}

SEC("tp_btf/block_getrq")
int BPF_PROG(block_getrq, struct bio *b)
{
	u64 now = bpf_ktime_get_ns(), me = name_of(b);
	struct bio_slot *s = bio_find(me), *from;

	if (!s) {
		from = bio_find(name_of_number((u64)BPF_CORE_READ(b, bi_private)));
		s = bio_fill(me, now);
		if (s && from && from != s) {
			s->t = from->t;
			s->pid = from->pid;
			s->tid = from->tid;
			__builtin_memcpy(s->comm, from->comm, sizeof(s->comm));
		}
	}
	if (!s)
		return 0;
	s->getrq = now;
	find_inode(b, s);
	return 0;
}

/* The request's slot; filled from its bio at the first of insert and issue. */
static __always_inline struct rq_slot *rq_fill(struct request *rq, u64 now)
{
	u64 me = name_of(rq), id;
	u32 i = slot_of(me, RQ_SLOTS);
	struct rq_slot *r = bpf_map_lookup_elem(&requests, &i);
	struct bio_slot *s;
	struct bio *b;

	if (!r || (r->key == me && r->start == rq->start_time_ns))
		return r;
	r->key = me;
	r->start = rq->start_time_ns;
	r->insert = r->issue = 0;
	b = rq->bio;
	s = b ? bio_find(name_of(b)) : 0;
	if (s) {
		r->t = s->t;
		r->getrq = s->getrq;
		r->ino = s->ino;
		r->ino_dev = s->ino_dev;
		r->flags = s->flags;
		r->pid = s->pid;
		r->tid = s->tid;
		__builtin_memcpy(r->comm, s->comm, sizeof(r->comm));
		return r;
	}
	id = bpf_get_current_pid_tgid();
	r->t = r->getrq = rq->start_time_ns && rq->start_time_ns <= now ? rq->start_time_ns : now;
	r->ino = 0;
	r->ino_dev = 0;
	r->flags = 0;
	r->pid = id >> 32;
	r->tid = (u32)id;
	bpf_get_current_comm(r->comm, sizeof(r->comm));
	return r;
}

SEC("tp_btf/block_rq_insert")
int BPF_PROG(block_rq_insert, struct request *rq)
{
	u64 now = bpf_ktime_get_ns();
	struct rq_slot *r = rq_fill(rq, now);

	if (r && !r->insert)
		r->insert = now;
	return 0;
}

SEC("tp_btf/block_rq_issue")
int BPF_PROG(block_rq_issue, struct request *rq)
{
	u64 now = bpf_ktime_get_ns();
	struct rq_slot *r = rq_fill(rq, now);

	if (!r)
		return 0;
	r->issue = now;
	r->flags |= flags_of(rq->cmd_flags);
	return 0;
}

SEC("tp_btf/block_rq_requeue")
int BPF_PROG(block_rq_requeue, struct request *rq)
{
	u64 me = name_of(rq);
	u32 i = slot_of(me, RQ_SLOTS);
	struct rq_slot *r = bpf_map_lookup_elem(&requests, &i);

	if (r && r->key == me)
		r->flags |= F_REQUEUED;
	return 0;
}

static __always_inline u32 offset_us(u64 t, u64 from)
{
	u64 d;

	if (!t || t < from)
		return 0xffffffff;
	d = (t - from) / 1000;
	return d < 0xfffffffe ? (u32)d : 0xfffffffe;
}

SEC("tp_btf/block_rq_complete")
int BPF_PROG(block_rq_complete, struct request *rq, int error, unsigned int bytes)
{
	u64 me = name_of(rq);
	u32 i = slot_of(me, RQ_SLOTS), zero = 0, dev;
	struct rq_slot *r = bpf_map_lookup_elem(&requests, &i);
	struct last_completion *l;
	struct wire_rq *w;
	u64 now = bpf_ktime_get_ns();

	if (!r || !rq->q->disk)
		return 0;
	dev = rq->q->disk->part0->bd_dev;
	l = bpf_map_lookup_elem(&last_done, &zero);
	if (l) {
		l->t = now;
		l->sector = rq->__sector;
		l->dev = dev;
	}
	if (bytes < rq->__data_len)	/* a part of it; the rest follows */
		return 0;
	w = RESERVE(struct wire_rq);
	if (!w)
		return 0;
	w->h.type = WIRE_RQ;
	w->h.dev = dev;
	w->sector = rq->__sector;
	w->bytes = bytes;
	if (r->key == me) {
		w->h.pid = r->pid;
		w->h.tid = r->tid;
		w->h.t = r->t;
		w->h.dur = now - r->t;
		__builtin_memcpy(w->h.comm, r->comm, sizeof(w->h.comm));
		w->ino = r->ino;
		w->ino_dev = r->ino_dev;
		w->flags = r->flags;
		w->getrq = offset_us(r->getrq, r->t);
		w->insert = offset_us(r->insert, r->t);
		w->issue = offset_us(r->issue, r->t);
		r->key = 0;
	} else {
		u64 t = rq->start_time_ns;

		w->h.pid = w->h.tid = 0;
		w->h.t = t && t <= now ? t : now;
		w->h.dur = now - w->h.t;
		__builtin_memset(w->h.comm, 0, sizeof(w->h.comm));
		w->ino = 0;
		w->ino_dev = 0;
		w->flags = flags_of(rq->cmd_flags);
		w->getrq = w->insert = 0xffffffff;
		w->issue = 0;
	}
	if (error)
		w->flags |= F_ERROR;
	send(w);
	return 0;
}

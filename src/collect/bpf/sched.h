/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/* Who slept how long, in which stack, woken by whom; who was runnable but did not run; who was stopped by whom. */

/* Who had this CPU for at least a millisecond lately: the task before a switch is often a kernel thread passing by. */
struct cpu_state {
	u64 since;
	u32 hog, hog_pid;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct cpu_state);
} cpus SEC(".maps");

/* The owner of the mutex or rwsem a task blocks on (6.16+): usually, not always, its waker too; both are sent. */
static __always_inline void note_owner(struct task_struct *p, struct task_state *s)
{
	unsigned long blocker, lock, owner = 0;

	s->owner = s->owner_pid = 0;
	if (!bpf_core_field_exists(p->blocker))
		return;
	blocker = p->blocker;
	if (!blocker)
		return;
	lock = blocker & ~3ul;
	if ((blocker & 3) == 0)
		owner = BPF_CORE_READ((struct mutex *)lock, owner.counter);
	else if ((blocker & 3) >= 2)
		owner = BPF_CORE_READ((struct rw_semaphore *)lock, owner.counter);
	owner &= ~7ul;
	if (owner) {
		s->owner = BPF_CORE_READ((struct task_struct *)owner, pid);
		s->owner_pid = BPF_CORE_READ((struct task_struct *)owner, tgid);
	}
}

SEC("tp_btf/sched_waking")
int BPF_PROG(sched_waking, struct task_struct *p)
{
	struct task_state *s = bpf_task_storage_get(&tasks, p, 0, 0);
	struct last_completion *l;
	struct task_struct *me;
	u32 zero = 0;

	if (!s || !s->off || s->woken)
		return 0;
	me = bpf_get_current_task_btf();
	s->woken = bpf_ktime_get_ns();
	s->waker = me->pid;
	s->waker_pid = me->tgid;
	s->last_age = 0;
	l = bpf_map_lookup_elem(&last_done, &zero);
	if (l && l->t && s->woken - l->t < 1000000) {
		s->last_age = s->woken - l->t + 1;
		s->last_sector = l->sector;
		s->last_dev = l->dev;
	}
	return 0;
}

static __always_inline u32 wait_flags(struct task_struct *p, struct task_state *s)
{
	return (p->flags & PF_KTHREAD ? WIRE_KTHREAD : 0) | (s->iowait ? WIRE_IOWAIT : 0) |
	       (s->state & TASK_UNINTERRUPTIBLE ? WIRE_UNINTR : 0) |
	       (s->state & (TASK_STOPPED | TASK_TRACED) ? WIRE_STOPPED : 0);
}

static __always_inline void fill_wait(struct wire_wait *w, struct task_struct *p, struct task_state *s, u64 until, u64 now)
{
	struct task_struct *parent;

	w->h.type = WIRE_WAIT;
	w->h.pid = p->tgid;
	w->h.tid = p->pid;
	w->h.dev = s->folio_dev ? s->folio_dev : s->fsync_t ? s->fsync_dev : 0;
	w->h.t = s->off;
	w->h.dur = until - s->off;
	bpf_probe_read_kernel_str(w->h.comm, sizeof(w->h.comm), p->comm);
	w->runnable = now - until;
	w->ino = s->folio_ino;
	w->last_sector = s->last_sector;
	w->last_age = s->last_age;
	w->last_dev = s->last_dev;
	w->waker = s->waker;
	w->waker_pid = s->waker_pid;
	w->owner = s->owner;
	w->owner_pid = s->owner_pid;
	parent = p->real_parent;
	w->parent = parent ? BPF_CORE_READ(parent, tgid) : 0;
	w->flags = wait_flags(p, s);
}

static __always_inline void send_wait(struct task_struct *p, struct task_state *s, u64 now)
{
	struct wire_wait *w = RESERVE(struct wire_wait);
	long n;

	if (!w)
		return;
	fill_wait(w, p, s, s->woken, now);
	n = bpf_get_task_stack(p, w->stack, sizeof(w->stack), 0);
	w->nstack = n > 0 ? (u32)n / 8 : 0;
	send(w);
}

static __always_inline void send_runq(struct task_struct *p, struct task_state *s, struct cpu_state *cpu, u64 now)
{
	struct wire_runq *r = RESERVE(struct wire_runq);
	struct task_struct *parent = p->real_parent;

	if (!r)
		return;
	r->h.type = WIRE_RUNQ;
	r->h.pid = p->tgid;
	r->h.tid = p->pid;
	r->h.dev = 0;
	r->h.t = s->woken;
	r->h.dur = now - s->woken;
	bpf_probe_read_kernel_str(r->h.comm, sizeof(r->h.comm), p->comm);
	r->other = cpu ? cpu->hog : 0;
	r->other_pid = cpu ? cpu->hog_pid : 0;
	r->parent = parent ? BPF_CORE_READ(parent, tgid) : 0;
	r->flags = p->flags & PF_KTHREAD ? WIRE_KTHREAD : 0;
	send(r);
}

static __always_inline void leaves_cpu(struct task_struct *p, bool runnable, u32 state, u64 now)
{
	struct task_state *s;

	if (!p->pid || (u32)p->tgid == self_tgid || state & TASK_NOLOAD)
		return;
	s = bpf_task_storage_get(&tasks, p, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!s)
		return;
	s->off = now;
	s->state = state;
	s->woken = runnable ? now : 0;
	if (state & TASK_UNINTERRUPTIBLE) {
		s->iowait = BPF_CORE_READ_BITFIELD_PROBED(p, in_iowait);
		note_owner(p, s);
	} else {
		s->iowait = 0;
		s->owner = s->owner_pid = 0;
	}
}

static __always_inline void takes_cpu(struct task_struct *p, struct cpu_state *cpu, u64 now)
{
	struct task_state *s;
	u64 slept, floor;
	u32 tgid, state;
	bool is_watched;

	if (!p->pid)
		return;
	s = bpf_task_storage_get(&tasks, p, 0, 0);
	if (!s || !s->off)
		return;
	if (!s->woken)
		s->woken = now;
	state = s->state;
	slept = s->woken - s->off;
	if (now - s->woken >= runq_ns)
		send_runq(p, s, cpu, now);
	if (state && slept >= probe_ns) {
		floor = p->flags & PF_KTHREAD ? kthread_ns : user_ns;
		is_watched = false;
		if (!(p->flags & PF_KTHREAD)) {
			tgid = p->tgid;
			is_watched = bpf_map_lookup_elem(&watched, &tgid);
			if (is_watched)
				floor = probe_ns;
		}
		if (slept >= floor && (is_watched || state & (TASK_UNINTERRUPTIBLE | TASK_STOPPED | TASK_TRACED)))
			send_wait(p, s, now);
	}
	s->off = 0;
	if (state) {
		s->folio_ino = 0;
		s->folio_dev = 0;
	}
}

SEC("tp_btf/sched_switch")
int BPF_PROG(sched_switch, bool preempt, struct task_struct *prev, struct task_struct *next, unsigned int state)
{
	u64 now = bpf_ktime_get_ns();
	u32 zero = 0;
	struct cpu_state *cpu = bpf_map_lookup_elem(&cpus, &zero);

	if (cpu) {
		if (prev->pid && now - cpu->since >= 1000000) {
			cpu->hog = prev->pid;
			cpu->hog_pid = prev->tgid;
		}
		cpu->since = now;
	}
	leaves_cpu(prev, preempt || !state, preempt ? 0 : state, now);
	takes_cpu(next, cpu, now);
	return 0;
}

/* A stop signal: who sent it to whom. */
SEC("tp_btf/signal_generate")
int BPF_PROG(signal_generate, int sig, void *info, struct task_struct *p, int group, int result)
{
	u64 now;

	if (sig != 19 && sig != 20 && sig != 18)	/* SIGSTOP, SIGTSTP, SIGCONT */
		return 0;
	now = bpf_ktime_get_ns();
	send_numbers(WIRE_SIGNAL, 0, 0, now, 0, sig, 0, 0, 0, 0, 0, p->tgid);
	return 0;
}

/* Who is still asleep: read at the end, and while recording for the next freeze. */
SEC("iter/task")
int open_waits(struct bpf_iter__task *ctx)
{
	struct task_struct *p = ctx->task;
	struct task_state *s;
	struct wire_wait w = {};
	u64 now;
	long n;

	if (!p)
		return 0;
	s = bpf_task_storage_get(&tasks, p, 0, 0);
	if (!s || !s->off || s->woken || !(s->state & (TASK_UNINTERRUPTIBLE | TASK_STOPPED | TASK_TRACED)))
		return 0;
	now = bpf_ktime_get_ns();
	if (now - s->off < (p->flags & PF_KTHREAD ? kthread_ns : user_ns))
		return 0;
	fill_wait(&w, p, s, now, now);
	w.flags |= WIRE_OPEN;
	w.waker = w.waker_pid = 0;
	w.last_age = 0;
	n = bpf_get_task_stack(p, w.stack, sizeof(w.stack), 0);
	w.nstack = n > 0 ? (u32)n / 8 : 0;
	bpf_seq_write(ctx->meta->seq, &w, sizeof(w));
	return 0;
}

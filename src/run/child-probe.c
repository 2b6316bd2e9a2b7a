/* SPDX-License-Identifier: MIT */
/*
 * One probe: lays out its files, then acts, times and puts samples into its
 * ring until it is told to stop. Between the begin and the end of an action
 * there is nothing but the action's own system calls and two stores a step.
 */
#include "base/cleanup.h"
#include "base/mem.h"
#include "base/rng.h"
#include "perform/action.h"
#include "run/child.h"
#include "run/pace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

struct prober {
	const struct child_setup *cs;
	const struct plan_probe *pp;
	struct ring *ring;
	struct rng rng;
	void *st, *perform_st;
	struct pace pace;
	struct actor actor;
	struct action action;
	struct probe_once once;
	int schedstat;
	uint32_t tid;
	nsec_t intended;
	/* of a `once` action */
	nsec_t start, step_start, step[SAMPLE_STEPS];
	int at_step, nsteps;
};

static int script(void *ctx, struct op *ops, int max)
{
	struct prober *p = ctx;

	return p->pp->ops->script(p->st, p->pp->conf, &p->rng, ops, max);
}

static int prepare_script(void *ctx, struct op *ops, int max)
{
	struct prober *p = ctx;

	return p->pp->ops->prepare(p->st, p->pp->conf, &p->rng, ops, max);
}

static void on_step(void *ctx, unsigned step, nsec_t now)
{
	struct prober *p = ctx;

	if (!p->ring->now.started) {
		ring_begin(p->ring, p->pace.id, p->pace.open_loop ? p->intended : now, now, p->tid);
		if (!step)
			return;
	}
	ring_step(p->ring, step, now);
}

/* probe_once.step: the first call starts the clock, i < 0 ends the last step. */
static void once_step(void *ctx, int i)
{
	struct prober *p = ctx;
	nsec_t now = nsec_now();

	if (!p->start)
		p->start = now;
	else if (p->at_step >= 0 && p->at_step < SAMPLE_STEPS)
		p->step[p->at_step] += now - p->step_start;
	p->at_step = i;
	p->step_start = now;
	if (i >= 0) {
		p->nsteps = MAX(p->nsteps, i + 1);
		on_step(p, (unsigned)i, now);
	}
}

/* Time this thread was runnable but did not run, so far; -1: unknown. */
static nsec_t run_queue_ns(const struct prober *p)
{
	char buf[96];
	long long cpu, wait;
	ssize_t n = p->schedstat >= 0 ? pread(p->schedstat, buf, sizeof(buf) - 1, 0) : -1;

	if (n <= 0)
		return -1;
	buf[n] = 0;
	return sscanf(buf, "%lld %lld", &cpu, &wait) == 2 ? wait : -1;
}

static uint8_t coldness(const struct prober *p, const struct op_proof *proof, uint64_t bytes_read)
{
	if (!p->pp->ops->wants_cold)
		return COLD_NOT_ASKED;
	switch (op_proof_says(proof, bytes_read)) {
	case PROOF_COLD:
		return COLD_YES;
	case PROOF_WARM:
		return COLD_NO;
	default:
		return COLD_UNKNOWN;
	}
}

static void put(struct prober *p, struct sample *s)
{
	s->id = p->pace.id;
	s->pid = (uint32_t)getpid();
	s->tid = p->tid;
	s->phase = (uint8_t)ring_phase_at(p->ring, s->intended);
	ring_put(p->ring, s);
}

static void explain(struct prober *p, struct err *e)
{
	const struct action *a = &p->action;

	if (a->error == -EINTR)
		return;
	if (a->failed.kind)
		perform_explain(&a->failed, &a->failed_res, p->cs->dir, e);
	else
		err_sys(e, a->error, "an action in %s failed", p->cs->dir);
}

static int act_ops(struct prober *p, struct sample *s, struct err *e)
{
	struct action *a = &p->action;

	action_perform(&p->actor, a);
	ring_end(p->ring);
	s->start = a->start;
	s->end = a->end;
	s->nsteps = (uint8_t)MIN(a->nsteps, (unsigned)SAMPLE_STEPS);
	memcpy(s->step, a->step, sizeof(s->step));
	s->bytes = a->bytes_read + a->bytes_written;
	s->cold = coldness(p, &a->proof, a->bytes_read);
	if (a->error)
		explain(p, e);
	return a->error;
}

static int act_once(struct prober *p, struct sample *s, struct err *e)
{
	struct rusage before, after;
	int r;

	p->start = 0;
	p->at_step = -1;
	p->nsteps = 0;
	memset(p->step, 0, sizeof(p->step));
	p->once.bytes = 0;
	p->once.proof = (struct op_proof){ 0 };
	getrusage(RUSAGE_SELF, &before);
	r = p->pp->ops->once(p->st, p->pp->conf, &p->once, e);
	if (p->at_step >= 0)
		once_step(p, -1);
	ring_end(p->ring);
	getrusage(RUSAGE_SELF, &after);
	p->once.proof.read_blocks += (uint64_t)(after.ru_inblock - before.ru_inblock);
	if (!p->start)
		p->start = p->step_start = nsec_now();
	s->start = p->start;
	s->end = p->step_start;
	s->nsteps = (uint8_t)p->nsteps;
	memcpy(s->step, p->step, sizeof(s->step));
	s->bytes = p->once.bytes;
	s->cold = coldness(p, &p->once.proof, 0);
	return r;
}

/* One action from its tick to its sample; the sentence is in e when it failed. */
static int act(struct prober *p, struct err *e)
{
	bool by_ops = !probe_by_once(p->pp->ops, p->pp->conf);
	struct sample s = { .runq = -1 };
	nsec_t before, after;
	int r = 0;

	if (by_ops && action_before(&p->actor, &p->action)) {
		explain(p, e);
		r = p->action.error;
	}
	before = run_queue_ns(p);	/* an open loop is late from its due time on, so nothing may come in between */
	if (!pace_wait(p->pace.due, &p->cs->slot->stop, p->cs->alive))
		return -EINTR;
	if (!p->pace.open_loop)
		before = run_queue_ns(p);
	s.load_bytes_per_s = p->ring->load_bytes_per_s;
	p->intended = p->pace.due;
	if (r)
		s.start = s.end = nsec_now();
	else
		r = by_ops ? act_ops(p, &s, e) : act_once(p, &s, e);
	after = run_queue_ns(p);
	if (before >= 0 && after >= before)
		s.runq = after - before;
	s.intended = p->pace.open_loop ? p->pace.due : s.start;
	s.runq = MIN(s.runq, MAX(s.end - s.intended, 0));	/* what came before the action is not part of its wait */
	if (r == -EINTR && p->cs->slot->stop) {
		s.status = SAMPLE_KILLED;
	} else if (r) {
		s.status = SAMPLE_ERROR;
		s.error = r;
	}
	put(p, &s);
	if (!r && by_ops && action_after(&p->actor, &p->action)) {
		explain(p, e);
		r = p->action.error;
	}
	pace_done(&p->pace, by_ops || r ? MAX(s.end, p->pace.due) : s.end);
	return r;
}

static void give_up(struct prober *p, nsec_t now)
{
	struct sample s = { .intended = p->pace.due, .end = now, .status = SAMPLE_CENSORED, .runq = -1,
			    .load_bytes_per_s = p->ring->load_bytes_per_s, .cold = COLD_UNKNOWN };

	if (!p->pp->ops->wants_cold)
		s.cold = COLD_NOT_ASKED;
	put(p, &s);
	pace_done(&p->pace, now);
}

static void open_all(struct prober *p)
{
	const struct probe_ops *ops = p->pp->ops;
	const struct perform_ops *perform = plug_find(perform_table, "posix");
	struct err e = { 0 };
	int dirfd = open(p->cs->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (dirfd < 0) {
		err_sys(&e, -errno, "probe %s: cannot open %s", p->pp->name, p->cs->dir);
		child_fail(p->cs, &e);
	}
	p->st = mem_alloc(ops->plug.state_size + 1);
	p->once = (struct probe_once){ .dirfd = dirfd, .dir = p->cs->dir, .rng = &p->rng, .stop = &p->cs->slot->stop,
				       .step = once_step, .ctx = p };
	p->perform_st = mem_alloc(perform->plug.state_size + 1);
	if (perform->open(p->perform_st, &(struct perform_conf){ .dirfd = dirfd, .seed = p->cs->seed }, &e))
		child_fail(p->cs, &e);
	p->actor = (struct actor){ .perform = perform, .st = p->perform_st, .ctx = p, .on_step = on_step, .on_ctx = p,
				   .wants_proof = ops->wants_cold, .stop = &p->cs->slot->stop };
	if (ops->prepare && !probe_by_once(ops, p->pp->conf)) {
		p->actor.script = prepare_script;
		if (action_prepare(&p->actor, &p->action, &p->cs->slot->stop)) {
			if (p->action.error == -EINTR)
				_exit(0);
			if (p->action.failed.kind)
				perform_explain(&p->action.failed, &p->action.failed_res, p->cs->dir, &e);
			else
				err_sys(&e, p->action.error, "cannot lay out its files in %s", p->cs->dir);
			err_wrap(&e, "probe %s", p->pp->name);
			child_fail(p->cs, &e);
		}
	}
	if (ops->open && ops->open(p->st, p->pp->conf, &p->once, &e)) {
		err_wrap(&e, "probe %s", p->pp->name);
		child_fail(p->cs, &e);
	}
	/* what preparing wrote is not to be waited for by the idle baseline */
	if (ops->space && syncfs(dirfd) < 0) {
		err_sys(&e, -errno, "probe %s: syncfs of %s failed", p->pp->name, p->cs->dir);
		child_fail(p->cs, &e);
	}
	p->actor.script = script;
}

void child_probe(const struct child_setup *cs, const struct plan_probe *pp, struct ring *ring)
{
	struct prober *p = mem_alloc(sizeof(*p));
	struct err e = { 0 };
	int r = 0;

	child_become(cs, pp->name);
	*p = (struct prober){ .cs = cs, .pp = pp, .ring = ring, .tid = (uint32_t)getpid() };
	rng_seed(&p->rng, cs->seed);
	p->schedstat = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
	ring->pid = (uint32_t)getpid();
	slot_set(cs->slot, CHILD_PREPARING);
	open_all(p);
	/* Our own code and ring must not be what waits for the disk. Not MCL_FUTURE: mmap probes map on purpose. */
	if (mlockall(MCL_CURRENT) < 0)
		(void)!mlock(ring, sizeof(*ring));
	slot_set(cs->slot, CHILD_READY);
	child_wait_go(cs);
	slot_set(cs->slot, CHILD_RUNNING);
	pace_start(&p->pace, pp->ops->loop == LOOP_OPEN, pp->interval, pp->backlog, nsec_now() + NSEC_PER_MSEC);
	while (!cs->slot->stop && !r) {
		nsec_t now = nsec_now();

		if (pace_look(&p->pace, now) == PACE_GIVE_UP)
			give_up(p, now);
		else
			r = act(p, &e);
	}
	if (pp->ops->close)
		pp->ops->close(p->st);
	p->actor.perform->close(p->perform_st);
	if (r && r != -EINTR) {
		if (!e.code)
			err_sys(&e, r, "an action failed");
		err_wrap(&e, "probe %s", pp->name);
		child_fail(cs, &e);
	}
	slot_set(cs->slot, CHILD_ENDED);
	_exit(0);
}

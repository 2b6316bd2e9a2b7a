/* SPDX-License-Identifier: MIT */
/* One worker of a load: disturbs until it is told to stop, and counts what it achieved. It never syncs at its end. */
#include "base/cleanup.h"
#include "base/mem.h"
#include "base/rng.h"
#include "perform/action.h"
#include "run/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

struct loader {
	const struct child_setup *cs;
	const struct plan_load *pl;
	int worker;
	struct rng rng;
	void *st, *perform_st;
	const struct perform_ops *perform;
	struct op ops[ACTION_OPS];
	int n, at;
	int error;
	struct err e;
};

static void first_to_die(void)
{
	int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	if (fd >= 0) {
		(void)!write(fd, "1000", 4);
		close(fd);
	}
}

static int prepare_script(void *ctx, struct op *ops, int max)
{
	struct loader *l = ctx;

	return l->pl->ops->prepare(l->st, l->pl->conf, &l->rng, ops, max);
}

static void count(struct loader *l, const struct op *op, const struct op_result *res)
{
	struct load_tally *t = &l->cs->slot->tally;

	if (op->kind == OP_READ || op->kind == OP_TOUCH)
		t->bytes_read += res->bytes;
	else if (op->kind == OP_WRITE)
		t->bytes_written += res->bytes;
	if (op->flags & OPF_UNIT)
		t->units++;
	if (res->error && res->error != -EINTR && !l->error) {
		l->error = res->error;
		perform_explain(op, res, l->cs->dir, &l->e);
	}
}

/* The next op of this worker; 0: none, or stopped, or failed. */
static int next_op(void *ctx, struct op *ret)
{
	struct loader *l = ctx;

	if (l->cs->slot->stop || l->error)
		return 0;
	if (l->at >= l->n) {
		l->at = 0;
		l->n = l->pl->ops->next(l->st, l->pl->conf, l->worker, &l->rng, l->ops, ACTION_OPS);
		if (l->n < 0)
			l->error = l->n;
		if (l->n <= 0)
			return 0;
	}
	*ret = l->ops[l->at++];
	return 1;
}

static void op_done(void *ctx, const struct op *op, const struct op_result *res)
{
	count(ctx, op, res);
}

static void open_performer(struct loader *l, int dirfd)
{
	const char *want = l->pl->ops->performer ?: "posix";
	struct perform_conf conf = { .dirfd = dirfd, .seed = l->cs->seed, .depth = 32, .stop = &l->cs->slot->stop };

	l->perform = plug_find(perform_table, want);
	if (l->perform) {
		l->perform_st = mem_alloc(l->perform->plug.state_size + 1);
		if (!l->perform->open(l->perform_st, &conf, &l->e))
			return;
		free(l->perform_st);
	}
	/* io_uring may be missing or forbidden: the same ops by plain system calls */
	l->perform = plug_find(perform_table, "posix");
	l->perform_st = mem_alloc(l->perform->plug.state_size + 1);
	l->e = (struct err){ 0 };
	if (l->perform->open(l->perform_st, &conf, &l->e))
		child_fail(l->cs, &l->e);
}

static void lay_out(struct loader *l, int dirfd)
{
	struct actor a = { .perform = l->perform, .st = l->perform_st, .script = prepare_script, .ctx = l };
	struct action *out;

	if (!l->pl->ops->prepare || load_by_step(l->pl->ops, l->pl->conf))
		return;
	out = mem_alloc(sizeof(*out));
	if (action_prepare(&a, out, &l->cs->slot->stop)) {
		if (out->error == -EINTR)
			_exit(0);
		if (out->failed.kind)
			perform_explain(&out->failed, &out->failed_res, l->cs->dir, &l->e);
		else
			err_sys(&l->e, out->error, "cannot lay out its files in %s", l->cs->dir);
		err_wrap(&l->e, "load %s", l->pl->name);
		child_fail(l->cs, &l->e);
	}
	free(out);
	if (syncfs(dirfd) < 0) {
		err_sys(&l->e, -errno, "load %s: syncfs of %s failed", l->pl->name, l->cs->dir);
		child_fail(l->cs, &l->e);
	}
}

static void wait_for_first(const struct child_setup *cs, const struct slot *first)
{
	struct pollfd pfd = { .fd = cs->alive, .events = POLLIN };

	while (slot_state(first) < CHILD_READY && !cs->slot->stop)
		if (poll(&pfd, 1, 20) > 0)
			_exit(1);
}

static int work(struct loader *l, int dirfd)
{
	const struct load_ops *ops = l->pl->ops;
	struct op_result res;
	struct op op;

	if (load_by_step(ops, l->pl->conf)) {
		struct load_step s = { .dirfd = dirfd, .dir = l->cs->dir, .worker = l->worker, .rng = &l->rng,
				       .stop = &l->cs->slot->stop, .tally = &l->cs->slot->tally };

		return ops->step(l->st, l->pl->conf, &s, &l->e);
	}
	if (l->perform->stream)
		return l->perform->stream(l->perform_st, next_op, op_done, l, &l->e) ?: l->error;
	while (next_op(l, &op)) {
		l->perform->perform(l->perform_st, &op, &res);
		count(l, &op, &res);
	}
	return l->error;
}

void child_load(const struct child_setup *cs, const struct plan_load *pl, int worker, const struct slot *first)
{
	struct loader *l = mem_alloc(sizeof(*l));
	int dirfd, r;

	child_become(cs, pl->ops->plug.name);
	first_to_die();
	/* programs that a load started and that left its group are still ours to end */
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	*l = (struct loader){ .cs = cs, .pl = pl, .worker = worker };
	rng_seed(&l->rng, cs->seed);
	slot_set(cs->slot, CHILD_PREPARING);
	dirfd = open(cs->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dirfd < 0) {
		err_sys(&l->e, -errno, "load %s: cannot open %s", pl->name, cs->dir);
		child_fail(cs, &l->e);
	}
	l->st = mem_alloc(pl->ops->plug.state_size + 1);
	if (!load_by_step(pl->ops, pl->conf) || pl->ops->prepare)
		open_performer(l, dirfd);
	if (worker == 0)
		lay_out(l, dirfd);
	else
		wait_for_first(cs, first);
	slot_set(cs->slot, CHILD_READY);
	child_wait_go(cs);
	slot_set(cs->slot, CHILD_RUNNING);
	cs->slot->tally.state = 1;
	r = work(l, dirfd);
	if (r && r != -EINTR && !cs->slot->stop) {
		cs->slot->tally.state = 3;
		cs->slot->tally.error = r;
		if (!l->e.code)
			err_sys(&l->e, r, "its work failed");
		err_wrap(&l->e, "load %s", pl->name);
		child_fail(cs, &l->e);
	}
	cs->slot->tally.state = 2;
	slot_set(cs->slot, CHILD_ENDED);
	_exit(0);
}

/* SPDX-License-Identifier: MIT */
#include "perform/action.h"
#include "base/cleanup.h"

#include <errno.h>
#include <string.h>
#include <sys/resource.h>

static uint64_t blocks_read(void)
{
	struct rusage ru;

	return getrusage(RUSAGE_THREAD, &ru) < 0 ? 0 : (uint64_t)ru.ru_inblock;
}

/* The next batch when this one asks for more; 1: there is an op at a->ops[a->at]. */
static int there_is_more(struct actor *a)
{
	if (a->at < a->n && a->ops[a->at].kind != OP_MORE)
		return 1;
	if (a->at >= a->n)
		return 0;
	a->at = 0;
	a->ops[0].kind = OP_MORE;
	a->n = a->script(a->ctx, a->ops, ACTION_OPS);
	return a->n < 0 ? a->n : a->n > 0;
}

static int do_op(struct actor *a, struct action *ret, struct op_result *res)
{
	const struct op *op = &a->ops[a->at++];

	if (a->stop && *a->stop) {
		res->end = res->start = nsec_now();
		res->error = -EINTR;
		res->bytes = 0;
	} else {
		a->perform->perform(a->st, op, res);
	}
	if (op->kind == OP_RESIDENT && !res->error) {
		ret->proof.resident += res->bytes;
		ret->proof.asked += res->total;
	}
	if (res->error && !ret->error) {
		ret->error = res->error;
		ret->failed = *op;
		ret->failed_res = *res;
	}
	return res->error;
}

static int outside(struct actor *a, struct action *ret)
{
	struct op_result res;
	int r;

	while ((r = there_is_more(a)) > 0 && a->ops[a->at].step == OP_OUTSIDE)
		if (do_op(a, ret, &res) < 0)
			return ret->error;
	if (r < 0)
		ret->error = r;
	return ret->error;
}

int action_before(struct actor *a, struct action *ret)
{
	memset(ret, 0, offsetof(struct action, failed));
	ret->failed.kind = OP_NONE;
	a->at = 0;
	a->ops[0].kind = OP_NONE;
	a->n = a->script(a->ctx, a->ops, ACTION_OPS);
	if (a->n < 0)
		return ret->error = a->n;
	return outside(a, ret);
}

int action_perform(struct actor *a, struct action *ret)
{
	uint64_t blocks = a->wants_proof ? blocks_read() : 0;
	struct op_result res;
	unsigned step, last = OP_OUTSIDE;
	int r;

	ret->start = ret->end = nsec_now();
	while ((r = there_is_more(a)) > 0) {
		const struct op *op = &a->ops[a->at];

		step = op->step;
		if (step == OP_OUTSIDE)
			break;
		if (step >= ACTION_STEPS) {
			r = -EINVAL;
			break;
		}
		if (step != last && a->on_step)
			a->on_step(a->on_ctx, step, ret->end);
		last = step;
		do_op(a, ret, &res);
		ret->end = res.end;
		ret->step[step] += res.end - res.start;
		ret->nsteps = MAX(ret->nsteps, step + 1);
		if (op->kind == OP_WRITE)
			ret->bytes_written += res.bytes;
		else if (op->kind == OP_READ || op->kind == OP_TOUCH)
			ret->bytes_read += res.bytes;
		if (res.error)
			break;
	}
	if (r < 0 && !ret->error)
		ret->error = r;
	if (a->wants_proof)
		ret->proof.read_blocks = blocks_read() - blocks;
	return ret->error;
}

int action_after(struct actor *a, struct action *ret)
{
	return outside(a, ret);
}

int action_run(struct actor *a, struct action *ret)
{
	int r = action_before(a, ret);

	if (!r)
		r = action_perform(a, ret);
	return r ? r : action_after(a, ret);
}

int action_prepare(struct actor *a, struct action *ret, const volatile int *stop)
{
	struct op_result res;

	memset(ret, 0, offsetof(struct action, failed));
	ret->failed.kind = OP_NONE;
	a->stop = stop;
	while ((a->n = a->script(a->ctx, a->ops, ACTION_OPS)) > 0)
		for (a->at = 0; a->at < a->n; )
			if (do_op(a, ret, &res) < 0)
				return ret->error;
	return ret->error = a->n;
}

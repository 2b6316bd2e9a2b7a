/* SPDX-License-Identifier: MIT */
/*
 * Nothing at all, 100 times a second: no file, no system call. How late it is
 * shows how long a runnable task waits for a CPU, so that a wait of another
 * probe in the same second is not blamed on the disk.
 */
#include "probe/probe.h"

static const char *const steps[] = { "run", NULL };

static int script(void *st, const void *conf, struct rng *rng, struct op *ops, int max)
{
	ops[0] = (struct op){ .kind = OP_NONE };
	return 1;
}

const struct probe_ops probe_tick = {
	.plug = { .name = "tick", .about = "no I/O: how late a task gets a CPU" },
	.measures = "one wake-up that does nothing",
	.loop = LOOP_OPEN,
	.interval = NSEC_PER_SEC / 100,
	.limit = NSEC_PER_SEC / 10,
	.steps = steps,
	.script = script,
};

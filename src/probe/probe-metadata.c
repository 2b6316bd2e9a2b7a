/* SPDX-License-Identifier: MIT */
/*
 * Temporary files, lock files, a browser's cache: a directory is made, a file
 * created in it, renamed, removed, and the directory removed. Nothing is
 * synced, so all of it happens in memory, unless the journal is full or a
 * commit holds what these calls need. That is when a desktop hangs although
 * it "does no I/O".
 */
#include "probe/probe.h"

#include <stdio.h>

struct state {
	uint64_t i;
};

static const char *const steps[] = { "mkdir", "create", "rename", "unlink", "rmdir", NULL };

static uint64_t space(const void *conf)
{
	return 16384;
}

static int script(void *st, const void *conf, struct rng *rng, struct op *ops, int max)
{
	struct state *s = st;
	unsigned long long i = s->i++;

	ops[0] = (struct op){ .kind = OP_MKDIR };
	ops[1] = (struct op){ .kind = OP_OPEN, .step = 1, .flags = OPF_WRITE | OPF_CREATE | OPF_EXCL };
	ops[2] = (struct op){ .kind = OP_CLOSE, .step = 1 };
	ops[3] = (struct op){ .kind = OP_RENAME, .step = 2 };
	ops[4] = (struct op){ .kind = OP_UNLINK, .step = 3 };
	ops[5] = (struct op){ .kind = OP_RMDIR, .step = 4 };
	snprintf(ops[0].path, OP_PATH_MAX, "m%llu", i);
	snprintf(ops[1].path, OP_PATH_MAX, "m%llu/new", i);
	snprintf(ops[3].path, OP_PATH_MAX, "m%llu/new", i);
	snprintf(ops[3].path2, OP_PATH_MAX, "m%llu/named", i);
	snprintf(ops[4].path, OP_PATH_MAX, "m%llu/named", i);
	snprintf(ops[5].path, OP_PATH_MAX, "m%llu", i);
	return 6;
}

const struct probe_ops probe_metadata = {
	.plug = { .name = "metadata", .about = "temporary files: mkdir, create, rename, unlink, nothing synced",
		  .state_size = sizeof(struct state) },
	.measures = "one directory and file made, renamed and removed",
	.loop = LOOP_OPEN,
	.interval = NSEC_PER_SEC / 10,
	.limit = NSEC_PER_SEC / 10,
	.interactive = true,
	.steps = steps,
	.space = space,
	.script = script,
};

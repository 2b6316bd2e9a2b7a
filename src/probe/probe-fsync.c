/* SPDX-License-Identifier: MIT */
/*
 * Pressing "save" in a program that makes sure: 1 MiB is written over the
 * same place of one open file and fsynced, a second later again. This is
 * Theodore Ts'o's fsync-tester of 2009, whose tables kernel people know.
 */
#include "probe/probe.h"

#include <string.h>

enum { MODE_OVERWRITE, MODE_APPEND };

struct conf {
	uint64_t size, wrap;
	int mode, sync;
};

struct state {
	int prepared;
	uint64_t written;
};

static const char *const modes[] = { "overwrite", "append", NULL };
static const char *const syncs[] = { "fsync", "fdatasync", NULL };

static const struct param params[] = {
	PARAM(struct conf, size, PARAM_SIZE, "1M", "how much is written before each fsync"),
	{ .name = "mode", .type = PARAM_WORD, .offset = offsetof(struct conf, mode), .def = "overwrite",
	  .help = "overwrite: always at offset 0; append: at the end", .words = modes },
	{ .name = "sync", .type = PARAM_WORD, .offset = offsetof(struct conf, sync), .def = "fsync",
	  .help = "the call that is timed beside the write", .words = syncs },
	PARAM(struct conf, wrap, PARAM_SIZE, "256M", "append: begin anew when the file is as large"),
	{ 0 },
};

static const char *const steps[] = { "write", "fsync", NULL };

static uint64_t space(const void *conf)
{
	const struct conf *c = conf;

	return c->mode == MODE_APPEND ? c->wrap + c->size : c->size;
}

static uint64_t writes(const void *conf)
{
	return ((const struct conf *)conf)->size;
}

/* The file is there and written once, so that the first sample rewrites as all others do. */
static int prepare(void *st, const void *conf, struct rng *rng, struct op *ops, int max)
{
	const struct conf *c = conf;
	struct state *s = st;

	if (s->prepared++)
		return 0;
	ops[0] = (struct op){ .kind = OP_OPEN, .flags = OPF_WRITE | OPF_CREATE | OPF_TRUNC, .path = "fsync-tester" };
	ops[1] = (struct op){ .kind = OP_WRITE, .bytes = c->mode == MODE_APPEND ? 0 : c->size };
	ops[2] = (struct op){ .kind = OP_FSYNC };
	return 3;
}

static int script(void *st, const void *conf, struct rng *rng, struct op *ops, int max)
{
	const struct conf *c = conf;
	struct state *s = st;
	int n = 0;

	if (c->mode == MODE_APPEND && s->written >= c->wrap) {
		ops[n++] = (struct op){ .kind = OP_TRUNCATE, .step = OP_OUTSIDE };
		s->written = 0;
	}
	ops[n++] = (struct op){ .kind = OP_WRITE, .offset = c->mode == MODE_APPEND ? s->written : 0, .bytes = c->size };
	ops[n++] = (struct op){ .kind = c->sync ? OP_FDATASYNC : OP_FSYNC, .step = 1 };
	s->written += c->size;
	return n;
}

const struct probe_ops probe_fsync = {
	.plug = { .name = "fsync", .about = "saving: rewrites 1 MiB and fsyncs it, once a second (fsync-tester)",
		  .conf_size = sizeof(struct conf), .state_size = sizeof(struct state), .params = params },
	.measures = "one write and its fsync",
	.loop = LOOP_CLOSED,
	.interval = NSEC_PER_SEC,
	.limit = NSEC_PER_SEC,
	.interactive = true,
	.steps = steps,
	.space = space,
	.writes = writes,
	.prepare = prepare,
	.script = script,
};

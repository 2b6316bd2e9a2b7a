/* SPDX-License-Identifier: MIT */
/*
 * Typing: a program takes a key, puts it into its log or history with a small
 * buffered write and reads a page of something it used a moment ago. Neither
 * needs the disk; both are seen to wait for it when writers are throttled, a
 * page is locked for writeback or memory is short. Keys come whether or not
 * the last one was answered, so the loop is open.
 */
#include "probe/probe.h"

struct conf {
	uint64_t bytes, file;
};

struct state {
	int prepared;
	uint64_t at;
};

enum { SLOT_LOG, SLOT_CACHED };

static const struct param params[] = {
	{ .name = "bytes", .type = PARAM_SIZE, .offset = offsetof(struct conf, bytes), .def = "100",
	  .help = "written for each key", .min = 1, .max = 1 << 20 },
	{ .name = "file", .type = PARAM_SIZE, .offset = offsetof(struct conf, file), .def = "1M",
	  .help = "the log begins anew at this size; as much is kept cached and read from", .min = 8192, .max = 1 << 30 },
	{ 0 },
};

static const char *const steps[] = { "write", "read", NULL };

static uint64_t space(const void *conf)
{
	const struct conf *c = conf;

	return 2 * c->file + c->bytes;
}

static uint64_t writes(const void *conf)
{
	return ((const struct conf *)conf)->bytes;
}

static int prepare(void *st, const void *conf, struct rng *rng, struct op *ops, int max)
{
	const struct conf *c = conf;
	struct state *s = st;
	int n = 0;

	if (s->prepared++)
		return 0;
	ops[n++] = (struct op){ .kind = OP_OPEN, .slot = SLOT_LOG, .flags = OPF_WRITE | OPF_CREATE | OPF_TRUNC,
				.path = "log" };
	ops[n++] = (struct op){ .kind = OP_OPEN, .slot = SLOT_CACHED,
				.flags = OPF_READ | OPF_WRITE | OPF_CREATE | OPF_TRUNC, .path = "cached" };
	ops[n++] = (struct op){ .kind = OP_WRITE, .slot = SLOT_CACHED, .bytes = c->file };
	ops[n++] = (struct op){ .kind = OP_FSYNC, .slot = SLOT_CACHED };
	ops[n++] = (struct op){ .kind = OP_READ, .slot = SLOT_CACHED, .bytes = c->file };
	return n;
}

static int script(void *st, const void *conf, struct rng *rng, struct op *ops, int max)
{
	const struct conf *c = conf;
	struct state *s = st;

	if (s->at + c->bytes > c->file)
		s->at = 0;
	ops[0] = (struct op){ .kind = OP_WRITE, .slot = SLOT_LOG, .offset = s->at, .bytes = c->bytes };
	ops[1] = (struct op){ .kind = OP_READ, .slot = SLOT_CACHED, .step = 1,
			      .offset = rng_below(rng, c->file / 4096) * 4096, .bytes = 4096 };
	s->at += c->bytes;
	return 2;
}

const struct probe_ops probe_keystroke = {
	.plug = { .name = "keystroke", .about = "typing: a small buffered write and a cached read, 20 times a second",
		  .conf_size = sizeof(struct conf), .state_size = sizeof(struct state), .params = params },
	.measures = "one key: a buffered write and a read from the cache",
	.loop = LOOP_OPEN,
	.interval = NSEC_PER_SEC / 20,
	.limit = NSEC_PER_SEC / 10,
	.interactive = true,
	.steps = steps,
	.space = space,
	.writes = writes,
	.prepare = prepare,
	.script = script,
};

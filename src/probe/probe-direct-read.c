/* SPDX-License-Identifier: MIT */
/*
 * The disk itself, as ioping sees it: one 4 KiB read at a random place of a
 * file, past the page cache (O_DIRECT), 10 times a second. The working set is
 * 256 MiB, so that the cache of the disk does not answer for it; ioping's
 * 1 MiB is often mistaken for the latency of the disk.
 */
#include "probe/probe.h"

#define SLOT 0
#define PIECE (UINT64_C(1) << 20)

struct conf {
	uint64_t file, bs;
};

struct state {
	uint64_t laid;
	int stage;
};

static const struct param params[] = {
	{ .name = "file", .type = PARAM_SIZE, .offset = offsetof(struct conf, file), .def = "256M",
	  .help = "the working set", .min = 1 << 20, .max = 1e13 },
	{ .name = "bs", .type = PARAM_SIZE, .offset = offsetof(struct conf, bs), .def = "4k",
	  .help = "bytes of a read, a multiple of the disk's block", .min = 512, .max = 1 << 20 },
	{ 0 },
};

static const char *const steps[] = { "read", NULL };

static uint64_t space(const void *conf)
{
	return ((const struct conf *)conf)->file;
}

static void scale(void *conf, double share)
{
	struct conf *c = conf;
	uint64_t n = (uint64_t)((double)c->file * share) / PIECE * PIECE;

	c->file = n > PIECE ? n : PIECE;
}

static int prepare(void *st, const void *conf, struct rng *rng, struct op *ops, int max)
{
	const struct conf *c = conf;
	struct state *s = st;
	int n = 0;

	if (s->stage == 0) {
		ops[n++] = (struct op){ .kind = OP_OPEN, .slot = SLOT, .path = "direct",
					.flags = OPF_WRITE | OPF_CREATE | OPF_TRUNC };
		s->stage = 1;
	}
	for (; s->stage == 1 && s->laid < c->file && n < max; s->laid += PIECE)
		ops[n++] = (struct op){ .kind = OP_WRITE, .slot = SLOT, .offset = s->laid, .bytes = PIECE };
	if (s->stage == 1 && s->laid >= c->file && n < max - 4) {
		ops[n++] = (struct op){ .kind = OP_FSYNC, .slot = SLOT };
		ops[n++] = (struct op){ .kind = OP_CLOSE, .slot = SLOT };
		ops[n++] = (struct op){ .kind = OP_OPEN, .slot = SLOT, .flags = OPF_READ | OPF_DIRECT, .path = "direct" };
		s->stage = 2;
	}
	return n;
}

static int script(void *st, const void *conf, struct rng *rng, struct op *ops, int max)
{
	const struct conf *c = conf;

	ops[0] = (struct op){ .kind = OP_READ, .slot = SLOT, .bytes = c->bs,
			      .offset = rng_below(rng, c->file / c->bs) * c->bs };
	return 1;
}

const struct probe_ops probe_direct_read = {
	.plug = { .name = "direct-read", .about = "the disk itself: one random 4 KiB read past the cache (ioping)",
		  .conf_size = sizeof(struct conf), .state_size = sizeof(struct state), .params = params },
	.measures = "one 4 KiB read that no cache of the kernel answers",
	.loop = LOOP_OPEN,
	.interval = NSEC_PER_SEC / 10,
	.limit = NSEC_PER_SEC / 10,
	.wants_cold = true,
	.steps = steps,
	.space = space,
	.scale = scale,
	.prepare = prepare,
	.script = script,
};

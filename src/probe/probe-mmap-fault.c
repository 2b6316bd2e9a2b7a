/* SPDX-License-Identifier: MIT */
/*
 * A program uses code or data it has mapped but not used for a while: one page
 * fault that must read 4 KiB from the disk, without read-ahead. A program
 * stuck here cannot even repaint its window.
 *
 * A page that is mapped cannot be dropped, so each action maps the file anew;
 * the page is proved absent just before it is touched.
 */
#include "probe/probe.h"

#define SLOT 0
#define PAGE 4096
#define PIECE (UINT64_C(1) << 20)

struct conf {
	uint64_t file;
};

struct state {
	uint64_t laid;
	int stage;
};

static const struct param params[] = {
	{ .name = "file", .type = PARAM_SIZE, .offset = offsetof(struct conf, file), .def = "64M",
	  .help = "bytes of the mapped file", .min = 1 << 20, .max = 1e12 },
	{ 0 },
};

static const char *const steps[] = { "fault", NULL };

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
		ops[n++] = (struct op){ .kind = OP_OPEN, .slot = SLOT, .path = "mapped",
					.flags = OPF_READ | OPF_WRITE | OPF_CREATE | OPF_TRUNC | OPF_RANDOM };
		s->stage = 1;
	}
	for (; s->stage == 1 && s->laid < c->file && n < max; s->laid += PIECE)
		ops[n++] = (struct op){ .kind = OP_WRITE, .slot = SLOT, .offset = s->laid, .bytes = PIECE };
	if (s->stage == 1 && s->laid >= c->file && n < max - 2) {
		ops[n++] = (struct op){ .kind = OP_FSYNC, .slot = SLOT };
		ops[n++] = (struct op){ .kind = OP_DONTNEED, .slot = SLOT };
		s->stage = 2;
	}
	return n;
}

static int script(void *st, const void *conf, struct rng *rng, struct op *ops, int max)
{
	uint64_t at = rng_below(rng, ((const struct conf *)conf)->file / PAGE) * PAGE;

	ops[0] = (struct op){ .kind = OP_DONTNEED, .slot = SLOT, .step = OP_OUTSIDE, .offset = at, .bytes = PAGE };
	ops[1] = (struct op){ .kind = OP_RESIDENT, .slot = SLOT, .step = OP_OUTSIDE, .offset = at, .bytes = PAGE };
	ops[2] = (struct op){ .kind = OP_MMAP, .slot = SLOT, .step = OP_OUTSIDE, .flags = OPF_RANDOM };
	ops[3] = (struct op){ .kind = OP_TOUCH, .slot = SLOT, .offset = at };
	ops[4] = (struct op){ .kind = OP_MUNMAP, .slot = SLOT, .step = OP_OUTSIDE };
	return 5;
}

const struct probe_ops probe_mmap_fault = {
	.plug = { .name = "mmap-fault", .about = "a mapped page that is not in memory is used, 10 times a second",
		  .conf_size = sizeof(struct conf), .state_size = sizeof(struct state), .params = params },
	.measures = "one page fault that reads 4 KiB",
	.loop = LOOP_OPEN,
	.interval = NSEC_PER_SEC / 10,
	.limit = NSEC_PER_SEC / 10,
	.interactive = true,
	.wants_cold = true,
	.steps = steps,
	.space = space,
	.scale = scale,
	.prepare = prepare,
	.script = script,
};

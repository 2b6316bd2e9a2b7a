/* SPDX-License-Identifier: MIT */
/*
 * Random small writes over a large file, through the page cache: what a
 * database does between and during checkpoints, and what Chris Mason added to
 * fsync-tester in 2011 to provoke stalls. With `burst` it comes as checkpoints
 * do: that much at once, an fsync, then a pause.
 */
#include "base/cleanup.h"
#include "load/load.h"
#include "op/files.h"

struct conf {
	uint64_t n, bs, size, burst;
	nsec_t pause;
	bool direct;
};

struct state {
	struct files_cursor laid;
	uint64_t done;		/* of this burst */
	bool open;
};

static const struct param params[] = {
	{ .name = "n", .type = PARAM_COUNT, .offset = offsetof(struct conf, n), .def = "1", .help = "how many writers",
	  .min = 1, .max = 4096 },
	{ .name = "bs", .type = PARAM_SIZE, .offset = offsetof(struct conf, bs), .def = "4k", .help = "bytes of one write",
	  .min = 512, .max = 1 << 20 },
	{ .name = "size", .type = PARAM_SIZE, .offset = offsetof(struct conf, size), .def = "256M",
	  .help = "bytes of each file", .min = 1 << 20, .max = 1e15 },
	{ .name = "burst", .type = PARAM_SIZE, .offset = offsetof(struct conf, burst), .def = "0",
	  .help = "fsync and pause after so much; 0: write without end", .min = 0, .max = 1e15 },
	{ .name = "pause", .type = PARAM_NSEC, .offset = offsetof(struct conf, pause), .def = "0",
	  .help = "after each burst", .min = 0, .max = 3600e9 },
	PARAM(struct conf, direct, PARAM_BOOL, "no", "past the page cache (O_DIRECT)"),
	{ 0 },
};

static struct files set(const void *conf)
{
	const struct conf *c = conf;

	return (struct files){ .prefix = "random", .n = c->n, .per_dir = 4096, .size = c->size };
}

static unsigned workers(const void *conf)
{
	return (unsigned)((const struct conf *)conf)->n;
}

static uint64_t space(const void *conf)
{
	struct files f = set(conf);

	return files_bytes(&f);
}

static void scale(void *conf, double share)
{
	struct conf *c = conf;
	uint64_t size = (uint64_t)((double)c->size * share) >> 20 << 20;

	c->size = MAX(size, UINT64_C(1) << 20);
}

static int prepare(void *st, const void *conf, struct rng *rng, struct op *ops, int max)
{
	struct files f = set(conf);

	return files_lay_out(&f, &((struct state *)st)->laid, ops, max);
}

static int next(void *st, const void *conf, int worker, struct rng *rng, struct op *ops, int max)
{
	const struct conf *c = conf;
	struct files f = set(conf);
	struct state *s = st;
	int n = 0;

	if (!s->open) {
		ops[n] = (struct op){ .kind = OP_OPEN, .flags = OPF_WRITE | (c->direct ? OPF_DIRECT : 0) };
		files_path(&f, (uint64_t)worker, ops[n++].path);
		s->open = true;
	}
	while (n < max - 2 && (!c->burst || s->done < c->burst)) {
		ops[n++] = (struct op){ .kind = OP_WRITE, .offset = rng_below(rng, c->size / c->bs) * c->bs, .bytes = c->bs };
		s->done += c->bs;
	}
	if (c->burst && s->done >= c->burst) {
		ops[n++] = (struct op){ .kind = OP_FSYNC, .flags = OPF_UNIT };
		if (c->pause)
			ops[n++] = (struct op){ .kind = OP_SLEEP, .bytes = (uint64_t)c->pause };
		s->done = 0;
	}
	return n;
}

const struct load_ops load_random_write = {
	.plug = { .name = "random-write", .about = "random 4 KiB writes over a file, without end or as checkpoints",
		  .conf_size = sizeof(struct conf), .state_size = sizeof(struct state), .params = params },
	.touches = LOAD_WRITES,
	.unit_name = "bursts",
	.workers = workers,
	.space = space,
	.scale = scale,
	.prepare = prepare,
	.next = next,
	.performer = "posix",
};

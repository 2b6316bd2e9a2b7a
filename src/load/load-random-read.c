/* SPDX-License-Identifier: MIT */
/*
 * Random small reads past the page cache with many in flight at once: the
 * table scans and index look-ups of a busy database, seen from the disk.
 */
#include "base/cleanup.h"
#include "load/load.h"
#include "op/files.h"

struct conf {
	uint64_t n, bs, size;
};

struct state {
	struct files_cursor laid;
	bool open;
};

static const struct param params[] = {
	{ .name = "n", .type = PARAM_COUNT, .offset = offsetof(struct conf, n), .def = "1",
	  .help = "how many readers, each with 32 reads in flight", .min = 1, .max = 4096 },
	{ .name = "bs", .type = PARAM_SIZE, .offset = offsetof(struct conf, bs), .def = "4k",
	  .help = "bytes of one read, a multiple of the disk's block", .min = 512, .max = 1 << 20 },
	{ .name = "size", .type = PARAM_SIZE, .offset = offsetof(struct conf, size), .def = "1G",
	  .help = "bytes of each file", .min = 1 << 20, .max = 1e15 },
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
		ops[n] = (struct op){ .kind = OP_OPEN, .flags = OPF_READ | OPF_DIRECT };
		files_path(&f, (uint64_t)worker, ops[n++].path);
		s->open = true;
	}
	while (n < max)
		ops[n++] = (struct op){ .kind = OP_READ, .offset = rng_below(rng, c->size / c->bs) * c->bs, .bytes = c->bs };
	return n;
}

const struct load_ops load_random_read = {
	.plug = { .name = "random-read", .about = "random 4 KiB reads past the cache, 32 in flight",
		  .conf_size = sizeof(struct conf), .state_size = sizeof(struct state), .params = params },
	.touches = LOAD_READS | LOAD_WRITES,
	.workers = workers,
	.space = space,
	.scale = scale,
	.prepare = prepare,
	.next = next,
	.performer = "uring",
};

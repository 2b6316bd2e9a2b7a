/* SPDX-License-Identifier: MIT */
/*
 * Copying large files as cp or `dd if= of=` do: each pair reads a piece of its
 * source, dropped from the cache before, and writes it to its target, which is
 * removed at the end. Copies of films and disk images are the load of kernel
 * bug 12309.
 */
#include "load/load.h"

#include "base/cleanup.h"
#include "op/files.h"

#include <stdio.h>

#define PIECE (UINT64_C(1) << 20)

enum { SLOT_FROM, SLOT_TO };

struct conf {
	uint64_t n, bs, size;
	bool fsync;
};

struct state {
	struct files_cursor laid;
	uint64_t at;
	bool open;
};

static const struct param params[] = {
	{ .name = "n", .type = PARAM_COUNT, .offset = offsetof(struct conf, n), .def = "1",
	  .help = "how many reader and writer pairs", .min = 1, .max = 4096 },
	{ .name = "bs", .type = PARAM_SIZE, .offset = offsetof(struct conf, bs), .def = "1M",
	  .help = "bytes read, then written", .min = 512, .max = 1 << 20 },
	{ .name = "size", .type = PARAM_SIZE, .offset = offsetof(struct conf, size), .def = "1G",
	  .help = "bytes of each file", .min = 512, .max = 1e15 },
	PARAM(struct conf, fsync, PARAM_BOOL, "no", "fsync each copy at its end"),
	{ 0 },
};

static unsigned workers(const void *conf)
{
	return (unsigned)((const struct conf *)conf)->n;
}

static uint64_t space(const void *conf)
{
	const struct conf *c = conf;

	return 2 * c->n * (c->size + 4096) + 8192;
}

static void scale(void *conf, double share)
{
	struct conf *c = conf;
	uint64_t size = (uint64_t)((double)c->size * share) / PIECE * PIECE;

	c->size = MAX(size, MIN(c->size, 16 * PIECE));
}

static struct files set(const void *conf)
{
	const struct conf *c = conf;

	return (struct files){ .prefix = "from", .n = c->n, .per_dir = 4096, .size = c->size };
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
		ops[n] = (struct op){ .kind = OP_OPEN, .slot = SLOT_FROM, .flags = OPF_READ };
		files_path(&f, (uint64_t)worker, ops[n++].path);
		ops[n++] = (struct op){ .kind = OP_DONTNEED, .slot = SLOT_FROM };
		ops[n] = (struct op){ .kind = OP_OPEN, .slot = SLOT_TO, .flags = OPF_WRITE | OPF_CREATE | OPF_TRUNC };
		snprintf(ops[n++].path, OP_PATH_MAX, "to.%d", worker);
		s->open = true;
		s->at = 0;
	}
	for (; s->at < c->size && n < max - 5; s->at += c->bs) {
		uint64_t bytes = MIN(c->bs, c->size - s->at);

		ops[n++] = (struct op){ .kind = OP_READ, .slot = SLOT_FROM, .offset = OP_AT_POSITION, .bytes = bytes };
		ops[n++] = (struct op){ .kind = OP_WRITE, .slot = SLOT_TO, .offset = OP_AT_POSITION, .bytes = bytes };
	}
	if (s->at >= c->size) {
		if (c->fsync)
			ops[n++] = (struct op){ .kind = OP_FSYNC, .slot = SLOT_TO };
		ops[n++] = (struct op){ .kind = OP_CLOSE, .slot = SLOT_FROM };
		ops[n++] = (struct op){ .kind = OP_CLOSE, .slot = SLOT_TO, .flags = OPF_UNIT };
		ops[n] = (struct op){ .kind = OP_UNLINK };
		snprintf(ops[n++].path, OP_PATH_MAX, "to.%d", worker);
		s->open = false;
	}
	return n;
}

const struct load_ops load_copy = {
	.plug = { .name = "copy", .about = "n copies of large files at a time, as cp makes them",
		  .conf_size = sizeof(struct conf), .state_size = sizeof(struct state), .params = params },
	.touches = LOAD_READS | LOAD_WRITES,
	.unit_name = "files",
	.workers = workers,
	.space = space,
	.scale = scale,
	.prepare = prepare,
	.next = next,
	.performer = "posix",
};

/* SPDX-License-Identifier: MIT */
/*
 * Sequential readers, each with a large file of its own: a copy from this
 * disk, a video, fio's rw=read. Before each pass the file's pages are dropped,
 * so that every pass reads the disk.
 */
#include "load/load.h"

#include "base/cleanup.h"
#include "op/files.h"

#define PIECE (UINT64_C(1) << 20)

struct conf {
	uint64_t n, bs, size;
	bool direct;
};

struct state {
	struct files_cursor laid;
	uint64_t at;
	bool open;
};

static const struct param params[] = {
	{ .name = "n", .type = PARAM_COUNT, .offset = offsetof(struct conf, n), .def = "1", .help = "how many readers",
	  .min = 1, .max = 4096 },
	{ .name = "bs", .type = PARAM_SIZE, .offset = offsetof(struct conf, bs), .def = "128k",
	  .help = "bytes of one read call", .min = 512, .max = 1 << 20 },
	{ .name = "size", .type = PARAM_SIZE, .offset = offsetof(struct conf, size), .def = "1G",
	  .help = "bytes of each file", .min = 512, .max = 1e15 },
	PARAM(struct conf, direct, PARAM_BOOL, "no", "past the page cache (O_DIRECT)"),
	{ 0 },
};

static unsigned workers(const void *conf)
{
	return (unsigned)((const struct conf *)conf)->n;
}

static uint64_t space(const void *conf)
{
	const struct conf *c = conf;

	return c->n * (c->size + 4096) + 8192;
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

	return (struct files){ .prefix = "read", .n = c->n, .per_dir = 4096, .size = c->size };
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
		ops[n] = (struct op){ .kind = OP_OPEN, .flags = OPF_READ | (c->direct ? OPF_DIRECT : 0) };
		files_path(&f, (uint64_t)worker, ops[n++].path);
		ops[n++] = (struct op){ .kind = OP_DONTNEED };
		s->open = true;
		s->at = 0;
	}
	for (; s->at < c->size && n < max - 1; s->at += c->bs)
		ops[n++] = (struct op){ .kind = OP_READ, .offset = OP_AT_POSITION, .bytes = c->bs };
	if (s->at >= c->size) {
		ops[n++] = (struct op){ .kind = OP_CLOSE, .flags = OPF_UNIT };
		s->open = false;
	}
	return n;
}

const struct load_ops load_read = {
	.plug = { .name = "read", .about = "n sequential readers of large files",
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

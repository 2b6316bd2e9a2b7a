/* SPDX-License-Identifier: MIT */
/*
 * Writers as with dd: each fills a file of its own from start to end, removes
 * it and begins again. A copy to a full disk, a backup, a download.
 */
#include "load/load.h"

#include <stdio.h>

enum { OFLAG_NONE, OFLAG_SYNC, OFLAG_DSYNC, OFLAG_DIRECT };
enum { AGAIN_REMOVE, AGAIN_TRUNCATE, AGAIN_OVERWRITE };

struct conf {
	uint64_t n, bs, size;
	int oflag, again;
	bool fsync;
};

struct state {
	uint64_t at;
	bool open, begun;
};

static const char *const oflags[] = { "none", "sync", "dsync", "direct", NULL };
static const char *const agains[] = { "remove", "truncate", "overwrite", NULL };

static const struct param params[] = {
	{ .name = "n", .type = PARAM_COUNT, .offset = offsetof(struct conf, n), .def = "1", .help = "how many writers",
	  .min = 1, .max = 4096 },
	{ .name = "bs", .type = PARAM_SIZE, .offset = offsetof(struct conf, bs), .def = "1M",
	  .help = "bytes of one write call (calls over 1 MiB are split)", .min = 512, .max = 1 << 30 },
	{ .name = "size", .type = PARAM_SIZE, .offset = offsetof(struct conf, size), .def = "2G",
	  .help = "how large each file grows", .min = 512, .max = 1e15 },
	{ .name = "oflag", .type = PARAM_WORD, .offset = offsetof(struct conf, oflag), .def = "none",
	  .help = "as dd's oflag=", .words = oflags },
	{ .name = "again", .type = PARAM_WORD, .offset = offsetof(struct conf, again), .def = "remove",
	  .help = "what happens to the full file: removed, truncated, or overwritten in place", .words = agains },
	PARAM(struct conf, fsync, PARAM_BOOL, "no", "fsync each full file, as dd's conv=fsync"),
	{ 0 },
};

static unsigned workers(const void *conf)
{
	return (unsigned)((const struct conf *)conf)->n;
}

static uint64_t space(const void *conf)
{
	const struct conf *c = conf;

	return c->n * c->size;
}

static void scale(void *conf, double share)
{
	struct conf *c = conf;
	uint64_t least = c->bs > (16u << 20) ? c->bs : 16u << 20, size = (uint64_t)((double)c->size * share);

	if (size < least)
		size = least < c->size ? least : c->size;
	c->size = size > c->bs ? size / c->bs * c->bs : size;
}

static int next(void *st, const void *conf, int worker, struct rng *rng, struct op *ops, int max)
{
	static const uint32_t flags[] = { 0, OPF_SYNC, OPF_DSYNC, OPF_DIRECT };
	const struct conf *c = conf;
	struct state *s = st;
	char path[32];
	int n = 0;

	snprintf(path, sizeof(path), "write.%d", worker);
	if (!s->open) {
		ops[n] = (struct op){ .kind = OP_OPEN, .flags = OPF_WRITE | OPF_CREATE | flags[c->oflag] };
		if (c->again != AGAIN_OVERWRITE || !s->begun)
			ops[n].flags |= OPF_TRUNC;
		snprintf(ops[n++].path, OP_PATH_MAX, "%s", path);
		s->open = s->begun = true;
		s->at = 0;
	}
	while (s->at < c->size && n < max - 3) {
		ops[n] = (struct op){ .kind = OP_WRITE, .offset = s->at, .bytes = c->size - s->at };
		if (ops[n].bytes > c->bs)
			ops[n].bytes = c->bs;
		s->at += ops[n++].bytes;
	}
	if (s->at >= c->size) {
		if (c->fsync)
			ops[n++] = (struct op){ .kind = OP_FSYNC };
		ops[n++] = (struct op){ .kind = OP_CLOSE, .flags = OPF_UNIT };
		if (c->again == AGAIN_REMOVE) {
			ops[n] = (struct op){ .kind = OP_UNLINK };
			snprintf(ops[n++].path, OP_PATH_MAX, "%s", path);
		}
		s->open = false;
	}
	return n;
}

const struct load_ops load_write = {
	.plug = { .name = "write", .about = "n dd-like writers of large files, over and over",
		  .conf_size = sizeof(struct conf), .state_size = sizeof(struct state), .params = params },
	.touches = LOAD_WRITES,
	.unit_name = "files",
	.workers = workers,
	.space = space,
	.scale = scale,
	.next = next,
	.performer = "posix",
};

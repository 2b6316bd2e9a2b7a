/* SPDX-License-Identifier: MIT */
/*
 * Many small files made and removed: mail, caches, build and test systems.
 * Each writer fills a directory of its own, then empties it. With fsync = yes
 * these are further fs_mark threads.
 */
#include "base/cleanup.h"
#include "load/load.h"

#include <stdio.h>

struct conf {
	uint64_t n, size, files;
	bool fsync;
};

struct state {
	uint64_t at;
	bool begun, removing;
};

static const struct param params[] = {
	{ .name = "n", .type = PARAM_COUNT, .offset = offsetof(struct conf, n), .def = "1", .help = "how many writers",
	  .min = 1, .max = 4096 },
	{ .name = "size", .type = PARAM_SIZE, .offset = offsetof(struct conf, size), .def = "16k",
	  .help = "bytes of each file", .min = 0, .max = 1 << 20 },
	{ .name = "files", .type = PARAM_COUNT, .offset = offsetof(struct conf, files), .def = "1000",
	  .help = "files of each writer before they are removed", .min = 1, .max = 1e8 },
	PARAM(struct conf, fsync, PARAM_BOOL, "no", "fsync each file before it is closed"),
	{ 0 },
};

static unsigned workers(const void *conf)
{
	return (unsigned)((const struct conf *)conf)->n;
}

static uint64_t space(const void *conf)
{
	const struct conf *c = conf;

	return c->n * (c->files * ((c->size + 4095) / 4096 * 4096) + 65536);
}

static void scale(void *conf, double share)
{
	struct conf *c = conf;
	uint64_t files = (uint64_t)((double)c->files * share);

	c->files = MAX(files, MIN(c->files, UINT64_C(10)));
}

static int next(void *st, const void *conf, int worker, struct rng *rng, struct op *ops, int max)
{
	const struct conf *c = conf;
	struct state *s = st;
	int n = 0;

	if (!s->begun) {
		ops[n] = (struct op){ .kind = OP_MKDIR, .flags = OPF_MAY_FAIL };
		snprintf(ops[n++].path, OP_PATH_MAX, "small.%d", worker);
		s->begun = true;
	}
	while (n < max - 4) {
		ops[n] = s->removing ? (struct op){ .kind = OP_UNLINK }
				     : (struct op){ .kind = OP_OPEN, .flags = OPF_WRITE | OPF_CREATE | OPF_TRUNC };
		snprintf(ops[n++].path, OP_PATH_MAX, "small.%d/f%llu", worker, (unsigned long long)s->at);
		if (!s->removing) {
			if (c->size)
				ops[n++] = (struct op){ .kind = OP_WRITE, .bytes = c->size };
			if (c->fsync)
				ops[n++] = (struct op){ .kind = OP_FSYNC };
			ops[n++] = (struct op){ .kind = OP_CLOSE, .flags = OPF_UNIT };
		}
		if (++s->at == c->files) {
			s->at = 0;
			s->removing = !s->removing;
		}
	}
	return n;
}

const struct load_ops load_small_files = {
	.plug = { .name = "small-files", .about = "n writers that fill directories with small files and empty them",
		  .conf_size = sizeof(struct conf), .state_size = sizeof(struct state), .params = params },
	.touches = LOAD_WRITES,
	.unit_name = "files",
	.workers = workers,
	.space = space,
	.scale = scale,
	.next = next,
	.performer = "posix",
};

/* SPDX-License-Identifier: MIT */
/*
 * `ls -lR`, `git status`, a file manager, a sync client: every directory is
 * listed and every file in it looked at, without reading one. One sample is
 * the whole tree. It is cold only when names and inodes are not cached, which
 * no program can bring about for its own files: samples that read nothing from
 * the disk are said to be not proved cold.
 */
#include "op/files.h"
#include "probe/probe.h"

struct conf {
	uint64_t files, per_dir;
};

struct state {
	struct files_cursor laid;
	uint64_t at;
};

static const struct param params[] = {
	{ .name = "files", .type = PARAM_COUNT, .offset = offsetof(struct conf, files), .def = "5000",
	  .help = "files in the tree (of one byte each)", .min = 1, .max = 1e8 },
	{ .name = "per_dir", .type = PARAM_COUNT, .offset = offsetof(struct conf, per_dir), .def = "50",
	  .help = "files in a directory", .min = 1, .max = 1e6 },
	{ 0 },
};

static const char *const steps[] = { "readdir", "stat", NULL };

static struct files set(const void *conf)
{
	const struct conf *c = conf;

	return (struct files){ .prefix = "tree", .n = c->files, .per_dir = c->per_dir, .size = 1 };
}

static uint64_t space(const void *conf)
{
	struct files f = set(conf);

	return files_bytes(&f);
}

static void scale(void *conf, double share)
{
	struct conf *c = conf;

	c->files = files_scaled(c->files, share, 100);
}

static int prepare(void *st, const void *conf, struct rng *rng, struct op *ops, int max)
{
	struct files f = set(conf);

	return files_lay_out(&f, &((struct state *)st)->laid, ops, max);
}

static int script(void *st, const void *conf, struct rng *rng, struct op *ops, int max)
{
	struct files f = set(conf);
	struct state *s = st;
	int n = 0;

	if (!op_goes_on(ops))
		s->at = 0;
	while (s->at < f.n && n < max - 2) {
		if (s->at % f.per_dir == 0) {
			ops[n] = (struct op){ .kind = OP_READDIR };
			files_dir(&f, s->at / f.per_dir, ops[n++].path);
		}
		ops[n] = (struct op){ .kind = OP_STAT, .step = 1 };
		files_path(&f, s->at++, ops[n++].path);
	}
	if (s->at < f.n)
		ops[n++] = (struct op){ .kind = OP_MORE };
	return n;
}

const struct probe_ops probe_tree_stat = {
	.plug = { .name = "tree-stat", .about = "ls -lR or git status: lists a tree and looks at each file",
		  .conf_size = sizeof(struct conf), .state_size = sizeof(struct state), .params = params },
	.measures = "one tree listed, each file's attributes read",
	.loop = LOOP_CLOSED,
	.interval = NSEC_PER_SEC / 10,
	.limit = 10 * NSEC_PER_SEC,
	.interactive = true,
	.wants_cold = true,
	.steps = steps,
	.space = space,
	.scale = scale,
	.prepare = prepare,
	.script = script,
};

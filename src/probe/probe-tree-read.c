/* SPDX-License-Identifier: MIT */
/*
 * `tar c` of a source tree, a grep through it, a backup: every directory is
 * listed and every file in it read to its end, cold. One sample is the whole
 * tree. Sizes are mixed as in a source tree, an eighth to 3.75 times the mean.
 *
 * Afterwards, outside the measured time, the data is dropped and the drop
 * checked. Names and inodes stay cached unless --drop-caches or a fresh mount
 * takes them away; a tree larger than memory needs none of this.
 */
#include "op/files.h"
#include "probe/probe.h"

#define SLOT 0
#define PIECE (UINT64_C(64) << 10)
#define ROOM 12			/* ops that one more file may need before its reads */

struct conf {
	uint64_t files, size;
};

struct state {
	struct files_cursor laid;
	uint64_t at, offset, dropped;
	bool open, dropping;
};

static const struct param params[] = {
	{ .name = "files", .type = PARAM_COUNT, .offset = offsetof(struct conf, files), .def = "2000",
	  .help = "files in the tree, 25 in a directory", .min = 1, .max = 1e8 },
	{ .name = "size", .type = PARAM_SIZE, .offset = offsetof(struct conf, size), .def = "16k",
	  .help = "their mean size", .min = 32, .max = 1 << 30 },
	{ 0 },
};

static const char *const steps[] = { "readdir", "open", "read", "close", NULL };
enum { STEP_DIR, STEP_OPEN, STEP_READ, STEP_CLOSE };

static struct files set(const void *conf)
{
	const struct conf *c = conf;

	return (struct files){ .prefix = "tree", .n = c->files, .per_dir = 25, .size = c->size, .mixed = true };
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

static int add_reads(const struct files *f, struct state *s, struct op *ops, int n, int max)
{
	uint64_t size = files_size(f, s->at);

	if (!s->open) {
		if (s->at % f->per_dir == 0) {
			ops[n] = (struct op){ .kind = OP_READDIR, .step = STEP_DIR };
			files_dir(f, s->at / f->per_dir, ops[n++].path);
		}
		ops[n] = (struct op){ .kind = OP_OPEN, .slot = SLOT, .step = STEP_OPEN, .flags = OPF_READ };
		files_path(f, s->at, ops[n++].path);
		s->open = true;
	}
	for (; s->offset < size && n < max - 2; s->offset += PIECE)
		ops[n++] = (struct op){ .kind = OP_READ, .slot = SLOT, .step = STEP_READ, .offset = OP_AT_POSITION, .bytes = PIECE };
	if (s->offset >= size) {
		ops[n++] = (struct op){ .kind = OP_CLOSE, .slot = SLOT, .step = STEP_CLOSE };
		s->open = false;
		s->offset = 0;
		s->at++;
	}
	return n;
}

static int script(void *st, const void *conf, struct rng *rng, struct op *ops, int max)
{
	struct files f = set(conf);
	struct state *s = st;
	int n = 0;

	if (!op_goes_on(ops)) {
		s->at = s->offset = 0;
		s->open = s->dropping = false;
	}
	if (!s->dropping) {
		while (s->at < f.n && n < max - ROOM)
			n = add_reads(&f, s, ops, n, max);
		if (s->at == f.n) {
			s->dropping = true;
			s->dropped = 0;
		}
		ops[n++] = (struct op){ .kind = OP_MORE };
		return n;
	}
	while (s->dropped < f.n && n < max - FILES_DROP_OPS)
		n = files_drop(&f, s->dropped++, ops, n);
	if (s->dropped < f.n)
		ops[n++] = (struct op){ .kind = OP_MORE };
	return n;
}

const struct probe_ops probe_tree_read = {
	.plug = { .name = "tree-read", .about = "tar or grep: reads a whole source tree from the disk",
		  .conf_size = sizeof(struct conf), .state_size = sizeof(struct state), .params = params },
	.measures = "one source tree listed and read to the end",
	.loop = LOOP_CLOSED,
	.limit = 10 * NSEC_PER_SEC,
	.interactive = true,
	.wants_cold = true,
	.steps = steps,
	.space = space,
	.scale = scale,
	.prepare = prepare,
	.script = script,
};

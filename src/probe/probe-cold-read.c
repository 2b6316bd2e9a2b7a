/* SPDX-License-Identifier: MIT */
/*
 * Opening documents that were not used for a while: 1,000 files of 253,560
 * bytes are read one after another as `cat` does, each from the disk (the
 * test of April 2009 that began the discussion of ext3's latency).
 *
 * After each read the file's data is dropped from the page cache and the drop
 * is checked, so that the next round is cold too. Its inode stays cached
 * unless the kernel gives it up: only --drop-caches or a fresh mount changes
 * that. For the same reason nothing opens the file before it is timed.
 */
#include "op/files.h"
#include "probe/probe.h"

#define SLOT 0
#define PIECE (UINT64_C(128) << 10)	/* cat's */

struct conf {
	uint64_t files, size;
};

struct state {
	struct files_cursor laid;
	uint64_t next;
};

static const struct param params[] = {
	{ .name = "files", .type = PARAM_COUNT, .offset = offsetof(struct conf, files), .def = "1000",
	  .help = "how many files, read in turn", .min = 1, .max = 1e7 },
	{ .name = "size", .type = PARAM_SIZE, .offset = offsetof(struct conf, size), .def = "253560",
	  .help = "bytes of each file", .min = 1, .max = 1 << 22 },
	{ 0 },
};

static const char *const steps[] = { "open", "read", NULL };

static struct files set(const void *conf)
{
	const struct conf *c = conf;

	return (struct files){ .prefix = "cold", .n = c->files, .per_dir = 1000, .size = c->size };
}

static uint64_t space(const void *conf)
{
	struct files f = set(conf);

	return files_bytes(&f);
}

static void scale(void *conf, double share)
{
	struct conf *c = conf;

	c->files = files_scaled(c->files, share, 20);
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

	ops[n] = (struct op){ .kind = OP_OPEN, .slot = SLOT, .flags = OPF_READ };
	files_path(&f, s->next++ % f.n, ops[n++].path);
	for (uint64_t at = 0; at < f.size; at += PIECE)
		ops[n++] = (struct op){ .kind = OP_READ, .slot = SLOT, .step = 1, .offset = OP_AT_POSITION, .bytes = PIECE };
	ops[n++] = (struct op){ .kind = OP_DONTNEED, .slot = SLOT, .step = OP_OUTSIDE };
	ops[n++] = (struct op){ .kind = OP_RESIDENT, .slot = SLOT, .step = OP_OUTSIDE };
	ops[n++] = (struct op){ .kind = OP_CLOSE, .slot = SLOT, .step = OP_OUTSIDE };
	return n;
}

const struct probe_ops probe_cold_read = {
	.plug = { .name = "cold-read", .about = "opening documents: reads files of 250 kB from the disk, one after another",
		  .conf_size = sizeof(struct conf), .state_size = sizeof(struct state), .params = params },
	.measures = "one file of 250 kB read from the disk",
	.loop = LOOP_CLOSED,
	.limit = NSEC_PER_SEC / 10,
	.interactive = true,
	.wants_cold = true,
	.steps = steps,
	.space = space,
	.scale = scale,
	.prepare = prepare,
	.script = script,
};

/* SPDX-License-Identifier: MIT */
/*
 * Opening a file in an editor and quitting, as vim does it: the file is read,
 * a swap file is created beside it, written and fsynced, and removed at the
 * end. In 2009 this hung for two minutes in log_wait_commit while a build ran.
 */
#include "op/files.h"
#include "probe/probe.h"

enum { SLOT_FILE, SLOT_SWAP };

#define PIECE (UINT64_C(64) << 10)	/* vim's first reads */
#define SWAP_BLOCK 4096			/* vim's memfile page */

struct conf {
	uint64_t files, size, swap;
};

struct state {
	struct files_cursor laid;
	uint64_t next;
};

static const struct param params[] = {
	{ .name = "files", .type = PARAM_COUNT, .offset = offsetof(struct conf, files), .def = "100",
	  .help = "how many files, opened in turn", .min = 1, .max = 1e7 },
	{ .name = "size", .type = PARAM_SIZE, .offset = offsetof(struct conf, size), .def = "253560",
	  .help = "bytes of each file", .min = 1, .max = 2 << 20 },
	{ .name = "swap", .type = PARAM_SIZE, .offset = offsetof(struct conf, swap), .def = "12k",
	  .help = "bytes of the swap file beside its first 4 KiB", .min = 0, .max = 1 << 20 },
	{ 0 },
};

static const char *const steps[] = { "open", "read", "swap create", "swap write", "swap fsync", "quit", NULL };

static struct files set(const void *conf)
{
	const struct conf *c = conf;

	return (struct files){ .prefix = "edit", .n = c->files, .per_dir = 1000, .size = c->size };
}

static uint64_t space(const void *conf)
{
	struct files f = set(conf);

	return files_bytes(&f) + SWAP_BLOCK + ((const struct conf *)conf)->swap;
}

static uint64_t writes(const void *conf)
{
	return SWAP_BLOCK + ((const struct conf *)conf)->swap;
}

static void scale(void *conf, double share)
{
	struct conf *c = conf;

	c->files = files_scaled(c->files, share, 10);
}

static int prepare(void *st, const void *conf, struct rng *rng, struct op *ops, int max)
{
	struct files f = set(conf);

	return files_lay_out(&f, &((struct state *)st)->laid, ops, max);
}

static int script(void *st, const void *conf, struct rng *rng, struct op *ops, int max)
{
	const struct conf *c = conf;
	struct files f = set(conf);
	struct state *s = st;
	int n = 0;

	ops[n] = (struct op){ .kind = OP_OPEN, .slot = SLOT_FILE, .flags = OPF_READ };
	files_path(&f, s->next++ % f.n, ops[n++].path);
	ops[n++] = (struct op){ .kind = OP_OPEN, .slot = SLOT_SWAP, .step = 2, .path = "edit/.swp",
				.flags = OPF_READ | OPF_WRITE | OPF_CREATE | OPF_TRUNC };
	ops[n++] = (struct op){ .kind = OP_WRITE, .slot = SLOT_SWAP, .step = 3, .bytes = SWAP_BLOCK };
	for (uint64_t at = 0; at < f.size; at += PIECE)
		ops[n++] = (struct op){ .kind = OP_READ, .slot = SLOT_FILE, .step = 1, .offset = OP_AT_POSITION, .bytes = PIECE };
	if (c->swap)
		ops[n++] = (struct op){ .kind = OP_WRITE, .slot = SLOT_SWAP, .step = 3, .offset = SWAP_BLOCK, .bytes = c->swap };
	ops[n++] = (struct op){ .kind = OP_FSYNC, .slot = SLOT_SWAP, .step = 4 };
	ops[n++] = (struct op){ .kind = OP_CLOSE, .slot = SLOT_SWAP, .step = 5 };
	ops[n++] = (struct op){ .kind = OP_UNLINK, .step = 5, .path = "edit/.swp" };
	ops[n++] = (struct op){ .kind = OP_DONTNEED, .slot = SLOT_FILE, .step = OP_OUTSIDE };
	ops[n++] = (struct op){ .kind = OP_RESIDENT, .slot = SLOT_FILE, .step = OP_OUTSIDE };
	ops[n++] = (struct op){ .kind = OP_CLOSE, .slot = SLOT_FILE, .step = OP_OUTSIDE };
	return n;
}

const struct probe_ops probe_editor_open = {
	.plug = { .name = "editor-open", .about = "opening a file in an editor: read it, write and fsync a swap file, quit",
		  .conf_size = sizeof(struct conf), .state_size = sizeof(struct state), .params = params },
	.measures = "one file opened in an editor, with its swap file fsynced",
	.loop = LOOP_CLOSED,
	.interval = NSEC_PER_SEC,
	.limit = NSEC_PER_SEC,
	.interactive = true,
	.wants_cold = true,
	.steps = steps,
	.space = space,
	.scale = scale,
	.writes = writes,
	.prepare = prepare,
	.script = script,
};

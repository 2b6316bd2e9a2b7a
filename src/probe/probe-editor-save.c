/* SPDX-License-Identifier: MIT */
/*
 * Saving in an editor. `style = vim` does what vim does: the changed swap
 * block is written and fsynced, the old file renamed to a backup, the new one
 * written and fsynced, the backup removed. `style = replace` is what most
 * others do: write a new file, fsync it, rename it over the old one.
 */
#include "probe/probe.h"

enum { SLOT_FILE, SLOT_SWAP };
enum { STYLE_VIM, STYLE_REPLACE };

#define PIECE 8192		/* vim's WRITEBUFSIZE */
#define SWAP_BLOCK 4096

struct conf {
	uint64_t size;
	int style;
};

struct state {
	int prepared;
};

static const char *const styles[] = { "vim", "replace", NULL };

static const struct param params[] = {
	{ .name = "size", .type = PARAM_SIZE, .offset = offsetof(struct conf, size), .def = "64k",
	  .help = "bytes of the saved file", .min = 1, .max = 400 << 10 },
	{ .name = "style", .type = PARAM_WORD, .offset = offsetof(struct conf, style), .def = "vim",
	  .help = "vim: swap file, backup, new file; replace: new file renamed over the old one", .words = styles },
	{ 0 },
};

static const char *const steps[] = { "swap write", "swap fsync", "write", "fsync", "rename", NULL };
enum { STEP_SWAP, STEP_SWAP_SYNC, STEP_WRITE, STEP_SYNC, STEP_RENAME };

static uint64_t space(const void *conf)
{
	return 2 * ((const struct conf *)conf)->size + 4 * SWAP_BLOCK;
}

static uint64_t writes(const void *conf)
{
	return ((const struct conf *)conf)->size + SWAP_BLOCK;
}

static int add_file(const struct conf *c, const char *path, struct op *ops, int n)
{
	ops[n] = (struct op){ .kind = OP_OPEN, .slot = SLOT_FILE, .step = STEP_WRITE,
			      .flags = OPF_WRITE | OPF_CREATE | OPF_TRUNC };
	for (char *to = ops[n++].path; (*to++ = *path++) != 0; )
		;
	for (uint64_t at = 0; at < c->size; at += PIECE)
		ops[n++] = (struct op){ .kind = OP_WRITE, .slot = SLOT_FILE, .step = STEP_WRITE, .offset = at,
					.bytes = c->size - at < PIECE ? c->size - at : PIECE };
	ops[n++] = (struct op){ .kind = OP_FSYNC, .slot = SLOT_FILE, .step = STEP_SYNC };
	ops[n++] = (struct op){ .kind = OP_CLOSE, .slot = SLOT_FILE, .step = STEP_SYNC };
	return n;
}

static int prepare(void *st, const void *conf, struct rng *rng, struct op *ops, int max)
{
	struct state *s = st;
	int n = 0;

	if (s->prepared++)
		return 0;
	ops[n++] = (struct op){ .kind = OP_OPEN, .slot = SLOT_SWAP, .flags = OPF_WRITE | OPF_CREATE | OPF_TRUNC,
				.path = ".text.swp" };
	ops[n++] = (struct op){ .kind = OP_WRITE, .slot = SLOT_SWAP, .bytes = 4 * SWAP_BLOCK };
	return add_file(conf, "text", ops, n);
}

static int script(void *st, const void *conf, struct rng *rng, struct op *ops, int max)
{
	const struct conf *c = conf;
	bool vim = c->style == STYLE_VIM;
	int n = 0;

	ops[n++] = (struct op){ .kind = OP_WRITE, .slot = SLOT_SWAP, .step = STEP_SWAP,
				.offset = (1 + rng_below(rng, 3)) * SWAP_BLOCK, .bytes = SWAP_BLOCK };
	ops[n++] = (struct op){ .kind = OP_FSYNC, .slot = SLOT_SWAP, .step = STEP_SWAP_SYNC };
	if (vim)
		ops[n++] = (struct op){ .kind = OP_RENAME, .step = STEP_RENAME, .path = "text", .path2 = "text~" };
	n = add_file(c, vim ? "text" : "text.new", ops, n);
	if (vim)
		ops[n++] = (struct op){ .kind = OP_UNLINK, .step = STEP_RENAME, .path = "text~" };
	else
		ops[n++] = (struct op){ .kind = OP_RENAME, .step = STEP_RENAME, .path = "text.new", .path2 = "text" };
	return n;
}

const struct probe_ops probe_editor_save = {
	.plug = { .name = "editor-save", .about = "saving in an editor as vim does: swap file, fsync, write, fsync, rename",
		  .conf_size = sizeof(struct conf), .state_size = sizeof(struct state), .params = params },
	.measures = "one save in an editor",
	.loop = LOOP_CLOSED,
	.interval = NSEC_PER_SEC,
	.limit = NSEC_PER_SEC,
	.interactive = true,
	.steps = steps,
	.space = space,
	.writes = writes,
	.prepare = prepare,
	.script = script,
};

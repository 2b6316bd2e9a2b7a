/* SPDX-License-Identifier: MIT */
/*
 * The "torture test" behind the fsync measurements of 2009 and 2010: one
 * writer streams a large file in pieces of 8 MiB. Its source was not found in
 * any archive and descriptions differ, so the forms are parameters:
 *
 *	place = new		grows, is removed, begins again (dd in a loop)
 *	place = in-place	overwrites the same blocks again and again
 *	sync_file_range = yes	starts writeout of each piece and waits for the one before
 *
 * 1.984 GB = 248 pieces is what its printed results say.
 */
#include "load/load.h"

#include "base/cleanup.h"

enum { PLACE_NEW, PLACE_IN_PLACE };

/* flags of sync_file_range(2) */
#define RANGE_WRITE	2u
#define RANGE_ALL	7u	/* WAIT_BEFORE, WRITE, WAIT_AFTER */

struct conf {
	uint64_t piece, size;
	int place;
	bool sync_file_range;
};

struct state {
	uint64_t at, laid;
	bool open, prepared;
};

static const char *const places[] = { "new", "in-place", NULL };

static const struct param params[] = {
	{ .name = "piece", .type = PARAM_SIZE, .offset = offsetof(struct conf, piece), .def = "8M",
	  .help = "bytes written at a time", .min = 4096, .max = 1 << 30 },
	{ .name = "size", .type = PARAM_SIZE, .offset = offsetof(struct conf, size), .def = "1984M",
	  .help = "how large the file grows", .min = 4096, .max = 1e15 },
	{ .name = "place", .type = PARAM_WORD, .offset = offsetof(struct conf, place), .def = "new",
	  .help = "new: grow, remove, repeat; in-place: overwrite the same blocks", .words = places },
	PARAM(struct conf, sync_file_range, PARAM_BOOL, "no", "start writeout of each piece, wait for the one before"),
	{ 0 },
};

static uint64_t space(const void *conf)
{
	return ((const struct conf *)conf)->size;
}

static void scale(void *conf, double share)
{
	struct conf *c = conf;
	uint64_t size = (uint64_t)((double)c->size * share), least = MIN(4 * c->piece, c->size);

	c->size = MAX(size / c->piece * c->piece, least);
}

static int prepare(void *st, const void *conf, struct rng *rng, struct op *ops, int max)
{
	const struct conf *c = conf;
	struct state *s = st;
	int n = 0;

	if (c->place == PLACE_NEW || s->prepared)
		return 0;
	if (!s->laid)
		ops[n++] = (struct op){ .kind = OP_OPEN, .flags = OPF_WRITE | OPF_CREATE | OPF_TRUNC, .path = "overwrite" };
	for (; s->laid < c->size && n < max - 2; s->laid += c->piece)
		ops[n++] = (struct op){ .kind = OP_WRITE, .offset = s->laid, .bytes = MIN(c->piece, c->size - s->laid) };
	if (s->laid >= c->size) {
		ops[n++] = (struct op){ .kind = OP_FSYNC };
		ops[n++] = (struct op){ .kind = OP_CLOSE };
		s->prepared = true;
	}
	return n;
}

static int next(void *st, const void *conf, int worker, struct rng *rng, struct op *ops, int max)
{
	const struct conf *c = conf;
	struct state *s = st;
	int n = 0;

	if (!s->open) {
		ops[n++] = (struct op){ .kind = OP_OPEN, .path = "overwrite",
					.flags = OPF_WRITE | OPF_CREATE | (c->place == PLACE_NEW ? OPF_TRUNC : 0) };
		s->open = true;
		s->at = 0;
	}
	for (; s->at < c->size && n < max - 4; s->at += c->piece) {
		ops[n++] = (struct op){ .kind = OP_WRITE, .offset = s->at, .bytes = MIN(c->piece, c->size - s->at) };
		if (!c->sync_file_range)
			continue;
		ops[n++] = (struct op){ .kind = OP_SYNC_RANGE, .offset = s->at, .bytes = c->piece, .flags = RANGE_WRITE };
		if (s->at >= c->piece)
			ops[n++] = (struct op){ .kind = OP_SYNC_RANGE, .offset = s->at - c->piece, .bytes = c->piece,
						.flags = RANGE_ALL };
	}
	if (s->at >= c->size) {
		ops[n++] = (struct op){ .kind = OP_CLOSE, .flags = OPF_UNIT };
		if (c->place == PLACE_NEW)
			ops[n++] = (struct op){ .kind = OP_UNLINK, .path = "overwrite" };
		s->open = false;
	}
	return n;
}

const struct load_ops load_overwrite = {
	.plug = { .name = "overwrite", .about = "one big streaming writer in 8 MiB pieces (the 'torture test')",
		  .conf_size = sizeof(struct conf), .state_size = sizeof(struct state), .params = params },
	.touches = LOAD_WRITES,
	.unit_name = "rounds",
	.space = space,
	.scale = scale,
	.prepare = prepare,
	.next = next,
	.performer = "posix",
};

/* SPDX-License-Identifier: MIT */
/*
 * A database or a cluster store promising that something is safe: a record is
 * put at the end of a write-ahead log and fdatasynced before the client gets
 * its answer. Requests come at a rate of their own, so the loop is open.
 *
 *	etcd		segments of 64 MiB, fallocated, 2,300-byte records. The first write to each block turns
 *			unwritten space into written: metadata, and so a journal commit
 *	postgres	recycled segments of 16 MiB that were written before, 8 KiB records: no metadata at all
 *	append		a growing file: size and allocation change each time
 */
#include "probe/probe.h"

#include <stdio.h>

#define SLOT 0
#define SEGMENTS 3		/* of postgres, used in turn */
#define PIECE (UINT64_C(1) << 20)

enum { LAYOUT_ETCD, LAYOUT_POSTGRES, LAYOUT_APPEND };

struct conf {
	int layout;
	uint64_t size, segment;
};

struct state {
	uint64_t at, segment, laid;
	int stage;
};

static const char *const layouts[] = { "etcd", "postgres", "append", NULL };

static const struct param params[] = {
	{ .name = "layout", .type = PARAM_WORD, .offset = offsetof(struct conf, layout), .def = "etcd",
	  .help = "etcd: fallocated segments; postgres: recycled, written before; append: a growing file",
	  .words = layouts },
	{ .name = "size", .type = PARAM_SIZE, .offset = offsetof(struct conf, size), .def = "0",
	  .help = "bytes of a record; 0: 2300 (etcd), 8k (postgres), 4k (append)", .min = 0, .max = 1 << 20 },
	{ .name = "segment", .type = PARAM_SIZE, .offset = offsetof(struct conf, segment), .def = "0",
	  .help = "bytes of a segment; 0: 64M (etcd), 16M (postgres), 256M (append)", .min = 0, .max = 1e12 },
	{ 0 },
};

static const char *const steps[] = { "write", "fdatasync", NULL };

static uint64_t record(const struct conf *c)
{
	static const uint64_t usual[] = { 2300, 8192, 4096 };

	return c->size ? c->size : usual[c->layout];
}

static uint64_t segment(const struct conf *c)
{
	static const uint64_t usual[] = { 64 << 20, 16 << 20, 256 << 20 };
	uint64_t s = c->segment ? c->segment : usual[c->layout];

	return s > record(c) ? s : record(c);
}

static uint64_t space(const void *conf)
{
	const struct conf *c = conf;

	return segment(c) * (c->layout == LAYOUT_POSTGRES ? SEGMENTS : 1) + 4096;
}

static uint64_t writes(const void *conf)
{
	return record(conf);
}

static void scale(void *conf, double share)
{
	struct conf *c = conf;
	uint64_t s = (uint64_t)((double)segment(c) * share) / 4096 * 4096, least = 1 << 20;

	c->segment = s > least ? s : least < segment(c) ? least : segment(c);
}

static void name(struct op *op, uint64_t i)
{
	snprintf(op->path, OP_PATH_MAX, "wal.%llu", (unsigned long long)i);
}

/* postgres: the segments are written once, so that using them again changes no metadata. */
static int prepare_postgres(const struct conf *c, struct state *s, struct op *ops, int max)
{
	int n = 0;

	while (s->segment < SEGMENTS && n < max - 4) {
		if (!s->laid) {
			ops[n] = (struct op){ .kind = OP_OPEN, .slot = SLOT, .flags = OPF_WRITE | OPF_CREATE | OPF_TRUNC };
			name(&ops[n++], s->segment);
		}
		while (s->laid < segment(c) && n < max - 3) {
			uint64_t bytes = segment(c) - s->laid < PIECE ? segment(c) - s->laid : PIECE;

			ops[n++] = (struct op){ .kind = OP_WRITE, .slot = SLOT, .offset = s->laid, .bytes = bytes };
			s->laid += bytes;
		}
		if (s->laid < segment(c))
			break;
		ops[n++] = (struct op){ .kind = OP_FSYNC, .slot = SLOT };
		ops[n++] = (struct op){ .kind = OP_CLOSE, .slot = SLOT };
		s->laid = 0;
		s->segment++;
	}
	return n;
}

/* Opens the segment that comes next; etcd and append start with an empty one. */
static int add_segment(const struct conf *c, struct state *s, uint8_t step, struct op *ops, int n)
{
	bool recycled = c->layout == LAYOUT_POSTGRES;

	if (s->stage == 2)
		ops[n++] = (struct op){ .kind = OP_CLOSE, .slot = SLOT, .step = step };
	ops[n] = (struct op){ .kind = OP_OPEN, .slot = SLOT, .step = step,
			      .flags = OPF_WRITE | (recycled ? 0 : OPF_CREATE | OPF_TRUNC) };
	name(&ops[n++], recycled ? s->segment % SEGMENTS : 0);
	if (c->layout == LAYOUT_ETCD) {
		ops[n++] = (struct op){ .kind = OP_FALLOCATE, .slot = SLOT, .step = step, .bytes = segment(c),
					.flags = OPF_MAY_FAIL };	/* ext3, NFS: etcd goes on without, too */
		ops[n++] = (struct op){ .kind = OP_FSYNC, .slot = SLOT, .step = step };
	}
	s->segment++;
	s->at = 0;
	s->stage = 2;
	return n;
}

static int prepare(void *st, const void *conf, struct rng *rng, struct op *ops, int max)
{
	const struct conf *c = conf;
	struct state *s = st;
	int n = 0;

	if (s->stage == 0 && c->layout == LAYOUT_POSTGRES)
		n = prepare_postgres(c, s, ops, max);
	if (s->stage == 0 && !n) {
		s->segment = 0;
		n = add_segment(c, s, 0, ops, 0);
	}
	return n;
}

static int script(void *st, const void *conf, struct rng *rng, struct op *ops, int max)
{
	const struct conf *c = conf;
	struct state *s = st;
	int n = 0;

	/* etcd has the next segment made by another thread: it is not part of a request. */
	if (s->at + record(c) > segment(c))
		n = add_segment(c, s, OP_OUTSIDE, ops, 0);
	ops[n++] = (struct op){ .kind = OP_WRITE, .slot = SLOT, .offset = s->at, .bytes = record(c) };
	ops[n++] = (struct op){ .kind = OP_FDATASYNC, .slot = SLOT, .step = 1 };
	s->at += record(c);
	return n;
}

const struct probe_ops probe_wal = {
	.plug = { .name = "wal", .about = "a database commit: a record at the end of a log and fdatasync, 100 a second",
		  .conf_size = sizeof(struct conf), .state_size = sizeof(struct state), .params = params },
	.measures = "one log record written and fdatasynced",
	.loop = LOOP_OPEN,
	.interval = NSEC_PER_SEC / 100,
	.limit = NSEC_PER_SEC / 100,
	.steps = steps,
	.space = space,
	.scale = scale,
	.writes = writes,
	.prepare = prepare,
	.script = script,
};

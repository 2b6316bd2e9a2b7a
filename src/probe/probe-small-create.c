/* SPDX-License-Identifier: MIT */
/*
 * A mail server, a package manager, fs_mark: create a file, write 64 KiB in
 * pieces of 4 KiB, fsync, close. After `files` of them (an iteration) all are
 * removed and, with sync = yes, everything is written out, so that the unlinks
 * of one iteration do not slow the next: outside the measured time, as fs_mark
 * does not count its unlinks either. stats/fsmark.h computes its files/s.
 */
#include "probe/probe.h"

#include <stdio.h>

#define SLOT 0

struct conf {
	uint64_t size, bs, files, dirs;
	bool sync;
};

struct state {
	uint64_t at, iteration, removed;
	int made_dirs;
	bool full;
	uint64_t written;	/* of the file that is open */
};

static const struct param params[] = {
	{ .name = "size", .type = PARAM_SIZE, .offset = offsetof(struct conf, size), .def = "64k",
	  .help = "bytes of each file", .min = 1, .max = 1 << 30 },
	{ .name = "bs", .type = PARAM_SIZE, .offset = offsetof(struct conf, bs), .def = "4k",
	  .help = "bytes of each write", .min = 1, .max = 1 << 20 },
	{ .name = "files", .type = PARAM_COUNT, .offset = offsetof(struct conf, files), .def = "1000",
	  .help = "files of an iteration; then they are removed", .min = 1, .max = 1e6 },
	{ .name = "dirs", .type = PARAM_COUNT, .offset = offsetof(struct conf, dirs), .def = "100",
	  .help = "subdirectories; one iteration fills one", .min = 1, .max = 10000 },
	PARAM(struct conf, sync, PARAM_BOOL, "yes", "sync() between iterations"),
	{ 0 },
};

static const char *const steps[] = { "create", "write", "fsync", "close", NULL };

static uint64_t space(const void *conf)
{
	const struct conf *c = conf;

	return c->files * ((c->size + 4095) / 4096 * 4096) + c->dirs * 4096;
}

static uint64_t writes(const void *conf)
{
	return ((const struct conf *)conf)->size;
}

static void scale(void *conf, double share)
{
	struct conf *c = conf;
	uint64_t n = (uint64_t)((double)c->files * share);

	c->files = n >= 10 || c->files < 10 ? (n ? n : 1) : 10;
}

static uint64_t iteration(const void *conf)
{
	return ((const struct conf *)conf)->files;
}

static int prepare(void *st, const void *conf, struct rng *rng, struct op *ops, int max)
{
	const struct conf *c = conf;
	struct state *s = st;
	int n = 0;

	while (n < max && s->made_dirs < (int)c->dirs) {
		ops[n] = (struct op){ .kind = OP_MKDIR, .flags = OPF_MAY_FAIL };
		snprintf(ops[n++].path, OP_PATH_MAX, "d%d", s->made_dirs++);
	}
	return n;
}

static void name(const struct conf *c, const struct state *s, uint64_t i, char path[OP_PATH_MAX])
{
	snprintf(path, OP_PATH_MAX, "d%llu/f%llu", (unsigned long long)(s->iteration % c->dirs), (unsigned long long)i);
}

static void next_iteration(struct state *s)
{
	s->full = false;
	s->at = 0;
	s->iteration++;
}

static int add_unlinks(const struct conf *c, struct state *s, struct op *ops, int max)
{
	int n = 0;

	while (s->removed < c->files && n < max - 1) {
		ops[n] = (struct op){ .kind = OP_UNLINK, .step = OP_OUTSIDE };
		name(c, s, s->removed++, ops[n++].path);
	}
	if (s->removed < c->files) {
		ops[n++] = (struct op){ .kind = OP_MORE };
	} else {
		if (c->sync)
			ops[n++] = (struct op){ .kind = OP_SYNC, .step = OP_OUTSIDE };
		next_iteration(s);
	}
	return n;
}

static int script(void *st, const void *conf, struct rng *rng, struct op *ops, int max)
{
	const struct conf *c = conf;
	struct state *s = st;
	int n = 0;

	if (!op_goes_on(ops)) {
		s->written = 0;
		if (s->full)	/* a removal that broke off: its files are truncated when their turn comes again */
			next_iteration(s);
	}
	if (s->full)
		return add_unlinks(c, s, ops, max);
	if (!s->written) {
		ops[n] = (struct op){ .kind = OP_OPEN, .slot = SLOT, .flags = OPF_READ | OPF_WRITE | OPF_CREATE | OPF_TRUNC };
		name(c, s, s->at, ops[n++].path);
	}
	while (s->written < c->size && n < max - 4) {
		uint64_t bytes = c->size - s->written < c->bs ? c->size - s->written : c->bs;

		ops[n++] = (struct op){ .kind = OP_WRITE, .slot = SLOT, .step = 1, .offset = OP_AT_POSITION, .bytes = bytes };
		s->written += bytes;
	}
	if (s->written < c->size) {
		ops[n++] = (struct op){ .kind = OP_MORE };
		return n;
	}
	ops[n++] = (struct op){ .kind = OP_FSYNC, .slot = SLOT, .step = 2 };
	ops[n++] = (struct op){ .kind = OP_CLOSE, .slot = SLOT, .step = 3 };
	s->written = 0;
	if (++s->at == c->files) {
		s->full = true;
		s->removed = 0;
		ops[n++] = (struct op){ .kind = OP_MORE };
	}
	return n;
}

const struct probe_ops probe_small_create = {
	.plug = { .name = "small-create", .about = "many small files: create, write 64 KiB, fsync, close (fs_mark)",
		  .conf_size = sizeof(struct conf), .state_size = sizeof(struct state), .params = params },
	.measures = "one file of 64 KiB created, written, fsynced and closed",
	.loop = LOOP_CLOSED,
	.interval = NSEC_PER_SEC / 10,
	.limit = NSEC_PER_SEC,
	.steps = steps,
	.space = space,
	.scale = scale,
	.writes = writes,
	.iteration = iteration,
	.makes = "files",
	.prepare = prepare,
	.script = script,
};

/* SPDX-License-Identifier: MIT */
/*
 * Building a large program with many jobs, over and over: the load that made
 * machines hang in April 2009 (`make mrproper; make defconfig; make -j32`).
 *
 * Without `command` a source tree is generated, and each of `jobs` processes
 * takes its share of the files: reads the source and 40 headers, uses the CPU,
 * writes the assembler file and reads it back, writes the object and a small
 * dependency file. The first process links all objects when its share is done;
 * then each removes what it made and begins again. A linked program is a build.
 *
 * With `tree` and `command` a real tree is built; it is written to.
 */
#include "base/cleanup.h"
#include "load/commands.h"
#include "op/files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

#define PIECE		(UINT64_C(64) << 10)
#define HEADERS_READ	40
#define DEP_BYTES	3000
#define ROOM		16

enum { SLOT_IN, SLOT_OUT };

struct conf {
	uint64_t jobs, sources, size, headers;
	nsec_t cpu;
	char *tree, *command;
};

enum stage { STAGE_SOURCE, STAGE_HEADERS, STAGE_OBJECT, STAGE_LINK, STAGE_CLEAN };

struct state {
	struct files_cursor src, inc;
	enum stage stage;
	uint64_t i, sub, offset, linked;
	bool begun, open;
};

static const struct param params[] = {
	{ .name = "jobs", .type = PARAM_COUNT, .offset = offsetof(struct conf, jobs), .def = "32",
	  .help = "compilers at once, as make -j", .min = 1, .max = 4096 },
	{ .name = "sources", .type = PARAM_COUNT, .offset = offsetof(struct conf, sources), .def = "2000",
	  .help = "source files", .min = 1, .max = 1e7 },
	{ .name = "size", .type = PARAM_SIZE, .offset = offsetof(struct conf, size), .def = "24k",
	  .help = "their mean size; an object is twice as large", .min = 32, .max = 256 << 10 },
	{ .name = "headers", .type = PARAM_COUNT, .offset = offsetof(struct conf, headers), .def = "1000",
	  .help = "headers of 8 KiB on average, 40 of them read for each source", .min = 1, .max = 1e6 },
	{ .name = "cpu", .type = PARAM_NSEC, .offset = offsetof(struct conf, cpu), .def = "100ms",
	  .help = "CPU time for each source", .min = 0, .max = 60e9 },
	PARAM(struct conf, tree, PARAM_TEXT, NULL, "a real tree to build instead; with command"),
	PARAM(struct conf, command, PARAM_TEXT, NULL, "how, without a shell: make clean ; make -j32"),
	{ 0 },
};

static struct files sources(const struct conf *c)
{
	return (struct files){ .prefix = "src", .n = c->sources, .per_dir = 25, .size = c->size, .mixed = true };
}

static struct files headers(const struct conf *c)
{
	return (struct files){ .prefix = "include", .n = c->headers, .per_dir = 50, .size = 8192, .mixed = true };
}

static bool by_step(const void *conf)
{
	return ((const struct conf *)conf)->command;
}

static unsigned workers(const void *conf)
{
	const struct conf *c = conf;

	return by_step(conf) ? 1 : (unsigned)c->jobs;
}

static uint64_t object_bytes(const struct files *f, uint64_t i)
{
	return 2 * files_size(f, i);
}

static uint64_t space(const void *conf)
{
	const struct conf *c = conf;
	struct files s = sources(c), h = headers(c), o = s;

	if (by_step(conf))
		return 0;
	o.size *= 2;
	/* objects, the linked program, dependency files, and each job's assembler file */
	return files_bytes(&s) + files_bytes(&h) + 2 * files_bytes(&o) + c->sources * 4096 + c->jobs * (c->size * 12 + 8192);
}

static void scale(void *conf, double share)
{
	struct conf *c = conf;

	c->sources = files_scaled(c->sources, share, 20);
	c->headers = files_scaled(c->headers, share, 40);
}

static int prepare(void *st, const void *conf, struct rng *rng, struct op *ops, int max)
{
	struct files s = sources(conf), h = headers(conf);
	struct state *state = st;
	int n;

	if (by_step(conf))
		return 0;
	n = files_lay_out(&s, &state->src, ops, max);
	return n ? n : files_lay_out(&h, &state->inc, ops, max);
}

static void object_path(const struct files *f, uint64_t i, const char *suffix, char path[OP_PATH_MAX])
{
	snprintf(path, OP_PATH_MAX, "src/d%llu/f%llu.%s", (unsigned long long)(i / f->per_dir), (unsigned long long)i, suffix);
}

/* Reads a file to its end; its size is known. */
static int add_read(uint64_t size, struct op *ops, int n)
{
	for (uint64_t at = 0; at < size; at += PIECE)
		ops[n++] = (struct op){ .kind = OP_READ, .slot = SLOT_IN, .offset = OP_AT_POSITION, .bytes = PIECE };
	ops[n++] = (struct op){ .kind = OP_CLOSE, .slot = SLOT_IN };
	return n;
}

static int add_source(const struct files *f, struct state *s, struct op *ops)
{
	int n = 0;

	ops[n] = (struct op){ .kind = OP_OPEN, .slot = SLOT_IN, .flags = OPF_READ };
	files_path(f, s->i, ops[n++].path);
	s->stage = STAGE_HEADERS;
	s->sub = 0;
	return add_read(files_size(f, s->i), ops, n);
}

static int add_headers(const struct conf *c, struct state *s, struct rng *rng, struct op *ops, int max)
{
	struct files h = headers(c);
	int n = 0;

	for (; s->sub < HEADERS_READ && n < max - 4; s->sub++) {
		/* half of what is read are the few headers that everybody includes */
		uint64_t i = rng_below(rng, s->sub % 2 ? h.n : MIN(h.n, UINT64_C(50)));

		ops[n] = (struct op){ .kind = OP_OPEN, .slot = SLOT_IN, .flags = OPF_READ };
		files_path(&h, i, ops[n++].path);
		n = add_read(files_size(&h, i), ops, n);
	}
	if (s->sub == HEADERS_READ)
		s->stage = STAGE_OBJECT;
	return n;
}

static int add_written(const char *path, uint64_t bytes, struct op *ops, int n)
{
	ops[n] = (struct op){ .kind = OP_OPEN, .slot = SLOT_OUT, .flags = OPF_WRITE | OPF_CREATE | OPF_TRUNC };
	snprintf(ops[n++].path, OP_PATH_MAX, "%s", path);
	for (uint64_t at = 0; at < bytes; at += PIECE * 4)
		ops[n++] = (struct op){ .kind = OP_WRITE, .slot = SLOT_OUT, .offset = at, .bytes = MIN(PIECE * 4, bytes - at) };
	ops[n++] = (struct op){ .kind = OP_CLOSE, .slot = SLOT_OUT };
	return n;
}

static int add_object(const struct conf *c, const struct files *f, struct state *s, int worker, struct op *ops)
{
	uint64_t size = files_size(f, s->i);
	char path[OP_PATH_MAX];
	int n = 0;

	if (c->cpu)
		ops[n++] = (struct op){ .kind = OP_BURN, .bytes = (uint64_t)c->cpu };
	snprintf(path, sizeof(path), "src/cc%d.s", worker);
	n = add_written(path, 3 * size, ops, n);
	ops[n] = (struct op){ .kind = OP_OPEN, .slot = SLOT_IN, .flags = OPF_READ };
	snprintf(ops[n++].path, OP_PATH_MAX, "%s", path);
	ops[n++] = (struct op){ .kind = OP_READ, .slot = SLOT_IN, .bytes = 3 * size };
	ops[n++] = (struct op){ .kind = OP_CLOSE, .slot = SLOT_IN };
	object_path(f, s->i, "o", path);
	n = add_written(path, object_bytes(f, s->i), ops, n);
	object_path(f, s->i, "d", path);
	n = add_written(path, DEP_BYTES, ops, n);
	ops[n] = (struct op){ .kind = OP_UNLINK };
	snprintf(ops[n++].path, OP_PATH_MAX, "src/cc%d.s", worker);
	s->i += c->jobs;
	s->stage = STAGE_SOURCE;
	return n;
}

/* All objects that are there by now go into one file; those of slower jobs are missing this time. */
static int add_link(const struct files *f, struct state *s, struct op *ops, int max)
{
	int n = 0;

	if (!s->open) {
		ops[n++] = (struct op){ .kind = OP_OPEN, .slot = SLOT_OUT, .path = "src/program",
					.flags = OPF_WRITE | OPF_CREATE | OPF_TRUNC };
		s->open = true;
		s->linked = 0;
	}
	for (; s->linked < f->n && n < max - ROOM; s->linked++) {
		uint64_t bytes = object_bytes(f, s->linked);

		ops[n] = (struct op){ .kind = OP_OPEN, .slot = SLOT_IN, .flags = OPF_READ | OPF_CREATE };
		object_path(f, s->linked, "o", ops[n++].path);
		ops[n++] = (struct op){ .kind = OP_READ, .slot = SLOT_IN, .bytes = bytes };
		ops[n++] = (struct op){ .kind = OP_CLOSE, .slot = SLOT_IN };
		ops[n++] = (struct op){ .kind = OP_WRITE, .slot = SLOT_OUT, .offset = OP_AT_POSITION, .bytes = bytes };
	}
	if (s->linked == f->n) {
		ops[n++] = (struct op){ .kind = OP_CLOSE, .slot = SLOT_OUT, .flags = OPF_UNIT };
		s->open = false;
		s->stage = STAGE_CLEAN;
	}
	return n;
}

static int add_clean(const struct conf *c, const struct files *f, struct state *s, int worker, struct op *ops, int max)
{
	int n = 0;

	for (; s->i < f->n && n < max - 3; s->i += c->jobs) {
		ops[n] = (struct op){ .kind = OP_UNLINK, .flags = OPF_MAY_FAIL };
		object_path(f, s->i, "o", ops[n++].path);
		ops[n] = (struct op){ .kind = OP_UNLINK, .flags = OPF_MAY_FAIL };
		object_path(f, s->i, "d", ops[n++].path);
	}
	if (s->i >= f->n)
		s->begun = false;
	return n;
}

static int next(void *st, const void *conf, int worker, struct rng *rng, struct op *ops, int max)
{
	const struct conf *c = conf;
	struct files f = sources(c);
	struct state *s = st;

	if (!s->begun) {
		s->begun = true;
		s->stage = STAGE_SOURCE;
		s->i = (uint64_t)worker;
	}
	if (s->stage == STAGE_SOURCE && s->i >= f.n) {
		s->stage = worker ? STAGE_CLEAN : STAGE_LINK;
		s->i = (uint64_t)worker;
	}
	switch (s->stage) {
	case STAGE_SOURCE:
		return add_source(&f, s, ops);
	case STAGE_HEADERS:
		return add_headers(c, s, rng, ops, max);
	case STAGE_OBJECT:
		return add_object(c, &f, s, worker, ops);
	case STAGE_LINK:
		return add_link(&f, s, ops, max);
	default:
		if (s->i < f.n)
			return add_clean(c, &f, s, worker, ops, max);
		/* more jobs than sources: nothing to do for this one */
		ops[0] = (struct op){ .kind = OP_SLEEP, .bytes = NSEC_PER_SEC };
		s->begun = false;
		return 1;
	}
}

static int step(void *st, const void *conf, struct load_step *s, struct err *e)
{
	const struct conf *c = conf;
	cleanup_close int fd = open(c->tree ? c->tree : s->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return err_sys(e, -errno, "cannot open the tree to build, %s", c->tree ? c->tree : s->dir);
	return commands_run(c->command, fd, true, s, e);
}

const struct load_ops load_compile = {
	.plug = { .name = "compile", .about = "a build with many jobs, over and over: a generated tree or a real one",
		  .conf_size = sizeof(struct conf), .state_size = sizeof(struct state), .params = params },
	.touches = LOAD_READS | LOAD_WRITES | LOAD_CPU,
	.unit_name = "builds",
	.workers = workers,
	.space = space,
	.scale = scale,
	.prepare = prepare,
	.next = next,
	.step = step,
	.by_step = by_step,
	.performer = "posix",
	.why_no_sim = "with command a real build makes the system calls",
	.command_param = "command",
};

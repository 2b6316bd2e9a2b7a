/* SPDX-License-Identifier: MIT */
/*
 * Unpacking an archive of many small files, over and over: a source tree, a
 * package upgrade, the layers of a container image. The archive is read from
 * the disk while its files appear; the tree is removed before the next round.
 *
 *	style = tar	files are written and closed
 *	style = dpkg	each file is written under a temporary name, fsynced, and renamed into place, as Debian's package
 *			manager does to be safe against a crash
 */
#include "base/cleanup.h"
#include "load/load.h"
#include "op/files.h"

#include <stdio.h>

enum { SLOT_ARCHIVE, SLOT_FILE };
enum { STYLE_TAR, STYLE_DPKG };

#define PIECE (UINT64_C(1) << 20)
#define TAR_READ 10240		/* tar's record */
#define ROOM 8			/* ops of one file with its directory */

struct conf {
	uint64_t n, files, size;
	int style;
};

struct state {
	uint64_t laid, file, at, read;
	bool prepared, begun, removing;
};

static const char *const styles[] = { "tar", "dpkg", NULL };

static const struct param params[] = {
	{ .name = "n", .type = PARAM_COUNT, .offset = offsetof(struct conf, n), .def = "1",
	  .help = "how many archives at once", .min = 1, .max = 1024 },
	{ .name = "files", .type = PARAM_COUNT, .offset = offsetof(struct conf, files), .def = "5000",
	  .help = "files in an archive, 25 in a directory", .min = 1, .max = 1e8 },
	{ .name = "size", .type = PARAM_SIZE, .offset = offsetof(struct conf, size), .def = "16k",
	  .help = "their mean size", .min = 32, .max = 256 << 10 },
	{ .name = "style", .type = PARAM_WORD, .offset = offsetof(struct conf, style), .def = "tar",
	  .help = "tar: write and close; dpkg: fsync and rename each", .words = styles },
	{ 0 },
};

static struct files tree(const struct conf *c, const char *prefix)
{
	return (struct files){ .prefix = prefix, .n = c->files, .per_dir = 25, .size = c->size, .mixed = true };
}

static unsigned workers(const void *conf)
{
	return (unsigned)((const struct conf *)conf)->n;
}

/* The archive is as large as its files. */
static uint64_t archive_bytes(const struct conf *c)
{
	return c->files * c->size;
}

static uint64_t space(const void *conf)
{
	const struct conf *c = conf;
	struct files f = tree(c, "");

	return c->n * (archive_bytes(c) + files_bytes(&f) + 8192);
}

static void scale(void *conf, double share)
{
	struct conf *c = conf;

	c->files = files_scaled(c->files, share, 50);
}

static int prepare(void *st, const void *conf, struct rng *rng, struct op *ops, int max)
{
	const struct conf *c = conf;
	struct state *s = st;
	int n = 0;

	while (s->file < c->n && n < max - 5) {
		if (!s->laid) {
			ops[n] = (struct op){ .kind = OP_OPEN, .flags = OPF_WRITE | OPF_CREATE | OPF_TRUNC };
			snprintf(ops[n++].path, OP_PATH_MAX, "archive.%llu", (unsigned long long)s->file);
		}
		for (; s->laid < archive_bytes(c) && n < max - 3; s->laid += PIECE)
			ops[n++] = (struct op){ .kind = OP_WRITE, .offset = s->laid,
						.bytes = MIN(PIECE, archive_bytes(c) - s->laid) };
		if (s->laid < archive_bytes(c))
			break;
		ops[n++] = (struct op){ .kind = OP_FSYNC };
		ops[n++] = (struct op){ .kind = OP_CLOSE };
		s->laid = 0;
		s->file++;
	}
	return n;
}

static int add_begin(struct state *s, const char *prefix, int worker, struct op *ops, int n)
{
	ops[n] = (struct op){ .kind = OP_MKDIR, .flags = OPF_MAY_FAIL };
	snprintf(ops[n++].path, OP_PATH_MAX, "%s", prefix);
	ops[n] = (struct op){ .kind = OP_OPEN, .slot = SLOT_ARCHIVE, .flags = OPF_READ };
	snprintf(ops[n++].path, OP_PATH_MAX, "archive.%d", worker);
	ops[n++] = (struct op){ .kind = OP_DONTNEED, .slot = SLOT_ARCHIVE };
	s->begun = true;
	s->at = s->read = 0;
	return n;
}

static int add_file(const struct conf *c, struct state *s, const struct files *f, struct op *ops, int n, int max)
{
	uint64_t i = s->at, size = files_size(f, i);
	bool safe = c->style == STYLE_DPKG;

	if (i % f->per_dir == 0) {
		ops[n] = (struct op){ .kind = OP_MKDIR, .flags = OPF_MAY_FAIL };
		files_dir(f, i / f->per_dir, ops[n++].path);
	}
	/* the archive is read ahead of the files that come out of it */
	for (; s->read < (i + 1) * c->size && n < max - ROOM; s->read += TAR_READ)
		ops[n++] = (struct op){ .kind = OP_READ, .slot = SLOT_ARCHIVE, .offset = OP_AT_POSITION, .bytes = TAR_READ };
	if (s->read < (i + 1) * c->size)
		return n;
	ops[n] = (struct op){ .kind = OP_OPEN, .slot = SLOT_FILE, .flags = OPF_WRITE | OPF_CREATE | OPF_TRUNC };
	files_path(f, i, ops[n].path);
	if (safe)
		snprintf(ops[n].path, OP_PATH_MAX, "%s/dpkg-new", f->prefix);
	n++;
	ops[n++] = (struct op){ .kind = OP_WRITE, .slot = SLOT_FILE, .bytes = size };
	if (safe)
		ops[n++] = (struct op){ .kind = OP_FSYNC, .slot = SLOT_FILE };
	ops[n++] = (struct op){ .kind = OP_CLOSE, .slot = SLOT_FILE, .flags = safe ? 0 : OPF_UNIT };
	if (safe) {
		ops[n] = (struct op){ .kind = OP_RENAME, .flags = OPF_UNIT };
		snprintf(ops[n].path, OP_PATH_MAX, "%s/dpkg-new", f->prefix);
		files_path(f, i, ops[n++].path2);
	}
	s->at++;
	return n;
}

static int add_removals(struct state *s, const struct files *f, struct op *ops, int n, int max)
{
	for (; s->at < f->n && n < max - 2; s->at++) {
		ops[n] = (struct op){ .kind = OP_UNLINK };
		files_path(f, s->at, ops[n++].path);
		if (s->at % f->per_dir == f->per_dir - 1 || s->at == f->n - 1) {
			ops[n] = (struct op){ .kind = OP_RMDIR };
			files_dir(f, s->at / f->per_dir, ops[n++].path);
		}
	}
	return n;
}

static int next(void *st, const void *conf, int worker, struct rng *rng, struct op *ops, int max)
{
	const struct conf *c = conf;
	struct state *s = st;
	char prefix[32];
	struct files f;
	int n = 0;

	snprintf(prefix, sizeof(prefix), "tree.%d", worker);
	f = tree(c, prefix);
	if (s->removing) {
		n = add_removals(s, &f, ops, 0, max);
		if (s->at == f.n)
			s->removing = s->begun = false;
		return n;
	}
	if (!s->begun)
		n = add_begin(s, prefix, worker, ops, 0);
	while (s->at < f.n && n < max - ROOM - 2)
		n = add_file(c, s, &f, ops, n, max);
	if (s->at == f.n && n < max) {
		ops[n++] = (struct op){ .kind = OP_CLOSE, .slot = SLOT_ARCHIVE };
		s->removing = true;
		s->at = 0;
	}
	return n;
}

const struct load_ops load_unpack = {
	.plug = { .name = "unpack", .about = "unpacks an archive of small files over and over (tar or dpkg)",
		  .conf_size = sizeof(struct conf), .state_size = sizeof(struct state), .params = params },
	.touches = LOAD_READS | LOAD_WRITES,
	.unit_name = "files",
	.workers = workers,
	.space = space,
	.scale = scale,
	.prepare = prepare,
	.next = next,
	.performer = "posix",
};

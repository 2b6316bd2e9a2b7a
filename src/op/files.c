/* SPDX-License-Identifier: MIT */
#include "op/files.h"
#include "base/cleanup.h"

#include <math.h>
#include <stdio.h>

#define PIECE (UINT64_C(1) << 20)	/* of one write while laying out */

enum stage { STAGE_TOP, STAGE_WRITE, STAGE_DROP };

uint64_t files_size(const struct files *f, uint64_t i)
{
	/* in 32ths of the mean; eight of them have the mean as their mean */
	static const unsigned part[8] = { 4, 32, 8, 120, 4, 16, 64, 8 };

	return f->mixed ? MAX(f->size * part[i % 8] / 32, UINT64_C(1)) : f->size;
}

uint64_t files_dirs(const struct files *f)
{
	return (f->n + f->per_dir - 1) / f->per_dir;
}

uint64_t files_in_dir(const struct files *f, uint64_t dir)
{
	return MIN(f->per_dir, f->n - MIN(f->n, dir * f->per_dir));
}

uint64_t files_bytes(const struct files *f)
{
	uint64_t eight = 0, rest = 0;

	for (uint64_t i = 0; i < 8; i++) {
		uint64_t b = (files_size(f, i) + 4095) / 4096 * 4096;

		eight += b;
		rest += i < f->n % 8 ? b : 0;
	}
	return f->n / 8 * eight + rest + (files_dirs(f) + 1) * 4096;
}

void files_dir(const struct files *f, uint64_t dir, char path[OP_PATH_MAX])
{
	snprintf(path, OP_PATH_MAX, "%s/d%llu", f->prefix, (unsigned long long)dir);
}

void files_path(const struct files *f, uint64_t i, char path[OP_PATH_MAX])
{
	snprintf(path, OP_PATH_MAX, "%s/d%llu/f%llu", f->prefix, (unsigned long long)(i / f->per_dir),
		 (unsigned long long)i);
}

/* One file, or as much of it as fits. */
static int write_some(const struct files *f, struct files_cursor *c, struct op *ops, int n, int max)
{
	uint64_t size = files_size(f, c->at);

	if (!c->open) {
		if (c->at % f->per_dir == 0) {
			ops[n] = (struct op){ .kind = OP_MKDIR, .flags = OPF_MAY_FAIL };
			files_dir(f, c->at / f->per_dir, ops[n++].path);
		}
		ops[n] = (struct op){ .kind = OP_OPEN, .slot = FILES_SLOT, .flags = OPF_WRITE | OPF_CREATE | OPF_TRUNC };
		files_path(f, c->at, ops[n++].path);
		c->open = true;
	}
	while (c->offset < size && n < max - 1) {
		uint64_t bytes = MIN(PIECE, size - c->offset);

		ops[n++] = (struct op){ .kind = OP_WRITE, .slot = FILES_SLOT, .offset = c->offset, .bytes = bytes };
		c->offset += bytes;
	}
	if (c->offset >= size) {
		ops[n++] = (struct op){ .kind = OP_CLOSE, .slot = FILES_SLOT };
		c->open = false;
		c->offset = 0;
		c->at++;
	}
	return n;
}

int files_drop(const struct files *f, uint64_t i, struct op *ops, int n)
{
	ops[n] = (struct op){ .kind = OP_OPEN, .slot = FILES_SLOT, .step = OP_OUTSIDE, .flags = OPF_READ };
	files_path(f, i, ops[n++].path);
	ops[n++] = (struct op){ .kind = OP_DONTNEED, .slot = FILES_SLOT, .step = OP_OUTSIDE };
	ops[n++] = (struct op){ .kind = OP_RESIDENT, .slot = FILES_SLOT, .step = OP_OUTSIDE };
	ops[n++] = (struct op){ .kind = OP_CLOSE, .slot = FILES_SLOT, .step = OP_OUTSIDE };
	return n;
}

int files_lay_out(const struct files *f, struct files_cursor *c, struct op *ops, int max)
{
	int n = 0;

	if (c->stage == STAGE_TOP) {
		ops[n] = (struct op){ .kind = OP_MKDIR, .flags = OPF_MAY_FAIL };
		snprintf(ops[n++].path, OP_PATH_MAX, "%s", f->prefix);
		c->stage = STAGE_WRITE;
	}
	while (c->stage == STAGE_WRITE && c->at < f->n && n < max - 4)
		n = write_some(f, c, ops, n, max);
	if (c->stage == STAGE_WRITE && c->at == f->n && n < max) {
		ops[n++] = (struct op){ .kind = OP_SYNCFS };
		c->stage = STAGE_DROP;
		c->at = 0;
	}
	while (c->stage == STAGE_DROP && c->at < f->n && n <= max - FILES_DROP_OPS)
		n = files_drop(f, c->at++, ops, n);
	return n;
}

uint64_t files_scaled(uint64_t n, double share, uint64_t least)
{
	uint64_t scaled = (uint64_t)floor((double)n * share);

	return MIN(n, MAX(scaled, least));
}

/* SPDX-License-Identifier: MIT */
#include "base/units.h"
#include "perform/perform.h"

#include <errno.h>

static const char *advice(int error)
{
	switch (error) {
	case -ENOSPC:
		return "; free some space there or use a smaller --scale";
	case -EDQUOT:
		return "; the quota there is used up: raise it or use a smaller --scale";
	case -EIO:
		return "; the disk or its driver reported an error, see dmesg";
	case -EROFS:
		return "; the filesystem is read-only: it is mounted so or had an error, see dmesg";
	case -EFBIG:
		return "; the filesystem or a ulimit does not allow so large a file";
	default:
		return "";
	}
}

int perform_explain(const struct op *op, const struct op_result *res, const char *dir, struct err *e)
{
	char size[UNITS_TEXT];
	struct err why = { 0 };

	if (!res->error)
		return 0;
	err_sys(&why, res->error, "failed");
	if (op->path2[0])
		return err_set(e, res->error, "%s of '%s' to '%s' in %s %s%s", op_name(op->kind), op->path, op->path2,
			       dir, why.msg, advice(res->error));
	if (op->path[0])
		return err_set(e, res->error, "%s of '%s' in %s %s%s", op_name(op->kind), op->path, dir, why.msg,
			       advice(res->error));
	if (op->kind == OP_READ || op->kind == OP_WRITE || op->kind == OP_FALLOCATE)
		return err_set(e, res->error, "%s of %s in %s %s%s", op_name(op->kind),
			       units_size_text(op->bytes, size), dir, why.msg, advice(res->error));
	return err_set(e, res->error, "%s in %s %s%s", op_name(op->kind), dir, why.msg, advice(res->error));
}

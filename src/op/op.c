/* SPDX-License-Identifier: MIT */
#include "op/op.h"

const char *op_name(uint8_t kind)
{
	static const char *const name[OP_MAX] = {
		"none", "open", "close", "read", "write", "fsync", "fdatasync", "sync_file_range", "syncfs", "sync",
		"fallocate", "ftruncate", "rename", "link", "unlink", "mkdir", "rmdir", "stat", "readdir", "fsync-dir",
		"dontneed", "resident", "mmap", "touch", "munmap", "burn", "sleep", "more",
	};

	return kind < OP_MAX ? name[kind] : "unknown";
}

enum op_proof_word op_proof_says(const struct op_proof *p, uint64_t bytes_read)
{
	if (p->resident * 20 > p->asked)
		return PROOF_WARM;
	if (p->read_blocks)
		return p->read_blocks * 512 < bytes_read ? PROOF_WARM : PROOF_COLD;
	return p->asked ? PROOF_COLD : PROOF_UNKNOWN;
}

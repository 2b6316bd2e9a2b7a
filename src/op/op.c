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

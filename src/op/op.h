/* SPDX-License-Identifier: MIT */
/*
 * What a program can ask of a filesystem: one request is one `struct op`, one
 * user action is a short array of them (a script). Data only: perform/ does
 * them for real and times them, the simulator plays them against a model.
 *
 * Files are named by a path below the directory of the probe or load, never
 * absolute and never with ".."; "" is that directory itself. Open files live in
 * numbered slots.
 */
#ifndef OP_OP_H
#define OP_OP_H

#include <stdbool.h>
#include <stdint.h>

enum op_kind {
	OP_NONE,
	OP_OPEN,	/* slot = open(path, OPF_*) */
	OP_CLOSE,	/* slot */
	OP_READ,	/* slot: bytes at offset; OP_AT_POSITION: where the last one ended */
	OP_WRITE,	/* slot: random bytes, likewise */
	OP_FSYNC,	/* slot */
	OP_FDATASYNC,	/* slot */
	OP_SYNC_RANGE,	/* slot: sync_file_range(offset, bytes, flags = SYNC_FILE_RANGE_*) */
	OP_SYNCFS,	/* of the directory's filesystem */
	OP_SYNC,	/* sync(2): the whole machine */
	OP_FALLOCATE,	/* slot: offset, bytes; OPF_KEEP_SIZE */
	OP_TRUNCATE,	/* slot: to bytes */
	OP_RENAME,	/* path -> path2 */
	OP_LINK,	/* path -> path2 */
	OP_UNLINK,	/* path */
	OP_MKDIR,	/* path */
	OP_RMDIR,	/* path */
	OP_STAT,	/* path */
	OP_READDIR,	/* path: all entries; bytes in the result = their number */
	OP_FSYNC_DIR,	/* path: open, fsync, close the directory */
	OP_DONTNEED,	/* slot: drop its pages from the page cache (own files only), offset, bytes (0: all) */
	OP_RESIDENT,	/* slot: how many pages of offset, bytes are cached now; feeds the sample's coldness */
	OP_MMAP,	/* slot: map offset, bytes of the slot's file, read only; OPF_WRITE: shared, writable */
	OP_TOUCH,	/* slot: read one byte of each page in offset, bytes of the mapping (0: one page); OPF_WRITE: write it */
	OP_MUNMAP,	/* slot */
	OP_BURN,	/* use the CPU for `bytes` nanoseconds */
	OP_SLEEP,	/* for `bytes` nanoseconds */
	OP_MORE,	/* nothing is done: the action is longer than the script's room, ask for the rest; last of a batch */
	OP_MAX
};

#define OPF_READ	(1u << 0)
#define OPF_WRITE	(1u << 1)
#define OPF_CREATE	(1u << 2)
#define OPF_EXCL	(1u << 3)
#define OPF_TRUNC	(1u << 4)
#define OPF_APPEND	(1u << 5)
#define OPF_DIRECT	(1u << 6)
#define OPF_SYNC	(1u << 7)
#define OPF_DSYNC	(1u << 8)
#define OPF_KEEP_SIZE	(1u << 9)
#define OPF_MAY_FAIL	(1u << 10)	/* ENOENT, EEXIST, EOPNOTSUPP are fine (clean-up, set-up, fallocate) */
#define OPF_NOATIME	(1u << 11)
#define OPF_RANDOM	(1u << 12)	/* OP_OPEN, OP_MMAP: tell the kernel not to read ahead */
#define OPF_UNIT	(1u << 13)	/* loads: with this op one more unit (file, build, round) is done */

#define OP_AT_POSITION	UINT64_MAX	/* offset: follow the file position */
#define OP_OUTSIDE	255		/* step: not part of the measured time */
#define OP_SLOTS	64
#define OP_PATH_MAX	120

struct op {
	uint8_t kind;		/* enum op_kind */
	uint8_t slot;		/* 0..OP_SLOTS-1 */
	uint8_t step;		/* index into the probe's steps, or OP_OUTSIDE (only before the first or after the last timed op) */
	uint32_t flags;		/* OPF_* */
	uint64_t offset, bytes;
	char path[OP_PATH_MAX], path2[OP_PATH_MAX];
};

/*
 * What is known about the page cache. OP_RESIDENT is asked before the action
 * where that disturbs nothing, else after the drop that makes the next action
 * on the same file cold (opening a file only to ask would read its inode
 * outside the measured time and hide that wait).
 */
struct op_proof {
	uint64_t asked, resident;	/* pages; asked == 0: could not be asked */
	uint64_t read_blocks;		/* 512-byte blocks the thread had to read from a disk meanwhile (ru_inblock) */
};

enum op_proof_word { PROOF_UNKNOWN, PROOF_COLD, PROOF_WARM };

/* Warm: more than a twentieth was resident (a page of early read-ahead is no warm cache), or less was read from a disk
 * than the action got. Cold: it had to be read, or what was asked about was gone. Else unknown: also where the filesystem does not account its reads (FUSE, 9p). */
enum op_proof_word op_proof_says(const struct op_proof *p, uint64_t bytes_read);

/*
 * For scripts whose action takes several batches: whether this call goes on
 * with the action (the caller left OP_MORE in ops[0]) or begins a new one. An
 * action may have broken off in the middle; a new one starts from its start.
 */
static inline bool op_goes_on(const struct op *ops)
{
	return ops[0].kind == OP_MORE;
}

const char *op_name(uint8_t kind);	/* "fsync"; the system call's name where there is one */

#endif

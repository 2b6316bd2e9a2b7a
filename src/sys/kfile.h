/* SPDX-License-Identifier: MIT */
/*
 * Small files of the kernel (procfs, sysfs, cgroupfs, tracefs) and of ours. (Not called file.h: that would hide the
 * C library's <sys/file.h>.)
 * Values come without the newline at their end. Nothing here waits for a disk
 * unless the path is on one.
 */
#ifndef SYS_KFILE_H
#define SYS_KFILE_H

#include "base/err.h"
#include "base/strbuf.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define FILE_MOST (1 << 20)	/* file_read stops here: kernel files that matter are smaller */

/* The whole file, its last newline cut off, replaces what is in ret. -ENOENT, -EACCES, ... with a sentence. */
int file_read(const char *path, struct strbuf *ret, struct err *e);
int file_read_at(int dirfd, const char *name, struct strbuf *ret, struct err *e);	/* never through a link */
/* The first number of the file. -EINVAL when it does not begin with one. */
int file_read_u64(const char *path, uint64_t *ret, struct err *e);
/* One write(2) of the text into a file that exists, truncated first as the shell does for ">"; no newline is added. */
int file_write(const char *path, const char *text, struct err *e);
/* Makes or replaces a file of ours and syncs it. */
int file_write_durable(const char *path, const char *text, mode_t mode, struct err *e);

/* For loops that read the same kernel file again and again: no allocation. The text from offset 0, NUL at its end.
 * Returns its length or -errno; a longer text is cut. */
ssize_t file_again(int fd, char *buf, size_t size);

/* In text of lines "key value" or "key: value kB": the number of that key. The key includes its colon if it has one. */
bool file_field(const char *text, const char *key, uint64_t *ret);

/* What a file like "[none] mq-deadline" has chosen: the word in brackets; otherwise the text itself. */
void file_chosen(const char *text, struct strbuf *ret);

#endif

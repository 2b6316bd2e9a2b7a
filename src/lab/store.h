/* SPDX-License-Identifier: MIT */
/*
 * Where the modelled disk's bytes are: 4 KiB blocks in a pool that is locked
 * and touched before the first request, because allocating while the kernel
 * writes dirty pages back to us could wait for ourselves. Blocks never written,
 * or written with zeros only, take none. When the pool is used up, writes get
 * -ENOSPC and everything else goes on.
 *
 * Not locked: one thread at a time for put and drop; reading beside it is fine
 * (a block that is read while it is written has either content, as on a disk).
 */
#ifndef LAB_STORE_H
#define LAB_STORE_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/uio.h>

#define STORE_BLOCK 4096

struct store;

/* file: NULL for memory; else the pool is this file (made, or ours already), which no lab's disk may carry. */
int store_new(uint64_t capacity_bytes, uint64_t pool_bytes, const char *file, struct store **ret, struct err *e);
void store_free(struct store *s);
/* Stores all of it, or returns -ENOSPC and nothing. full: no new blocks. */
int store_put(struct store *s, uint64_t offset, const void *data, uint32_t n, bool full);
void store_drop(struct store *s, uint64_t offset, uint64_t n);	/* whole blocks inside are forgotten, edges zeroed */
/* Pieces that make up [offset, offset + n); at most max, which must be n / STORE_BLOCK + 2. Returns how many. */
int store_get(const struct store *s, uint64_t offset, uint32_t n, struct iovec *iov, int max);
uint64_t store_used(const struct store *s);			/* blocks */
uint64_t store_size(const struct store *s);			/* blocks */

#endif

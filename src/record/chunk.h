/* SPDX-License-Identifier: MIT */
/*
 * Rows of one series as one blob: each column delta-coded (event/column.h),
 * one after another, then a zstd frame with its checksum. The decoder takes
 * hostile input: it writes at most n rows, and the frame is unpacked into a
 * buffer whose size follows from n, so a bomb stops there.
 *
 * The coder holds the buffers and is reused; zeroed is a valid empty one,
 * chunk_done() frees it. One coder serves one thread.
 */
#ifndef RECORD_CHUNK_H
#define RECORD_CHUNK_H

#include "base/err.h"
#include "base/strbuf.h"

#include <stddef.h>
#include <stdint.h>

#define CHUNK_ROWS_MAX	4096		/* rows in one chunk, at most */
#define CHUNK_BYTES_MAX	(1 << 20)	/* of a chunk, packed and unpacked */
#define CHUNK_VALUE_MAX	10		/* bytes of one coded number, at most */

struct chunk_coder {
	void *pack, *unpack;		/* zstd contexts */
	struct strbuf coded;		/* writer: the columns before zstd */
	uint8_t *blob;			/* writer: after it */
	size_t blob_size;
	uint8_t *raw;			/* reader: the columns */
	size_t raw_size;
};

/* How many rows of `columns` columns fit surely. */
static inline uint32_t chunk_rows(int columns)
{
	uint32_t n = (uint32_t)(CHUNK_BYTES_MAX - 8192) / (uint32_t)(columns * CHUNK_VALUE_MAX);

	return n < CHUNK_ROWS_MAX ? n : CHUNK_ROWS_MAX;
}

/* Column i is at values + i * stride and has n numbers, 0 < n <= chunk_rows(columns). The blob belongs to the
 * coder until its next use. */
int chunk_encode(struct chunk_coder *c, const int64_t *values, size_t stride, int columns, uint32_t n,
		 const void **ret_blob, size_t *ret_size, struct err *e);

/* Column i of the rows goes to ret_values + i * n, which holds columns * n numbers. -EBADMSG: damaged. */
int chunk_decode(struct chunk_coder *c, const void *blob, size_t size, int columns, uint32_t n, int64_t *ret_values,
		 struct err *e);

void chunk_done(struct chunk_coder *c);

#endif

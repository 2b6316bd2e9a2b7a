/* SPDX-License-Identifier: MIT */
/*
 * Byte 0: bit 0 says whether the rest is a zstd frame as it stands or is packed first (a changed frame never gets past
 * its checksum), the other bits are the number of columns; bytes 1 and 2 the number of rows. A chunk that decodes must
 * encode and decode to the same numbers again.
 */
#include "base/cleanup.h"
#include "base/mem.h"
#include "record/chunk.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct chunk_coder c = { 0 };
	cleanup_free int64_t *values = NULL, *again = NULL;
	cleanup_free uint8_t *packed = NULL;
	int columns;
	uint32_t n;
	size_t bytes;

	if (size < 3)
		return 0;
	columns = 1 + (data[0] >> 1) % 32;
	n = (uint32_t)data[1] | (uint32_t)data[2] << 8;
	values = mem_array((size_t)columns * chunk_rows(columns), sizeof(*values));
	bytes = size - 3;
	packed = mem_alloc(ZSTD_compressBound(bytes) + 1);
	if (data[0] & 1)
		bytes = ZSTD_compress(packed, ZSTD_compressBound(bytes), data + 3, bytes, 1);
	else
		memcpy(packed, data + 3, bytes);
	if (!chunk_decode(&c, packed, bytes, columns, n, values, NULL)) {
		const void *blob;

		again = mem_array((size_t)columns * n, sizeof(*again));
		if (chunk_encode(&c, values, n, columns, n, &blob, &bytes, NULL) ||
		    chunk_decode(&c, blob, bytes, columns, n, again, NULL) ||
		    memcmp(values, again, (size_t)columns * n * sizeof(*again)))
			abort();
	}
	chunk_done(&c);
	return 0;
}

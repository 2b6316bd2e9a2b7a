/* SPDX-License-Identifier: MIT */
#include "record/chunk.h"
#include "base/mem.h"
#include "event/column.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#define LEVEL 1		/* a measuring program has other uses for its CPU than a few per cent of size */

static void room(uint8_t **p, size_t *have, size_t want)
{
	if (*have >= want)
		return;
	*p = mem_realloc(*p, want);
	*have = want;
}

int chunk_encode(struct chunk_coder *c, const int64_t *values, size_t stride, int columns, uint32_t n,
		 const void **ret_blob, size_t *ret_size, struct err *e)
{
	size_t got;

	if (!c->pack) {
		c->pack = ZSTD_createCCtx();
		if (!c->pack)
			return err_set(e, -ENOMEM, "no memory for the compressor of the record");
		ZSTD_CCtx_setParameter(c->pack, ZSTD_c_compressionLevel, LEVEL);
		ZSTD_CCtx_setParameter(c->pack, ZSTD_c_checksumFlag, 1);
	}
	strbuf_clear(&c->coded);
	for (int i = 0; i < columns; i++)
		column_encode(values + (size_t)i * stride, n, &c->coded);
	room(&c->blob, &c->blob_size, ZSTD_compressBound(c->coded.len));
	got = ZSTD_compress2(c->pack, c->blob, c->blob_size, c->coded.s, c->coded.len);
	if (ZSTD_isError(got) || got > CHUNK_BYTES_MAX)
		return err_set(e, -EIO, "cannot compress %u rows for the record: %s", n,
			       ZSTD_isError(got) ? ZSTD_getErrorName(got) : "they do not fit");
	*ret_blob = c->blob;
	*ret_size = got;
	return 0;
}

int chunk_decode(struct chunk_coder *c, const void *blob, size_t size, int columns, uint32_t n, int64_t *ret_values,
		 struct err *e)
{
	size_t most, got;
	const uint8_t *p;

	if (!n || n > chunk_rows(columns))
		return err_set(e, -EBADMSG, "a chunk claims %u rows (1 to %u are possible)", n, chunk_rows(columns));
	if (!size || size > CHUNK_BYTES_MAX)
		return err_set(e, -EBADMSG, "a chunk has %zu bytes (1 to %d are possible)", size, CHUNK_BYTES_MAX);
	if (!c->unpack) {
		c->unpack = ZSTD_createDCtx();
		if (!c->unpack)
			return err_set(e, -ENOMEM, "no memory for the decompressor of the record");
	}
	most = (size_t)columns * n * CHUNK_VALUE_MAX;
	room(&c->raw, &c->raw_size, most);
	got = ZSTD_decompressDCtx(c->unpack, c->raw, most, blob, size);
	if (ZSTD_isError(got))
		return err_set(e, -EBADMSG, "a chunk cannot be unpacked: %s", ZSTD_getErrorName(got));
	p = c->raw;
	for (int i = 0; i < columns; i++)
		if (column_decode(&p, c->raw + got, ret_values + (size_t)i * n, n) < 0)
			return err_set(e, -EBADMSG, "a chunk ends in its column %d of %d", i + 1, columns);
	if (p != c->raw + got)
		return err_set(e, -EBADMSG, "a chunk has %zu bytes too many", (size_t)(c->raw + got - p));
	return 0;
}

void chunk_done(struct chunk_coder *c)
{
	ZSTD_freeCCtx(c->pack);
	ZSTD_freeDCtx(c->unpack);
	strbuf_done(&c->coded);
	free(c->raw);
	free(c->blob);
	memset(c, 0, sizeof(*c));
}

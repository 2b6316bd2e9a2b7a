/* SPDX-License-Identifier: MIT */
#include "event/column.h"

#include <errno.h>

void column_encode(const int64_t *x, uint32_t n, struct strbuf *out)
{
	uint64_t before = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint64_t d = (uint64_t)x[i] - before;
		uint64_t z = (d << 1) ^ -(d >> 63);
		unsigned char buf[10];
		size_t k = 0;

		while (z >= 0x80) {
			buf[k++] = (unsigned char)(z | 0x80);
			z >>= 7;
		}
		buf[k++] = (unsigned char)z;
		strbuf_add(out, buf, k);
		before = (uint64_t)x[i];
	}
}

int column_decode(const uint8_t **pos, const uint8_t *end, int64_t *ret_x, uint32_t n)
{
	const uint8_t *p = *pos;
	uint64_t before = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint64_t z = 0;
		int shift = 0;

		do {
			if (p == end || shift > 63)
				return -EBADMSG;
			z |= (uint64_t)(*p & 0x7f) << shift;
			shift += 7;
		} while (*p++ & 0x80);
		before += (z >> 1) ^ -(z & 1);
		ret_x[i] = (int64_t)before;
	}
	*pos = p;
	return 0;
}

/* SPDX-License-Identifier: MIT */
/* SHA-256 (FIPS 180-4), for digests that two machines must agree on. Not a hot path: about 250 MB/s. */
#ifndef BASE_SHA256_H
#define BASE_SHA256_H

#include <stddef.h>
#include <stdint.h>

#define SHA256_BYTES 32
#define SHA256_HEX 65		/* 64 digits and NUL */

struct sha256 {
	uint32_t h[8];
	uint64_t bytes;
	uint8_t block[64];
};

void sha256_start(struct sha256 *s);
void sha256_add(struct sha256 *s, const void *data, size_t n);
void sha256_u64(struct sha256 *s, uint64_t x);			/* little-endian on every machine */
void sha256_text(struct sha256 *s, const char *text);		/* length first, so that "a","b" is not "ab"; NULL is "" */
void sha256_end(struct sha256 *s, uint8_t ret[SHA256_BYTES]);
void sha256_end_hex(struct sha256 *s, char ret[SHA256_HEX]);

#endif

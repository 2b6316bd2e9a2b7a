/* SPDX-License-Identifier: MIT */
#include "format/hdr.h"
#include "base/cleanup.h"
#include "base/mem.h"

#include <endian.h>
#include <errno.h>
#include <math.h>
#include <string.h>
#include <zlib.h>

#define COOKIE_V2		0x1c849313u
#define COOKIE_V2_COMPRESSED	0x1c849314u
#define HEADER			40
#define PAYLOAD_MAX		(32u * 1024 * 1024)
#define RATIO_ONE		UINT64_C(0x3ff0000000000000)

static unsigned sub_bits(const struct hdr_layout *l)
{
	static const unsigned bits[] = { 1, 5, 8, 11, 15, 18 };	/* ceil(log2(2 * 10^digits)) */

	return bits[l->digits];
}

static unsigned unit_bits(const struct hdr_layout *l)
{
	return 63 - (unsigned)__builtin_clzll(l->lowest);
}

int hdr_layout_ok(const struct hdr_layout *l, struct err *e)
{
	if (l->digits > 5 || l->lowest < 1 || l->lowest > INT64_MAX / 2 || l->highest < 2 * l->lowest ||
	    l->highest > INT64_MAX || unit_bits(l) + sub_bits(l) > 61)
		return err_set(e, -EINVAL, "the histogram's layout (%u digits, %llu to %llu) is impossible", l->digits,
			       (unsigned long long)l->lowest, (unsigned long long)l->highest);
	return 0;
}

uint32_t hdr_counts(const struct hdr_layout *l)
{
	unsigned buckets = 1, half = sub_bits(l) - 1;
	uint64_t end = UINT64_C(1) << (sub_bits(l) + unit_bits(l));

	while (end <= l->highest) {
		buckets++;
		if (end > INT64_MAX / 2)
			break;
		end <<= 1;
	}
	return (buckets + 1) << half;
}

uint32_t hdr_index(const struct hdr_layout *l, uint64_t v)
{
	unsigned half = sub_bits(l) - 1, unit = unit_bits(l);
	uint64_t mask = ((UINT64_C(1) << (half + 1)) - 1) << unit;
	unsigned bucket = 64 - (unsigned)__builtin_clzll(v | mask) - unit - (half + 1);

	return ((bucket + 1) << half) + (uint32_t)(v >> (bucket + unit)) - (1u << half);
}

void hdr_range(const struct hdr_layout *l, uint32_t index, uint64_t *ret_lo, uint64_t *ret_hi)
{
	unsigned half = sub_bits(l) - 1;
	uint32_t bucket = index >> half, sub = (index & ((1u << half) - 1)) + (1u << half);

	if (!bucket)
		sub -= 1u << half;
	else
		bucket--;
	*ret_lo = (uint64_t)sub << (bucket + unit_bits(l));
	*ret_hi = *ret_lo + (UINT64_C(1) << (bucket + unit_bits(l))) - 1;
}

static void put_leb(struct strbuf *b, int64_t v)
{
	uint64_t z = ((uint64_t)v << 1) ^ (uint64_t)(v >> 63);

	for (int i = 0; i < 8 && z >= 0x80; i++) {
		strbuf_addc(b, (char)((z & 0x7f) | 0x80));
		z >>= 7;
	}
	strbuf_addc(b, (char)z);	/* a ninth byte carries 8 bits */
}

static bool get_leb(const uint8_t **p, const uint8_t *end, int64_t *ret)
{
	uint64_t z = 0;

	for (int i = 0; ; i++) {
		uint8_t c;

		if (*p == end)
			return false;
		c = *(*p)++;
		if (i == 8) {
			z |= (uint64_t)c << 56;
			break;
		}
		z |= (uint64_t)(c & 0x7f) << (7 * i);
		if (!(c & 0x80))
			break;
	}
	*ret = (int64_t)(z >> 1) ^ -(int64_t)(z & 1);
	return true;
}

static const char b64[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static void base64_encode(const uint8_t *p, size_t n, struct strbuf *out)
{
	for (size_t i = 0; i < n; i += 3) {
		uint32_t v = (uint32_t)p[i] << 16 | (i + 1 < n ? (uint32_t)p[i + 1] << 8 : 0) | (i + 2 < n ? p[i + 2] : 0);

		strbuf_addc(out, b64[v >> 18]);
		strbuf_addc(out, b64[v >> 12 & 63]);
		strbuf_addc(out, i + 1 < n ? b64[v >> 6 & 63] : '=');
		strbuf_addc(out, i + 2 < n ? b64[v & 63] : '=');
	}
}

/* Bytes of the text up to its end or padding; -1: another character in it. out has room for 3/4 of the text. */
static ssize_t base64_decode(const char *s, uint8_t *out)
{
	uint32_t v = 0;
	unsigned bits = 0;
	size_t n = 0;

	for (; *s && *s != '='; s++) {
		const char *c = memchr(b64, *s, 64);

		if (!c)
			return *s == ' ' || *s == '\t' ? (ssize_t)n : -1;
		v = v << 6 | (uint32_t)(c - b64);
		bits += 6;
		if (bits >= 8) {
			bits -= 8;
			out[n++] = (uint8_t)(v >> bits);
		}
	}
	return (ssize_t)n;
}

static void put_be32(uint8_t *p, uint32_t v)
{
	v = htobe32(v);
	memcpy(p, &v, 4);
}

static void put_be64(uint8_t *p, uint64_t v)
{
	v = htobe64(v);
	memcpy(p, &v, 8);
}

static uint32_t be32(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, 4);
	return be32toh(v);
}

static uint64_t be64(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, 8);
	return be64toh(v);
}

void hdr_encode(const struct hdr_layout *l, const uint64_t *counts, uint32_t n, struct strbuf *out)
{
	cleanup_strbuf struct strbuf b = STRBUF_INIT;
	cleanup_free uint8_t *z = NULL;
	uint8_t head[HEADER];
	uLongf zlen;

	while (n && !counts[n - 1])
		n--;
	strbuf_addn(&b, 0, HEADER);
	for (uint32_t i = 0; i < n; ) {
		uint32_t from = i;

		while (i < n && !counts[i])
			i++;
		if (i > from)
			put_leb(&b, -(int64_t)(i - from));
		else
			put_leb(&b, (int64_t)counts[i++]);
	}
	put_be32(head, COOKIE_V2);
	put_be32(head + 4, (uint32_t)b.len - HEADER);
	put_be32(head + 8, 0);
	put_be32(head + 12, l->digits);
	put_be64(head + 16, l->lowest);
	put_be64(head + 24, l->highest);
	put_be64(head + 32, RATIO_ONE);
	memcpy(b.s, head, HEADER);
	zlen = compressBound(b.len);
	z = mem_alloc(8 + zlen);
	/* Cannot fail: the buffer is large enough and zlib's memory is a few hundred kB. */
	if (compress2(z + 8, &zlen, (const Bytef *)b.s, b.len, 6) != Z_OK)
		zlen = 0;
	put_be32(z, COOKIE_V2_COMPRESSED);
	put_be32(z + 4, (uint32_t)zlen);
	base64_encode(z, 8 + zlen, out);
}

/* The bytes behind the compressed header; the caller frees. */
static int inflate_payload(const uint8_t *p, size_t n, uint8_t **ret, size_t *ret_n, struct err *e)
{
	size_t cap = 1u << 16;
	z_stream z = { .next_in = (Bytef *)p, .avail_in = (uInt)n };
	cleanup_free uint8_t *out = mem_alloc(cap);
	int r;

	if (inflateInit(&z) != Z_OK)
		return err_set(e, -ENOMEM, "zlib has no memory");
	for (;;) {
		z.next_out = out + z.total_out;
		z.avail_out = (uInt)(cap - z.total_out);
		r = inflate(&z, Z_NO_FLUSH);
		if (r != Z_OK || z.avail_out || cap >= PAYLOAD_MAX)
			break;
		cap *= 4;
		out = mem_realloc(out, cap);
	}
	*ret_n = z.total_out;
	inflateEnd(&z);
	if (r != Z_STREAM_END)
		return err_set(e, -EINVAL, "the histogram's zlib data is damaged or too large");
	*ret = take(out);
	return 0;
}

static int read_counts(const uint8_t *p, size_t n, int (*fn)(void *, const struct hdr_layout *, uint32_t, uint64_t),
		       void *ctx, struct err *e)
{
	struct hdr_layout l;
	const uint8_t *end;
	uint64_t index = 0;
	uint32_t limit;
	int r;

	if (n < HEADER || be32(p) != COOKIE_V2)
		return err_set(e, -EINVAL, "the histogram is not in encoding V2 (cookie %08x)", n >= 4 ? be32(p) : 0);
	if (be32(p + 12) > 5 || be32(p + 8) || be64(p + 32) != RATIO_ONE)
		return err_set(e, -EINVAL, "the histogram uses an offset, a ratio or a precision that is not supported");
	l = (struct hdr_layout){ .digits = be32(p + 12), .lowest = be64(p + 16), .highest = be64(p + 24) };
	r = hdr_layout_ok(&l, e);
	if (r)
		return r;
	if (be32(p + 4) > n - HEADER)
		return err_set(e, -EINVAL, "the histogram is cut off");
	limit = hdr_counts(&l);
	end = p + HEADER + be32(p + 4);
	for (p += HEADER; p < end; ) {
		int64_t v;

		if (!get_leb(&p, end, &v))
			return err_set(e, -EINVAL, "the histogram is cut off");
		if (v < 0) {
			if (v <= INT32_MIN)
				return err_set(e, -EINVAL, "the histogram holds an impossible run of zeros");
			index += (uint64_t)-v;
			continue;
		}
		if (index >= limit)
			return err_set(e, -EINVAL, "the histogram holds more counts than its layout has");
		r = v ? fn(ctx, &l, (uint32_t)index, (uint64_t)v) : 0;
		if (r)
			return r;
		index++;
	}
	return 0;
}

int hdr_decode(const char *text, int (*fn)(void *ctx, const struct hdr_layout *l, uint32_t index, uint64_t count),
	       void *ctx, struct err *e)
{
	cleanup_free uint8_t *raw = mem_alloc(strlen(text) + 4), *data = NULL;
	ssize_t n = base64_decode(text, raw);
	size_t len = 0;
	int r;

	if (n < 0)
		return err_set(e, -EINVAL, "the histogram is not base64");
	if (n < 8 || be32(raw) != COOKIE_V2_COMPRESSED)
		return err_set(e, -EINVAL, "the histogram is not in compressed encoding V2");
	if (be32(raw + 4) > (size_t)n - 8)
		return err_set(e, -EINVAL, "the histogram is cut off");
	r = inflate_payload(raw + 8, be32(raw + 4), &data, &len, e);
	return r ? r : read_counts(data, len, fn, ctx, e);
}

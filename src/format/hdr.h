/* SPDX-License-Identifier: MIT */
/*
 * HdrHistogram's V2 encoding, both ways: counts in log-linear buckets, ZigZag
 * LEB128, zlib, base64. Our own code, written from the format's description;
 * fields are big-endian. Values are whole numbers of any unit.
 *
 *	index: M = ceil(log2(2 * 10^digits)), sub-buckets 2^M, halves 2^(M-1),
 *	unit = floor(log2(lowest)); buckets double from there.
 */
#ifndef FORMAT_HDR_H
#define FORMAT_HDR_H

#include "base/err.h"
#include "base/strbuf.h"

#include <stdbool.h>
#include <stdint.h>

struct hdr_layout {
	uint64_t lowest;	/* discernible; 1 or more */
	uint64_t highest;	/* trackable */
	unsigned digits;	/* 0..5 */
};

/* Precondition of the others: hdr_layout_ok. */
int hdr_layout_ok(const struct hdr_layout *l, struct err *e);
uint32_t hdr_counts(const struct hdr_layout *l);		/* length of the array of counts */
uint32_t hdr_index(const struct hdr_layout *l, uint64_t v);
void hdr_range(const struct hdr_layout *l, uint32_t index, uint64_t *ret_lo, uint64_t *ret_hi);	/* both inclusive */

/* Appends the base64 text of counts[0..n). */
void hdr_encode(const struct hdr_layout *l, const uint64_t *counts, uint32_t n, struct strbuf *out);

/* Reads base64 text; calls fn for each index with a count above 0. A non-zero result of fn ends it and is returned. */
int hdr_decode(const char *text, int (*fn)(void *ctx, const struct hdr_layout *l, uint32_t index, uint64_t count),
	       void *ctx, struct err *e);

#endif

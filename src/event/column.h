/* SPDX-License-Identifier: MIT */
/*
 * Columns of 64-bit numbers as bytes: differences between neighbours, zigzag,
 * LEB128. Constant and slowly growing columns cost about a byte a row before
 * compression. The decoder takes hostile input: it never reads past `end`,
 * never writes past n and refuses numbers of more than ten bytes.
 */
#ifndef EVENT_COLUMN_H
#define EVENT_COLUMN_H

#include "base/strbuf.h"

#include <stdint.h>

void column_encode(const int64_t *x, uint32_t n, struct strbuf *out);

/* Reads n numbers from [*pos, end); moves *pos behind them. 0 or -EBADMSG. */
int column_decode(const uint8_t **pos, const uint8_t *end, int64_t *ret_x, uint32_t n);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * What people type and read: "4k", "5ms", "30%", "100/s".
 * Sizes are powers of 1024 (k, M, G, T, with or without "iB"; "B" alone is allowed);
 * times need a unit (ns us ms s m h), but plain 0 is fine.
 */
#ifndef BASE_UNITS_H
#define BASE_UNITS_H

#include "base/err.h"
#include "base/nsec.h"

#include <stdbool.h>

int units_size(const char *s, uint64_t *ret_bytes, struct err *e);
int units_nsec(const char *s, nsec_t *ret_time, struct err *e);
int units_count(const char *s, uint64_t *ret_n, struct err *e);		/* plain number, k/M/G are 1000s */
int units_number(const char *s, double *ret_x, struct err *e);		/* finite decimal number */
int units_share(const char *s, double *ret_share, struct err *e);	/* "30%" or "0.3" -> 0.3 */
int units_bool(const char *s, bool *ret_b, struct err *e);		/* yes no on off true false 1 0 */

#define UNITS_TEXT 24
/* Always binary, one decimal below 10: "512 B", "64 KiB", "1.5 MiB". Returns buf. */
const char *units_size_text(uint64_t bytes, char buf[UNITS_TEXT]);
/* bytes per second as people know it from disks: decimal, "112 MB/s". */
const char *units_rate_text(double bytes_per_second, char buf[UNITS_TEXT]);

/* The entry of words[0..n) nearest to `s` by edit distance, or NULL when none is near (more than a third differs). */
const char *units_nearest(const char *s, const char *const *words, size_t n);

#endif

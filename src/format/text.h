/* SPDX-License-Identifier: MIT */
/*
 * Numbers and units as programs and people of all locales print them. Each
 * reader moves *p behind what it took and leaves it alone when it returns false.
 */
#ifndef FORMAT_TEXT_H
#define FORMAT_TEXT_H

#include "base/nsec.h"
#include "base/mem.h"
#include "format/format.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A finite decimal number. "3.41", "3,41" (one comma and no point: the decimal comma), "1,234,567.8", "1e-3", "-2". */
bool text_number(const char **p, double *ret);

/* A whole number with or without grouping: "345407", "345,407", "345.407", "345'407". */
bool text_grouped(const char **p, uint64_t *ret);

/* Nanoseconds in the unit that the n bytes at s name (ns us usec ms msec s sec seconds min m h ...); 0: no unit of time. */
nsec_t text_unit(const char *s, size_t n);

/* x units as nanoseconds; false: NaN, negative or more than 100 years. */
bool text_nsec(double x, nsec_t unit, nsec_t *ret);

/* A number with an optional unit behind it, with or without a space ("12.3 ms"); no unit: default_unit. *ret_unit (may
 * be NULL): the unit it had, 0 for none. Only false when there is no number; a negative one is handed out. */
bool text_amount(const char **p, nsec_t default_unit, double *ret, nsec_t *ret_unit);

const char *text_skip(const char *s);		/* behind blanks */
size_t text_word(const char *s);		/* bytes up to the next blank */
/* True, and moves behind it, when *p begins with `word`. */
bool text_take(const char **p, const char *word);

/* The lines of a sniffed head; cleaned as input_line() does. Calls fn for each but a cut last one. */
void text_head_lines(const uint8_t *head, size_t n, void (*fn)(void *ctx, const char *line), void *ctx);

/* Formatted note and fact. */
int text_note(const struct import_sink *sink, enum note_kind kind, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
int text_fact(const struct import_sink *sink, const char *key, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

#endif

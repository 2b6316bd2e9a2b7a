/* SPDX-License-Identifier: MIT */
/*
 * Text that grows. Starts as STRBUF_INIT (or zeroed), always ends in NUL once
 * something was added; .s is NULL while empty, strbuf_str() never is.
 * Running out of memory aborts: these are short-lived programs.
 */
#ifndef BASE_STRBUF_H
#define BASE_STRBUF_H

#include <stdarg.h>
#include <stddef.h>

struct strbuf {
	char *s;
	size_t len, cap;
};

#define STRBUF_INIT { 0 }

void strbuf_add(struct strbuf *b, const void *data, size_t n);
void strbuf_adds(struct strbuf *b, const char *s);
void strbuf_addc(struct strbuf *b, char c);
void strbuf_addn(struct strbuf *b, char c, size_t n);		/* n times */
void strbuf_addf(struct strbuf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void strbuf_vaddf(struct strbuf *b, const char *fmt, va_list ap);
void strbuf_clear(struct strbuf *b);				/* empty, keeps the memory */
void strbuf_done(struct strbuf *b);				/* frees; the buffer may be used again */
const char *strbuf_str(const struct strbuf *b);
/* Hands the text over to the caller, who frees it; never NULL. */
char *strbuf_detach(struct strbuf *b);

#define cleanup_strbuf __attribute__((cleanup(strbuf_done)))

#endif

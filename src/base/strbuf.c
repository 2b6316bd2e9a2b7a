/* SPDX-License-Identifier: MIT */
#include "base/strbuf.h"
#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void grow(struct strbuf *b, size_t more)
{
	size_t want = b->len + more + 1;

	if (want <= b->cap)
		return;
	b->cap = want < 64 ? 64 : want + want / 2;
	b->s = mem_realloc(b->s, b->cap);
}

void strbuf_add(struct strbuf *b, const void *data, size_t n)
{
	grow(b, n);
	if (n)
		memcpy(b->s + b->len, data, n);
	b->len += n;
	b->s[b->len] = 0;
}

void strbuf_adds(struct strbuf *b, const char *s)
{
	strbuf_add(b, s, strlen(s));
}

void strbuf_addc(struct strbuf *b, char c)
{
	strbuf_add(b, &c, 1);
}

void strbuf_addn(struct strbuf *b, char c, size_t n)
{
	grow(b, n);
	memset(b->s + b->len, c, n);
	b->len += n;
	b->s[b->len] = 0;
}

void strbuf_vaddf(struct strbuf *b, const char *fmt, va_list ap)
{
	va_list again;
	int n;

	va_copy(again, ap);
	n = vsnprintf(NULL, 0, fmt, ap);
	if (n >= 0) {
		grow(b, n);
		vsnprintf(b->s + b->len, n + 1, fmt, again);
		b->len += n;
	}
	va_end(again);
}

void strbuf_addf(struct strbuf *b, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	strbuf_vaddf(b, fmt, ap);
	va_end(ap);
}

void strbuf_clear(struct strbuf *b)
{
	b->len = 0;
	if (b->s)
		b->s[0] = 0;
}

void strbuf_done(struct strbuf *b)
{
	free(b->s);
	*b = (struct strbuf)STRBUF_INIT;
}

const char *strbuf_str(const struct strbuf *b)
{
	return b->s ? b->s : "";
}

char *strbuf_detach(struct strbuf *b)
{
	char *s;

	grow(b, 0);
	s = b->s;
	s[b->len] = 0;
	*b = (struct strbuf)STRBUF_INIT;
	return s;
}

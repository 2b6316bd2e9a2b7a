/* SPDX-License-Identifier: MIT */
#include "base/mem.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *there(void *p)
{
	if (!p) {
		fputs("stallmark: out of memory\n", stderr);
		abort();
	}
	return p;
}

void *mem_alloc(size_t n)
{
	return there(calloc(1, n ? n : 1));
}

void *mem_array(size_t n, size_t each)
{
	return there(calloc(n ? n : 1, each ? each : 1));
}

void *mem_realloc(void *p, size_t n)
{
	return there(realloc(p, n ? n : 1));
}

char *mem_dup(const char *s)
{
	return s ? there(strdup(s)) : NULL;
}

char *mem_dupn(const char *s, size_t n)
{
	return there(strndup(s, n));
}

char *mem_printf(const char *fmt, ...)
{
	va_list ap;
	char *s;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&s, fmt, ap);
	va_end(ap);
	return there(n < 0 ? NULL : s);
}

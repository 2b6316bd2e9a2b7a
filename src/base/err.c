/* SPDX-License-Identifier: MIT */
#include "base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int err_set(struct err *e, int code, const char *fmt, ...)
{
	va_list ap;

	if (!e)
		return code;
	e->code = code;
	va_start(ap, fmt);
	vsnprintf(e->msg, sizeof(e->msg), fmt, ap);
	va_end(ap);
	return code;
}

int err_sys(struct err *e, int code, const char *fmt, ...)
{
	va_list ap;
	size_t n;

	if (!e)
		return code;
	e->code = code;
	va_start(ap, fmt);
	vsnprintf(e->msg, sizeof(e->msg), fmt, ap);
	va_end(ap);
	n = strlen(e->msg);
	snprintf(e->msg + n, sizeof(e->msg) - n, ": %s", strerror(code < 0 ? -code : code));
	return code;
}

int err_wrap(struct err *e, const char *fmt, ...)
{
	char old[sizeof(e->msg)];
	va_list ap;
	size_t n;

	if (!e)
		return -EIO;
	memcpy(old, e->msg, sizeof(old));
	va_start(ap, fmt);
	vsnprintf(e->msg, sizeof(e->msg), fmt, ap);
	va_end(ap);
	n = strlen(e->msg);
	snprintf(e->msg + n, sizeof(e->msg) - n, ": %.*s", (int)(sizeof(old) - 1), old);
	return e->code;
}

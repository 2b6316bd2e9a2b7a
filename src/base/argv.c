/* SPDX-License-Identifier: MIT */
#include "base/argv.h"
#include "base/mem.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Reads one word from *from, writes it to *to and ends it; -1: an open quote. */
static int word(const char **from, char **to)
{
	char quote = 0;
	const char *c = *from;

	for (; *c && (quote || !strchr(" \t\n", *c)); c++) {
		if (*c == quote) {
			quote = 0;
		} else if (!quote && (*c == '\'' || *c == '"')) {
			quote = *c;
		} else if (*c == '\\' && quote != '\'' && c[1]) {
			*(*to)++ = *++c;
		} else {
			*(*to)++ = *c;
		}
	}
	*(*to)++ = 0;
	*from = c;
	return quote ? -1 : 0;
}

int argv_split(const char *command, struct argv *ret, struct err *e)
{
	const char *from = command;
	char *to;

	memset(ret, 0, sizeof(*ret));
	to = ret->text = mem_alloc(strlen(command) + 2);
	for (;;) {
		from += strspn(from, " \t\n");
		if (!*from)
			break;
		if (ret->n == ARGV_MAX) {
			argv_done(ret);
			return err_set(e, -EINVAL, "the command has more than %d words", ARGV_MAX);
		}
		ret->v[ret->n++] = to;
		if (word(&from, &to) < 0) {
			argv_done(ret);
			return err_set(e, -EINVAL, "the command has a quote that is not closed: %s", command);
		}
	}
	if (!ret->n) {
		argv_done(ret);
		return err_set(e, -EINVAL, "the command is empty");
	}
	return 0;
}

void argv_done(struct argv *a)
{
	free(a->text);
	memset(a, 0, sizeof(*a));
}

/* SPDX-License-Identifier: MIT */
/*
 * A command written in a scenario becomes an argument vector. No shell reads
 * it: words are separated by blanks; 'single' and "double" quotes keep blanks
 * in a word; a backslash takes the next character as it is (not inside single
 * quotes). There are no variables, no globs, no pipes, no redirections.
 */
#ifndef BASE_ARGV_H
#define BASE_ARGV_H

#include "base/err.h"

#define ARGV_MAX 256

struct argv {
	char *v[ARGV_MAX + 1];	/* ends with NULL; points into text */
	int n;
	char *text;
};

/* -EINVAL: empty, a quote that is not closed, too many words. Allocates; argv_done() frees. */
int argv_split(const char *command, struct argv *ret, struct err *e);
void argv_done(struct argv *a);

#endif

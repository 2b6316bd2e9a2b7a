/* SPDX-License-Identifier: MIT */
/*
 * Scope clean-up: the handful of macros we allow.
 *
 *	cleanup_free char *s = strdup(x);	freed when the scope ends
 *	cleanup_close int fd = open(...);	closed when >= 0
 *	cleanup_file FILE *f = fopen(...);	fclose
 *	return take(s);				hands a pointer out of the scope
 *	return take_fd(fd);			hands a descriptor out of the scope
 */
#ifndef BASE_CLEANUP_H
#define BASE_CLEANUP_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static inline void cleanup_free_(void *p)
{
	free(*(void **)p);
}

static inline void cleanup_close_(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

static inline void cleanup_file_(FILE **f)
{
	if (*f)
		fclose(*f);
}

#define cleanup_free	__attribute__((cleanup(cleanup_free_)))
#define cleanup_close	__attribute__((cleanup(cleanup_close_)))
#define cleanup_file	__attribute__((cleanup(cleanup_file_)))
#define take(p)		({ __typeof__(p) take_ = (p); (p) = NULL; take_; })
#define take_fd(fd)	({ int take_ = (fd); (fd) = -1; take_; })

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#define MIN(a, b)	({ __typeof__(a) min_a = (a); __typeof__(b) min_b = (b); min_a < min_b ? min_a : min_b; })
#define MAX(a, b)	({ __typeof__(a) max_a = (a); __typeof__(b) max_b = (b); max_a > max_b ? max_a : max_b; })

#endif

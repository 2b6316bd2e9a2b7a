/* SPDX-License-Identifier: MIT */
/* Include in ONE test program: its malloc family counts into malloc_calls. Under AddressSanitizer nothing is counted. */
#ifndef TESTS_MALLOC_COUNT_H
#define TESTS_MALLOC_COUNT_H

#include <features.h>
#include <stdbool.h>
#include <stddef.h>

static unsigned long malloc_calls;

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define MALLOC_NOT_COUNTED
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || !defined(__GLIBC__)
#define MALLOC_NOT_COUNTED
#endif

#ifdef MALLOC_NOT_COUNTED
static const bool malloc_counted = false;
#else
static const bool malloc_counted = true;

void *__libc_malloc(size_t n);
void *__libc_calloc(size_t n, size_t each);
void *__libc_realloc(void *p, size_t n);

void *malloc(size_t n)
{
	malloc_calls++;
	return __libc_malloc(n);
}

void *calloc(size_t n, size_t each)
{
	malloc_calls++;
	return __libc_calloc(n, each);
}

void *realloc(void *p, size_t n)
{
	malloc_calls++;
	return __libc_realloc(p, n);
}
#endif

#endif

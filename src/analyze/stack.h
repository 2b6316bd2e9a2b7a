/* SPDX-License-Identifier: MIT */
/* Pasted kernel stacks in words (`stallmark stack`), schema stallmark.stack/1. */
#ifndef ANALYZE_STACK_H
#define ANALYZE_STACK_H

#include "base/err.h"
#include "page/page.h"

#include <stdbool.h>
#include <stddef.h>

/* all: also tasks that only idle or wait for input; else they are counted. -ENODATA when there is no stack. */
int analyze_stack(const char *text, size_t len, bool all, struct page **ret, struct err *e);

#endif

/* SPDX-License-Identifier: MIT */
/* Memory that is there or the program ends with a message. Never on a measuring path. */
#ifndef BASE_MEM_H
#define BASE_MEM_H

#include <stddef.h>

void *mem_alloc(size_t n);			/* zeroed */
void *mem_array(size_t n, size_t each);		/* zeroed, overflow checked */
void *mem_realloc(void *p, size_t n);
char *mem_dup(const char *s);			/* NULL gives NULL */
char *mem_dupn(const char *s, size_t n);
char *mem_printf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Kernel addresses to symbols, from /proc/kallsyms. About 5 MB for a kernel of
 * today; loaded when the first stack arrives, freed with ksyms_free().
 */
#ifndef COLLECT_KSYMS_H
#define COLLECT_KSYMS_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ksyms;

/* -EACCES: the kernel hides its addresses (kptr_restrict, or not root). */
int ksyms_load(struct ksyms **ret, struct err *e);
/* From text as /proc/kallsyms shows it; for tests. */
int ksyms_parse(const char *text, size_t len, struct ksyms **ret, struct err *e);
/* The function that holds the address; NULL when it is outside of all. Lives as long as k. */
const char *ksyms_find(const struct ksyms *k, uint64_t address);
void ksyms_free(struct ksyms *k);

#endif

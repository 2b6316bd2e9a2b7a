/* SPDX-License-Identifier: MIT */
/*
 * Records in, pages out. Nothing here prints, and nothing asks who produced a
 * record except to name it.
 */
#ifndef ANALYZE_ANALYZE_H
#define ANALYZE_ANALYZE_H

#include "base/err.h"
#include "page/page.h"
#include "record/record.h"

/* The one screen of a run (`stallmark show`), schema stallmark.show/1. */
int analyze_show(struct rec *r, struct page **ret, struct err *e);

/* Conditions of --fail-if ("fsync.p90 > 2s") tested on the record, added to the page as "gates": each with name, value,
 * limit and ok. *ret_fails: one is true. -EINVAL: one does not parse or names no probe of the record. */
int analyze_gates(struct rec *r, const char *const *texts, size_t n, struct page *page, bool *ret_fails, struct err *e);

#endif

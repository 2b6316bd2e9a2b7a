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

#endif

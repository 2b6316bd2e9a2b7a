/* SPDX-License-Identifier: MIT */
/* Two lines of letters that show where the waits of both sides lie, on one logarithmic axis: the terminal's CDF. */
#ifndef ANALYZE_COMPARE_STRIP_H
#define ANALYZE_COMPARE_STRIP_H

#include "analyze/side.h"
#include "base/strbuf.h"
#include "stats/comparison.h"

void compare_strip(const struct side *a, const struct side *b, const char *probe, const struct comparison *c,
		   struct strbuf *out);

#endif

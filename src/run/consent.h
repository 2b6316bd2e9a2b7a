/* SPDX-License-Identifier: MIT */
/*
 * What a run is going to do, said before anything is written: where, what, how
 * much, how long, which programs, who else has files open there.
 */
#ifndef RUN_CONSENT_H
#define RUN_CONSENT_H

#include "run/plan.h"

void consent_text(const struct plan *p, unsigned repeat, const char *output, struct strbuf *out);

/* Other processes with files open below `dir`: "firefox (812), 3 more"; "" for none that we may see. */
void consent_others(const char *dir, struct strbuf *out);

#endif

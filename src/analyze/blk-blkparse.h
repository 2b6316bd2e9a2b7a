/* SPDX-License-Identifier: MIT */
/*
 * The end summary of blkparse 1.2.0 from totals, byte for byte, with the
 * mistakes it has (see the notes). Digits are grouped where the machine has the
 * locale en_US, as blkparse does.
 */
#ifndef ANALYZE_BLK_BLKPARSE_H
#define ANALYZE_BLK_BLKPARSE_H

#include "analyze/blk-totals.h"
#include "base/strbuf.h"

/* by_pid: with the process sections of `blkparse -s`. */
void blk_blkparse_text(const struct blk_totals *t, bool by_pid, struct strbuf *out);

/* One line for each number in that text that is not what it seems, and for what was left out of it. */
void blk_blkparse_notes(const struct blk_totals *t, struct strbuf *out);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * The tables of btt 1.2.0 (without -A: from "All Devices" to "I/O Active Period
 * Information"), by its definitions: requests without bytes and passthrough are
 * left out, a Q at the sector of one that is still open takes its place, gaps of 0
 * are 1 ns, majors 9, 253 and 254 are taken for md and dm.
 *
 * Its state grows with the number of different seek distances, as btt's does.
 */
#ifndef ANALYZE_BLK_BTT_H
#define ANALYZE_BLK_BTT_H

#include "base/strbuf.h"
#include "event/blktrace.h"

struct blk_btt;

struct blk_btt *blk_btt_new(void);
void blk_btt_record(struct blk_btt *b, const struct blk_rec *r);	/* in order of time, from the start of the trace */
void blk_btt_text(struct blk_btt *b, struct strbuf *out);		/* ends the reading */
void blk_btt_notes(const struct blk_btt *b, struct strbuf *out);	/* where its numbers mislead; one line each */
void blk_btt_free(struct blk_btt *b);

#endif

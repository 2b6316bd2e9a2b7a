/* SPDX-License-Identifier: MIT */
/* Nodes of an explanation in words; shared by the screen, the folded and the Chrome output. */
#ifndef ANALYZE_EXPLAIN_WORDS_H
#define ANALYZE_EXPLAIN_WORDS_H

#include "analyze/explain.h"

/* "jbd2/loop1-8, transaction 812", "waits for a journal commit", "loop1 served 2,300 async writes (120 MB)" */
void words_node(const struct trace *t, const struct walk_node *n, struct strbuf *out);
/* "dd (pid 311), file 'big'"; own: "itself". */
void words_charge(const struct trace *t, const struct charge *c, uint32_t own_pid, struct strbuf *out);
void words_count(struct strbuf *out, uint64_t n, const char *what);	/* "2,300 async writes" */

#endif

/* SPDX-License-Identifier: MIT */
/*
 * One sentence that a number must hold: "editor-save.stuck > 5%", "wal.p99 <
 * 10ms", or the word "worse". `--fail-if` fails when it is true; a scenario's
 * `limit =` passes when it is true. A misspelt metric is an error, never
 * silently false.
 *
 * PROBE may contain dots and dashes: the last dot divides. Metrics: usual, p90,
 * p99, worst (times), stuck (a share), n, missed (counts).
 */
#ifndef STATS_GATE_H
#define STATS_GATE_H

#include "base/err.h"
#include "stats/summary.h"

enum gate_metric { GATE_USUAL, GATE_P90, GATE_P99, GATE_WORST, GATE_STUCK, GATE_N, GATE_MISSED, GATE_METRICS };
enum gate_op { GATE_LT, GATE_LE, GATE_GT, GATE_GE, GATE_EQ, GATE_NE };
enum gate_answer { GATE_FALSE, GATE_TRUE, GATE_UNKNOWN };	/* unknown: a lower bound below the limit, or no data */

extern const char *const gate_metric_name[GATE_METRICS + 1];	/* ends with NULL */

struct gate {
	bool worse;			/* the word; nothing else is set */
	char probe[96];
	enum gate_metric metric;
	enum gate_op op;
	double value;			/* seconds, share or count */
	char value_text[32];		/* as it was typed */
};

/* -EINVAL with a sentence that names the nearest right word. */
int gate_parse(const char *text, struct gate *ret, struct err *e);

struct gate_result {
	bool known;
	bool at_least;
	double value;			/* seconds, share or count */
	size_t n;			/* waits behind it */
	enum gate_answer answer;
};

/* Not for `worse`. */
void gate_test(const struct gate *g, const struct summary *s, struct gate_result *ret);

const char *gate_op_text(enum gate_op op);	/* ">" */

#endif

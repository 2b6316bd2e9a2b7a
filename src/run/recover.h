/* SPDX-License-Identifier: MIT */
/*
 * A run whose controller was killed: its record is in tmpfs up to the last
 * commit, and the rings hold what the probes did after it and what they were in
 * the middle of. Both together are a record like that of an interrupted run,
 * marked partial.
 */
#ifndef RUN_RECOVER_H
#define RUN_RECOVER_H

#include "base/err.h"
#include "base/nsec.h"

#include <stdbool.h>

struct run_recovered {
	int runs;			/* in the record */
	int partial;			/* of them: had not ended */
	uint64_t from_rings;		/* samples that only the rings had */
	uint64_t in_flight;		/* actions under way, and ticks they held up: censored */
};

/*
 * Completes the record at `path`, copies it to `target` and removes it and its rings. -EBUSY: its writer lives.
 * When the copy fails the completed record stays at `path`, and the sentence says so.
 */
int run_recover(const char *path, const char *target, struct run_recovered *ret, struct err *e);

/* Each record in the folder whose writer is gone. Calls fn with its path; a non-zero result ends the walk. */
int run_unfinished(const char *dir, int (*fn)(void *ctx, const char *path), void *ctx);

/* Ring files that no record and no living process belongs to (killed after its record was gone). Returns how many went;
 * only_count: are there. */
int run_stale_rings(const char *dir, bool only_count);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * One user action that a probe performed and timed, and the action it is in
 * right now. Fixed size: written by a probe into its ring without allocation.
 *
 *	intended    started            ended
 *	   |---------->|<-- service ---->|		open loop: response = end - intended
 *	   |<-------- response --------->|		closed loop: intended == start
 *
 * Statuses other than OK are lower bounds: they count in n, in the worst wait
 * and in the stuck share at end - intended, and no quantile that rests on one
 * calls a side quicker. A tick that was given up without being performed has
 * start == 0.
 */
#ifndef RECORD_SAMPLE_H
#define RECORD_SAMPLE_H

#include "base/nsec.h"

#include <stdint.h>

enum sample_status {
	SAMPLE_OK,
	SAMPLE_CENSORED,	/* still in flight at the end, or a tick given up after too much backlog */
	SAMPLE_KILLED,		/* ended by a limit or a signal of ours */
	SAMPLE_ERROR,		/* a call failed: `error` says how; not a wait */
	SAMPLE_STATUS_MAX
};

enum sample_cold {
	COLD_UNKNOWN,		/* could not be proved */
	COLD_YES,		/* nothing was cached before, or the thread read blocks (ru_inblock) */
	COLD_NO,		/* pages were resident: a warm sample */
	COLD_NOT_ASKED,		/* the probe does not need a cold cache */
};

enum sample_phase { PHASE_PREPARE, PHASE_IDLE, PHASE_LOAD_UP, PHASE_MEASURE, PHASE_STOP, PHASE_RECOVERY, PHASE_CLEAN, PHASE_MAX };

#define SAMPLE_STEPS 12

struct sample {
	uint64_t id;			/* counts from 0 in its series and run */
	nsec_t intended, start, end;
	uint32_t pid, tid;
	uint8_t status, cold, phase, nsteps;
	int32_t error;			/* -errno of SAMPLE_ERROR, else 0 */
	uint64_t bytes;			/* moved by the action */
	uint64_t load_bytes_per_s;	/* what all loads achieved in the second it began; the load proof */
	nsec_t runq;			/* time runnable but not running, -1: unknown */
	nsec_t step[SAMPLE_STEPS];	/* time in each step of the probe; steps it has not: 0 */
};

#define SAMPLE_COLUMNS (14 + SAMPLE_STEPS)

/* The wait that counts: response for open loops, service for closed ones (there intended == start). */
static inline nsec_t sample_wait(const struct sample *s)
{
	return s->end - s->intended;
}

/* What a probe is doing now; written before and after each step, read by the controller and by recover.
 * `seq` is odd while the writer changes it. started == 0: between actions. */
struct in_flight {
	uint64_t seq;
	uint64_t id;
	nsec_t intended, started, step_started;
	uint32_t step, tid;
};

/* A consistent copy of a slot that its probe may be changing; of a killed probe's, what is there. */
struct in_flight in_flight_read(const struct in_flight *slot);

void sample_to_columns(const struct sample *rows, uint32_t n, int64_t *const col[SAMPLE_COLUMNS]);
void sample_from_columns(int64_t *const col[SAMPLE_COLUMNS], uint32_t n, struct sample *ret_rows);
const char *sample_status_name(uint8_t status);	/* "ok", "censored", "killed", "error" */
const char *sample_cold_name(uint8_t cold);	/* "unknown", "cold", "warm", "n/a" */
const char *sample_phase_name(uint8_t phase);	/* "idle", "measure", ... */

#endif

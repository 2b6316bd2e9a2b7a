/* SPDX-License-Identifier: MIT */
#include "record/sample.h"

const char *sample_status_name(uint8_t status)
{
	static const char *const name[SAMPLE_STATUS_MAX] = { "ok", "censored", "killed", "error" };

	return status < SAMPLE_STATUS_MAX ? name[status] : "unknown";
}

const char *sample_cold_name(uint8_t cold)
{
	static const char *const name[] = { "unknown", "cold", "warm", "n/a" };

	return cold <= COLD_NOT_ASKED ? name[cold] : "unknown";
}

const char *sample_phase_name(uint8_t phase)
{
	static const char *const name[PHASE_MAX] = {
		"prepare", "idle", "load up", "measure", "stop", "recovery", "clean",
	};

	return phase < PHASE_MAX ? name[phase] : "unknown";
}

#define MEMBERS(use)									\
	use(0, id) use(1, intended) use(2, start) use(3, end) use(4, pid) use(5, tid)	\
	use(6, status) use(7, cold) use(8, phase) use(9, nsteps) use(10, error)		\
	use(11, bytes) use(12, load_bytes_per_s) use(13, runq)

void sample_to_columns(const struct sample *rows, uint32_t n, int64_t *const col[SAMPLE_COLUMNS])
{
	for (uint32_t r = 0; r < n; r++) {
#define PUT(i, m) col[i][r] = (int64_t)rows[r].m;
		MEMBERS(PUT)
#undef PUT
		for (int s = 0; s < SAMPLE_STEPS; s++)
			col[14 + s][r] = rows[r].step[s];
	}
}

void sample_from_columns(int64_t *const col[SAMPLE_COLUMNS], uint32_t n, struct sample *ret_rows)
{
	for (uint32_t r = 0; r < n; r++) {
#define GET(i, m) ret_rows[r].m = (__typeof__(ret_rows[r].m))col[i][r];
		MEMBERS(GET)
#undef GET
		for (int s = 0; s < SAMPLE_STEPS; s++)
			ret_rows[r].step[s] = col[14 + s][r];
	}
}

struct in_flight in_flight_read(const struct in_flight *slot)
{
	struct in_flight copy;

	for (int i = 0; i < 1000; i++) {
		uint64_t before = __atomic_load_n(&slot->seq, __ATOMIC_ACQUIRE);

		copy = *(const volatile struct in_flight *)slot;
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		if (!(before & 1) && __atomic_load_n(&slot->seq, __ATOMIC_RELAXED) == before)
			break;
	}
	return copy;
}

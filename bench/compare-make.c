/* SPDX-License-Identifier: MIT */
/* Writes a record of RUNS runs of N samples each of one open-loop probe: what bench/compare reads. */
#include "base/mem.h"
#include "base/rng.h"
#include "record/record.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define CHUNK 4096

int main(int argc, char **argv)
{
	static struct sample rows[CHUNK];
	struct err e = { 0 };
	struct rec *r;
	struct rng g;
	int runs, series = 0, err;
	uint64_t n;

	if (argc != 6) {
		fprintf(stderr, "usage: compare-make FILE RUNS N SEED FACTOR\n");
		return 2;
	}
	runs = atoi(argv[2]);
	n = strtoull(argv[3], NULL, 10);
	rng_seed(&g, strtoull(argv[4], NULL, 10));
	err = rec_create(argv[1], &r, &e);
	for (int i = 0; i < runs && !err; i++) {
		struct rec_run run = { .scenario = "bench", .scenario_text = "", .command = "", .producer = "run", .cell = "",
				       .version = "bench", .t0 = 0, .t1 = (nsec_t)n * 10 * NSEC_PER_MSEC,
				       .measure_t0 = 0, .measure_t1 = (nsec_t)n * 10 * NSEC_PER_MSEC };
		double level = atof(argv[5]) * exp(0.1 * rng_normal(&g)), ar = 0;
		int id, clock;

		err = rec_run_begin(r, &run, &id, &e) ?: rec_clock(r, id, "main", 0, 0, &clock, &e) ?:
		      rec_series(r, &(struct rec_series){ .kind = SERIES_SAMPLES, .name = "wal", .unit = "ns", .meaning = "a commit",
							  .group = "probe" }, &series, &e) ?:
		      rec_series_attr(r, series, "loop", "open", &e) ?: rec_series_attr(r, series, "limit_ns", "100000000", &e);
		for (uint64_t k = 0; k < n && !err; k += CHUNK) {
			uint32_t m = n - k < CHUNK ? (uint32_t)(n - k) : CHUNK;

			for (uint32_t j = 0; j < m; j++) {
				nsec_t t = (nsec_t)(k + j) * 10 * NSEC_PER_MSEC, wait;

				ar = 0.5 * ar + 0.87 * rng_normal(&g);
				wait = nsec_from_seconds(0.002 * level * exp(ar));
				rows[j] = (struct sample){ .id = k + j, .intended = t, .start = t, .end = t + wait, .pid = 100, .tid = 100,
							   .phase = PHASE_MEASURE, .cold = COLD_NOT_ASKED, .nsteps = 2, .bytes = 8192,
							   .load_bytes_per_s = 100000000 + (k + j) / 100 % 1000, .runq = (nsec_t)rng_below(&g, 5000),
							   .step = { wait / 3, wait - wait / 3 } };
			}
			err = rec_samples(r, id, series, clock, rows, m, &e);
		}
		err = err ?: rec_run_end(r, id, run.t1, false, NULL, &e);
	}
	if (!err) {
		err = rec_commit(r, &e);
		rec_close(r);
	}
	if (err)
		fprintf(stderr, "%s\n", e.msg);
	return err ? 1 : 0;
}

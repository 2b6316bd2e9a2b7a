/* SPDX-License-Identifier: MIT */
/*
 * The bytes are a record. Whatever they are, opening and reading all of it ends, with rows in which all differences fit
 * and all names of states are known, or with a sentence. (The corpus has pages of 512 bytes; ours have 16 KiB, but then
 * hardly any change would hit something that is looked at.)
 */
#include "base/cleanup.h"
#include "record/record.h"
#include "record/truth.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile int64_t sink;

static int samples(void *ctx, int run, const struct sample *rows, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		if (sample_wait(&rows[i]) < 0 || rows[i].status >= SAMPLE_STATUS_MAX || rows[i].phase >= PHASE_MAX ||
		    rows[i].nsteps > SAMPLE_STEPS || rows[i].start > REC_TIME_MAX)
			abort();
		sink = rows[i].end - rows[i].start;
	}
	return 0;
}

static int counter(void *ctx, int run, const nsec_t *t, const int64_t *value, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		sink = t[i] - t[0];
	return 0;
}

static int events(void *ctx, int run, const struct event *rows, uint32_t n)
{
	struct rec *r = ctx;
	const char *frames[16];

	for (uint32_t i = 0; i < n; i++) {
		sink = rows[i].t + rows[i].dur - rows[0].t;
		if (i < 64) {
			sink += (int64_t)strlen(rec_string_get(r, rows[i].name));
			sink += rec_stack_get(r, rows[i].stack, frames, 16);
		}
	}
	return 0;
}

static int series(void *ctx, const struct rec_series *s)
{
	struct rec *r = ctx;

	sink = (int64_t)strlen(s->name) + (rec_series_attr_get(r, s->id, "steps") != NULL);
	if (s->kind == SERIES_SAMPLES)
		(void)rec_samples_each(r, 0, s->id, samples, r, NULL);
	else if (s->kind == SERIES_COUNTER)
		(void)rec_counter_each(r, 0, s->id, counter, r, NULL);
	else
		(void)rec_events_each(r, 0, s->id, 0, NSEC_NEVER, events, r, NULL);
	return 0;
}

static int env(void *ctx, const char *key, const char *value, bool counts)
{
	sink = (int64_t)strlen(key) + (int64_t)strlen(value);
	return 0;
}

static int stall(void *ctx, const struct rec_stall *s)
{
	sink = s->t - s->waited + (int64_t)strlen(s->comm);
	return 0;
}

static int note(void *ctx, int run, enum note_kind kind, nsec_t t, const char *key, const char *text)
{
	sink = (int64_t)kind + t + (int64_t)strlen(text);
	return 0;
}

static int truth(void *ctx, const struct truth *t)
{
	sink = t->t + t->dur;
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char path[64];
	char hex[REC_DIGEST];
	struct err e = { 0 };
	struct rec *r;
	int fd;

	snprintf(path, sizeof(path), "/dev/shm/fuzz-record-%d", (int)getpid());
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	close(fd);
	if (rec_open(path, &r, &e)) {
		if (!e.msg[0])
			abort();
		unlink(path);
		return 0;
	}
	for (int i = 0; i < MIN(rec_run_count(r), 8); i++) {
		struct rec_run run;

		if (rec_run_get(r, i, &run))
			continue;
		sink = run.t1 - run.t0 + run.measure_t1 - run.measure_t0;
		(void)rec_env_each(r, run.id, env, r);
		(void)rec_digest(r, run.id, hex, NULL);
	}
	(void)rec_series_each(r, series, r);
	(void)rec_stalls_each(r, 0, stall, r);
	(void)rec_notes_each(r, 0, note, r);
	(void)rec_truth_each(r, 0, truth, r);
	rec_close(r);
	unlink(path);
	return 0;
}

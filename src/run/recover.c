/* SPDX-License-Identifier: MIT */
#include "run/recover.h"
#include "base/cleanup.h"
#include "base/mem.h"
#include "base/vec.h"
#include "record/record.h"
#include "run/ring.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define OWED_MAX 8192	/* ticks that one wait can have held up: 80 s at 100/s, then they are given up anyway */

struct left_ring {
	char *path;
	int run;
	struct ring *ring;
};

typedef VEC(struct left_ring) left_rings;

/* "SCENARIO-PID.smk" -> PID, 0: not such a name */
static int pid_of(const char *path)
{
	const char *dash = strrchr(path, '-');
	int pid, end = 0;

	return dash && sscanf(dash, "-%d.smk%n", &pid, &end) == 1 && end && !dash[end] && pid > 0 ? pid : 0;
}

/* "run-PID-RUN-INDEX.ring" beside the record */
static void find_rings(const char *record, left_rings *ret)
{
	cleanup_free char *dir = mem_dup(record);
	char *slash = strrchr(dir, '/');
	int pid = pid_of(record);
	struct dirent *de;
	DIR *d;

	if (slash)
		slash[slash == dir] = 0;
	d = pid ? opendir(slash ? dir : ".") : NULL;
	while (d && (de = readdir(d))) {
		struct left_ring l = { 0 };
		int of, index, end = 0;

		if (sscanf(de->d_name, "run-%d-%d-%d.ring%n", &of, &l.run, &index, &end) != 3 || !end || de->d_name[end] || of != pid)
			continue;
		l.path = mem_printf("%s/%s", slash ? dir : ".", de->d_name);
		if (ring_open(l.path, &l.ring, NULL))
			l.ring = NULL;
		vec_push(ret, l);
	}
	if (d)
		closedir(d);
}

static void drop_rings(left_rings *rings, bool remove_files)
{
	for (size_t i = 0; i < rings->n; i++) {
		ring_close(rings->p[i].ring);
		if (remove_files)
			unlink(rings->p[i].path);
		free(rings->p[i].path);
	}
	vec_done(rings);
}

/* The samples that never reached the record; *last grows with their ends. */
static int take_ring(struct rec *r, struct left_ring *l, int series, nsec_t *last, struct run_recovered *ret, struct err *e)
{
	struct sample *buf = mem_array(256, sizeof(*buf));
	uint32_t n;
	int res = 0;

	while (!res && (n = ring_take(l->ring, buf, 256)) > 0) {
		for (uint32_t i = 0; i < n; i++)
			*last = MAX(*last, buf[i].end);
		res = rec_samples(r, l->run, series, 0, buf, n, e);
		ret->from_rings += n;
	}
	free(buf);
	return res;
}

static int take_in_flight(struct rec *r, struct left_ring *l, int series, nsec_t last, struct run_recovered *ret, struct err *e)
{
	struct sample *buf = mem_array(OWED_MAX, sizeof(*buf));
	struct in_flight now = ring_now(l->ring);
	uint32_t n = ring_owed(l->ring, &now, last, buf, OWED_MAX);
	int res = n ? rec_samples(r, l->run, series, 0, buf, n, e) : 0;

	ret->in_flight += n;
	free(buf);
	return res;
}

static int complete(struct rec *r, const struct rec_run *run, left_rings *rings, struct run_recovered *ret, struct err *e)
{
	nsec_t last = run->t1, measure = 0, stop = 0;
	int res = 0;

	for (size_t i = 0; !res && i < rings->n; i++) {
		struct left_ring *l = &rings->p[i];
		int series = l->ring ? rec_series_find(r, SERIES_SAMPLES, l->ring->series) : 0;

		if (l->run != run->id || !series)
			continue;
		res = take_ring(r, l, series, &last, ret, e);
		last = MAX(last, ring_now(l->ring).step_started);
		measure = MAX(measure, l->ring->phase_since[PHASE_MEASURE]);
		stop = MAX(stop, l->ring->phase_since[PHASE_STOP]);
	}
	/* only now is it known how long the run lived at least, and with it how long each of these waits was */
	for (size_t i = 0; !res && i < rings->n; i++) {
		struct left_ring *l = &rings->p[i];
		int series = l->ring ? rec_series_find(r, SERIES_SAMPLES, l->ring->series) : 0;

		if (l->run == run->id && series)
			res = take_in_flight(r, l, series, last, ret, e);
	}
	if (!res && measure && last > measure && !run->measure_t0)
		res = rec_run_window(r, run->id, measure, stop ? stop : last, e);
	if (!res)
		res = rec_note(r, run->id, NOTE_WARNING, last, "recovered", "the controller of this run was killed; the record was "
			       "completed from what the probes left in memory", e);
	return res ? res : rec_run_end(r, run->id, last, true, "the controller was killed", e);
}

int run_recover(const char *path, const char *target, struct run_recovered *ret, struct err *e)
{
	struct run_recovered sum = { 0 };
	struct rec_run run;
	left_rings rings = { 0 };
	struct rec *r;
	int res = rec_append(path, &r, e);

	if (res)
		return res;
	find_rings(path, &rings);
	sum.runs = rec_run_count(r);
	for (int i = 0; !res && i < sum.runs; i++) {
		if (rec_run_get(r, i, &run))
			continue;
		if (!run.partial || strcmp(run.why_partial, "the run did not end"))
			continue;
		res = complete(r, &run, &rings, &sum, e);
		sum.partial++;
	}
	if (res) {
		rec_close(r);
		drop_rings(&rings, false);
		return res;
	}
	res = rec_finish(r, target, e);
	/* what was in the rings is in the record now, wherever that is */
	drop_rings(&rings, true);
	if (!res)
		*ret = sum;
	return res;
}

int run_unfinished(const char *dir, int (*fn)(void *ctx, const char *path), void *ctx)
{
	DIR *d = opendir(dir);
	struct dirent *de;
	int res = 0;

	while (d && !res && (de = readdir(d))) {
		cleanup_free char *path = mem_printf("%s/%s", dir, de->d_name);
		struct rec *r;

		/* a living writer holds a lock on it */
		if (!pid_of(de->d_name) || rec_append(path, &r, NULL))
			continue;
		rec_close(r);
		res = fn(ctx, path);
	}
	if (d)
		closedir(d);
	return res;
}

static bool has_record(const char *dir, int pid)
{
	DIR *d = opendir(dir);
	struct dirent *de;
	bool found = false;

	while (d && !found && (de = readdir(d)))
		found = pid_of(de->d_name) == pid;
	if (d)
		closedir(d);
	return found;
}

int run_stale_rings(const char *dir, bool only_count)
{
	DIR *d = opendir(dir);
	struct dirent *de;
	int n = 0;

	while (d && (de = readdir(d))) {
		int pid, run, index, end = 0;

		if (sscanf(de->d_name, "run-%d-%d-%d.ring%n", &pid, &run, &index, &end) != 3 || !end || de->d_name[end] || pid < 1)
			continue;
		if (kill(pid, 0) == 0 || errno != ESRCH || has_record(dir, pid))
			continue;
		n += only_count || unlinkat(dirfd(d), de->d_name, 0) == 0;
	}
	if (d)
		closedir(d);
	return n;
}

/* SPDX-License-Identifier: MIT */
/*
 * The run record, NAME.smk: one SQLite file that holds one cell (a scenario
 * with one setting) and its 1..N runs. Producers write it, every later command
 * only reads it. stallmark-record(5) is the manual of the tables.
 *
 * Life of a writer: rec_create (in tmpfs) -> rec_run_begin -> series, env,
 * samples, counters, events, notes -> rec_run_end -> ... -> rec_finish copies
 * it to its place and makes it durable. rec_close without rec_finish keeps the
 * tmpfs file, which is complete up to the last rec_commit.
 *
 * A reader trusts nothing: rec_open checks the schema to the byte, and every
 * chunk before it is decoded. All strings handed out live until rec_close
 * unless said otherwise.
 */
#ifndef RECORD_RECORD_H
#define RECORD_RECORD_H

#include "base/err.h"
#include "base/strbuf.h"
#include "event/event.h"
#include "record/sample.h"

#include <stdbool.h>

#define RECORD_VERSION 1	/* user_version; older is read, newer is refused */

struct rec;			/* an open record, for writing or reading */

#define REC_TIME_MAX (INT64_C(1) << 61)	/* no time in a record is further from 0: differences never overflow */

/* ---- writing ---- */

/*
 * The folder for the record while it is measured: `given` (--record-dir) or, for NULL, a private one in /run,
 * $XDG_RUNTIME_DIR or /dev/shm. Always in memory (tmpfs): the recorder must never wait for a disk. -ENOTSUP and a
 * sentence when there is none. Importers and the simulator, who disturb nobody, may create records anywhere.
 */
#define REC_DIR_MAX 512
int rec_dir(const char *given, char ret_dir[REC_DIR_MAX], struct err *e);

/* The file must not exist. Nobody else can open it until rec_finish or rec_close. */
int rec_create(const char *path, struct rec **ret, struct err *e);
/* Opens a record of ours to add runs or notes (repeat, recover), also one whose writer was killed: what it had not
 * committed is rolled back. -EBUSY: its writer is alive. Never for files from elsewhere. */
int rec_append(const char *path, struct rec **ret, struct err *e);

struct rec_run {
	int id;				/* 1.. */
	const char *scenario;		/* its name */
	const char *scenario_text;	/* the complete text after includes and overrides */
	const char *command;		/* the command line, "" when scrubbed */
	const char *producer;		/* "run", "lab", "sim", "import", "trace" */
	const char *cell;		/* the setting in words ("fs=ext4 sched=bfq"), "" if there is one only */
	const char *version;		/* of stallmark */
	nsec_t wall_start;		/* CLOCK_REALTIME */
	nsec_t t0, t1;			/* begin and end in the run's main clock */
	nsec_t measure_t0, measure_t1;	/* the measured window; both 0: none */
	bool partial;			/* ended early: signal, error, kill; true until rec_run_end says otherwise */
	const char *why_partial;
	nsec_t wall_end;		/* CLOCK_REALTIME at t1, 0: unknown; t1 - t0 differs when the clock was set */
};

/*
 * Writing: the first failure sticks. Whatever is written after it returns the same error, and the file holds
 * everything up to the last good rec_commit. Rows are buffered per series (at most 4096), so memory does not grow
 * with the length of a run; rec_commit brings them to the file.
 */

int rec_run_begin(struct rec *r, const struct rec_run *run, int *ret_id, struct err *e);
int rec_run_window(struct rec *r, int run, nsec_t measure_t0, nsec_t measure_t1, struct err *e);
int rec_run_wall_end(struct rec *r, int run, nsec_t wall_end, struct err *e);
int rec_run_end(struct rec *r, int run, nsec_t t1, bool partial, const char *why, struct err *e);

/* Environment facts; the same key again replaces the value. `counts`: a difference in this fact is a difference between two sides (design, rule 8). */
int rec_env(struct rec *r, int run, const char *key, const char *value, bool counts, struct err *e);

/* A clock: where its zero lies. offset: this clock + offset = the run's main clock (CLOCK_MONOTONIC of the host).
 * Wherever a clock is asked for, 0 is the main clock itself. */
int rec_clock(struct rec *r, int run, const char *name, nsec_t offset, nsec_t error, int *ret_clock, struct err *e);

enum series_kind { SERIES_SAMPLES = 1, SERIES_COUNTER, SERIES_EVENTS };

struct rec_series {
	int id;
	enum series_kind kind;
	const char *name;	/* samples: the probe's name ("fsync", "fsync@usb"); counters: "vm.dirty", "load.write.bytes" */
	const char *unit;	/* counters: "bytes", "bytes/s", "us", "ppm", "count", "ms/s"; samples: "ns" */
	const char *meaning;	/* one line for people */
	const char *group;	/* "probe", "load", "system", "device:sda", "trace", ... */
};

/* Finds the series of that kind and name, or makes it; unit and group must agree with an existing one. */
int rec_series(struct rec *r, const struct rec_series *s, int *ret_id, struct err *e);
/* Facts of a series: "loop" = open|closed, "limit_ns", "steps" = "open,write,fsync", "interval_ns", "interactive" ... */
int rec_series_attr(struct rec *r, int series, const char *key, const char *value, struct err *e);

int rec_samples(struct rec *r, int run, int series, int clock, const struct sample *rows, uint32_t n, struct err *e);
int rec_counter(struct rec *r, int run, int series, nsec_t t, int64_t value, struct err *e);	/* main clock; buffered */
int rec_events(struct rec *r, int run, int series, int clock, const struct event *rows, uint32_t n, struct err *e);

uint32_t rec_string(struct rec *r, const char *s);			/* interned; 0 for NULL and "" */
uint32_t rec_stack(struct rec *r, const char *const *frames, int n);	/* innermost first; interned; 0 for none */

/* A sampled picture of a stuck operation: who, when, where in the kernel (stack id or wchan text in `where`). */
struct rec_stall {
	int run, series;		/* series 0: another task */
	uint64_t sample_id;
	nsec_t t, waited;
	uint32_t pid, tid;
	const char *comm, *state, *wchan, *syscall;
	uint32_t stack;
};
int rec_stall(struct rec *r, const struct rec_stall *s, struct err *e);

enum note_kind { NOTE_INFO, NOTE_WARNING, NOTE_LOSS, NOTE_CHECK_OK, NOTE_CHECK_FAILED, NOTE_SCALED, NOTE_LIMIT };
/* `key` names the kind of note for programs ("cache-cold", "load-steady", "limit:wal.p99 < 10ms"). */
int rec_note(struct rec *r, int run, enum note_kind kind, nsec_t t, const char *key, const char *text, struct err *e);

int rec_commit(struct rec *r, struct err *e);	/* ends the transaction (once a second); cheap when nothing is new */

/* Commits, closes and copies to target: TARGET.tmp, fsync, rename, fsync of the folder. r is gone afterwards,
 * also on failure; then the tmpfs file is kept and the sentence names it. */
int rec_finish(struct rec *r, const char *target, struct err *e);
void rec_close(struct rec *r);		/* NULL is fine */
/* Only the copying of rec_finish, for a file that is closed (a detached child, recover). Keeps `from`. */
int rec_copy(const char *from, const char *target, struct err *e);

/* ---- reading ---- */

/*
 * -EINVAL: not a record. -EPROTONOSUPPORT: of a newer version. -EBUSY: its writer runs. -EROFS: its writer was
 * killed, rec_append (recover) first. -EBADMSG: not even its tables can be read.
 *
 * Damage: whatever cannot be read is passed over and counted in rec_damaged(); the row functions go on to the end
 * and then return -EBADMSG with a sentence. A reader that can live with less shows the sentence and goes on:
 *	ret = rec_samples_each(...);
 *	if (ret == -EBADMSG) warn(e.msg); else if (ret) return ret;
 * Rows that arrive are sane: times within REC_TIME_MAX, end >= intended, dur >= 0, status, phase and steps in range.
 */
int rec_open(const char *path, struct rec **ret, struct err *e);
uint64_t rec_damaged(const struct rec *r);	/* chunks and rows that could not be read so far */
const char *rec_path(const struct rec *r);
int rec_version(const struct rec *r);

int rec_run_count(struct rec *r);
int rec_run_get(struct rec *r, int index, struct rec_run *ret);		/* 0-based; 0 or -ENOENT */
/* Calls fn for each; a non-zero result ends the walk and is returned. */
int rec_env_each(struct rec *r, int run, int (*fn)(void *ctx, const char *key, const char *value, bool counts), void *ctx);
const char *rec_env_get(struct rec *r, int run, const char *key);	/* NULL when absent */
int rec_series_each(struct rec *r, int (*fn)(void *ctx, const struct rec_series *s), void *ctx);
int rec_series_find(struct rec *r, enum series_kind kind, const char *name);	/* id or 0 */
int rec_series_get(struct rec *r, int series, struct rec_series *ret);
const char *rec_series_attr_get(struct rec *r, int series, const char *key);	/* NULL when absent */

/* Rows in stored order, converted to the run's main clock. run 0: all runs. fn gets a chunk at a time. */
int rec_samples_each(struct rec *r, int run, int series,
		     int (*fn)(void *ctx, int run, const struct sample *rows, uint32_t n), void *ctx, struct err *e);
int rec_counter_each(struct rec *r, int run, int series,
		     int (*fn)(void *ctx, int run, const nsec_t *t, const int64_t *value, uint32_t n), void *ctx, struct err *e);
/* Only chunks that touch [t0, t1] are decoded; rows outside may still come. t0 = 0, t1 = NSEC_NEVER: all. */
int rec_events_each(struct rec *r, int run, int series, nsec_t t0, nsec_t t1,
		    int (*fn)(void *ctx, int run, const struct event *rows, uint32_t n), void *ctx, struct err *e);

const char *rec_string_get(struct rec *r, uint32_t id);			/* "" for 0 and unknown */
/* Frames innermost first; returns how many were put into frames[max]. */
int rec_stack_get(struct rec *r, uint32_t id, const char **frames, int max);
int rec_stalls_each(struct rec *r, int run, int (*fn)(void *ctx, const struct rec_stall *s), void *ctx);
int rec_notes_each(struct rec *r, int run,
		   int (*fn)(void *ctx, int run, enum note_kind kind, nsec_t t, const char *key, const char *text), void *ctx);

/* 64 hex digits and NUL: a hash over the decoded content of a run in fixed order, without env, wall clock and notes. */
#define REC_DIGEST 65
int rec_digest(struct rec *r, int run, char ret_hex[REC_DIGEST], struct err *e);

#endif

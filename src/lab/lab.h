/* SPDX-License-Identifier: MIT */
/*
 * A lab: a block device whose timing comes from a disk model, with a real
 * filesystem and scheduler on it. Needs root, loop devices and /dev/fuse.
 *
 *	struct lab_conf c;
 *	lab_conf_init(&c, "usb");				// its name: [lab usb], dir = @usb
 *	lab_conf_set(&c, "disk", "usb_stick", e);		// a key of the section, or
 *	lab_conf_parse(&c, "disk=hdd7200_2009,fs=ext4,sched=bfq,mount=data=ordered+barrier=0", e);	// of --lab
 *	undo_open(&u, e);					// one log for all labs of the run
 *	lab_up(&c, profile_dirs, u, &lab, e);			// server, loop, settings, mkfs, mount
 *	lab_dir(lab)						// what @usb stands for
 *	lab_arm(lab, t0)					// poke.20s = freeze=3s: planted at t0 + 20 s
 *	lab_poke(lab, "freeze=3s", 0, e)			// or now (0), or at a time (CLOCK_MONOTONIC)
 *	lab_record(lab, rec, run, clock, e)			// now and then: served requests, pokes, lateness
 *	lab_facts(lab, rec, run, e)				// once: what counts as environment
 *	lab_down(lab, &said, e)					// takes it down and frees it
 *
 * In a run these are calls of struct run_hooks: begin = lab_up + lab_facts (the
 * directories must be known before plan_make, so usually earlier), phase(PHASE_MEASURE)
 * = lab_arm, second = lab_record, end = lab_record; then lab_down.
 *
 * Every change goes through `u`: whoever is killed in the middle leaves a log
 * from which `stallmark clean` takes everything down. lab_down undoes what was
 * noted since lab_up began (undo_all does too). A server outlives whoever
 * started it only when the log is handed over to it: lab_release().
 *
 * Errors: -EPERM no root, -ENOTSUP no FUSE/loop/filesystem/scheduler here,
 * -ENOENT profile or mkfs program missing, -ENOMEM more than half of the
 * memory available, -EEXIST the name is taken, -EINVAL configuration. Nothing
 * is left behind then.
 */
#ifndef LAB_LAB_H
#define LAB_LAB_H

#include "base/err.h"
#include "base/nsec.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "model/profile.h"
#include "record/record.h"
#include "sys/undo.h"

#include <stdbool.h>
#include <sys/types.h>

#define LAB_NAME_MAX 24

struct lab_pair {
	char *key, *value;
};

struct lab_poke_at {
	nsec_t at;			/* after lab_arm's t0 */
	char *text;
};

struct lab_conf {
	char name[LAB_NAME_MAX + 1];
	char *disk, *fs, *mkfs, *mount;	/* fs "none": only the device; mount: options joined with '+' */
	char *sched, *file, *wbt;
	uint64_t size, store;		/* of the disk; of the memory behind it, 0: as much as is fit */
	uint64_t depth, nr_requests, max_sectors_kb, read_ahead_kb;	/* 0: depth as the profile says, others as the kernel */
	int rotational, write_cache;	/* 0 as the profile says, 1 no, 2 yes */
	uint64_t memory;		/* limit of the cgroup that lab_cgroup() names; 0: none */
	uint64_t dirty_bytes, dirty_background_bytes;	/* vm.*: the whole machine; 0: as it is */
	uint64_t bdi_max_bytes;		/* of this device; 0: as it is */
	bool bdi_strict;
	uint64_t seed;
	VEC(struct lab_pair) tunables;	/* sched.KEY = VALUE */
	VEC(struct lab_pair) profile;	/* disk.KEY = VALUE: over the profile's */
	VEC(struct lab_poke_at) pokes;	/* poke.TIME = FAULT */
};

extern const struct param lab_params[];	/* the plain keys, for help and documentation */

/* -EINVAL: a name is letters, digits, - and _, at most LAB_NAME_MAX of them. */
int lab_conf_init(struct lab_conf *c, const char *name, struct err *e);
int lab_conf_set(struct lab_conf *c, const char *key, const char *value, struct err *e);
int lab_conf_parse(struct lab_conf *c, const char *text, struct err *e);	/* "key=value,key=value" */
bool lab_conf_machine_wide(const struct lab_conf *c);	/* changes vm.*: needs consent (--yes-system) */
/* For the consent and the record: "hdd7200_2009, ext4, bfq, data=ordered". */
void lab_conf_text(const struct lab_conf *c, struct strbuf *out);
void lab_conf_done(struct lab_conf *c);

struct lab;

int lab_supported(struct err *e);	/* 0, or what is missing here and what to do */
int lab_up(const struct lab_conf *c, const char *const *profile_dirs, struct undo *u, struct lab **ret, struct err *e);
/* The lab lives on without us: its server gets the log. Frees lab. */
int lab_release(struct lab *lab, struct undo *u, struct err *e);
int lab_down(struct lab *lab, struct strbuf *said, struct err *e);

const char *lab_name(const struct lab *lab);
const char *lab_dir(const struct lab *lab);		/* mount point, or "" with fs = none */
const char *lab_device(const struct lab *lab);		/* "/dev/loop3" */
const char *lab_cgroup(const struct lab *lab);		/* with memory=: write pids into this file; else "" */
const char *lab_refused(const struct lab *lab);		/* lines: what the kernel did not take, "" for nothing */
int lab_poke(struct lab *lab, const char *fault, nsec_t at, struct err *e);
int lab_arm(struct lab *lab, nsec_t t0, struct err *e);

void lab_hurry(struct lab *lab);			/* no modelled time any more: for cleaning up */

int lab_facts(struct lab *lab, struct rec *r, int run, struct err *e);
/* Events "served" of what happened since the last call, pokes as events and as truth. From one thread. */
int lab_record(struct lab *lab, struct rec *r, int run, int clock, struct err *e);
/* The last call of a run: the lateness as a note, a failed check when it was too much (design, lab). */
int lab_record_end(struct lab *lab, struct rec *r, int run, int clock, struct err *e);

/* ---- labs that live on their own: up, list, poke, down from different commands ---- */

struct lab_info {
	char name[LAB_NAME_MAX + 1];
	char device[32], disk[64], fs[32], sched[32], dir[256], mount[200], size[24];
	pid_t server, owner;		/* owner: of its undo log; server itself after lab_release */
	bool alive;
	uint64_t served, refused, pokes;
	uint64_t stored_bytes, store_bytes;
	nsec_t late_p50, late_p99, late_max, median_service;	/* service: what the profile promises for a random read */
	char said[600];			/* what the kernel refused, lines */
};
int lab_each(int (*fn)(void *ctx, const struct lab_info *i), void *ctx);
int lab_find(const char *name, struct lab_info *ret, struct err *e);	/* suggests the nearest */
int lab_poke_by_name(const char *name, const char *fault, struct err *e);
int lab_down_by_name(const char *name, struct strbuf *said, struct err *e);

/* "ext3 by the ext4 driver"; else the name. */
const char *lab_fs_words(const char *fs);

#endif

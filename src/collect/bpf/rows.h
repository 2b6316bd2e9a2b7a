/* SPDX-License-Identifier: MIT */
/*
 * From the tracer's wire rows to events of the record.
 *
 * Waits, dirtying, journal phases and policies are written as they come; they
 * are few. Block requests are many: the last ones are held in memory and only
 * those that were in the queue while somebody stalled reach the record (all of
 * them with `full`). A stall that began before the oldest request still held
 * is counted in `truncated`.
 */
#ifndef COLLECT_BPF_ROWS_H
#define COLLECT_BPF_ROWS_H

#include "base/vec.h"
#include "collect/bpf/wire.h"
#include "event/event.h"
#include "record/record.h"

#include <stdbool.h>
#include <stddef.h>

struct ksyms;

#define ROWS_HELD	(1u << 15)	/* requests kept in memory: 4 MiB; 1.6 s at 20,000 a second, minutes on a slow disk */

struct held {
	struct wire_rq rq;
	bool written;
};

struct rows_window {
	nsec_t a, b;
};

struct rows_sleeper {			/* short waits in a row are one stall as well */
	uint32_t tid;
	nsec_t from, to, sum;
};

#define ROWS_SLEEPERS	1024
#define ROWS_WINDOWS	64
#define ROWS_STACKS	4096
#define ROWS_TASKS	16384

struct rows_stack {
	uint64_t hash;
	uint32_t id;
	uint32_t class;
};

struct rows_task {
	uint32_t tid;
	char comm[WIRE_COMM];
};

struct rows {
	struct rec *rec;
	int run, clock, series;
	nsec_t threshold;
	bool full;
	struct ksyms *syms;
	bool syms_failed;
	struct held *held;		/* ROWS_HELD, a ring */
	uint64_t nheld;			/* ever put in */
	nsec_t evicted;			/* end of the youngest request that left the ring unwritten */
	struct rows_window window[ROWS_WINDOWS];	/* of stalls, newest at nwindow - 1 mod ROWS_WINDOWS */
	uint64_t nwindow, scanned;	/* windows [scanned, nwindow) have not looked at the ring yet */
	struct rows_sleeper sleeper[ROWS_SLEEPERS];
	struct rows_stack stack[ROWS_STACKS];
	struct rows_task task[ROWS_TASKS];	/* hashed by tid: whose identity is in the record */
	VEC(struct event) out;
	nsec_t flushed;
	uint64_t truncated, bad, requests, waits;
};

struct rows *rows_new(struct rec *rec, int run, int clock, int series, nsec_t threshold, bool full);
/* One wire row; the signature of tracer_read()'s callback, ctx is the struct rows. */
int rows_take(void *ctx, void *row, size_t n);
/* Names a process of our own ("probe fsync"). */
void rows_ours(struct rows *r, uint32_t pid, const char *what, nsec_t now);
/* Picks the requests that belong to new stalls and writes a batch when it is large or a second old. */
int rows_flush(struct rows *r, nsec_t now, bool all, struct err *e);
void rows_free(struct rows *r);

#endif

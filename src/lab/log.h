/* SPDX-License-Identifier: MIT */
/*
 * What the server did, in a file on tmpfs: a ring of served requests with
 * their lateness, and the pokes. One writer (the server), any readers, which
 * keep their own place. The writer never waits: old entries are overwritten,
 * and a reader that was too slow is told how many it lost.
 */
#ifndef LAB_LOG_H
#define LAB_LOG_H

#include "base/err.h"
#include "base/nsec.h"

#include <stdint.h>

#define LOG_MAGIC	UINT64_C(0x31676f6c62616c73)	/* "slablog1" */
#define LOG_ENTRIES	(1u << 17)			/* 5 MiB; 17 minutes at 128 requests/s */
#define LOG_POKES	256

struct log_entry {
	nsec_t submitted, due;		/* due: when the model said it is done */
	uint64_t sector;
	uint32_t bytes, late_ns;	/* answered at due + late_ns (saturated) */
	uint16_t op, queue;		/* enum rq_op; requests in the drive when it came */
	int32_t error;
};

struct log_poke {
	nsec_t t;
	char text[88];
};

struct lab_log {
	uint64_t magic;
	uint32_t entries, pokes;
	uint64_t head;			/* entries written so far */
	uint64_t npokes;
	uint64_t refused;		/* writes answered ENOSPC */
	uint64_t stored_blocks, max_blocks;	/* 4 KiB */
	struct log_poke poke[LOG_POKES];
	struct log_entry entry[LOG_ENTRIES];
};

int log_create(const char *path, struct lab_log **ret, struct err *e);
int log_open(const char *path, const struct lab_log **ret, struct err *e);	/* read-only; checks size and magic */
void log_close(const struct lab_log *l);
void log_put(struct lab_log *l, const struct log_entry *x);		/* one thread at a time */
void log_poke_put(struct lab_log *l, nsec_t t, const char *text);
/* Copies entries from *tail on; moves it. Returns how many; *ret_lost gets what was overwritten before it was read. */
uint32_t log_take(const struct lab_log *l, uint64_t *tail, struct log_entry *ret, uint32_t max, uint64_t *ret_lost);

struct lateness {
	uint64_t n;
	nsec_t p50, p99, max;
};
/* Over the entries from `tail` on (at most the newest 65536). */
void log_lateness(const struct lab_log *l, uint64_t tail, struct lateness *ret);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * The process behind a modelled disk: a FUSE filesystem with one file, `disk`,
 * whose reads and writes are answered when the model says so. Four threads of
 * which two matter: one reads requests, one answers them on time.
 *
 * server_main() is called in a child made for it, never in a process that does
 * anything else: it locks its memory, becomes SCHED_FIFO where it may, and must
 * not wait for the disks that are being tested. It ends on SIGTERM, or when the
 * FUSE connection ends.
 */
#ifndef LAB_SERVER_H
#define LAB_SERVER_H

#include "lab/log.h"
#include "lab/store.h"
#include "model/drive.h"

#include <sys/types.h>

struct server_conf {
	const char *name;		/* of the lab */
	const char *dir;		/* its runtime folder: mnt/ and ctl are in it */
	const struct profile *profile;
	uint64_t capacity_bytes, pool_bytes, seed;
	const char *file;		/* NULL: memory */
	struct lab_log *log;
	int ready;			/* "ok", or the sentence of an error, is written here */
};

/* Does not return. */
void server_main(const struct server_conf *c) __attribute__((noreturn));

/* -ENOTSUP with the reason: built without FUSE, no /dev/fuse. */
int server_supported(struct err *e);

/* ---- what server-control.c needs of the running server ---- */

struct server;
/* Plants a fault at `at` (0 or past: now). -EAGAIN: too many are waiting. */
int server_poke(struct server *s, const char *text, nsec_t at, struct err *e);
/* off: requests are answered at once and the model does not see them (making a filesystem). */
void server_timing(struct server *s, bool on);
unsigned server_queued(struct server *s);
void server_end(struct server *s);

/* The socket dir/ctl: one datagram a command, one answer. Started before the server is ready. */
int server_control_start(struct server *s, const char *dir, struct err *e);

#endif

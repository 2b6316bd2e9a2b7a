/* SPDX-License-Identifier: MIT */
/*
 * A disk of a profile with a driver queue in front and planted faults: what
 * the lab serves and the simulator uses. It takes any number of requests and
 * passes on as many as the disk has room for, first come first served.
 *
 * freeze and slow bend the disk's clock instead of changing the model: while
 * frozen the disk's time stands still, at slow = 10x it runs at a tenth. So
 * every fault works with every model, and completion times stay exact.
 *
 * All times given and returned (also in struct rq) are the caller's clock.
 */
#ifndef MODEL_DRIVE_H
#define MODEL_DRIVE_H

#include "model/profile.h"

enum fault_kind {
	FAULT_NONE,
	FAULT_FREEZE,	/* nothing moves for `time` */
	FAULT_SLOW,	/* everything takes `amount`/1000 times as long, for `time` (NSEC_NEVER: until changed) */
	FAULT_FLUSH,	/* each FLUSH first stops the disk for `time`; 0 ends it */
	FAULT_ERROR,	/* requests of `op` that touch `sector` fail; op RQ_FLUSH means "none": forget all bad sectors */
	FAULT_DEPTH,	/* the disk takes `amount` requests at once; 0: as the profile says */
	FAULT_FULL,	/* no new block can be stored; amount 0 ends it. The server's, the drive ignores it */
};

struct fault {
	enum fault_kind kind;
	nsec_t time;
	uint64_t amount;
	enum rq_op op;
	uint64_t sector;
};

struct drive;

/* The profile must stay until drive_free(). */
int drive_new(const struct profile *p, uint64_t capacity_bytes, uint64_t seed, struct drive **ret, struct err *e);
void drive_free(struct drive *d);
/* Sets rq->error already when the request will fail. rq->id is set here. */
void drive_submit(struct drive *d, struct rq *rq, nsec_t now);
nsec_t drive_next(struct drive *d);
unsigned drive_reap(struct drive *d, nsec_t now, struct rq **done, unsigned max);
unsigned drive_queued(const struct drive *d);	/* inside the disk and waiting before it */
void drive_fault(struct drive *d, const struct fault *f, nsec_t now);

/* "freeze=3s", "slow=10x for=5s", "flush=2s", "error=read|write|none at=SECTOR", "depth=1", "full". */
int fault_parse(const char *text, struct fault *ret, struct err *e);

#endif

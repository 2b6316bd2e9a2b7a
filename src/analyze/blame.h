/* SPDX-License-Identifier: MIT */
/*
 * Whose seconds. A bill divides the nanoseconds of a leaf over processes and
 * files; what nobody can be charged with stays open and is called unknown.
 *
 * Rules (and tests hold them): charged time never exceeds the leaf; a kernel
 * worker, journal thread or idle task is never charged - the user behind it is,
 * or nobody; one's own share is charged like any other and shown.
 */
#ifndef ANALYZE_BLAME_H
#define ANALYZE_BLAME_H

#include "analyze/trace.h"

struct charge {
	uint32_t pid;			/* 0: nobody known */
	uint32_t dev;			/* the file, if there is one */
	uint64_t ino;
	double ns;			/* shares are split finely: exact enough below a microsecond */
	uint32_t conf;
};

struct bill {
	VEC(struct charge) c;
};

void bill_add(struct bill *b, uint32_t pid, uint32_t dev, uint64_t ino, double ns, uint32_t conf);
void bill_join(struct bill *b, const struct bill *from, double factor);
double bill_sum(const struct bill *b);			/* charged to somebody */
void bill_done(struct bill *b);

/* What one request was for, as shares that sum to at most 1 (less: unknown). Adds ns * share to b. */
void blame_request(const struct trace *t, const struct event *rq, double ns, struct bill *b);
/* Who dirtied pages of the disk's filesystems (fs_dev 0: of any) during [a, b]; weights are pages. */
void blame_dirtiers(const struct trace *t, uint32_t disk, nsec_t a, nsec_t b, double ns, uint32_t conf, struct bill *bill);
/* Who changed metadata in this transaction (0: any that touches [a, b]); weights are blocks. False: nobody known. */
bool blame_handles(const struct trace *t, uint32_t fs_dev, uint32_t transaction, nsec_t a, nsec_t b, double ns, uint32_t conf,
		   struct bill *bill);

#endif

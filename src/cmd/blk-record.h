/* SPDX-License-Identifier: MIT */
/* `stallmark blk record`: traces block devices into NAME.blktrace.CPU files that blkparse reads. */
#ifndef CMD_BLK_RECORD_H
#define CMD_BLK_RECORD_H

#include "base/nsec.h"

struct blk_record_conf {
	const char *device;		/* a name below /dev or a path */
	const char *const *command;	/* runs until it ends; NULL: `time`, or until a signal. Ends with NULL */
	const char *name;		/* -o: where the files go */
	nsec_t time;			/* 0: no limit */
	const volatile int *stop;	/* set by signals */
};

/* The exit code of the command (stallmark blk record). */
int blk_record(const struct blk_record_conf *conf);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * A loop device over the server's file, with direct I/O: only so does it send
 * requests at once instead of one after another. It stays ours through the open
 * descriptor: loop_is_ours() asks the kernel (LOOP_GET_STATUS64) before anything
 * is written to it or mounted from it.
 */
#ifndef LAB_LOOP_H
#define LAB_LOOP_H

#include "base/err.h"
#include "sys/undo.h"

#include <sys/types.h>

struct loop {
	char path[32], name[24];	/* "/dev/loop3", "loop3" */
	int fd;				/* -1: none; loop_done closes it */
	dev_t dev;
	dev_t file_dev;
	ino_t file_ino;
};

/* -ENODEV: no free loop device. */
int loop_attach(const char *file, struct undo *u, struct loop *ret, struct err *e);
int loop_is_ours(const struct loop *l, struct err *e);
void loop_done(struct loop *l);		/* closes; detaching is the undo log's */

#endif

/* SPDX-License-Identifier: MIT */
/*
 * A program of a scenario as a child: without a shell, in a process group of
 * its own that ends as a whole, standard output and input at /dev/null.
 *
 * Apart from sys/spawn.h because a measured program needs more: it dies with
 * the probe or load that started it (PR_SET_PDEATHSIG), its end is seen at
 * once, and the blocks it read are known.
 */
#ifndef BASE_CHILD_H
#define BASE_CHILD_H

#include "base/err.h"
#include "base/nsec.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct child_end {
	int status;			/* of waitpid() */
	uint64_t read_blocks, written_blocks;	/* 512 bytes; of it and what it waited for */
};

/* Starts argv in directory dirfd with standard error at errfd (-1: /dev/null); the pid and its group's id. Returns when
 * exec() succeeded or failed. */
int child_start(char *const argv[], int dirfd, int errfd, pid_t *ret_pid, struct err *e);

/* Waits for its end; meanwhile look(ctx) is called about 20 times a second (may be NULL). -EINTR: *stop was set; the
 * group was told SIGTERM, after `patience` SIGKILL. A child that does not even then end is stuck in the kernel: it is
 * left, -EINTR. */
int child_wait(pid_t pid, const volatile int *stop, nsec_t patience, void (*look)(void *ctx), void *ctx,
	       struct child_end *ret, struct err *e);

/* What it, its living descendants and all they waited for read from and wrote towards storage so far; false: gone. */
bool child_io(pid_t pid, uint64_t *ret_read_bytes, uint64_t *ret_written_bytes);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Programs, without a shell: an argument vector goes to posix_spawnp, in a
 * process group of its own, with default signals and only the descriptors
 * given. /usr/sbin and /sbin are searched as well (losetup, mkfs).
 *
 *	spawn_run	start, collect what it prints, wait; kill the group at the limit
 *	spawn_start	start only; the caller ends it with spawn_stop or waits with spawn_wait
 *
 * Nothing here waits without a limit: a task in D state cannot be killed.
 */
#ifndef SYS_SPAWN_H
#define SYS_SPAWN_H

#include "base/err.h"
#include "base/nsec.h"
#include "base/strbuf.h"

#include <stdbool.h>
#include <sys/types.h>

struct spawn {
	const char *const *argv;	/* ends with NULL; argv[0] is looked up in PATH */
	const char *const *env;		/* more variables "NAME=value", ends with NULL; NULL: none */
	const char *dir;		/* working directory; NULL: ours */
	int in, out, err;		/* descriptors; 0 (as zeroed) means /dev/null, so never pass our own stdin */
	nsec_t limit;			/* spawn_run: at most this long; 0: 60 s */
	size_t most;			/* spawn_run: bytes kept of each stream; 0: 1 MiB. The rest is read and dropped */
};

/*
 * Runs it to its end. *ret_status is the exit code, or 128 + the signal. ret_out and ret_err (either may be NULL) are
 * added to. -ENOENT: no such program (the sentence names it); -ETIMEDOUT: killed at the limit.
 */
int spawn_run(const struct spawn *s, struct strbuf *ret_out, struct strbuf *ret_err, int *ret_status, struct err *e);

/* As spawn_run, and a status other than 0 is an error: its sentence quotes the first line of what the program said. */
int spawn_must(const struct spawn *s, struct strbuf *ret_out, struct err *e);

int spawn_start(const struct spawn *s, pid_t *ret_pid, struct err *e);
/* 0 and the status when it ended within `limit`; -ETIMEDOUT when not (it goes on), -ECHILD: not a child of ours. */
int spawn_wait(pid_t pid, nsec_t limit, int *ret_status);
/* Ends the whole group of a child: SIGTERM, `grace` later SIGKILL, one more second for it to go. -EBUSY: it is still
 * in the kernel (D state) and will end when its I/O does; its pid stays ours to wait for. */
int spawn_stop(pid_t pid, nsec_t grace, int *ret_status);

/* The program's path as it would be found, or NULL. Freed by the caller. */
char *spawn_find(const char *name);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * The sub-folder of ours in a measured directory: the only place where probes
 * and loads write. It is known twice: a file `.stallmark` in it holds a random
 * token, and a registry of ours (root: /var/lib/stallmark/folders, others:
 * $XDG_STATE_HOME or ~/.local/state; it must outlive a reboot) says which
 * token is where and whose. Removal checks owner, device, inode and token, and
 * walks with openat and O_NOFOLLOW, so it never leaves the folder and never
 * takes another one for ours.
 *
 *	folder_make -> work below f.fd or f.path -> folder_remove
 *	                                 killed -> folder_stale (`stallmark clean`)
 */
#ifndef SYS_FOLDER_H
#define SYS_FOLDER_H

#include "base/err.h"
#include "base/strbuf.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define FOLDER_TOKEN 33		/* 32 hex digits and NUL */

struct folder {
	char path[PATH_MAX];	/* absolute: PARENT/stallmark-xxxxxxxx */
	char token[FOLDER_TOKEN];
	int fd;			/* of the folder, close-on-exec; folder_done closes it */
};

/* Makes one in `parent`, registered before it exists. -EROFS, -EACCES, -ENOSPC, ... with a sentence. */
int folder_make(const char *parent, struct folder *ret, struct err *e);
/* Another process (the runs' child) takes care of it from now on: its pid goes into the registry. */
int folder_hand_over(const char *token, pid_t to, struct err *e);
void folder_done(struct folder *f);	/* closes only */

/*
 * Removes it with all it holds, then its registration. 0 also when it is gone already. -EPERM: what is at the path is
 * not ours, and stays (the registration goes). -EBUSY: something is mounted in it. May take as long as the disk needs:
 * call it from a process that may wait.
 */
int folder_remove(const char *path, const char *token, struct err *e);

struct folder_info {
	const char *path, *token;
	pid_t pid;
	bool alive;		/* its run lives */
	bool there;		/* the path exists and carries the token */
};
/* Everything in the registry. */
int folder_each(int (*fn)(void *ctx, const struct folder_info *f), void *ctx);

/* Removes the folders of runs that are gone; `said` gets a line for each that could not be. Returns how many went. */
int folder_stale(struct strbuf *said);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * The undo log: every change outside our own files goes through it, so that it
 * is taken back at the end, by `stallmark clean`, and by the next command that
 * finds a log whose owner is gone (end, error, Ctrl-C, kill -9).
 *
 * Lives in /run/stallmark (root, mode 0700) or $XDG_RUNTIME_DIR/stallmark, one
 * file a process (PID and its start time in the name). An entry is durable
 * before the change it describes; entries are undone in reverse order. A value
 * that someone else changed since is left alone and said.
 */
#ifndef SYS_UNDO_H
#define SYS_UNDO_H

#include "base/err.h"
#include "base/strbuf.h"

#include <stdbool.h>
#include <sys/types.h>

enum undo_kind {
	UNDO_FILE,	/* a sysfs/procfs/cgroupfs/tracefs file had an old value */
	UNDO_RMDIR,	/* a directory of ours: cgroup, tracing instance, mount point */
	UNDO_UNLINK,	/* a file of ours */
	UNDO_TREE,	/* a marked sub-folder of ours (token checked, openat + O_NOFOLLOW) */
	UNDO_MOUNT,	/* a mount of ours */
	UNDO_LOOP,	/* a loop device whose backing file is ours (LO_GET_STATUS64 checked) */
	UNDO_PROCESS,	/* a process of ours: pid and start time; SIGTERM, then SIGKILL */
	UNDO_FUSE,	/* a FUSE connection of ours: abort through /sys/fs/fuse/connections */
	UNDO_CGROUP,	/* a cgroup of ours: kill what is in it, then rmdir */
};

struct undo;

int undo_open(struct undo **ret, struct err *e);	/* this process's log, made at the first change */
/* Entry first (durable), then the caller makes the change; or use undo_set, which does both. */
int undo_note(struct undo *u, enum undo_kind kind, const char *object, const char *detail, int *ret_id, struct err *e);
/* Writes value into a kernel file, keeping the old value; reads it back into ret_now (may be NULL). */
int undo_set(struct undo *u, const char *file, const char *value, struct strbuf *ret_now, struct err *e);
int undo_forget(struct undo *u, int id, struct err *e);	/* was undone by its maker */
/* Undoes everything in reverse; `said` (may be NULL) gets one line for each thing that could not be. */
int undo_all(struct undo *u, struct strbuf *said, struct err *e);
void undo_close(struct undo *u);			/* an empty log's file is removed */
/* Gives the log to another process (the lab server outlives its starter). */
int undo_hand_over(struct undo *u, pid_t to, struct err *e);

/* Logs of processes that are gone: undoes them. Returns how many things were undone, or -errno. */
int undo_stale(struct strbuf *said, struct err *e);
/* One line for each entry of each log, for `clean --dry-run` and `doctor`. */
int undo_list(struct strbuf *out, struct err *e);

const char *undo_dir(void);	/* the runtime folder, made with mode 0700 at the first call; NULL if impossible */

#endif

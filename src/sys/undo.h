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

/*
 * object and detail, by kind:
 *	FILE	the file; its old value (use undo_set)
 *	RMDIR	the directory; NULL
 *	UNLINK	the file; NULL
 *	TREE	folder.path; folder.token (sys/folder.h)
 *	MOUNT	the mount point; the source as in /proc/self/mountinfo, or NULL
 *	LOOP	"/dev/loop3"; the backing file
 *	PROCESS	the pid in digits; its start time in digits (proc_start_time), or NULL: looked up now
 *	FUSE	the connection: minor number of the mount's st_dev in digits; the mount point
 *	CGROUP	the cgroup's directory; NULL
 * A log belongs to one process and one thread of it. After fork the child opens its own.
 */
int undo_open(struct undo **ret, struct err *e);	/* this process's log; its file is made at the first entry */
/* Entry first (durable), then the caller makes the change; or use undo_set, which does both. */
int undo_note(struct undo *u, enum undo_kind kind, const char *object, const char *detail, int *ret_id, struct err *e);
/*
 * Writes value into a kernel file, keeping the old value; reads it back into ret_now (may be NULL), where a list like
 * "[none] bfq" becomes the chosen word. A second undo_set of a file keeps the first old value. -ENOTSUP: the old value
 * has several lines, which one write cannot bring back. A file that already holds the value is not written to.
 */
int undo_set(struct undo *u, const char *file, const char *value, struct strbuf *ret_now, struct err *e);
int undo_forget(struct undo *u, int id, struct err *e);	/* was undone by its maker */
/* Undoes one entry now (its maker is done with it). */
int undo_one(struct undo *u, int id, struct strbuf *said, struct err *e);
/*
 * Undoes everything in reverse; `said` (may be NULL) gets one line for each thing that could not be, or that somebody
 * else changed since. Returns 0, or -EBUSY with a sentence when something remains in the log for `clean`.
 */
int undo_all(struct undo *u, struct strbuf *said, struct err *e);
void undo_close(struct undo *u);			/* an empty log's file is removed; NULL is fine */
/* Gives the log to another process (the lab server outlives its starter), which opens it with undo_open. u is closed. */
int undo_hand_over(struct undo *u, pid_t to, struct err *e);

/* Logs of processes that are gone: undoes them. Returns how many things were undone, or -errno. */
int undo_stale(struct strbuf *said, struct err *e);
/* One line for each entry of each log, for `clean --dry-run` and `doctor`. stale_only: not those of living processes. */
int undo_list(struct strbuf *out, bool stale_only, struct err *e);

/*
 * The runtime folder, made with mode 0700 at the first call; NULL if impossible. /run/stallmark for root and
 * $XDG_RUNTIME_DIR/stallmark for others, when they are in memory as they should be (an entry must not wait for the disk
 * that is being tested); otherwise /dev/shm/stallmark-UID; $STALLMARK_RUNTIME_DIR before all, for tests.
 */
const char *undo_dir(void);

#endif

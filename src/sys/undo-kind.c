/* SPDX-License-Identifier: MIT */
#include "sys/undo-kind.h"
#include "base/cleanup.h"
#include "base/mem.h"
#include "base/nsec.h"
#include "sys/kfile.h"
#include "sys/folder.h"
#include "sys/proc.h"
#include "sys/spawn.h"
#include "sys/topology.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/loop.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define CHANGED 1

static const char *const names[] = {
	[UNDO_FILE] = "file", [UNDO_RMDIR] = "rmdir", [UNDO_UNLINK] = "unlink", [UNDO_TREE] = "tree", [UNDO_MOUNT] = "mount",
	[UNDO_LOOP] = "loop", [UNDO_PROCESS] = "process", [UNDO_FUSE] = "fuse", [UNDO_CGROUP] = "cgroup",
};

const char *undo_kind_name(enum undo_kind kind)
{
	return names[kind];
}

int undo_kind_by_name(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(names[i], name))
			return (int)i;
	return -1;
}

static int undo_file(const struct undo_entry *n, struct err *why)
{
	cleanup_strbuf struct strbuf raw = STRBUF_INIT, now = STRBUF_INIT;
	int r = file_read(n->object, &raw, why);

	if (r == -ENOENT || r == -ENODEV)
		return 0;		/* the device is gone, and its setting with it */
	if (r)
		return r;
	file_chosen(strbuf_str(&raw), &now);
	if (!strcmp(strbuf_str(&now), n->detail))
		return 0;
	if (n->now && strcmp(strbuf_str(&now), n->now))
		return err_set(why, CHANGED, "%s is %s now, neither what we set (%s) nor what it was (%s); it is left as it is",
			       n->object, strbuf_str(&now), n->now, n->detail);
	return file_write(n->object, n->detail, why);
}

static int undo_rmdir(const struct undo_entry *n, struct err *why)
{
	nsec_t until = nsec_now() + 2 * NSEC_PER_SEC, step = NSEC_PER_MSEC;

	/* a cgroup or a tracing instance is busy for a moment after its last user went */
	while (rmdir(n->object) < 0) {
		if (errno == ENOENT)
			return 0;
		if (errno == ENOTEMPTY || (errno != EBUSY && errno != EINTR) || nsec_now() >= until)
			return err_sys(why, -errno, "cannot remove %s", n->object);
		nsec_sleep_until(nsec_now() + step, NULL);
		step = MIN(step * 2, 100 * NSEC_PER_MSEC);
	}
	return 0;
}

static int undo_unlink(const struct undo_entry *n, struct err *why)
{
	struct stat st;

	if (lstat(n->object, &st) < 0)
		return errno == ENOENT ? 0 : err_sys(why, -errno, "cannot look at %s", n->object);
	if (st.st_uid != geteuid() || S_ISDIR(st.st_mode))
		return err_set(why, CHANGED, "%s is not the file that we made; it stays", n->object);
	return unlink(n->object) < 0 && errno != ENOENT ? err_sys(why, -errno, "cannot remove %s", n->object) : 0;
}

/* umount(2) writes all dirty data first and cannot be interrupted, so a child does it and we wait for a limited time. */
static int unmount(const char *point, nsec_t limit, struct err *why)
{
	int status, r;
	pid_t pid = fork();

	if (pid < 0)
		return err_sys(why, -errno, "cannot start a process to unmount %s", point);
	if (!pid) {
		for (int i = 0; i < 20; i++) {
			if (umount2(point, UMOUNT_NOFOLLOW) == 0)
				_exit(0);
			if (errno != EBUSY)
				_exit(errno);
			nsec_sleep_until(nsec_now() + 50 * NSEC_PER_MSEC, NULL);
		}
		_exit(umount2(point, UMOUNT_NOFOLLOW | MNT_DETACH) == 0 ? 0 : errno);
	}
	r = spawn_wait(pid, limit, &status);
	if (r == -ETIMEDOUT)
		return err_set(why, -EBUSY, "%s is still being unmounted: its data is on the way to the disk", point);
	return status ? err_sys(why, -status, "cannot unmount %s", point) : 0;
}

static int undo_mount(const struct undo_entry *n, struct err *why)
{
	struct mount_entry m;
	int r = mount_at(n->object, &m, NULL);

	if (r == -ENOENT)
		return 0;
	if (!r && n->detail[0] && strcmp(m.source, n->detail))
		r = err_set(why, CHANGED, "%s is mounted at %s now, not %s; it stays", m.source, n->object, n->detail);
	else if (!r)
		r = unmount(n->object, 60 * NSEC_PER_SEC, why);
	mount_entry_done(&m);
	return r;
}

static int undo_loop(const struct undo_entry *n, struct err *why)
{
	cleanup_close int fd = open(n->object, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct loop_info64 info;
	struct stat dev, st;
	bool ours;

	if (fd < 0)
		return errno == ENOENT || errno == ENXIO ? 0 : err_sys(why, -errno, "cannot open %s", n->object);
	if (fstat(fd, &dev) < 0 || !S_ISBLK(dev.st_mode))
		return err_set(why, CHANGED, "%s is no block device", n->object);
	if (ioctl(fd, LOOP_GET_STATUS64, &info) < 0)
		return errno == ENXIO ? 0 : err_sys(why, -errno, "cannot ask %s for its file", n->object);
	if (stat(n->detail, &st) == 0)
		ours = info.lo_inode == st.st_ino && info.lo_device == st.st_dev;
	else	/* deleted: the kernel keeps the first 63 bytes of the name */
		ours = !strncmp((const char *)info.lo_file_name, n->detail, LO_NAME_SIZE - 1);
	if (!ours)
		return err_set(why, CHANGED, "%s has another file than %s now; it stays", n->object, n->detail);
	return ioctl(fd, LOOP_CLR_FD, 0) < 0 && errno != ENXIO ? err_sys(why, -errno, "cannot detach %s", n->object) : 0;
}

/* Waits until the process is gone (a zombie of somebody else counts as gone). */
static bool wait_gone(pid_t pid, uint64_t start, int fd, nsec_t limit)
{
	nsec_t until = nsec_now() + limit;

	while (proc_is(pid, start)) {
		struct pollfd p = { .fd = fd, .events = POLLIN };

		if (waitpid(pid, NULL, WNOHANG) == pid)
			return true;
		if (nsec_now() >= until)
			return false;
		(void)poll(&p, fd >= 0, fd >= 0 ? 100 : 10);
	}
	(void)waitpid(pid, NULL, WNOHANG);
	return true;
}

static int undo_process(const struct undo_entry *n, struct err *why)
{
	pid_t pid = (pid_t)strtol(n->object, NULL, 10);
	uint64_t start = strtoull(n->detail, NULL, 10);
	cleanup_close int fd = -1;

	if (pid <= 1 || !proc_is(pid, start))
		return 0;
	/* the pidfd first, the check after it: then no other process can slip in */
	fd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (!proc_is(pid, start))
		return 0;
	if ((fd >= 0 ? syscall(SYS_pidfd_send_signal, fd, SIGTERM, NULL, 0) : kill(pid, SIGTERM)) < 0)
		return errno == ESRCH ? 0 : err_sys(why, -errno, "cannot end process %d", (int)pid);
	kill(pid, SIGCONT);
	if (wait_gone(pid, start, fd, 3 * NSEC_PER_SEC))
		return 0;
	if (fd >= 0)
		(void)syscall(SYS_pidfd_send_signal, fd, SIGKILL, NULL, 0);
	else if (proc_is(pid, start))
		kill(pid, SIGKILL);
	if (wait_gone(pid, start, fd, 2 * NSEC_PER_SEC))
		return 0;
	return err_set(why, -EBUSY, "process %d was killed, but is still in the kernel and ends when its I/O does", (int)pid);
}

static int undo_fuse(const struct undo_entry *n, struct err *why)
{
	cleanup_free char *abort_file = mem_printf("/sys/fs/fuse/connections/%s/abort", n->object);
	struct mount_entry m;
	bool ours;
	int r;

	/* connection numbers are used again: it is ours only while our mount point shows it */
	if (mount_at(n->detail, &m, NULL))
		return 0;
	ours = !strncmp(m.type, "fuse", 4) && major(m.dev) == 0 && minor(m.dev) == (unsigned)strtoul(n->object, NULL, 10);
	mount_entry_done(&m);
	if (!ours)
		return 0;
	r = file_write(abort_file, "1", why);
	return r == -ENOENT ? 0 : r;
}

static int undo_cgroup(const struct undo_entry *n, struct err *why)
{
	cleanup_free char *kill_file = mem_printf("%s/cgroup.kill", n->object), *procs = mem_printf("%s/cgroup.procs", n->object);
	cleanup_strbuf struct strbuf b = STRBUF_INIT;
	nsec_t until = nsec_now() + 2 * NSEC_PER_SEC;

	if (access(n->object, F_OK) < 0)
		return 0;
	(void)file_write(kill_file, "1", NULL);		/* Linux 5.14, cgroup v2 */
	while (!file_read(procs, &b, NULL) && b.len) {
		for (const char *p = b.s; p; p = strchr(p, '\n')) {
			pid_t pid = (pid_t)strtol(p, (char **)&p, 10);

			if (pid > 1 && pid != getpid())
				kill(pid, SIGKILL);
		}
		if (nsec_now() >= until)
			return err_set(why, -EBUSY, "processes in %s were killed, but are still in the kernel", n->object);
		nsec_sleep_until(nsec_now() + 10 * NSEC_PER_MSEC, NULL);
	}
	return undo_rmdir(n, why);
}

int undo_entry_take_back(const struct undo_entry *n, bool other_boot, struct err *why)
{
	/* these ended with the boot they were made in */
	if (other_boot && n->kind != UNDO_TREE && n->kind != UNDO_UNLINK && n->kind != UNDO_RMDIR)
		return 0;
	switch (n->kind) {
	case UNDO_FILE:
		return undo_file(n, why);
	case UNDO_RMDIR:
		return undo_rmdir(n, why);
	case UNDO_UNLINK:
		return undo_unlink(n, why);
	case UNDO_TREE:
		return folder_remove(n->object, n->detail, why);
	case UNDO_MOUNT:
		return undo_mount(n, why);
	case UNDO_LOOP:
		return undo_loop(n, why);
	case UNDO_PROCESS:
		return undo_process(n, why);
	case UNDO_FUSE:
		return undo_fuse(n, why);
	case UNDO_CGROUP:
		return undo_cgroup(n, why);
	}
	return err_set(why, -EINVAL, "an entry of the undo log has the unknown kind %d", (int)n->kind);
}

/* SPDX-License-Identifier: MIT */
/* Where a record is while it is measured, and how it gets to its place. */
#include "base/cleanup.h"
#include "record/rec.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>

#define ROOM_NEEDED (UINT64_C(32) << 20)	/* an hour of all probes fits into half of it */

static bool in_memory(const char *dir)
{
	struct statfs fs;

	return !statfs(dir, &fs) && (fs.f_type == TMPFS_MAGIC || fs.f_type == RAMFS_MAGIC);
}

/* A folder that is ours alone, in memory, writable and with room; made when its parent is in memory. */
static int usable(const char *dir, bool ours, struct err *e)
{
	struct statvfs room;
	struct stat st;

	if (ours && mkdir(dir, 0700) < 0 && errno != EEXIST)
		return err_sys(e, -errno, "cannot make %s", dir);
	if (lstat(dir, &st) < 0)
		return err_sys(e, -errno, "cannot use %s for the record", dir);
	if (!S_ISDIR(st.st_mode) && stat(dir, &st) == 0 && !S_ISDIR(st.st_mode))
		return err_set(e, -ENOTDIR, "%s is not a folder", dir);
	if (ours && (st.st_uid != geteuid() || st.st_mode & 077 || !S_ISDIR(st.st_mode)))
		return err_set(e, -EPERM, "%s is not a private folder of ours", dir);
	if (!in_memory(dir))
		return err_set(e, -ENOTSUP, "%s is not in memory (tmpfs): while measuring, the record would wait for the disk", dir);
	if (access(dir, W_OK | X_OK) < 0)
		return err_sys(e, -errno, "cannot write to %s", dir);
	if (statvfs(dir, &room) == 0 && room.f_blocks && (uint64_t)room.f_bavail * room.f_frsize < ROOM_NEEDED)
		return err_set(e, -ENOSPC, "%s has less than 32 MiB left for the record", dir);
	return 0;
}

int rec_dir(const char *given, char ret_dir[REC_DIR_MAX], struct err *e)
{
	const char *runtime = getenv("XDG_RUNTIME_DIR");
	char dir[REC_DIR_MAX];
	struct err why = { 0 };

	if (given) {
		int got = usable(given, false, e);

		if (!got)
			snprintf(ret_dir, REC_DIR_MAX, "%s", given);
		return got;
	}
	for (int i = 0; i < 3; i++) {
		const char *parent = i == 0 ? (geteuid() ? NULL : "/run") : i == 1 ? runtime : "/dev/shm";

		if (!parent || parent[0] != '/' || !in_memory(parent))
			continue;
		if (i == 2)	/* everybody's folder: the name says whose it is */
			snprintf(dir, sizeof(dir), "%s/stallmark-%u", parent, (unsigned)geteuid());
		else
			snprintf(dir, sizeof(dir), "%s/stallmark", parent);
		if (!usable(dir, true, &why)) {
			memcpy(ret_dir, dir, sizeof(dir));
			return 0;
		}
	}
	return err_set(e, -ENOTSUP, "there is no folder in memory (tmpfs) for the record: %s; give one with --record-dir",
		       why.msg[0] ? why.msg : "neither /run nor /dev/shm is one");
}

static int copy_bytes(int in, int out)
{
	static const size_t size = 1 << 18;
	cleanup_free char *buf = mem_alloc(size);
	ssize_t n;

	while ((n = read(in, buf, size)) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		for (ssize_t done = 0, w; done < n; done += w) {
			w = write(out, buf + done, (size_t)(n - done));
			if (w < 0 && errno == EINTR)
				w = 0;
			else if (w < 0)
				return -errno;
		}
	}
	return 0;
}

static int sync_folder(const char *file)
{
	cleanup_free char *dir = mem_dup(file);
	char *slash = strrchr(dir, '/');
	cleanup_close int fd = -1;

	if (slash)
		slash[slash == dir] = 0;
	fd = open(slash ? dir : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	/* some filesystems cannot sync a folder and say EINVAL; nothing better can be done there */
	return fsync(fd) < 0 && errno != EINVAL ? -errno : 0;
}

int rec_copy(const char *from, const char *target, struct err *e)
{
	cleanup_free char *tmp = mem_printf("%s.tmp", target);
	cleanup_close int in = open(from, O_RDONLY | O_CLOEXEC), out = -1;
	int ret;

	if (in < 0)
		return err_sys(e, -errno, "cannot read %s", from);
	/* a leftover of a killed copy goes; O_EXCL then never writes through a link */
	if (unlink(tmp) < 0 && errno != ENOENT)
		return err_sys(e, -errno, "cannot replace %s", tmp);
	out = open(tmp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	if (out < 0)
		return err_sys(e, -errno, "cannot create %s", tmp);
	ret = copy_bytes(in, out);
	if (!ret && fsync(out) < 0)
		ret = -errno;
	if (!ret && rename(tmp, target) < 0)
		ret = -errno;
	if (ret) {
		unlink(tmp);
		return err_sys(e, ret, "cannot write %s", target);
	}
	ret = sync_folder(target);
	return ret ? err_sys(e, ret, "%s is written, but its folder could not be synced", target) : 0;
}

int rec_finish(struct rec *r, const char *target, struct err *e)
{
	cleanup_free char *from = mem_dup(r->path);
	struct err why = { 0 };
	int ret;

	(void)rec_flush(r, true, NULL);	/* after a failure: what is in the file is whole, and is kept */
	rec_close(r);
	ret = rec_copy(from, target, &why);
	if (ret)
		return err_set(e, ret, "%s; the record is kept in %s until the next boot", why.msg, from);
	unlink(from);
	return 0;
}

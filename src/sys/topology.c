/* SPDX-License-Identifier: MIT */
#include "sys/topology.h"
#include "base/cleanup.h"
#include "base/mem.h"
#include "sys/kfile.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <linux/btrfs.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#define DEEPEST	16		/* a loop file on a loop file on ...: a cycle is impossible, a long chain is a mistake */

const char *fs_kind_name(enum fs_kind k)
{
	static const char *const names[] = { "disk", "memory", "network", "overlay", "fuse", "other" };

	return k <= FS_OTHER ? names[k] : "unknown";
}

static enum fs_kind kind_of(const char *path, const struct mount_entry *m)
{
	static const char *const network[] = { "nfs", "nfs4", "cifs", "smb3", "ceph", "9p", "afs", "ncpfs", "lustre", "gfs2",
					       "ocfs2", "glusterfs", "fuse.sshfs", "fuse.glusterfs", "virtiofs" };
	struct statfs fs;

	for (size_t i = 0; i < ARRAY_SIZE(network); i++)
		if (!strcmp(m->type, network[i]))
			return FS_NETWORK;
	if (!strcmp(m->type, "overlay"))
		return FS_OVERLAY;
	if (statfs(path, &fs) == 0 && (fs.f_type == TMPFS_MAGIC || fs.f_type == RAMFS_MAGIC || fs.f_type == HUGETLBFS_MAGIC))
		return FS_MEMORY;
	if (!strcmp(m->type, "fuse") || !strncmp(m->type, "fuse.", 5))
		return FS_FUSE;
	if (major(m->dev) || !strcmp(m->type, "btrfs"))
		return FS_DISK;
	return FS_OTHER;
}

bool topology_name(dev_t dev, char *ret, size_t size)
{
	char link[64], to[PATH_MAX];
	ssize_t n;

	snprintf(link, sizeof(link), "/sys/dev/block/%u:%u", major(dev), minor(dev));
	n = readlink(link, to, sizeof(to) - 1);
	if (n <= 0)
		return false;
	to[n] = 0;
	snprintf(ret, size, "%s", basename(to));
	return true;
}

/* The sysfs folder of a device, links resolved. */
static char *sys_dir(dev_t dev)
{
	char link[64];

	snprintf(link, sizeof(link), "/sys/dev/block/%u:%u", major(dev), minor(dev));
	return realpath(link, NULL);
}

static bool read_dev(const char *dir, const char *name, dev_t *ret)
{
	cleanup_free char *path = mem_printf("%s/%s", dir, name);
	cleanup_strbuf struct strbuf b = STRBUF_INIT;
	unsigned maj, min;

	if (file_read(path, &b, NULL) || sscanf(strbuf_str(&b), "%u:%u", &maj, &min) != 2)
		return false;
	*ret = makedev(maj, min);
	return true;
}

static bool has(const char *dir, const char *name)
{
	cleanup_free char *path = mem_printf("%s/%s", dir, name);

	return access(path, F_OK) == 0;
}

bool topology_queue_dir(dev_t dev, char *ret, size_t size)
{
	cleanup_free char *dir = sys_dir(dev);

	if (!dir)
		return false;
	if (has(dir, "partition"))
		*strrchr(dir, '/') = 0;
	if (!has(dir, "queue"))
		return false;
	snprintf(ret, size, "%s/queue", dir);
	return true;
}

static int below(struct topology *t, dev_t dev, int under, int depth, struct err *e);
static int of_filesystem(struct topology *t, const char *path, const struct mount_entry *m, enum fs_kind kind, int under,
			 int depth, struct err *e);

/* Members of dm and md devices. */
static int slaves(struct topology *t, const char *dir, int under, int depth, struct err *e)
{
	cleanup_free char *path = mem_printf("%s/slaves", dir);
	DIR *d = opendir(path);
	struct dirent *de;
	int r = 0;

	while (d && !r && (de = readdir(d))) {
		cleanup_free char *one = mem_printf("%s/%s", path, de->d_name);
		dev_t dev;

		if (de->d_name[0] != '.' && read_dev(one, "dev", &dev)) {
			t->devs.p[under].leaf = false;
			r = below(t, dev, under, depth + 1, e);
		}
	}
	if (d)
		closedir(d);
	return r;
}

static int loop_file(struct topology *t, const char *dir, int at, int depth, struct err *e)
{
	cleanup_free char *path = mem_printf("%s/loop/backing_file", dir);
	cleanup_strbuf struct strbuf b = STRBUF_INIT;
	struct mount_entry m;
	int r;

	if (file_read(path, &b, NULL))
		return 0;
	snprintf(t->devs.p[at].file, sizeof(t->devs.p[at].file), "%s", strbuf_str(&b));
	/* a deleted file, or one of another mount namespace: the chain ends here */
	if (mount_of(strbuf_str(&b), &m, NULL))
		return 0;
	t->devs.p[at].leaf = false;
	r = of_filesystem(t, strbuf_str(&b), &m, kind_of(strbuf_str(&b), &m), at, depth + 1, e);
	mount_entry_done(&m);
	return r;
}

static int below(struct topology *t, dev_t dev, int under, int depth, struct err *e)
{
	struct topo_dev d = { .dev = dev, .under = under, .leaf = true };
	cleanup_free char *dir = sys_dir(dev);
	int at = (int)t->devs.n, r = 0;
	dev_t whole;

	if (!dir)
		return 0;
	if (depth > DEEPEST)
		return err_set(e, -ELOOP, "more than %d devices lie on top of each other", DEEPEST);
	for (size_t i = 0; i < t->devs.n; i++)
		if (t->devs.p[i].dev == dev)
			return 0;
	snprintf(d.name, sizeof(d.name), "%s", strrchr(dir, '/') + 1);
	snprintf(d.kind, sizeof(d.kind), "%s", has(dir, "partition") ? "partition" : has(dir, "dm") ? "dm" : has(dir, "md") ? "md" :
		 has(dir, "loop") ? "loop" : "disk");
	vec_push(&t->devs, d);
	if (!strcmp(d.kind, "partition")) {
		*strrchr(dir, '/') = 0;
		if (read_dev(dir, "dev", &whole)) {
			t->devs.p[at].leaf = false;
			r = below(t, whole, at, depth + 1, e);
		}
	} else if (!strcmp(d.kind, "loop")) {
		r = loop_file(t, dir, at, depth, e);
	} else {
		r = slaves(t, dir, at, depth, e);
	}
	return r;
}

/* A btrfs has a device number of its own; its members are in /sys/fs/btrfs/UUID/devices. */
static int btrfs_members(struct topology *t, const char *path, int under, int depth, struct err *e)
{
	cleanup_close int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct btrfs_ioctl_fs_info_args fs = { 0 };
	const unsigned char *u = fs.fsid;
	char dir[128];
	struct dirent *de;
	int r = 0;
	DIR *d;

	if (fd < 0 || ioctl(fd, BTRFS_IOC_FS_INFO, &fs) < 0)
		return 0;
	snprintf(dir, sizeof(dir), "/sys/fs/btrfs/%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x/devices",
		 u[0], u[1], u[2], u[3], u[4], u[5], u[6], u[7], u[8], u[9], u[10], u[11], u[12], u[13], u[14], u[15]);
	d = opendir(dir);
	while (d && !r && (de = readdir(d))) {
		cleanup_free char *one = mem_printf("%s/%s", dir, de->d_name);
		dev_t dev;

		if (de->d_name[0] != '.' && read_dev(one, "dev", &dev))
			r = below(t, dev, under, depth, e);
	}
	if (d)
		closedir(d);
	return r;
}

/* The value of "upperdir=" in the options of an overlay; freed by the caller. */
static char *upper_dir(const char *options)
{
	const char *o = strstr(options, "upperdir=");

	if (!o || (o > options && o[-1] != ','))
		return NULL;
	o += strlen("upperdir=");
	return mem_dupn(o, strcspn(o, ","));
}

static int of_filesystem(struct topology *t, const char *path, const struct mount_entry *m, enum fs_kind kind, int under,
			 int depth, struct err *e)
{
	if (depth > DEEPEST)
		return err_set(e, -ELOOP, "more than %d filesystems lie on top of each other", DEEPEST);
	if (!strcmp(m->type, "btrfs"))
		return btrfs_members(t, path, under, depth, e);
	if (kind == FS_OVERLAY) {
		cleanup_free char *upper = upper_dir(m->super);
		struct mount_entry um;
		int r;

		if (!upper || mount_of(upper, &um, NULL))
			return 0;
		r = of_filesystem(t, upper, &um, kind_of(upper, &um), under, depth + 1, e);
		mount_entry_done(&um);
		return r;
	}
	if (kind == FS_DISK && major(m->dev))
		return below(t, m->dev, under, depth, e);
	return 0;
}

int topology_of(const char *path, struct topology *ret, struct err *e)
{
	struct topology t = { 0 };
	int r = mount_of(path, &t.mount, e);

	if (r)
		return r;
	t.fs = kind_of(path, &t.mount);
	r = of_filesystem(&t, path, &t.mount, t.fs, -1, 0, e);
	if (r)
		topology_done(&t);
	else
		*ret = t;
	return r;
}

void topology_done(struct topology *t)
{
	mount_entry_done(&t->mount);
	vec_done(&t->devs);
}

void topology_queues(const struct topology *t, dev_t *devs, int *n, int max)
{
	for (size_t i = 0; i < t->devs.n; i++) {
		bool there = !strcmp(t->devs.p[i].kind, "partition");

		for (int k = 0; k < *n && !there; k++)
			there = devs[k] == t->devs.p[i].dev;
		if (!there && *n < max)
			devs[(*n)++] = t->devs.p[i].dev;
	}
}

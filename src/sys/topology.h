/* SPDX-License-Identifier: MIT */
/*
 * Where a directory's bytes end up: its mount, its filesystem, and every block
 * device from there down, through partitions, device mapper, md, loop files
 * and the members of a btrfs. From /proc/self/mountinfo (proc(5)) and
 * /sys/dev/block; nothing is written and no device is opened.
 */
#ifndef SYS_TOPOLOGY_H
#define SYS_TOPOLOGY_H

#include "base/err.h"
#include "base/vec.h"

#include <stdbool.h>
#include <sys/sysmacros.h>
#include <sys/types.h>

struct mount_entry {			/* a line of mountinfo; texts unescaped */
	int id, parent;
	dev_t dev;
	char *root, *point, *options, *type, *source, *super;	/* options of the mount; of the filesystem */
};
void mount_entry_done(struct mount_entry *m);
/* The mount that a path lives on. */
int mount_of(const char *path, struct mount_entry *ret, struct err *e);
/* The topmost mount exactly at `point`; -ENOENT: none. */
int mount_at(const char *point, struct mount_entry *ret, struct err *e);
/* All of them, in the order of mountinfo, which is that of mounting. */
int mount_each(int (*fn)(void *ctx, const struct mount_entry *m), void *ctx, struct err *e);
/* One line of mountinfo; false: malformed. */
bool mount_parse(const char *line, struct mount_entry *ret);

enum fs_kind {
	FS_DISK,	/* on block devices that we see */
	FS_MEMORY,	/* tmpfs, ramfs: no disk below */
	FS_NETWORK,	/* nfs, cifs, ceph, 9p, ...: the disk is elsewhere */
	FS_OVERLAY,	/* the writable layer decides, devices are those of its upper directory */
	FS_FUSE,	/* a program decides */
	FS_OTHER,	/* no device that we can see (zfs, bcachefs with several, proc, ...) */
};
const char *fs_kind_name(enum fs_kind k);	/* "disk", "memory", ... */

struct topo_dev {
	dev_t dev;
	char name[32];		/* "sda2", "dm-0", "loop3" */
	char kind[16];		/* "disk", "partition", "dm", "md", "loop" */
	int under;		/* index of the device it carries, -1: the filesystem itself */
	bool leaf;		/* nothing below it */
	char file[256];		/* loop: its backing file */
};

struct topology {
	struct mount_entry mount;
	enum fs_kind fs;
	VEC(struct topo_dev) devs;	/* from the filesystem down; each once */
};

int topology_of(const char *path, struct topology *ret, struct err *e);
void topology_done(struct topology *t);
/* Adds every device that has a request queue of its own (no partitions) to devs[max], each once; *n counts them. */
void topology_queues(const struct topology *t, dev_t *devs, int *n, int max);
/* "/sys/block/sda/queue" of a device (a partition's is its disk's), or false when it has none. */
bool topology_queue_dir(dev_t dev, char *ret, size_t size);
/* The device's name ("sda2"), or false. */
bool topology_name(dev_t dev, char *ret, size_t size);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * For tests of ops, probes and loads: a scratch directory on tmpfs or on disk,
 * an opened posix performer on it, and a count of what malloc() was asked.
 */
#ifndef TESTS_PLAY_H
#define TESTS_PLAY_H

#include "unit.h"

#include "base/mem.h"
#include "base/rng.h"
#include "perform/action.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "perform/posix.h"

static const char *const play_parents[] = { "/dev/shm", "/var/tmp" };	/* tmpfs; ext4 or what the machine has */

struct play {
	char dir[64];
	int dirfd;
	void *st;
	struct rng rng;
};

static inline void play_open(struct play *p, const char *parent, volatile int *stop)
{
	struct perform_conf conf = { .seed = 7, .stop = stop };
	struct err e = { 0 };

	snprintf(p->dir, sizeof(p->dir), "%s/stallmark-test.XXXXXX", parent);
	assert_non_null(mkdtemp(p->dir));
	p->dirfd = conf.dirfd = open(p->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	p->st = mem_alloc(perform_posix.plug.state_size);
	assert_int_equal(perform_posix.open(p->st, &conf, &e), 0);
	rng_seed(&p->rng, 7);
}

/* Removes what is below; returns how many entries there were. */
static inline int play_empty(int dirfd, const char *name)
{
	int fd = openat(dirfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW), n = 0;
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *de;

	while (d && (de = readdir(d))) {
		if (!strcmp(de->d_name, ".") || !strcmp(de->d_name, ".."))
			continue;
		n++;
		if (unlinkat(fd, de->d_name, 0) < 0) {
			n += play_empty(fd, de->d_name);
			unlinkat(fd, de->d_name, AT_REMOVEDIR);
		}
	}
	if (d)
		closedir(d);
	return n;
}

static inline int play_close(struct play *p)
{
	int left;

	perform_posix.close(p->st);
	free(p->st);
	left = play_empty(p->dirfd, ".");
	close(p->dirfd);
	assert_int_equal(rmdir(p->dir), 0);
	return left;
}

static inline struct op_result play_op(struct play *p, struct op op)
{
	struct op_result res;

	perform_posix.perform(p->st, &op, &res);
	return res;
}

#endif

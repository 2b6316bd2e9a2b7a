/* SPDX-License-Identifier: MIT */
/* mkfs and mount of a lab's device, by the programs of the distribution, without a shell. */
#ifndef LAB_MAKE_FS_H
#define LAB_MAKE_FS_H

#include "lab/lab.h"
#include "lab/loop.h"

/* Before anything is started: is the filesystem known to us and this kernel, its mkfs installed? -ENOTSUP, -ENOENT (with
 * the package), -EINVAL. */
int make_fs_check(const struct lab_conf *c, struct err *e);
/* Both ask loop_is_ours() first. -EINTR: a blocked SIGINT, SIGTERM or SIGHUP is pending; mkfs was ended. */
int make_fs(const struct lab_conf *c, const struct loop *l, struct err *e);
int mount_fs(const struct lab_conf *c, const struct loop *l, const char *point, struct undo *u, struct err *e);

/* A signal that ends commands is blocked and waiting. */
bool lab_interrupted(void);

#endif

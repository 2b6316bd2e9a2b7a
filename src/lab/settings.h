/* SPDX-License-Identifier: MIT */
/*
 * What makes a loop device look like that disk, and the kernel around it like
 * that machine: scheduler, depths, cache, limits. Everything is undoable, set,
 * and read back; what the kernel did not take is said, not hidden.
 */
#ifndef LAB_SETTINGS_H
#define LAB_SETTINGS_H

#include "lab/lab.h"

/* `said` gets a line for each refusal. Only a scheduler that the kernel lacks is an error (-ENOTSUP). */
int settings_apply(const struct lab_conf *c, const struct profile *p, const char *device, struct undo *u,
		   struct strbuf *said, struct err *e);
/* Makes the memory cgroup; ret_procs: the file that takes pids. -ENOTSUP without a memory controller. */
int settings_cgroup(const struct lab_conf *c, struct undo *u, struct strbuf *ret_procs, struct err *e);

#endif

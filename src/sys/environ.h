/* SPDX-License-Identifier: MIT */
/*
 * The facts of the machine that a result depends on. Each goes to fn as key,
 * value and whether it counts: two sides of a comparison that differ in a
 * counting fact differ in a factor (design, rule 8).
 *
 *	kernel.build_id  kernel.cmdline (without the image's name)  kernel.release*
 *	fs.type  fs.options			of the first directory; fs2., fs3. of the others
 *	dev.model  dev.scheduler  dev.wbt_lat_usec ...	of the device that carries it; dev2., ...
 *	below.model  below.scheduler ...		of the devices under that one (loop, dm, md)
 *	mem.total
 *
 * (*) counts only when the build id is unknown: one kernel is one difference. Keys with the same first word belong
 * together. Not counting: vm.* (sysctls), cpu.*, machine.*, security.lockdown, psi, missing (what only root may
 * read). Serial numbers and host names are not asked for.
 */
#ifndef SYS_ENVIRON_H
#define SYS_ENVIRON_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

typedef int (*environ_fn)(void *ctx, const char *key, const char *value, bool counts);

/* Ends at the first non-zero result of fn and returns it; a fact that the kernel does not have is left out. */
int environ_facts(const char *const *dirs, int ndirs, environ_fn fn, void *ctx);

/* The build id of the running kernel in hex, or "" (from /sys/kernel/notes, readable by all). */
const char *environ_build_id(char *buf, size_t size);
/* The same from the bytes of the file; false: no GNU build id in it. */
bool environ_build_id_parse(const unsigned char *notes, size_t n, char *buf, size_t size);
/* "none", "integrity", "confidentiality", or "unknown" (securityfs is not mounted). */
const char *environ_lockdown(char *buf, size_t size);
/* "kvm", "docker", ... or "none". */
const char *environ_virt(char *buf, size_t size);

#endif

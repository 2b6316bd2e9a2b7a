/* SPDX-License-Identifier: MIT */
/*
 * One side of `ab`: K=V,K=V... as typed settings. (It is not the scenario: it
 * is what differs from it.)
 *
 *	scheduler=bfq			of every request queue under the directory
 *	scheduler.low_latency=0		a tunable of that scheduler
 *	queue.nr_requests=64		an attribute of the queue
 *	vm.dirty_bytes=64M		writeback settings of the machine
 *	kernel=6.1.0-9			must be running; ab waits for the reboot
 *	write.n=16, time=30s		any key of the scenario (SECTION.KEY, or a global one)
 *
 * fs, mkfs, mount and disk belong to a lab and are refused here.
 */
#ifndef TRIAL_SETTING_H
#define TRIAL_SETTING_H

#include "base/err.h"
#include "base/vec.h"
#include "sys/undo.h"

enum setting_kind { SETTING_SCENARIO, SETTING_QUEUE, SETTING_VM, SETTING_KERNEL };

struct setting {
	enum setting_kind kind;
	char *key, *value;	/* as typed; value of VM: as the kernel wants it */
	char *attr;		/* QUEUE: below queue/; VM: in /proc/sys/vm */
};

struct ab_settings {
	VEC(struct setting) p;
};

/* text "" or NULL: no setting. -EINVAL with the nearest right word. */
int ab_settings_parse(const char *text, struct ab_settings *ret, struct err *e);
void ab_settings_done(struct ab_settings *s);

bool ab_settings_need_root(const struct ab_settings *s);	/* touch the machine outside our files */
bool ab_settings_machine_wide(const struct ab_settings *s);	/* vm.*: also other disks and programs */
const char *ab_settings_kernel(const struct ab_settings *s);	/* NULL: any */

/* Do all queue attributes exist, is the scheduler offered? queue_dirs: "/sys/block/sda/queue", ends with NULL. */
int ab_settings_check(const struct ab_settings *s, const char *const *queue_dirs, struct err *e);

/* Sets them through the undo log, the scheduler before its tunables; each is read back. -EIO when one did not stick. */
int ab_settings_apply(const struct ab_settings *s, const char *const *queue_dirs, struct undo *u, struct err *e);

#endif

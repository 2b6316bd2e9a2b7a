/* SPDX-License-Identifier: MIT */
/* What the files behind `stallmark lab` share. */
#ifndef CMD_CMD_LAB_H
#define CMD_CMD_LAB_H

#include "base/err.h"
#include "page/page.h"

#include <stdbool.h>

/* lab-disks.c: the table of all profiles, or one explained: every value with its source. */
int lab_disks_page(struct page **ret, struct err *e);
int lab_disk_page(const char *name, struct page **ret, struct err *e);

struct lab_fit_options {
	const char *device, *dir, *time, *output;
};
extern struct lab_fit_options lab_fit_opt;
int lab_fit_command(int argc, char **argv, bool json);	/* lab-fit.c */

#endif

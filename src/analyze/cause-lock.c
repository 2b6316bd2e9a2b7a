/* SPDX-License-Identifier: MIT */
#include "analyze/cause.h"

const struct cause_ops cause_lock = {
	.plug = { .name = "lock", .about = "a lock that another task holds" },
	.classes = { WAIT_LOCK },
	.whom = "the holder of the lock (a hung-task report of 6.16 and later names it): see what that "
		"task waits for",
};

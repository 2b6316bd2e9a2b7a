/* SPDX-License-Identifier: MIT */
#include "analyze/cause.h"

const struct cause_ops cause_cgroup_limit = {
	.plug = { .name = "cgroup-limit", .about = "an I/O controller holds this cgroup back" },
	.classes = { WAIT_CGROUP_THROTTLE, WAIT_IOCOST },
	.whom = "the limit of the cgroup the task is in: io.max, blkio.throttle, io.latency or io.cost",
};

/* SPDX-License-Identifier: MIT */
#include "analyze/cause.h"

const struct cause_ops cause_other = {
	.plug = { .name = "other", .about = "anything else" },
	.classes = { WAIT_SLEEP, WAIT_IDLE, WAIT_TASK, WAIT_INPUT, WAIT_URING, WAIT_NETFS, WAIT_FUSE, WAIT_WORKQUEUE },
};

/* SPDX-License-Identifier: MIT */
#include "analyze/cause.h"

const struct cause_ops cause_stopped = {
	.plug = { .name = "stopped", .about = "the task was stopped by a signal or debugger; this is not I/O" },
	.classes = { WAIT_STOPPED },
	.whom = "whoever stopped it (SIGSTOP, a debugger, the freezer): this is not the disk",
};

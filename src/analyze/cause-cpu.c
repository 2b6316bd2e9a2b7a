/* SPDX-License-Identifier: MIT */
#include "analyze/cause.h"

const struct cause_ops cause_cpu = {
	.plug = { .name = "cpu", .about = "a CPU to run on; this is not I/O" },
	.classes = { WAIT_CPU },
	.whom = "whoever keeps the CPUs busy: this is not the disk",
};

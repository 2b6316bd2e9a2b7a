/* SPDX-License-Identifier: MIT */
#include "analyze/cause.h"

const struct cause_ops cause_sched_hold = {
	.plug = { .name = "sched-hold", .about = "the I/O scheduler holds the request back" },
	.classes = { WAIT_SCHED_HOLD },
	.whom = "the scheduler, which serves another process first",
	.remedy = "another scheduler",
	.ab = "stallmark ab quick --a sched=bfq --b sched=mq-deadline",
};

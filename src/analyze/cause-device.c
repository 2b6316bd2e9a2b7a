/* SPDX-License-Identifier: MIT */
#include "analyze/cause.h"

const struct cause_ops cause_device = {
	.plug = { .name = "device", .about = "a request to the disk" },
	.classes = { WAIT_WRITEBACK, WAIT_PAGE_READ, WAIT_DIRECT_IO, WAIT_META_READ, WAIT_SYNC_BIO, WAIT_DEVICE },
	.whom = "the disk, and whoever has requests in front of this one",
	.remedy = "another scheduler orders requests differently",
	.ab = "stallmark ab quick --a sched=none --b sched=bfq",
};

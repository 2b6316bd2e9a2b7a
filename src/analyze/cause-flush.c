/* SPDX-License-Identifier: MIT */
#include "analyze/cause.h"

const struct cause_ops cause_flush = {
	.plug = { .name = "flush", .about = "the disk empties its write cache" },
	.classes = { WAIT_DEVICE_FLUSH },
	.whom = "the disk: a cache flush takes as long as all writes it holds in its cache, whoever wrote "
		"them",
	.remedy = "without barriers (unsafe, in the lab only) shows how much of it is the flush",
	.ab = "stallmark ab fsync --lab fs=ext4 --a mount=barrier=1 --b mount=barrier=0",
};

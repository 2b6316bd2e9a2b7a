/* SPDX-License-Identifier: MIT */
#include "analyze/cause.h"

const struct cause_ops cause_reclaim = {
	.plug = { .name = "reclaim", .about = "memory was short and the task had to free some itself" },
	.classes = { WAIT_RECLAIM },
	.whom = "whoever fills the memory (or the memory cgroup) with dirty pages that must be written "
		"before they can be reused",
	.remedy = "less dirty data leaves clean pages to reclaim",
	.ab = "stallmark ab quick --a vm.dirty_bytes=default --b vm.dirty_bytes=64M",
};

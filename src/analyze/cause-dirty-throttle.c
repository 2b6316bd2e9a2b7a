/* SPDX-License-Identifier: MIT */
#include "analyze/cause.h"

const struct cause_ops cause_dirty_throttle = {
	.plug = { .name = "dirty-throttle", .about = "the kernel makes writers sleep while too much dirty data waits" },
	.classes = { WAIT_DIRTY_THROTTLE },
	.whom = "whoever writes much at the moment, which may be this task itself; the limits may be low "
		"because memory is",
	.remedy = "other dirty limits move the point where writers are stopped",
	.ab = "stallmark ab quick --a vm.dirty_bytes=default --b vm.dirty_bytes=64M",
};

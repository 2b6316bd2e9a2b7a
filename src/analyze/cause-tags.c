/* SPDX-License-Identifier: MIT */
#include "analyze/cause.h"

const struct cause_ops cause_tags = {
	.plug = { .name = "tags", .about = "all request slots of the queue are taken" },
	.classes = { WAIT_TAGS },
	.whom = "whoever has many requests in the queue of that device, often a flusher on behalf of a "
		"large writer",
	.remedy = "more slots, or a scheduler that reserves some",
	.ab = "stallmark ab quick --a queue.nr_requests=default --b queue.nr_requests=1024",
};

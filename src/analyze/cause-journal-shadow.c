/* SPDX-License-Identifier: MIT */
#include "analyze/cause.h"

const struct cause_ops cause_journal_shadow = {
	.plug = { .name = "journal-shadow", .about = "a metadata block that a commit is just writing" },
	.classes = { WAIT_JBD2_SHADOW, WAIT_BUFFER_LOCK },
	.whom = "the journal commit that is writing this very block; it may be modified again when the "
		"block is on the disk",
	.remedy = "an external or faster journal shortens it",
	.ab = "stallmark ab small-create --lab fs=ext4 --a mount=data=ordered --b mount=data=writeback",
};

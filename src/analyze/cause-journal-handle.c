/* SPDX-License-Identifier: MIT */
#include "analyze/cause.h"

const struct cause_ops cause_journal_handle = {
	.plug = { .name = "journal-handle", .about = "permission to join the running transaction" },
	.classes = { WAIT_JBD2_HANDLE },
	.whom = "a commit that is locking its transaction, and with it the tasks that still hold a handle "
		"of that transaction open",
	.remedy = "a larger journal locks less often",
	.ab = "stallmark ab small-create --lab fs=ext4 --a mkfs=-J+size=16 --b mkfs=-J+size=256",
};

/* SPDX-License-Identifier: MIT */
#include "analyze/cause.h"
#include "analyze/walk.h"

/* A commit that locks its transaction lets nobody in: whom to follow is the journal, as for the commit itself. */
const struct cause_ops cause_journal_handle = {
	.plug = { .name = "journal-handle", .about = "permission to join the running transaction" },
	.classes = { WAIT_JBD2_HANDLE },
	.whom = "a commit that is locking its transaction, and with it the tasks that still hold a handle "
		"of that transaction open",
	.remedy = "a larger journal locks less often; in a lab, as mkfs differs",
	.ab = "stallmark run fsmark-fio --lab fs=ext4,mkfs=-J+size=256",
	.follow = walk_follow_journal,
};

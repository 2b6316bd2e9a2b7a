/* SPDX-License-Identifier: MIT */
#include "analyze/cause.h"
#include "analyze/walk.h"

const struct cause_ops cause_journal_commit = {
	.plug = { .name = "journal-commit", .about = "a journal commit that this task asked for (fsync) or has to wait for" },
	.classes = { WAIT_JBD2_COMMIT_WAIT },
	.whom = "the journal thread of that filesystem (jbd2/DEV or kjournald): its own stack says what "
		"the commit waits for, most often file data that another program wrote",
	.remedy = "data=writeback frees a commit from other programs' file data; in a lab, as the mount differs",
	.ab = "stallmark run torture-fsync --lab fs=ext4,mount=data=writeback",
	.follow = walk_follow_journal,
};

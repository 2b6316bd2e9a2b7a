/* SPDX-License-Identifier: MIT */
#include "analyze/cause.h"

const struct cause_ops cause_journal_space = {
	.plug = { .name = "journal-space", .about = "free space in the journal" },
	.classes = { WAIT_JBD2_SPACE },
	.whom = "the checkpoint: the journal is full, and old transactions' metadata must reach its place "
		"on the disk first; whoever changes much metadata fills it",
	.remedy = "a larger journal fills less often",
	.ab = "stallmark ab fsmark-fio --lab fs=ext4 --a mkfs=-J+size=16 --b mkfs=-J+size=256",
};

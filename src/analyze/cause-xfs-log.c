/* SPDX-License-Identifier: MIT */
#include "analyze/cause.h"

const struct cause_ops cause_xfs_log = {
	.plug = { .name = "xfs-log", .about = "the XFS log" },
	.classes = { WAIT_XFS_LOG, WAIT_XFS_BUFFER },
	.whom = "the log write or, when space is short, the metadata writeback (xfsaild) that must free "
		"it; whoever changes much metadata fills it",
	.remedy = "a larger log fills less often",
	.ab = "stallmark ab fsmark-fio --lab fs=xfs --a mkfs=-l+size=16m --b mkfs=-l+size=256m",
};

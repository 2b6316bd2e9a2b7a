/* SPDX-License-Identifier: MIT */
#include "analyze/cause.h"

const struct cause_ops cause_btrfs = {
	.plug = { .name = "btrfs", .about = "a btrfs log or transaction commit, or space reservation" },
	.classes = { WAIT_BTRFS_LOG, WAIT_BTRFS_COMMIT, WAIT_BTRFS_SPACE },
	.whom = "the task that commits the transaction, and whoever dirtied the data and metadata in it",
	.remedy = "rarer commits",
	.ab = "stallmark ab quick --lab fs=btrfs --a mount=commit=5 --b mount=commit=30",
};

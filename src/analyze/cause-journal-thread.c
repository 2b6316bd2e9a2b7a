/* SPDX-License-Identifier: MIT */
#include "analyze/cause.h"

const struct cause_ops cause_journal_thread = {
	.plug = { .name = "journal-thread", .about = "the journal thread at work on a commit" },
	.classes = { WAIT_JBD2_THREAD },
	.whom = "whoever dirtied the ordered data or metadata of this transaction; every fsync on the "
		"filesystem waits with it",
	.remedy = "smaller dirty limits leave less data for a commit to flush",
	.ab = "stallmark ab torture-fsync --a vm.dirty_bytes=default --b vm.dirty_bytes=64M",
};

/* SPDX-License-Identifier: MIT */
/* Events of a foreign record, whatever their numbers: every explanation ends, and its leaves sum to the stall. */
#include "analyze/walk.h"
#include "base/cleanup.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static double leaves_of(const struct walk_node *n)
{
	double sum = n->kind == WALK_LEAF ? n->ns : 0;

	if (n->kind == WALK_LEAF && bill_sum(&n->bill) > n->ns * 1.001 + 1000)
		abort();
	for (size_t i = 0; i < n->nkids; i++)
		sum += leaves_of(n->kid[i]);
	return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint32_t kinds[] = { EV_WAIT, EV_RUNQ, EV_BLK_RQ, EV_JBD2_COMMIT, EV_JBD2_HANDLE, EV_DIRTY, EV_SIGNAL };
	struct trace t = { 0 };
	events_t *home[] = { &t.wait, &t.runq, &t.rq, &t.commit, &t.handle, &t.dirty, &t.signal };

	for (; size >= 12; data += 12, size -= 12) {	/* one row of small numbers */
		struct event ev = { .kind = kinds[data[0] % ARRAY_SIZE(kinds)], .tid = 1 + data[1] % 6, .class = data[2] % (WAIT_MAX + 2),
				    .t = (nsec_t)data[3] * 50 * NSEC_PER_MSEC, .dur = (nsec_t)data[4] * 20 * NSEC_PER_MSEC,
				    .dev = data[5] % 3, .ino = data[6] % 3, .other = data[7] % 6, .a = data[8], .b = data[9] % 6,
				    .e = (uint64_t)data[10] * 1000000, .d = data[10], .c = (uint64_t)data[9] * 1000000,
				    .flags = (uint32_t)data[11] << 4 | data[11] };

		ev.pid = ev.tid;
		if (ev.kind == EV_WAIT)
			ev.a = (uint64_t)data[8] * 1000000;
		if (ev.kind == EV_BLK_RQ && (int64_t)ev.e > ev.dur)
			ev.e = (uint64_t)ev.dur;
		vec_push(home[data[0] % ARRAY_SIZE(kinds)], ev);
	}
	trace_index(&t);
	for (uint32_t tid = 1; tid <= 6; tid++) {
		struct walk_node *n = walk_task(&t, tid, 0, 5 * NSEC_PER_SEC);

		if (fabs(leaves_of(n) - 5e9) > 1e6)
			abort();
		walk_merge(n);
		if (fabs(leaves_of(n) - 5e9) > 1e6)
			abort();
		walk_free(n);
	}
	trace_done(&t);
	return 0;
}

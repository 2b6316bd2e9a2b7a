/* SPDX-License-Identifier: MIT */
/*
 * The fsync tester of the ext3 latency threads of 2009: writes 1 MiB at offset
 * 0, times the fsync, sleeps a second, prints "fsync time: 0.0421". People
 * paste two runs side by side; each column is then a side.
 */
#include "format/columns.h"

#define PREFIX "fsync time:"

static int fsync_tester_sniff(const uint8_t *head, size_t n, const char *name)
{
	struct columns_look l = { .prefix = PREFIX };

	columns_look(head, n, &l);
	return !l.prefixed ? 0 : l.prefixed >= l.other ? 95 : 60;
}

static int fsync_tester_import(struct input *in, const struct import_sink *sink, struct err *e)
{
	static const struct columns_conf conf = {
		.prefix = PREFIX, .series = "fsync", .meaning = "one fsync of the fsync tester", .what = "fsync times", .interval_ns = "1000000000",
	};

	return columns_import(in, &conf, sink, e);
}

const struct format_ops format_fsync_tester = {
	.plug = { .name = "fsync-tester", .about = "\"fsync time: 0.0421\" lines, in one or more columns" },
	.sniff = fsync_tester_sniff,
	.import = fsync_tester_import,
};

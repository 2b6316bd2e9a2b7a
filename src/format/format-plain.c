/* SPDX-License-Identifier: MIT */
/* One number a line, in seconds or with its unit ("3.41", "12 ms"). */
#include "format/columns.h"

static int plain_sniff(const uint8_t *head, size_t n, const char *name)
{
	struct columns_look l = { 0 };

	columns_look(head, n, &l);
	if (!l.rows || l.wide * 2 > l.rows || l.rows < 2 * l.other)
		return 0;
	return l.comma == l.rows ? 30 : 60;	/* "12,34" alone may be two columns of CSV */
}

static int plain_import(struct input *in, const struct import_sink *sink, struct err *e)
{
	static const struct columns_conf conf = {
		.series = "wait", .meaning = "one number a line", .what = "numbers",
	};

	return columns_import(in, &conf, sink, e);
}

const struct format_ops format_plain = {
	.plug = { .name = "plain", .about = "one number a line, in seconds or with a unit" },
	.sniff = plain_sniff,
	.import = plain_import,
};

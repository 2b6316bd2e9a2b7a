/* SPDX-License-Identifier: MIT */
/* Two or more columns of numbers without any word that tells what they are: each column is a side. */
#include "format/columns.h"

static int columns_sniff(const uint8_t *head, size_t n, const char *name)
{
	struct columns_look l = { 0 };

	columns_look(head, n, &l);
	return l.wide && l.wide * 2 > l.rows && l.rows >= 2 * l.other ? 50 : 0;
}

static int columns_import_(struct input *in, const struct import_sink *sink, struct err *e)
{
	static const struct columns_conf conf = {
		.series = "wait", .meaning = "the numbers of one column", .what = "numbers in columns",
	};

	return columns_import(in, &conf, sink, e);
}

const struct format_ops format_columns = {
	.plug = { .name = "columns", .about = "numbers in two or more columns, each a side" },
	.sniff = columns_sniff,
	.import = columns_import_,
};

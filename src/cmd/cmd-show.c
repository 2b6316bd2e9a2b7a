/* SPDX-License-Identifier: MIT */
/* stallmark show: the one screen of a record. */
#include "analyze/analyze.h"
#include "cmd/cmd.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static const char *format;
static bool json, verbose;
static struct opt_list fail_if;

static const struct opt *options(void)
{
	static const struct opt o[] = {
		{ 0, "json", OPT_FLAG, &json, NULL, "one JSON document" },
		{ 0, "format", OPT_TEXT, &format, "FORMAT", "term, json, md, csv or lkml" },
		{ 0, "fail-if", OPT_LIST, &fail_if, "PROBE.METRIC>VALUE", "exit 1 when true: 'fsync.p90 > 2s'" },
		{ 'v', "verbose", OPT_FLAG, &verbose, NULL, "all details" },
		{ 0 },
	};

	format = NULL;
	json = verbose = false;
	fail_if = (struct opt_list){ 0 };
	return o;
}

static int run(int argc, char **argv)
{
	struct rec *rec = NULL;
	struct page *page = NULL;
	struct err e = { 0 };
	bool fails = false;
	int code;

	(void)argc;
	if (rec_open(argv[0], &rec, &e))
		return cmd_fail(&e);
	if (analyze_show(rec, &page, &e) || analyze_gates(rec, fail_if.v, fail_if.n, page, &fails, &e)) {
		code = cmd_fail(&e);
	} else {
		code = cmd_print_page(page, json ? "json" : format, verbose);
		if (rec_damaged(rec))
			fprintf(stderr, "stallmark: %s is damaged: %llu pieces could not be read\n", argv[0],
				(unsigned long long)rec_damaged(rec));
		if (!code && fails)
			code = EXIT_GATE;
	}
	page_free(page);
	rec_close(rec);
	free(fail_if.v);
	return code;
}

const struct cmd cmd_show = {
	.name = "show",
	.about = "the one screen of a record: how long people waited, and for what",
	.usage = "[options] FILE",
	.group = "Read",
	.options = options,
	.min_args = 1,
	.max_args = 1,
	.run = run,
};

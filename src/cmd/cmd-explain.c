/* SPDX-License-Identifier: MIT */
#include "analyze/explain.h"
#include "base/cleanup.h"
#include "base/units.h"
#include "cmd/cmd.h"

#include <stdlib.h>

static const char *stall, *probe, *threshold, *run_number, *show;
static bool json, folded, chrome;

static const struct opt *options(void)
{
	static const struct opt o[] = {
		{ 's', "stall", OPT_TEXT, &stall, "N", "only the N-th longest stall, in full" },
		{ 'n', "number", OPT_TEXT, &show, "N", "how many stalls to show (5)" },
		{ 'p', "probe", OPT_TEXT, &probe, "NAME", "only stalls of this probe" },
		{ 't', "threshold", OPT_TEXT, &threshold, "TIME", "what counts as a stall (as recorded)" },
		{ 'r', "run", OPT_TEXT, &run_number, "N", "the run of the record (the first)" },
		{ 0, "json", OPT_FLAG, &json, NULL, "one JSON document instead of the screen" },
		{ 0, "folded", OPT_FLAG, &folded, NULL, "folded paths in microseconds, for flame graphs" },
		{ 0, "chrome", OPT_FLAG, &chrome, NULL, "Chrome trace JSON; Perfetto opens it" },
		{ 0 }
	};

	stall = probe = threshold = run_number = show = NULL;
	json = folded = chrome = false;
	return o;
}

static int number(const char *option, const char *text, int *ret)
{
	struct err e = { 0 };
	uint64_t n = 0;

	if (!text)
		return 0;
	if (units_count(text, &n, &e) < 0 || !n || n > 1000000)
		return cmd_usage("explain", "--%s %s is not a number from 1 on", option, text);
	*ret = (int)n;
	return 0;
}

static int run(int argc, char **argv)
{
	cleanup_strbuf struct strbuf out = STRBUF_INIT;
	struct explain_conf c = { .probe = probe };
	struct page *p = NULL;
	struct rec *rec = NULL;
	struct err e = { 0 };
	int r;

	if ((r = number("stall", stall, &c.stall)) || (r = number("run", run_number, &c.run)) || (r = number("number", show, &c.show)))
		return r;
	if (json + folded + chrome > 1)
		return cmd_usage("explain", "choose one of --json, --folded and --chrome");
	if (threshold && units_nsec(threshold, &c.threshold, &e) < 0)
		return cmd_fail(&e);
	r = rec_open(argv[0], &rec, &e);
	if (r < 0)
		return cmd_fail(&e);
	if (json && !c.show)
		c.show = 2000;
	if (folded)
		r = analyze_explain_folded(rec, &c, &out, &e);
	else if (chrome)
		r = analyze_explain_chrome(rec, &c, &out, &e);
	else
		r = analyze_explain(rec, &c, &p, &e);
	if (r < 0) {
		rec_close(rec);
		return cmd_fail(&e);
	}
	if (p)
		r = cmd_print_page(p, json ? "json" : NULL, false);
	else
		fwrite(strbuf_str(&out), 1, out.len, stdout);
	page_free(p);
	rec_close(rec);
	return r;
}

const struct cmd cmd_explain = {
	.name = "explain",
	.about = "what each stall of a record waited for, and who caused it",
	.usage = "[options] FILE",
	.group = "Read",
	.options = options,
	.details = "Worst stalls first: one sentence, then the chain with seconds and bars, then who is behind it over all stalls.",
	.min_args = 1,
	.max_args = 1,
	.run = run,
};

/* SPDX-License-Identifier: MIT */
#include "analyze/compare.h"
#include "base/cleanup.h"
#include "base/units.h"
#include "cmd/cmd.h"
#include "cmd/side-load.h"

#include <errno.h>

#include <stdio.h>
#include <string.h>

#define SIDES_MAX	26
#define BISECT_SKIP	125

static bool json, strict, bisect, allow_different, verbose;
static const char *format, *margin, *share_margin, *alpha, *as, *pause_text;
static struct opt_list fail_if;

static const struct opt *options(void)
{
	static const struct opt o[] = {
		{ 0, "fail-if", OPT_LIST, &fail_if, "EXPR", "exit 1 when true: worse, or PROBE.METRIC with <, <=, >, >=, =, != and a value "
		  "('editor-save.stuck > 5%'), of each side but the first; may be given several times" },
		{ 0, "margin", OPT_TEXT, &margin, "SHARE", "differences of ratios below this do not count (10%)" },
		{ 0, "share-margin", OPT_TEXT, &share_margin, "SHARE", "the same for the stuck share, in points (1%)" },
		{ 0, "alpha", OPT_TEXT, &alpha, "P", "how often equal sides may be called different (0.05)" },
		{ 0, "allow-different", OPT_FLAG, &allow_different, NULL, "compare although more than one thing differs, simulated against "
		  "real, or the lab against a real disk" },
		{ 0, "strict", OPT_FLAG, &strict, NULL, "exit 3 when nothing can be decided or a file was left out" },
		{ 0, "bisect", OPT_FLAG, &bisect, NULL, "for git bisect run: exit 0 good, 1 bad, 125 anything else" },
		{ 0, "as", OPT_TEXT, &as, "FORMAT", "foreign files are of this format (else found out)" },
		{ 0, "pause", OPT_TEXT, &pause_text, "TIME", "what the tester of a foreign file slept between two actions; needed for "
		  "the stuck share when the file has no time stamps" },
		{ 'v', "verbose", OPT_FLAG, &verbose, NULL, "every run in absolute times, and the setup" },
		{ 0, "format", OPT_TEXT, &format, "FORMAT", "text, lkml (a mail to a kernel list), md, csv or json" },
		{ 0, "json", OPT_FLAG, &json, NULL, "one JSON document instead of the screen" },
		{ 0 }
	};

	json = strict = bisect = allow_different = verbose = false;
	format = margin = share_margin = alpha = as = pause_text = NULL;
	fail_if = (struct opt_list){ 0 };
	return o;
}

static int parse(struct compare_conf *c, struct side_load_conf *load, struct err *e)
{
	int r = 0;

	if (margin)
		r = units_share(margin, &c->margin, e);
	if (!r && share_margin)
		r = units_share(share_margin, &c->share_margin, e);
	if (!r && alpha)
		r = units_number(alpha, &c->alpha, e);
	if (!r && pause_text)
		r = units_nsec(pause_text, &load->pause, e);
	if (!r && !(c->alpha > 0 && c->alpha < 1))
		r = err_set(e, -EINVAL, "--alpha %s is not between 0 and 1", alpha);
	if (!r && !(c->margin > 0 && c->share_margin > 0))
		r = err_set(e, -EINVAL, "a margin must be above 0");
	return r;
}

static int gates(struct compare_conf *c, struct err *e)
{
	struct gate *g = mem_array(fail_if.n + 1, sizeof(*g));
	int r = 0;

	for (size_t i = 0; i < fail_if.n && !r; i++)
		r = gate_parse(fail_if.v[i], &g[i], e);
	c->gates = g;
	c->ngates = fail_if.n;
	return r;
}

static int load_sides(int argc, char **argv, const struct side_load_conf *load, struct side ***ret, size_t *ret_n,
		      struct err *e)
{
	int r = 0;

	if (argc == 1)
		return side_load_columns(argv[0], load, ret, ret_n, e);
	*ret = mem_array((size_t)argc, sizeof(**ret));
	for (int i = 0; i < argc && !r; i++) {
		r = side_load(argv[i], load, &(*ret)[i], e);
		*ret_n += !r;
	}
	return r;
}

static int exit_code(const struct compare_outcome *o, bool broken)
{
	bool worse = o->verdict == VERDICT_WORSE || o->verdict == VERDICT_MIXED;

	if (bisect) {
		if (o->gate_failed || (!fail_if.n && worse && o->strength > STRENGTH_SUGGESTIVE))
			return 1;
		return o->undecided || broken ? BISECT_SKIP : 0;
	}
	if (o->gate_failed)
		return EXIT_GATE;
	return strict && (o->undecided || broken) ? EXIT_UNDECIDED : EXIT_FINE;
}

static const char *writer(void)
{
	if (json)
		return "json";
	return format && !strcmp(format, "text") ? "text" : format;
}

static int compare(int argc, char **argv, struct err *e)
{
	struct compare_conf conf = { .alpha = 0.05, .margin = 0.10, .share_margin = 0.01, .allow_different = allow_different,
				     .mail = format && !strcmp(format, "lkml") };
	bool broken = false;
	struct side_load_conf load = { .as = as, .pause = -1, .broken = &broken };
	struct compare_outcome out = { 0 };
	struct side **sides = NULL;
	struct page *p = NULL;
	size_t n = 0;
	int r = parse(&conf, &load, e), code = -1;

	if (!r)
		r = gates(&conf, e);
	if (!r)
		r = load_sides(argc, argv, &load, &sides, &n, e);
	if (!r)
		r = analyze_compare(sides, n, &conf, &p, &out, e);
	if (!r) {
		code = cmd_print_page(p, writer(), verbose);
		if (code == EXIT_FINE)
			code = exit_code(&out, broken);
	}
	page_free(p);
	for (size_t i = 0; i < n; i++)
		side_free(sides[i]);
	free(sides);
	free((void *)conf.gates);
	return code;
}

static int run(int argc, char **argv)
{
	struct err e = { 0 };
	int code;

	if (argc > SIDES_MAX)
		return cmd_usage("compare", "%d sides are too many; at most %d", argc, SIDES_MAX);
	code = compare(argc, argv, &e);
	if (code < 0)
		code = cmd_fail(&e);
	return bisect && code > 1 ? BISECT_SKIP : code;
}

const struct cmd cmd_compare = {
	.name = "compare",
	.about = "did it get better? A verdict that holds, from runs of two settings or more",
	.usage = "[options] A B [C ...]  or  compare [options] FILE|-",
	.group = "Read",
	.options = options,
	.details = "Each side is a record, a directory or a quoted glob of records (each a run, or several), or any file that can be "
		   "imported (stallmark import --help). The first side is A, each other is compared with it. With one argument, "
		   "its columns are the sides: two pasted columns of waits are enough (-: standard input).\n\n"
		   "The verdict is BETTER, WORSE, MIXED, SAME or UNCLEAR. Three runs a side and more are needed for a verdict about the "
		   "settings; single runs only tell whether these two runs differ. Exits 0 also on WORSE unless --fail-if says "
		   "otherwise.",
	.min_args = 1,
	.max_args = -1,
	.run = run,
};

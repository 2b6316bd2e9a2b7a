/* SPDX-License-Identifier: MIT */
/* stallmark export: a record for other programs and for mails. lkml and md are the screen of show in another dress. */
#include "analyze/analyze.h"
#include "base/cleanup.h"
#include "cmd/cmd.h"
#include "config.h"
#include "format/format.h"
#include "format/scrub.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char *as, *output, *series;
static bool scrub, force;

static const struct opt *options(void)
{
	static const struct opt o[] = {
		{ 0, "as", OPT_TEXT, &as, "FORMAT", "csv, json, hdr, fio-lat, openmetrics, chrome, lkml or md" },
		{ 'o', "output", OPT_TEXT, &output, "FILE", "where it goes, instead of standard output" },
		{ 0, "series", OPT_TEXT, &series, "NAME", "only this probe or counter" },
		{ 0, "scrub", OPT_FLAG, &scrub, NULL, "without host names, paths and command lines" },
		{ 0, "force", OPT_FLAG, &force, NULL, "replace FILE when it exists" },
		{ 0 }
	};

	as = output = series = NULL;
	scrub = force = false;
	return o;
}

static void scrub_node(struct node *n, struct scrub *s)
{
	if (n->v.kind == VALUE_TEXT || n->kind == NODE_TEXT || n->kind == NODE_PRE) {
		char *old = (char *)n->v.text;
		bool tell = !n->key || scrub_fact(s, n->key);

		n->v.text = old ? mem_dup(tell ? scrub_text(s, old) : "<scrubbed>") : NULL;
		free(old);
	}
	for (size_t i = 0; i < n->nkids; i++)
		scrub_node(n->kids[i], s);
}

/* The screen of show, written by a report writer to standard output. */
static int export_page(struct rec *rec, struct err *e)
{
	struct page *page = NULL;
	struct scrub s;
	int code;

	if (series)
		return cmd_usage("export", "--series does not go with --as %s", as);
	if (analyze_show(rec, &page, e))
		return cmd_fail(e);
	scrub_begin(&s, rec, scrub);
	if (scrub)
		scrub_node(page->root, &s);
	scrub_end(&s);
	code = cmd_print_page(page, as, true);
	page_free(page);
	return code;
}

static int to_file(struct rec *rec, const struct format_ops *ops, FILE *out, struct err *e)
{
	struct export_conf conf = { .series = series, .scrub = scrub, .version = STALLMARK_VERSION };
	int r;

	if (!ops)
		return export_page(rec, e);
	r = ops->export_(rec, &conf, out, e);
	return r ? cmd_fail(e) : EXIT_FINE;
}

static const struct format_ops *find_format(struct err *e)
{
	cleanup_strbuf struct strbuf names = STRBUF_INIT;
	const struct format_ops *ops = plug_find(format_table, as);

	if (ops && ops->export_)
		return ops;
	format_names(&names, true);
	if (ops)
		err_set(e, -EINVAL, "%s can be imported but not exported; these can: %s, lkml, md", as, strbuf_str(&names));
	else
		err_set(e, -ENOENT, "there is no format '%s' to export; there are %s, lkml, md", as, strbuf_str(&names));
	return NULL;
}

/* Page writers print to standard output, so -o puts the file in its place. */
static int open_output(struct err *e)
{
	if (!output)
		return 0;
	if (!force && !access(output, F_OK))
		return err_set(e, -EEXIST, "'%s' exists; --force replaces it", output);
	if (!freopen(output, "w", stdout))
		return err_sys(e, -errno, "cannot write '%s'", output);
	return 0;
}

static int run(int argc, char **argv)
{
	const struct format_ops *ops = NULL;
	struct rec *rec = NULL;
	struct err e = { 0 };
	int code;

	if (!as)
		return cmd_usage("export", "say as what: --as csv, json, hdr, fio-lat, openmetrics, chrome, lkml or md");
	if (strcmp(as, "lkml") && strcmp(as, "md")) {
		ops = find_format(&e);
		if (!ops)
			return cmd_fail(&e);
	}
	if (rec_open(argv[0], &rec, &e))
		return cmd_fail(&e);
	if (open_output(&e)) {
		rec_close(rec);
		return cmd_fail(&e);
	}
	code = to_file(rec, ops, stdout, &e);
	if (code && output)
		unlink(output);
	if (rec_damaged(rec))
		fprintf(stderr, "stallmark: %s is damaged: %llu pieces could not be read\n", argv[0],
			(unsigned long long)rec_damaged(rec));
	rec_close(rec);
	return code;
}

const struct cmd cmd_export = {
	.name = "export",
	.about = "write a record for other programs, or as a table for a mail",
	.usage = "[options] FILE --as FORMAT",
	.group = "Read",
	.options = options,
	.details = "csv: one row a wait. json: everything but trace events. hdr: a HdrHistogram log. fio-lat: as fio logs "
		   "latencies. openmetrics: for Prometheus. chrome: for ui.perfetto.dev. lkml, md: the table of show for a mail of 72 "
		   "columns, or in Markdown.",
	.min_args = 1,
	.max_args = 1,
	.run = run,
};

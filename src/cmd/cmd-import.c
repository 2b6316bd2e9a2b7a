/* SPDX-License-Identifier: MIT */
#include "base/cleanup.h"
#include "base/units.h"
#include "cmd/blk-import.h"
#include "cmd/cmd.h"
#include "config.h"
#include "format/text.h"
#include "format/to-record.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char *output, *as, *unit, *side, *limit;
static bool force, json;

static const struct opt *options(void)
{
	static const struct opt o[] = {
		{ 'o', "output", OPT_TEXT, &output, "NAME.smk", "where the record goes; must not exist yet" },
		{ 0, "as", OPT_TEXT, &as, "FORMAT", "what FILE is, instead of looking (see below)" },
		{ 0, "unit", OPT_TEXT, &unit, "UNIT", "of numbers that carry none: s, ms, us or ns" },
		{ 0, "side", OPT_TEXT, &side, "N", "which side (column) of a file that holds several" },
		{ 0, "limit", OPT_TEXT, &limit, "TIME", "a longer wait counts as stuck (1s)" },
		{ 0, "force", OPT_FLAG, &force, NULL, "replace NAME.smk when it exists" },
		{ 0, "json", OPT_FLAG, &json, NULL, "one JSON document instead of the screen" },
		{ 0 }
	};

	output = as = unit = side = limit = NULL;
	force = json = false;
	return o;
}

struct given {
	nsec_t unit, limit;
	int side;
};

static int parse_options(struct given *g, struct err *e)
{
	uint64_t n = 0;
	int r;

	*g = (struct given){ .limit = NSEC_PER_SEC };
	if (unit) {
		g->unit = text_unit(unit, strlen(unit));
		if (!g->unit)
			return err_set(e, -EINVAL, "--unit '%s' is no unit of time; s, ms, us and ns are", unit);
	}
	r = limit ? units_nsec(limit, &g->limit, e) : 0;
	if (r)
		return r;
	if (side && (units_count(side, &n, NULL) || n < 1 || n > 1000))
		return err_set(e, -EINVAL, "--side '%s' is no side; sides count from 1", side);
	g->side = (int)n;
	return 0;
}

static int note_row(void *ctx, int run, enum note_kind kind, nsec_t t, const char *key, const char *text)
{
	struct node *row = page_row(ctx);

	page_cell(row, "note", NULL, val_text(text));
	return 0;
}

static int result_row(void *ctx, const char *key, const char *value, bool counts)
{
	struct node *row;

	if (strncmp(key, "result.", 7))
		return 0;
	row = page_row(ctx);
	page_cell(row, "name", NULL, val_text(key + 7));
	page_cell(row, "value", NULL, val_text(value));
	return 0;
}

/* Says what is in the record now, as read back from it. */
static int tell(const char *target, const char *format, const struct to_record_sum *sum)
{
	struct page *p = page_new("stallmark.import/1");
	struct rec *rec = NULL;
	struct err e = { 0 };
	struct node *results, *notes;
	int r = rec_open(target, &rec, &e);

	if (r) {
		page_free(p);
		return cmd_fail(&e);
	}
	page_cell(p->root, "record", "record", val_text(target));
	page_cell(p->root, "format", "read as", val_text(format));
	page_cell(p->root, "runs", "runs", val(sum->runs, UNIT_COUNT));
	page_cell(p->root, "waits", "waits", val((double)sum->waits, UNIT_COUNT));
	results = page_table(p->root, "results", NULL);
	page_column(results, "name", "number of the first run", 0);
	page_column(results, "value", "value", 0);
	rec_env_each(rec, 1, result_row, results);
	notes = page_table(p->root, "notes", NULL);
	page_flag(notes, NODE_JSON_ONLY);
	page_column(notes, "note", "note", 0);
	rec_notes_each(rec, 0, note_row, notes);
	for (size_t i = 0; i < notes->nkids; i++)
		page_text(p->root, "%s.", notes->kids[i]->kids[0]->v.text);
	r = cmd_print_page(p, json ? "json" : NULL, false);
	rec_close(rec);
	page_free(p);
	return r;
}

/* Block traces are read by analysis (files of several CPUs, merged by time), not by an importer of one stream. */
static int import_trace(const char *file, const struct given *g, const char *tmp, struct err *e, const char **ret_format,
			struct to_record_sum *ret_sum)
{
	struct to_record_conf conf = { .file = file, .format = "blktrace", .version = STALLMARK_VERSION, .side = g->side,
				       .limit = g->limit };
	struct import_sink sink;
	struct to_record *t;
	int r = to_record_begin(tmp, &conf, &t, e);

	if (r)
		return r;
	to_record_sink(t, &sink);
	r = blk_import(file, &sink, e);
	*ret_format = "blktrace";
	return to_record_end(t, r, false, output, ret_sum, e);
}

static int import(const char *file, const struct given *g, struct err *e, const char **ret_format,
		  struct to_record_sum *ret_sum)
{
	cleanup_free char *tmp = mem_printf("%s.import-%d", output, (int)getpid());
	cleanup_input struct input *in = NULL;
	const struct format_ops *ops;
	struct import_sink sink;
	struct to_record *t;
	int r;

	if (as ? !strcmp(as, "blktrace") : blk_import_is_trace(file))
		return import_trace(file, g, tmp, e, ret_format, ret_sum);
	r = format_open(file, as, &in, &ops, e);
	if (r)
		return r;
	in->unit = g->unit;
	struct to_record_conf conf = { .file = in->name, .format = ops->plug.name, .version = STALLMARK_VERSION,
				       .side = g->side, .limit = g->limit };

	r = to_record_begin(tmp, &conf, &t, e);
	if (r)
		return r;
	to_record_sink(t, &sink);
	r = format_read(in, ops, &sink, e);
	*ret_format = ops->plug.name;
	return to_record_end(t, r, in->truncated, output, ret_sum, e);
}

static int run(int argc, char **argv)
{
	struct to_record_sum sum = { 0 };
	struct err e = { 0 };
	struct given g;
	const char *format;
	int r;

	if (!output)
		return cmd_usage("import", "say where the record goes: -o NAME.smk");
	if (parse_options(&g, &e))
		return cmd_fail(&e);
	if (!force && !access(output, F_OK))
		return cmd_usage("import", "'%s' exists; --force replaces it", output);
	r = import(argv[0], &g, &e, &format, &sum);
	return r ? cmd_fail(&e) : tell(output, format, &sum);
}

const struct cmd cmd_import = {
	.name = "import",
	.about = "turn what another tool measured into a run record",
	.usage = "[options] FILE -o NAME.smk",
	.group = "Read",
	.options = options,
	.details = "FILE may be - for standard input. It may be cut off, quoted in a mail (\"> > \"), or mixed with progress lines. "
		   "Formats: blkparse-total, blktrace, columns, csv, fio-hist, fio-json, fio-lat, fs-mark, fsync-tester, hdr, ioping, "
		   "ioping-json, ioping-raw, pg-test-fsync, plain, sysbench, time.\n\n"
		   "stallmark compare reads these files as they are; no import is needed for that.",
	.min_args = 1,
	.max_args = 1,
	.run = run,
};

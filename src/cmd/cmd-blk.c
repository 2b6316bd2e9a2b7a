/* SPDX-License-Identifier: MIT */
/* stallmark blk: block traces, read right and fast. */
#include "analyze/blk-blkparse.h"
#include "analyze/blk-btt.h"
#include "analyze/blk.h"
#include "base/cleanup.h"
#include "base/mem.h"
#include "base/units.h"
#include "cmd/blk-record.h"
#include "cmd/cmd.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

static bool as_blkparse, as_btt, per_process, as_json, as_csv, verbose;
static const char *window, *process, *device, *output, *time_text;
static volatile int stop;

static const struct opt *options(void)
{
	static const struct opt opts[] = {
		{ 0, "window", OPT_TEXT, &window, "A..B", "only what happened from A to B after the start (2s..5s, ..500ms)" },
		{ 0, "process", OPT_TEXT, &process, "NAME|PID", "only what this process queued" },
		{ 0, "device", OPT_TEXT, &device, "DEV", "only this device: 8,0 or a name below /dev" },
		{ 0, "json", OPT_FLAG, &as_json, NULL, "one JSON document" },
		{ 0, "csv", OPT_FLAG, &as_csv, NULL, "the tables as CSV" },
		{ 'v', "verbose", OPT_FLAG, &verbose, NULL, "also the accounts: where every queued bio went" },
		{ 0, "blkparse", OPT_FLAG, &as_blkparse, NULL, "blkparse 1.2.0's end summary, byte for byte" },
		{ 's', "per-process", OPT_FLAG, &per_process, NULL, "with --blkparse: its sections for each process too" },
		{ 0, "btt", OPT_FLAG, &as_btt, NULL, "the tables of btt 1.2.0, by its definitions" },
		{ 'o', "output", OPT_TEXT, &output, "NAME", "record: write NAME.blktrace.0, .1, ..." },
		{ 0, "time", OPT_TEXT, &time_text, "TIME", "record: for so long, else until the command ends or Ctrl-C" },
		{ 0 }
	};

	as_blkparse = as_btt = per_process = as_json = as_csv = verbose = false;
	window = process = device = output = time_text = NULL;
	return opts;
}

static void on_signal(int sig)
{
	stop = 128 + sig;
}

/* Ctrl-C ends the reading, not the program: what was read so far is printed. */
static void catch_signals(void)
{
	struct sigaction sa = { .sa_handler = on_signal };

	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
	sigaction(SIGHUP, &sa, NULL);
}

/* Each line of `notes` to stderr, as ours. */
static void say(const struct strbuf *notes)
{
	for (const char *s = strbuf_str(notes); *s; s += strcspn(s, "\n") + 1)
		fprintf(stderr, "stallmark: %.*s\n", (int)strcspn(s, "\n"), s);
}

static int print_blkparse(const struct blk_input *in)
{
	struct blk_totals_conf conf = { .by_pid = per_process, .stop = &stop };
	cleanup_strbuf struct strbuf text = STRBUF_INIT, notes = STRBUF_INIT;
	struct blk_totals t;
	struct err e = { 0 };

	if (blk_totals(in, &conf, &t, &e))
		return cmd_fail(&e);
	blk_blkparse_text(&t, per_process, &text);
	blk_blkparse_notes(&t, &notes);
	blk_totals_done(&t);
	fwrite(text.s, 1, text.len, stdout);
	say(&notes);
	return stop ? stop : EXIT_FINE;
}

static void to_btt(void *ctx, const struct blk_rec *r)
{
	blk_btt_record(ctx, r);
}

static int print_btt(const struct blk_input *in)
{
	cleanup_strbuf struct strbuf text = STRBUF_INIT, notes = STRBUF_INIT;
	struct blk_btt *b = blk_btt_new();
	struct blk_seen seen;
	struct err e = { 0 };
	int r = blk_read(in, to_btt, b, &stop, &seen, &e);

	if (!r) {
		blk_btt_text(b, &text);
		blk_btt_notes(b, &notes);
		fwrite(text.s, 1, text.len, stdout);
		say(&notes);
	}
	blk_btt_free(b);
	return r ? cmd_fail(&e) : stop ? stop : EXIT_FINE;
}

/* One end of a window; a plain number is seconds. */
static int window_end(const char *s, uint64_t *ret, struct err *e)
{
	nsec_t t;
	double x;

	if (!units_number(s, &x, NULL) && x >= 0 && x < 1e9) {
		*ret = (uint64_t)nsec_from_seconds(x);
		return 0;
	}
	if (units_nsec(s, &t, e))
		return e->code;
	if (t < 0)
		return err_set(e, -EINVAL, "--window: '%s' is before the start", s);
	*ret = (uint64_t)t;
	return 0;
}

static int parse_window(const char *s, struct blk_filter *f, struct err *e)
{
	const char *dots = strstr(s, "..");
	cleanup_free char *from = NULL;

	if (!dots)
		return err_set(e, -EINVAL, "--window is A..B, such as 2s..5s; '%s' is not", s);
	from = mem_dupn(s, (size_t)(dots - s));
	if (*from && window_end(from, &f->from, e))
		return e->code;
	if (dots[2] && window_end(dots + 2, &f->to, e))
		return e->code;
	if (f->to && f->to <= f->from)
		return err_set(e, -EINVAL, "--window %s is empty", s);
	return 0;
}

static int parse_device(const char *s, uint32_t *ret, struct err *e)
{
	unsigned major, minor;
	char path[256];
	struct stat st;
	int n = 0;

	if (sscanf(s, "%u%*1[,:]%u%n", &major, &minor, &n) == 2 && !s[n] && major < 4096 && minor < 1u << 20) {
		*ret = blk_dev(major, minor);
		return 0;
	}
	snprintf(path, sizeof(path), "%s%s", *s == '/' ? "" : "/dev/", s);
	if (stat(path, &st) || !S_ISBLK(st.st_mode))
		return err_set(e, -EINVAL, "--device is MAJOR,MINOR or a block device; '%s' is neither", s);
	*ret = blk_dev(major(st.st_rdev), minor(st.st_rdev));
	return 0;
}

static int print_page(const struct blk_input *in, const struct blk_filter *filter)
{
	struct blk_trace *t;
	struct page *p;
	struct err e = { 0 };
	int r;

	if (blk_load(in, filter, &stop, &t, &e))
		return cmd_fail(&e);
	p = blk_page(t);
	r = cmd_print_page(p, as_json ? "json" : as_csv ? "csv" : NULL, verbose);
	page_free(p);
	if (!r && !t->seen.records && t->seen.skipped_bytes) {
		err_set(&e, -EBADMSG, "%s is not a block trace", t->name);
		r = cmd_fail(&e);
	}
	blk_free(t);
	return r ? r : stop ? stop : EXIT_FINE;
}

static int record(int argc, char **argv)
{
	struct blk_record_conf c = { .name = output, .stop = &stop };
	struct err e = { 0 };

	if (argc < 2)
		return cmd_usage("blk", "record what? stallmark blk record DEVICE -o NAME [--time TIME | -- COMMAND...]");
	if (!output)
		return cmd_usage("blk", "say where the trace goes: -o NAME");
	if (as_blkparse || as_btt || per_process || window || process || device || as_json || as_csv)
		return cmd_usage("blk", "record takes only --output and --time; read the trace afterwards");
	if (time_text && (units_nsec(time_text, &c.time, &e) || c.time <= 0))
		return e.code ? cmd_fail(&e) : cmd_usage("blk", "--time '%s' is no time to record for", time_text);
	c.device = argv[1];
	c.command = argc > 2 ? (const char *const *)argv + 2 : NULL;
	catch_signals();
	return blk_record(&c);
}

static int run(int argc, char **argv)
{
	struct blk_filter filter = { .process = process };
	struct blk_input in = { 0 };
	struct err e = { 0 };
	int r;

	if (!strcmp(argv[0], "record"))
		return record(argc, argv);
	if (output || time_text)
		return cmd_usage("blk", "--output and --time belong to stallmark blk record");
	if (as_blkparse && as_btt)
		return cmd_usage("blk", "--blkparse and --btt print different things: give one");
	if ((as_blkparse || as_btt) && (window || process || device || as_json || as_csv))
		return cmd_usage("blk", "--%s prints what %s would: it takes no filter and no other format",
				 as_btt ? "btt" : "blkparse", as_btt ? "btt" : "blkparse");
	if (per_process && !as_blkparse)
		return cmd_usage("blk", "-s belongs to --blkparse; by default processes are shown anyway");
	if (window && parse_window(window, &filter, &e))
		return cmd_fail(&e);
	if (device && parse_device(device, &filter.dev, &e))
		return cmd_fail(&e);
	if (blk_input_open((const char *const *)argv, (size_t)argc, as_blkparse, &in, &e))
		return cmd_fail(&e);
	catch_signals();
	r = as_blkparse ? print_blkparse(&in) : as_btt ? print_btt(&in) : print_page(&in, &filter);
	blk_input_close(&in);
	return r;
}

const struct cmd cmd_blk = {
	.name = "blk",
	.about = "read block traces: who did how much I/O, and how long it took",
	.usage = "[options] NAME|FILE|DIR|- | record DEVICE -o NAME [COMMAND]",
	.group = "Read",
	.options = options,
	.details = "NAME stands for NAME.blktrace.0, NAME.blktrace.1 and so on; - is a stream on standard input.\n\n"
		   "record traces a device (root) with the kernel's ftrace blk tracer, also where blktrace cannot; blkparse "
		   "reads the files.",
	.min_args = 1,
	.max_args = -1,
	.run = run,
};

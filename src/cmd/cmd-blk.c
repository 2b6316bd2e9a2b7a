/* SPDX-License-Identifier: MIT */
/* stallmark blk: block traces, read right and fast. */
#include "analyze/blk-blkparse.h"
#include "base/cleanup.h"
#include "cmd/cmd.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

static bool as_blkparse, per_process;
static volatile int stop;

static const struct opt *options(void)
{
	static const struct opt opts[] = {
		{ 0, "blkparse", OPT_FLAG, &as_blkparse, NULL, "print blkparse 1.2.0's end summary, byte for byte" },
		{ 's', "per-process", OPT_FLAG, &per_process, NULL, "with --blkparse: its sections for each process too" },
		{ 0 }
	};

	as_blkparse = per_process = false;
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

static int run(int argc, char **argv)
{
	struct blk_input in = { 0 };
	struct err e = { 0 };
	int r;

	if (!as_blkparse)
		return cmd_usage("blk", "say what to print: --blkparse");
	if (blk_input_open((const char *const *)argv, (size_t)argc, true, &in, &e))
		return cmd_fail(&e);
	catch_signals();
	r = print_blkparse(&in);
	blk_input_close(&in);
	return r;
}

const struct cmd cmd_blk = {
	.name = "blk",
	.about = "read block traces: who did how much I/O, and how long it took",
	.usage = "[options] NAME|FILE...|DIR|-",
	.group = "Read",
	.options = options,
	.details = "NAME stands for NAME.blktrace.0, NAME.blktrace.1 and so on; - is a stream on standard input.",
	.min_args = 1,
	.max_args = -1,
	.run = run,
};

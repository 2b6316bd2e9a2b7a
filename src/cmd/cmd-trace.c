/* SPDX-License-Identifier: MIT */
#include "analyze/explain.h"
#include "base/cleanup.h"
#include "base/strbuf.h"
#include "base/units.h"
#include "cmd/cmd.h"
#include "collect/watch.h"
#include "config.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const char *pid, *comm, *cgroup, *threshold, *duration, *output, *sync_dir, *mode;
static bool all, json, quiet;
static volatile int stop;

static const struct opt *options(void)
{
	static const struct opt o[] = {
		{ 'p', "pid", OPT_TEXT, &pid, "PID", "explain the waits of this process and its threads" },
		{ 'c', "comm", OPT_TEXT, &comm, "NAME", "explain the waits of all tasks of this name" },
		{ 'g', "cgroup", OPT_TEXT, &cgroup, "PATH", "explain the waits of this cgroup and those below it" },
		{ 'a', "all", OPT_FLAG, &all, NULL, "explain everybody's waits (the default without a command)" },
		{ 't', "threshold", OPT_TEXT, &threshold, "TIME", "waits from this on are stalls (100ms)" },
		{ 0, "time", OPT_TEXT, &duration, "TIME", "stop after this long; without it and a command: until Ctrl-C" },
		{ 0, "trace", OPT_TEXT, &mode, "MODE", "stalls (default), full: keep every block request, proc: sampled stacks only" },
		{ 'o', "output", OPT_TEXT, &output, "FILE", "the record (trace-DATE-TIME.smk)" },
		{ 0, "record-dir", OPT_TEXT, &sync_dir, "DIR", "copy the record there while recording, so that a power cut leaves it" },
		{ 0, "json", OPT_FLAG, &json, NULL, "one JSON document instead of the screen" },
		{ 'q', "quiet", OPT_FLAG, &quiet, NULL, "record only, explain nothing" },
		{ 0 }
	};

	pid = comm = cgroup = threshold = duration = output = sync_dir = mode = NULL;
	all = json = quiet = false;
	return o;
}

static void on_signal(int sig)
{
	if (stop)
		_exit(128 + sig);	/* the second one: gone at once; the record stays in tmpfs */
	stop = sig;
}

static int scope(struct strbuf *b, bool command)
{
	int n = !!pid + !!comm + !!cgroup + all;
	uint64_t x;
	struct err e = { 0 };

	if (n > 1)
		return cmd_usage("trace", "choose one of --pid, --comm, --cgroup and --all");
	if (pid && (units_count(pid, &x, &e) < 0 || !x))
		return cmd_usage("trace", "--pid %s is not a process id", pid);
	if (pid)
		strbuf_addf(b, "pid %s", pid);
	else if (comm)
		strbuf_addf(b, "comm %s", comm);
	else if (cgroup)
		strbuf_addf(b, "cgroup %s", cgroup);
	else
		strbuf_adds(b, command && !all ? "command" : "all");
	return 0;
}

static int show_answer(const char *file)
{
	struct explain_conf c = { 0 };
	struct page *p = NULL;
	struct rec *rec = NULL;
	struct err e = { 0 };
	int r = rec_open(file, &rec, &e);

	if (!r)
		r = analyze_explain(rec, &c, &p, &e);
	rec_close(rec);
	if (r < 0)
		return cmd_fail(&e);
	r = cmd_print_page(p, json ? "json" : NULL, false);
	page_free(p);
	return r;
}

static int run(int argc, char **argv)
{
	cleanup_strbuf struct strbuf where = STRBUF_INIT, line = STRBUF_INIT, file = STRBUF_INIT;
	struct watch_conf c = { .threshold = 100 * NSEC_PER_MSEC, .stop = &stop, .version = STALLMARK_VERSION };
	struct sigaction sa = { .sa_handler = on_signal };
	struct watch_result res;
	struct err e = { 0 };
	int r = scope(&where, argc > 0);

	if (r)
		return r;
	if (threshold && units_nsec(threshold, &c.threshold, &e) < 0)
		return cmd_fail(&e);
	if (c.threshold < 10 * NSEC_PER_USEC)
		return cmd_usage("trace", "--threshold %s is too small: 10us at least", threshold);
	if (duration && units_nsec(duration, &c.time, &e) < 0)
		return cmd_fail(&e);
	if (mode && strcmp(mode, "stalls") && strcmp(mode, "full") && strcmp(mode, "proc"))
		return cmd_usage("trace", "--trace=%s is unknown; it is stalls, full or proc", mode);
	c.full = mode && !strcmp(mode, "full");
	c.sampled = mode && !strcmp(mode, "proc");
	if (!output) {
		char stamp[32];
		time_t now = time(NULL);
		struct tm tm;

		strftime(stamp, sizeof(stamp), "%Y%m%d-%H%M%S", localtime_r(&now, &tm));
		strbuf_addf(&file, "trace-%s.smk", stamp);
	} else {
		strbuf_adds(&file, output);
	}
	strbuf_adds(&line, "stallmark trace");
	for (int i = 0; i < argc; i++)
		strbuf_addf(&line, " %s", argv[i]);
	c.scope = strbuf_str(&where);
	c.output = strbuf_str(&file);
	c.command_line = strbuf_str(&line);
	c.command = argc ? argv : NULL;
	c.sync_dir = sync_dir;
	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
	sigaction(SIGHUP, &sa, NULL);
	signal(SIGPIPE, SIG_IGN);
	if (!c.time && !c.command)
		fprintf(stderr, "recording stalls from %s on; Ctrl-C ends it and explains them\n", threshold ? threshold : "100ms");
	r = watch(&c, &res, &e);
	if (r < 0)
		return cmd_fail(&e);
	if (*res.note)
		fprintf(stderr, "stallmark: %s\n", res.note);
	fprintf(stderr, "record: %s\n", c.output);
	if (!quiet)
		r = show_answer(c.output);
	if (res.stopped && (c.time || c.command))
		return 128 + stop;
	if (c.command && WIFEXITED(res.exit_status) && WEXITSTATUS(res.exit_status))
		fprintf(stderr, "stallmark: the command ended with status %d\n", WEXITSTATUS(res.exit_status));
	return r;
}

const struct cmd cmd_trace = {
	.name = "trace",
	.about = "explain the stalls of what is running already, with no load of ours",
	.usage = "[options] [-- COMMAND [ARGUMENT...]]",
	.group = "Measure",
	.options = options,
	.details = "Without --time and COMMAND it is a recorder for the next freeze: it keeps stalls only, in at most four records of "
		   "64 MiB, until Ctrl-C.",
	.min_args = 0,
	.max_args = -1,
	.run = run,
};

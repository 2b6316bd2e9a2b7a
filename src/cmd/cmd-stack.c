/* SPDX-License-Identifier: MIT */
#include "analyze/stack.h"
#include "base/cleanup.h"
#include "base/strbuf.h"
#include "cmd/cmd.h"

#include <errno.h>
#include <string.h>

#define LIMIT (64u << 20)	/* a dump of 100,000 tasks is about 60 MiB */

static bool all, json;

static const struct opt *options(void)
{
	static const struct opt o[] = {
		{ 'a', "all", OPT_FLAG, &all, NULL, "also tasks that only idle or wait for input or a timer" },
		{ 0, "json", OPT_FLAG, &json, NULL, "one JSON document instead of the screen" },
		{ 0 }
	};

	all = json = false;
	return o;
}

static int slurp(const char *name, struct strbuf *b, struct err *e)
{
	bool in = !strcmp(name, "-");
	cleanup_file FILE *f = in ? NULL : fopen(name, "re");
	FILE *from = in ? stdin : f;
	char buf[65536];
	size_t n;

	if (!from)
		return err_sys(e, -errno, "cannot open %s", name);
	while ((n = fread(buf, 1, sizeof(buf), from)) > 0) {
		strbuf_add(b, buf, n);
		if (b->len > LIMIT)
			return err_set(e, -EFBIG, "%s is longer than 64 MiB; give me a part of it", name);
	}
	if (ferror(from))
		return err_sys(e, -errno, "cannot read %s", name);
	return 0;
}

static int run(int argc, char **argv)
{
	cleanup_strbuf struct strbuf text = STRBUF_INIT;
	struct page *p = NULL;
	struct err e = { 0 };
	int r;

	for (int i = 0; i < argc || (i == 0 && argc == 0); i++) {
		r = slurp(argc ? argv[i] : "-", &text, &e);
		if (r < 0)
			return cmd_fail(&e);
		strbuf_addc(&text, '\n');
	}
	r = analyze_stack(strbuf_str(&text), text.len, all, &p, &e);
	if (r < 0)
		return cmd_fail(&e);
	r = cmd_print_page(p, json ? "json" : NULL, false);
	page_free(p);
	return r;
}

const struct cmd cmd_stack = {
	.name = "stack",
	.about = "say in words what each task of a pasted kernel stack waits for",
	.usage = "[options] [FILE...]",
	.group = "Read",
	.options = options,
	.details = "Reads FILE or standard input: /proc/PID/stack (one or many), hung-task and sysrq-w messages from dmesg or a "
		   "log, kernels from 2.6 on, perf script, bcc, bpftrace, folded stacks.\n\n"
		   "As root: head -n 64 /proc/[0-9]*/stack | stallmark stack",
	.min_args = 0,
	.max_args = -1,
	.run = run,
};

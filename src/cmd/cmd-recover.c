/* SPDX-License-Identifier: MIT */
#include "base/cleanup.h"
#include "base/mem.h"
#include "base/vec.h"
#include "cmd/cmd.h"
#include "record/record.h"
#include "run/recover.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *output, *record_dir;

static const struct opt *options(void)
{
	static const struct opt o[] = {
		{ 'o', "output", OPT_TEXT, &output, "FILE", "where the record goes (its name, in this folder)" },
		{ 0, "record-dir", OPT_TEXT, &record_dir, "DIR", "where the run kept its record, if it was told to" },
		{ 0 }
	};

	output = record_dir = NULL;
	return o;
}

typedef VEC(char *) paths;

static int remember(void *ctx, const char *path)
{
	paths *found = ctx;

	vec_push(found, mem_dup(path));
	return 0;
}

static int one(const char *path)
{
	const char *slash = strrchr(path, '/'), *target = output ? output : slash ? slash + 1 : path;
	struct run_recovered got;
	struct err e = { 0 };

	if (!output && !slash)
		return cmd_usage("recover", "%s is here already; say with -o where it is to go", path);
	if (run_recover(path, target, &got, &e))
		return cmd_fail(&e);
	fprintf(stderr, "Saved %s: %d run%s, %d of them partial; %llu samples and %llu waits under way came from memory\n", target,
		got.runs, got.runs == 1 ? "" : "s", got.partial, (unsigned long long)got.from_rings,
		(unsigned long long)got.in_flight);
	printf("%s\n", target);
	return EXIT_FINE;
}

/* Keeps only the record of that process: its name ends in "-PID.smk". */
static void only_of(paths *found, const char *pid)
{
	cleanup_free char *end = mem_printf("-%s.smk", pid);
	size_t n = 0;

	for (size_t i = 0; i < found->n; i++) {
		char *p = found->p[i];

		if (strlen(p) > strlen(end) && !strcmp(p + strlen(p) - strlen(end), end))
			found->p[n++] = p;
		else
			free(p);
	}
	found->n = n;
}

static int run(int argc, char **argv)
{
	const char *pid = argc && argv[0][strspn(argv[0], "0123456789")] == 0 ? argv[0] : NULL;
	char dir[REC_DIR_MAX];
	struct err e = { 0 };
	paths found = { 0 };
	int code = EXIT_FINE;

	if (argc && !pid)
		return one(argv[0]);
	if (rec_dir(record_dir, dir, &e))
		return cmd_fail(&e);
	(void)run_unfinished(dir, remember, &found);
	if (pid)
		only_of(&found, pid);
	if (!found.n && pid) {
		err_set(&e, -ENOENT, "there is no record of a killed run with process %s in %s", pid, dir);
		code = cmd_fail(&e);
	} else if (!found.n) {
		fprintf(stderr, "There is no record of a killed run in %s\n", dir);
	} else if (found.n > 1 && output) {
		code = cmd_usage("recover", "there are %zu records of killed runs in %s; name one for -o", found.n, dir);
	} else {
		for (size_t i = 0; i < found.n; i++)
			code = MAX(code, one(found.p[i]));
	}
	for (size_t i = 0; i < found.n; i++)
		free(found.p[i]);
	vec_done(&found);
	return code;
}

const struct cmd cmd_recover = {
	.name = "recover",
	.about = "complete the record of a run that was killed",
	.usage = "[options] [FILE|PID]",
	.group = "Machine",
	.options = options,
	.details = "PID is that of the killed run. Without an argument: every record of a killed run in memory. What the probes had measured since the last second, and "
		   "what they were waiting for, is added; the run is marked partial. Settings and folders that the run left "
		   "behind: stallmark clean.",
	.min_args = 0,
	.max_args = 1,
	.run = run,
};

/* SPDX-License-Identifier: MIT */
#include "base/cleanup.h"
#include "base/mem.h"
#include "cmd/cmd.h"
#include "record/record.h"
#include "run/recover.h"
#include "sys/folder.h"
#include "sys/undo.h"

#include <stdio.h>
#include <string.h>

static bool dry_run, yes;

static const struct opt *options(void)
{
	static const struct opt o[] = {
		{ 'n', "dry-run", OPT_FLAG, &dry_run, NULL, "only say what would be done" },
		{ 0, "yes", OPT_FLAG, &yes, NULL, "for scripts; clean never asks" },
		{ 0 }
	};

	dry_run = yes = false;
	return o;
}

static int say_folder(void *ctx, const struct folder_info *f)
{
	if (f->alive || !f->there)
		return 0;
	printf("remove %s (process %d, gone)\n", f->path, (int)f->pid);
	++*(int *)ctx;
	return 0;
}

static int count_folder(void *ctx, const struct folder_info *f)
{
	*(int *)ctx += !f->alive && f->there;
	return 0;
}

static int count_record(void *ctx, const char *path)
{
	++*(int *)ctx;
	return 0;
}

/* Records are results: clean says where they are and leaves them. */
static void records(void)
{
	char dir[REC_DIR_MAX];
	int n = 0;

	if (!rec_dir(NULL, dir, NULL))
		(void)run_unfinished(dir, count_record, &n);
	if (n)
		fprintf(stderr, "In %s %s; stallmark recover completes %s\n", dir, n > 1 ? "are records of killed runs" : "is the record of a killed run",
			n > 1 ? "them" : "it");
}

static int dry(void)
{
	cleanup_strbuf struct strbuf list = STRBUF_INIT;
	char dir[REC_DIR_MAX];
	struct err e = { 0 };
	int n = 0, rings = 0;

	if (undo_list(&list, true, &e) < 0)
		return cmd_fail(&e);
	fputs(strbuf_str(&list), stdout);
	(void)folder_each(say_folder, &n);
	if (!rec_dir(NULL, dir, NULL) && (rings = run_stale_rings(dir, true)) > 0)
		printf("remove %d ring file%s in %s (nobody's any more)\n", rings, rings == 1 ? "" : "s", dir);
	n += rings;
	if (!list.len && !n)
		fprintf(stderr, "There is nothing to clean\n");
	records();
	return EXIT_FINE;
}

static int run(int argc, char **argv)
{
	cleanup_strbuf struct strbuf said = STRBUF_INIT, rest = STRBUF_INIT;
	struct err e = { 0 };
	int settings, folders, rings = 0, left = 0;
	char dir[REC_DIR_MAX];

	if (dry_run)
		return dry();
	/* mounts and processes first: a folder with something mounted in it stays */
	settings = undo_stale(&said, &e);
	if (settings < 0)
		return cmd_fail(&e);
	folders = folder_stale(&said);
	if (!rec_dir(NULL, dir, NULL))
		rings = run_stale_rings(dir, false);
	if (settings || folders || rings)
		printf("%d change%s undone, %d folder%s and %d ring file%s removed\n", settings, settings == 1 ? "" : "s", folders,
		       folders == 1 ? "" : "s", rings, rings == 1 ? "" : "s");
	else if (!said.len)
		fprintf(stderr, "There is nothing to clean\n");
	for (const char *line = strbuf_str(&said); *line; line += strcspn(line, "\n") + 1)
		fprintf(stderr, "stallmark: %.*s\n", (int)strcspn(line, "\n"), line);
	records();
	/* what somebody else changed is said and settled; what could not be done yet is a failure */
	(void)folder_each(count_folder, &left);
	return undo_list(&rest, true, NULL) || rest.len || left ? EXIT_TROUBLE : EXIT_FINE;
}

const struct cmd cmd_clean = {
	.name = "clean",
	.about = "undo what a killed run left: settings, mounts, loops, folders",
	.usage = "[options]",
	.group = "Machine",
	.options = options,
	.details = "Every change outside our own files is noted before it is made. clean takes back what processes that are gone "
		   "left noted: a setting only if it still has the value that we gave it, a folder only if it carries the mark "
		   "that our registry knows. What a living run uses is not touched.",
	.min_args = 0,
	.max_args = 0,
	.run = run,
};

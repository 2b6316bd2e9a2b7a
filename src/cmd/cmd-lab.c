/* SPDX-License-Identifier: MIT */
/* stallmark lab: modelled disks under the real kernel. */
#include "base/cleanup.h"
#include "base/mem.h"
#include "base/units.h"
#include "cmd/cmd-lab.h"
#include "cmd/cmd.h"
#include "lab/lab.h"
#include "model/drive.h"
#include "sys/undo.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

static bool json, all, yes_system;
struct lab_fit_options lab_fit_opt;

static const struct opt *options(void)
{
	static const struct opt opts[] = {
		{ 0, "json", OPT_FLAG, &json, NULL, "list, status, disks, fit: one JSON document" },
		{ 'a', "all", OPT_FLAG, &all, NULL, "down: every lab" },
		{ 0, "yes-system", OPT_FLAG, &yes_system, NULL, "up: agree to settings of the whole machine (dirty_bytes)" },
		{ 0, "device", OPT_TEXT, &lab_fit_opt.device, "DEV", "fit: measure this device; it is only read" },
		{ 0, "dir", OPT_TEXT, &lab_fit_opt.dir, "DIR", "fit: measure the disk under DIR, writes too, on one file in a sub-folder of ours" },
		{ 0, "time", OPT_TEXT, &lab_fit_opt.time, "TIME", "fit: how long to measure (30s)" },
		{ 'o', "output", OPT_TEXT, &lab_fit_opt.output, "FILE", "fit: where the profile goes, NAME.profile" },
		{ 0 }
	};

	json = all = yes_system = false;
	memset(&lab_fit_opt, 0, sizeof(lab_fit_opt));
	return opts;
}

static void say_lines(const char *lines)
{
	for (const char *s = lines; s && *s; s += strcspn(s, "\n") + (s[strcspn(s, "\n")] == '\n'))
		fprintf(stderr, "stallmark: %.*s\n", (int)strcspn(s, "\n"), s);
}

/* What somebody who was killed left behind is taken away first. */
static void clean_stale(void)
{
	cleanup_strbuf struct strbuf said = STRBUF_INIT;

	(void)undo_stale(&said, NULL);
	say_lines(said.s);
}

/* INT, TERM and HUP wait, so that nothing is interrupted half-way; lab_up looks at them. Returns the one that came. */
static int pending_signal(void)
{
	sigset_t s;

	if (sigpending(&s))
		return 0;
	return sigismember(&s, SIGINT) ? SIGINT : sigismember(&s, SIGTERM) ? SIGTERM : sigismember(&s, SIGHUP) ? SIGHUP : 0;
}

static void hold_signals(void)
{
	sigset_t s;

	sigemptyset(&s);
	sigaddset(&s, SIGINT);
	sigaddset(&s, SIGTERM);
	sigaddset(&s, SIGHUP);
	sigprocmask(SIG_BLOCK, &s, NULL);
}

static int need_root(struct err *e)
{
	return lab_supported(e);
}

static int up(int argc, char **argv)
{
	struct lab_conf c;
	struct lab *lab = NULL;
	struct undo *u = NULL;
	struct err e = { 0 };
	cleanup_strbuf struct strbuf text = STRBUF_INIT, said = STRBUF_INIT;
	int r;

	if (argc < 1)
		return cmd_usage("lab", "up needs a name: stallmark lab up NAME [key=value ...]");
	if (lab_conf_init(&c, argv[0], &e))
		return cmd_fail(&e);
	r = 0;
	for (int i = 1; i < argc && !r; i++)
		r = lab_conf_parse(&c, argv[i], &e);
	if (!r && lab_conf_machine_wide(&c) && !yes_system)
		r = err_set(&e, -EPERM, "dirty_bytes and dirty_background_bytes change the whole machine; --yes-system agrees to that");
	if (!r)
		r = need_root(&e);
	if (r) {
		lab_conf_done(&c);
		return cmd_fail(&e);
	}
	clean_stale();
	hold_signals();
	r = undo_open(&u, &e);
	if (!r)
		r = lab_up(&c, cmd_profile_dirs(), u, &lab, &e);
	if (!r) {
		lab_conf_text(&c, &text);
		printf("lab %s is up: %s\ndevice   %s\n", lab_name(lab), strbuf_str(&text), lab_device(lab));
		if (*lab_dir(lab))
			printf("mounted  %s\n", lab_dir(lab));
		strbuf_adds(&said, lab_refused(lab));
		r = lab_release(lab, u, &e);
		if (r)
			(void)lab_down(lab, NULL, NULL);
		else
			u = NULL;
	}
	if (u) {
		(void)undo_all(u, &said, NULL);
		undo_close(u);
	}
	lab_conf_done(&c);
	say_lines(said.s);
	if (!r)
		return EXIT_FINE;
	cmd_fail(&e);
	return r == -EINTR && pending_signal() ? 128 + pending_signal() : EXIT_TROUBLE;
}

struct names {
	VEC(char *) v;
};

static int add_name(void *ctx, const struct lab_info *i)
{
	vec_push(&((struct names *)ctx)->v, mem_dup(i->name));
	return 0;
}

static int down(int argc, char **argv)
{
	struct names n = { 0 };
	int code = EXIT_FINE;
	struct err e = { 0 };

	if (need_root(&e) == -EPERM)
		return cmd_fail(&e);
	if (all)
		lab_each(add_name, &n);
	else if (argc < 1)
		return cmd_usage("lab", "down needs a name, or --all");
	for (int i = 0; i < argc && !all; i++)
		vec_push(&n.v, mem_dup(argv[i]));
	hold_signals();
	for (size_t i = 0; i < n.v.n; i++) {
		cleanup_strbuf struct strbuf said = STRBUF_INIT;
		struct err one = { 0 };

		if (lab_down_by_name(n.v.p[i], &said, &one))
			code = cmd_fail(&one);
		else
			fprintf(stderr, "stallmark: lab %s is down\n", n.v.p[i]);
		say_lines(said.s);
		free(n.v.p[i]);
	}
	vec_done(&n.v);
	return code;
}

static const char *state_of(const struct lab_info *i)
{
	return !i->alive ? "dead" : i->owner == i->server ? "up" : "in a run";
}

static int add_row(void *ctx, const struct lab_info *i)
{
	struct node *r = page_row(ctx);

	page_cell(r, "name", NULL, val_text(i->name));
	page_cell(r, "device", NULL, val_text(i->device));
	page_cell(r, "disk", NULL, val_text(i->disk));
	page_cell(r, "fs", NULL, val_text(lab_fs_words(i->fs)));
	page_cell(r, "sched", NULL, val_text(i->sched));
	page_cell(r, "state", NULL, val_text(state_of(i)));
	page_cell(r, "mount", NULL, val_text(*i->dir ? i->dir : NULL));
	return 0;
}

static int print(struct page *p)
{
	int code = cmd_print_page(p, json ? "json" : NULL, false);

	page_free(p);
	return code;
}

static int list(int argc, char **argv)
{
	struct page *p = page_new("stallmark.lab-list/1");
	struct node *t = page_table(p->root, "labs", NULL);

	page_column(t, "name", "name", 0);
	page_column(t, "device", "device", 0);
	page_column(t, "disk", "disk", 0);
	page_column(t, "fs", "filesystem", 0);
	page_column(t, "sched", "scheduler", 0);
	page_column(t, "state", "state", 0);
	page_column(t, "mount", NULL, NODE_JSON_ONLY);
	lab_each(add_row, t);
	if (!t->nkids)
		page_text(p->root, "No lab is up. stallmark lab up NAME makes one; stallmark lab disks shows what disks there are.");
	return print(p);
}

static int status(int argc, char **argv)
{
	struct page *p;
	struct lab_info i;
	struct err e = { 0 };

	if (argc != 1)
		return cmd_usage("lab", "status needs one name");
	if (lab_find(argv[0], &i, &e))
		return cmd_fail(&e);
	p = page_new("stallmark.lab-status/1");
	page_cell(p->root, "name", "lab", val_text(i.name));
	page_cell(p->root, "state", "state", val_text(state_of(&i)));
	page_cell(p->root, "device", "device", val_text(i.device));
	page_cell(p->root, "mount", "mounted at", val_text(*i.dir ? i.dir : NULL));
	page_cell(p->root, "disk", "disk", val_text(i.disk));
	page_cell(p->root, "size", "size", val_text(i.size));
	page_cell(p->root, "fs", "filesystem", val_text(lab_fs_words(i.fs)));
	page_cell(p->root, "options", "mount options", val_text(*i.mount ? i.mount : NULL));
	page_cell(p->root, "sched", "scheduler", val_text(i.sched));
	page_cell(p->root, "stored", "memory used by blocks", val((double)i.stored_bytes, UNIT_BYTES));
	page_cell(p->root, "store", "memory for blocks", val((double)i.store_bytes, UNIT_BYTES));
	page_cell(p->root, "refused_full", "writes refused: full", val((double)i.refused, UNIT_COUNT));
	page_cell(p->root, "served", "requests served", val((double)i.served, UNIT_COUNT));
	page_cell(p->root, "pokes", "faults planted", val((double)i.pokes, UNIT_COUNT));
	page_cell(p->root, "late_usual", "late, usually", i.served ? val_nsec(i.late_p50) : val_null(UNIT_SECONDS));
	page_cell(p->root, "late_p99", "late, 1 in 100", i.served ? val_nsec(i.late_p99) : val_null(UNIT_SECONDS));
	page_cell(p->root, "late_worst", "late, worst", i.served ? val_nsec(i.late_max) : val_null(UNIT_SECONDS));
	for (const char *s = i.said; *s; s += strcspn(s, "\n") + 1)
		page_text(p->root, "the kernel refused: %.*s", (int)strcspn(s, "\n"), s);
	return print(p);
}

static int poke(int argc, char **argv)
{
	cleanup_strbuf struct strbuf text = STRBUF_INIT;
	struct fault f;
	struct err e = { 0 };

	if (argc < 2)
		return cmd_usage("lab", "poke needs a name and a fault: stallmark lab poke NAME freeze=3s");
	for (int i = 1; i < argc; i++)
		strbuf_addf(&text, "%s%s", i > 1 ? " " : "", argv[i]);
	if (fault_parse(text.s, &f, &e) || lab_poke_by_name(argv[0], text.s, &e))
		return cmd_fail(&e);
	return EXIT_FINE;
}

static int disks(int argc, char **argv)
{
	struct err e = { 0 };
	struct page *p = NULL;

	if (argc > 1)
		return cmd_usage("lab", "disks takes one name, or none");
	if (argc ? lab_disk_page(argv[0], &p, &e) : lab_disks_page(&p, &e))
		return cmd_fail(&e);
	return print(p);
}

static int run(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(int argc, char **argv);
	} subs[] = {
		{ "up", up }, { "down", down }, { "list", list }, { "status", status }, { "disks", disks }, { "poke", poke },
	};
	const char *names[ARRAY_SIZE(subs) + 1];
	const char *near;

	if (!strcmp(argv[0], "fit"))
		return lab_fit_command(argc - 1, argv + 1, json);
	for (size_t i = 0; i < ARRAY_SIZE(subs); i++) {
		if (!strcmp(argv[0], subs[i].name))
			return subs[i].run(argc - 1, argv + 1);
		names[i] = subs[i].name;
	}
	names[ARRAY_SIZE(subs)] = "fit";
	near = units_nearest(argv[0], names, ARRAY_SIZE(names));
	if (near)
		return cmd_usage("lab", "there is no '%s'; did you mean '%s'?", argv[0], near);
	return cmd_usage("lab", "there is no '%s'; it is up, down, list, status, disks, poke or fit", argv[0]);
}

const struct cmd cmd_lab = {
	.name = "lab",
	.about = "a disk of your choice under this kernel: modelled timing, real filesystem and scheduler",
	.usage = "up|down|list|status|disks|poke|fit ...",
	.group = "Machine",
	.options = options,
	.details = "up NAME [key=value ...]; down NAME ... or --all; list; status NAME; disks [NAME]; poke NAME FAULT; fit --device DEV or --dir DIR.\n"
		   "up makes a block device with the timing of a disk profile, makes a filesystem on it and mounts it (as root). Keys: "
		   "disk, size, fs, mkfs, mount, sched, sched.KEY, depth, nr_requests, rotational, write_cache, max_sectors_kb, "
		   "read_ahead_kb, wbt, store, file, memory, bdi_max_bytes, bdi_strict, dirty_bytes, dirty_background_bytes, seed, disk.KEY; "
		   "stallmark-lab(1) explains them.\n"
		   "Faults for poke: freeze=3s; slow=10x for=5s; flush=2s; error=read at=SECTOR; error=none; depth=1; full.\n"
		   "example: stallmark lab up old disk=hdd7200_2009 fs=ext3 sched=bfq mount=data=ordered+barrier=0",
	.min_args = 1,
	.max_args = -1,
	.run = run,
};

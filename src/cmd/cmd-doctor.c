/* SPDX-License-Identifier: MIT */
/* What works on this machine, what does not, what that costs, and what helps. Asks the kernel for each thing itself. */
#include "base/cleanup.h"
#include "base/mem.h"
#include "cmd/cmd.h"
#include "collect/source.h"
#include "config.h"
#include "record/record.h"
#include "sys/environ.h"
#include "sys/kfile.h"
#include "sys/spawn.h"
#include "sys/topology.h"
#include "sys/undo.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_cachestat
#define SYS_cachestat 451	/* the same number on all architectures but alpha (Linux 6.5) */
#endif

static bool json;

static const struct opt *options(void)
{
	static const struct opt o[] = {
		{ 0, "json", OPT_FLAG, &json, NULL, "one JSON document instead of the screen" },
		{ 0 }
	};

	json = false;
	return o;
}

enum state { WORKS, PARTLY, MISSING };

struct finding {
	enum state state;
	char found[400];	/* what is there, or why it is not */
	const char *remedy;	/* NULL: none is needed, or none is known */
};

static void set(struct finding *f, enum state state, const char *remedy, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

static void set(struct finding *f, enum state state, const char *remedy, const char *fmt, ...)
{
	va_list ap;

	f->state = state;
	f->remedy = remedy;
	va_start(ap, fmt);
	vsnprintf(f->found, sizeof(f->found), fmt, ap);
	va_end(ap);
}

static void check_record(struct finding *f)
{
	char dir[REC_DIR_MAX];
	struct err e = { 0 };

	if (rec_dir(NULL, dir, &e))
		set(f, MISSING, "mount a tmpfs and name it with --record-dir", "%s", e.msg);
	else
		set(f, WORKS, NULL, "%s", dir);
}

static void check_undo(struct finding *f)
{
	if (undo_dir())
		set(f, WORKS, NULL, "%s", undo_dir());
	else
		set(f, MISSING, "set XDG_RUNTIME_DIR, or run as root", "no private folder");
}

static bool source(struct finding *f, const char *name, const char *remedy)
{
	const struct source_ops *ops = plug_find(source_table, name);
	struct err e = { 0 };

	if (!ops) {
		set(f, MISSING, remedy, "this stallmark is built without it");
		return false;
	}
	if (ops->supported && ops->supported(&e)) {
		set(f, MISSING, remedy, "%s", e.msg);
		return false;
	}
	set(f, WORKS, NULL, "yes");
	return true;
}

static void check_proc(struct finding *f)
{
	source(f, "proc", "mount -t proc proc /proc");
}

static void check_psi(struct finding *f)
{
	source(f, "psi", "boot with psi=1 on the kernel's command line");
}

static void check_stacks(struct finding *f)
{
	char buf[512] = "";
	cleanup_close int fd = open("/proc/self/stack", O_RDONLY | O_CLOEXEC);

	if (fd >= 0 && file_again(fd, buf, sizeof(buf)) > 0)
		set(f, WORKS, NULL, "kernel stacks of all tasks");
	else
		set(f, PARTLY, "run as root", "wchan and system call of own tasks only");
}

static void check_bpf(struct finding *f)
{
	source(f, "bpf", geteuid() ? "run as root" : "a kernel with BTF (/sys/kernel/btf/vmlinux) and CONFIG_BPF_SYSCALL; to build it "
	       "in: apt-get install libbpf-dev clang bpftool");
}

static const char *tracefs(void)
{
	return !access("/sys/kernel/tracing/available_tracers", F_OK) ? "/sys/kernel/tracing" :
	       !access("/sys/kernel/debug/tracing/available_tracers", F_OK) ? "/sys/kernel/debug/tracing" : NULL;
}

static void check_blk(struct finding *f)
{
	cleanup_strbuf struct strbuf b = STRBUF_INIT;
	cleanup_free char *path = tracefs() ? mem_printf("%s/available_tracers", tracefs()) : NULL;
	char lock[32];

	if (!path || file_read(path, &b, NULL)) {
		set(f, MISSING, geteuid() ? "run as root" : "mount -t tracefs tracefs /sys/kernel/tracing", "tracefs is not readable");
		return;
	}
	if (!strstr(strbuf_str(&b), "blk")) {
		set(f, MISSING, "a kernel with CONFIG_BLK_DEV_IO_TRACE", "this kernel has no blk tracer");
		return;
	}
	environ_lockdown(lock, sizeof(lock));
	set(f, WORKS, NULL, "blk tracer%s", !strcmp(lock, "none") || !strcmp(lock, "unknown") ? "" :
	    "; blktrace itself is locked down");
}

static void check_uring(struct finding *f)
{
	struct io_uring_params p = { 0 };
	cleanup_close int fd = HAVE_URING ? (int)syscall(SYS_io_uring_setup, 2, &p) : -1;

	if (!HAVE_URING)
		set(f, MISSING, "apt-get install liburing-dev, and build again", "this stallmark is built without it");
	else if (fd >= 0)
		set(f, WORKS, NULL, "yes");
	else if (errno == ENOSYS)
		set(f, MISSING, "Linux 5.1 or later", "this kernel has no io_uring");
	else
		set(f, MISSING, "sysctl kernel.io_uring_disabled=0; in containers, the seccomp profile", "not permitted (%s)",
		    strerror(errno));
}

static void check_fuse(struct finding *f)
{
	cleanup_close int fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	int why = errno;
	cleanup_free char *mount = spawn_find("fusermount3");

	if (!HAVE_FUSE)
		set(f, MISSING, "apt-get install libfuse3-dev, and build again", "this stallmark is built without it");
	else if (fd < 0)
		set(f, MISSING, "modprobe fuse; in containers, pass /dev/fuse in", "/dev/fuse: %s", strerror(why));
	else if (geteuid() && !mount)
		set(f, MISSING, "apt-get install fuse3", "no fusermount3");
	else
		set(f, WORKS, NULL, "yes");
}

static void check_loop(struct finding *f)
{
	cleanup_close int fd = open("/dev/loop-control", O_RDWR | O_CLOEXEC);

	if (fd >= 0)
		set(f, WORKS, NULL, "yes");
	else
		set(f, MISSING, errno == EACCES ? "run as root" : "modprobe loop", "/dev/loop-control: %s", strerror(errno));
}

static void check_mkfs(struct finding *f)
{
	static const char *const tools[][2] = { { "mkfs.ext4", "e2fsprogs" }, { "mkfs.xfs", "xfsprogs" }, { "mkfs.btrfs", "btrfs-progs" } };
	cleanup_strbuf struct strbuf have = STRBUF_INIT;
	int n = 0;

	for (size_t i = 0; i < ARRAY_SIZE(tools); i++) {
		cleanup_free char *path = spawn_find(tools[i][0]);

		if (path)
			strbuf_addf(&have, "%s%s", n++ ? ", " : "", tools[i][0] + 5);
	}
	set(f, n == (int)ARRAY_SIZE(tools) ? WORKS : n ? PARTLY : MISSING, n == (int)ARRAY_SIZE(tools) ? NULL :
	    "apt-get install e2fsprogs xfsprogs btrfs-progs", "%s", n ? strbuf_str(&have) : "none");
}

static void check_cachestat(struct finding *f)
{
	/* a bad descriptor is refused only by kernels that know the call */
	if (syscall(SYS_cachestat, -1, NULL, NULL, 0) < 0 && errno == ENOSYS)
		set(f, PARTLY, "Linux 6.5 or later", "mincore only, which lies about other people's files");
	else
		set(f, WORKS, NULL, "yes");
}

struct groups {
	char v2[200], io[200];
};

static int see_mount(void *ctx, const struct mount_entry *m)
{
	struct groups *g = ctx;
	cleanup_strbuf struct strbuf b = STRBUF_INIT;

	if (!strcmp(m->type, "cgroup2")) {
		cleanup_free char *path = mem_printf("%s/cgroup.controllers", m->point);

		snprintf(g->v2, sizeof(g->v2), "%s", m->point);
		if (!file_read(path, &b, NULL) && strstr(strbuf_str(&b), "io"))
			snprintf(g->io, sizeof(g->io), "%s", m->point);
	} else if (!strcmp(m->type, "cgroup") && strstr(m->super, "blkio") && !g->io[0]) {
		snprintf(g->io, sizeof(g->io), "%s", m->point);
	}
	return 0;
}

static void check_cgroups(struct finding *f)
{
	struct groups g = { "", "" };

	(void)mount_each(see_mount, &g, NULL);
	if (!g.v2[0] && !g.io[0])
		set(f, MISSING, "mount -t cgroup2 none /sys/fs/cgroup", "no cgroups are mounted");
	else if (!g.io[0])
		set(f, PARTLY, "a kernel with CONFIG_BLK_CGROUP", "%s, without I/O control", g.v2);
	else if (geteuid())
		set(f, PARTLY, "run as root", "%s, read only", g.io);
	else
		set(f, WORKS, NULL, "I/O control in %s", g.io);
}

static void check_guest(struct finding *f)
{
#if defined(__aarch64__)
	cleanup_free char *qemu = spawn_find("qemu-system-aarch64");
#else
	cleanup_free char *qemu = spawn_find("qemu-system-x86_64");
#endif
	if (!qemu)
		set(f, MISSING, "apt-get install qemu-system-x86 (arm64: qemu-system-arm)", "no QEMU");
	else if (access("/dev/kvm", R_OK | W_OK))
		set(f, PARTLY, "modprobe kvm_intel or kvm_amd; nested virtualisation in the cloud", "without KVM, 10 to 30 times slower");
	else
		set(f, WORKS, NULL, "with KVM");
}

static const struct check {
	const char *name, *what, *cost;
	void (*fn)(struct finding *f);
} checks[] = {
	{ "record", "folder in memory for the record", "no run can be measured", check_record },
	{ "undo", "folder for the notes of changes", "no setting may be changed", check_undo },
	{ "proc", "dirty memory, devices, processes", "waits without what the machine did meanwhile", check_proc },
	{ "psi", "pressure stall information", "no share of time lost to I/O by everybody", check_psi },
	{ "stacks", "where stuck operations sleep", "a stuck operation is shown without its place in the kernel", check_stacks },
	{ "bpf", "stall tracing", "explain cannot follow a wait to the process that caused it", check_bpf },
	{ "blk", "block request tracing", "no recording in blktrace's format", check_blk },
	{ "uring", "io_uring", "loads reach fewer requests a second", check_uring },
	{ "cachestat", "proof that files were cold", "some reads are marked 'unknown' instead of cold or warm", check_cachestat },
	{ "cgroups", "I/O limits by cgroup (lab)", "no cgroup limits in the lab", check_cgroups },
	{ "fuse", "modelled disks (lab)", "no lab: only disks that are there", check_fuse },
	{ "loop", "loop devices (lab)", "no filesystems on files", check_loop },
	{ "mkfs", "making filesystems (lab)", "only those filesystems can be compared in the lab", check_mkfs },
	{ "guest", "other kernels in a guest", "kernels can be compared by booting them only", check_guest },
};

static void leftovers(struct node *parent)
{
	cleanup_strbuf struct strbuf list = STRBUF_INIT;
	struct node *table;

	if (undo_list(&list, true, NULL) || !list.len)
		return;
	table = page_table(parent, "leftovers", "Left by killed runs; stallmark clean takes it back");
	page_column(table, "what", "change", 0);
	for (char *line = list.s, *next; line && *line; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = 0;
		page_cell(page_row(table), "what", NULL, val_text(line));
	}
}

static int run(int argc, char **argv)
{
	static const char *const words[] = { "works", "partly", "missing" };
	struct page *p = page_new("stallmark.doctor/1");
	struct node *table = page_table(p->root, "checks", NULL), *list;
	struct finding f[ARRAY_SIZE(checks)] = { 0 };
	char lock[32];
	int code, bad = 0;

	page_column(table, "name", "part", 0);
	page_column(table, "state", "state", 0);
	page_column(table, "what", "for", 0);
	page_column(table, "found", "found", NODE_JSON_ONLY);
	page_column(table, "cost", "without it", NODE_JSON_ONLY);
	page_column(table, "remedy", "remedy", NODE_JSON_ONLY);
	for (size_t i = 0; i < ARRAY_SIZE(checks); i++) {
		struct node *row = page_row(table);

		checks[i].fn(&f[i]);
		bad += f[i].state != WORKS;
		page_cell(row, "name", NULL, val_text(checks[i].name));
		page_flag(page_cell(row, "state", NULL, val_text(words[f[i].state])), f[i].state == WORKS ? 0 : NODE_WARN);
		page_cell(row, "what", NULL, val_text(checks[i].what));
		page_cell(row, "found", NULL, val_text(f[i].found));
		page_cell(row, "cost", NULL, val_text(f[i].state == WORKS ? NULL : checks[i].cost));
		page_cell(row, "remedy", NULL, val_text(f[i].remedy));
	}
	for (size_t i = 0; i < ARRAY_SIZE(checks); i++)
		if (f[i].state != WORKS)
			page_flag(page_text(p->root, "%s: %s. Without it: %s.%s%s", checks[i].name, f[i].found, checks[i].cost,
					    f[i].remedy ? " What helps: " : "", f[i].remedy ? f[i].remedy : ""), NODE_WARN);
	if (!bad)
		page_text(p->root, "Everything works here.");
	list = page_flag(page_group(p->root, "machine", NULL), NODE_JSON_ONLY);
	page_cell(list, "root", NULL, val_bool(!geteuid()));
	page_cell(list, "lockdown", NULL, val_text(environ_lockdown(lock, sizeof(lock))));
	page_cell(list, "virtualisation", NULL, val_text(environ_virt(lock, sizeof(lock))));
	leftovers(p->root);
	code = cmd_print_page(p, json ? "json" : NULL, false);
	page_free(p);
	return code;
}

const struct cmd cmd_doctor = {
	.name = "doctor",
	.about = "say what works on this machine, what is missing and what that costs",
	.usage = "[options]",
	.group = "Machine",
	.options = options,
	.details = "Nothing is changed. Each part is tried, not guessed from the kernel's version.",
	.min_args = 0,
	.max_args = 0,
	.run = run,
};

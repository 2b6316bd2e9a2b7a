/* SPDX-License-Identifier: MIT */
#include "lab/make-fs.h"
#include "base/cleanup.h"
#include "base/mem.h"
#include "base/units.h"
#include "sys/kfile.h"
#include "sys/spawn.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>

#define ARGS_MAX	48
#define MKFS_LIMIT	(300 * NSEC_PER_SEC)
#define MOUNT_LIMIT	(120 * NSEC_PER_SEC)

static const struct fs {
	const char *name, *package;
	uint64_t least;
	const char *args[8];
} known[] = {
	/* everything is written now: no lazy thread may disturb the measurement later */
	{ "ext2", "e2fsprogs", 16 << 20, { "mkfs.ext2", "-F", "-q", "-E", "lazy_itable_init=0" } },
	{ "ext3", "e2fsprogs", 16 << 20, { "mkfs.ext3", "-F", "-q", "-E", "lazy_itable_init=0,lazy_journal_init=0" } },
	{ "ext4", "e2fsprogs", 16 << 20, { "mkfs.ext4", "-F", "-q", "-E", "lazy_itable_init=0,lazy_journal_init=0" } },
	{ "xfs", "xfsprogs", 300 << 20, { "mkfs.xfs", "-f", "-q" } },
	{ "btrfs", "btrfs-progs", 128 << 20, { "mkfs.btrfs", "-f", "-q" } },
};

static const struct fs *find_fs(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (!strcmp(known[i].name, name))
			return &known[i];
	return NULL;
}

bool lab_interrupted(void)
{
	sigset_t s;

	return !sigpending(&s) && (sigismember(&s, SIGINT) || sigismember(&s, SIGTERM) || sigismember(&s, SIGHUP));
}

static bool kernel_has(const char *fs)
{
	cleanup_strbuf struct strbuf b = STRBUF_INIT;
	cleanup_free char *word = mem_printf("\t%s\n", fs);

	if (file_read("/proc/filesystems", &b, NULL))
		return false;
	strbuf_addc(&b, '\n');
	return strstr(b.s, word);
}

int make_fs_check(const struct lab_conf *c, struct err *e)
{
	const char *names[ARRAY_SIZE(known) + 1];
	const struct fs *f = find_fs(c->fs);
	cleanup_free char *path = NULL;
	char text[UNITS_TEXT];

	if (!strcmp(c->fs, "none"))
		return 0;
	if (!f) {
		const char *near;

		for (size_t i = 0; i < ARRAY_SIZE(known); i++)
			names[i] = known[i].name;
		names[ARRAY_SIZE(known)] = "none";
		near = units_nearest(c->fs, names, ARRAY_SIZE(names));
		if (near)
			return err_set(e, -EINVAL, "lab %s: there is no filesystem '%.40s' here; did you mean '%s'?", c->name, c->fs, near);
		return err_set(e, -EINVAL, "lab %s: there is no filesystem '%.40s' here; it is ext2, ext3, ext4, xfs, btrfs or none",
			       c->name, c->fs);
	}
	if (c->size < f->least)
		return err_set(e, -EINVAL, "lab %s: %s needs a disk of %s at least", c->name, f->name, units_size_text(f->least, text));
	path = spawn_find(f->args[0]);
	if (!path)
		return err_set(e, -ENOENT, "lab %s: the program %s is missing: apt install %s", c->name, f->args[0], f->package);
	if (!kernel_has(f->name)) {
		const char *argv[] = { "modprobe", "-q", f->name, NULL };
		int status;

		(void)spawn_run(&(struct spawn){ .argv = argv, .limit = 20 * NSEC_PER_SEC }, NULL, NULL, &status, NULL);
		if (!kernel_has(f->name))
			return err_set(e, -ENOTSUP, "lab %s: this kernel has no filesystem %s", c->name, f->name);
	}
	return 0;
}

/* As spawn_must, but looks at pending signals while it waits. */
static int run(const char *const *argv, nsec_t limit, struct err *e)
{
	cleanup_close int out = memfd_create("stallmark-mkfs", MFD_CLOEXEC);
	nsec_t until = nsec_now() + limit;
	char said[400];
	int status, r;
	ssize_t n;
	pid_t pid;

	if (out < 0)
		return err_sys(e, -errno, "no memory for what %s says", argv[0]);
	r = spawn_start(&(struct spawn){ .argv = argv, .out = out, .err = out }, &pid, e);
	if (r)
		return r;
	while ((r = spawn_wait(pid, 50 * NSEC_PER_MSEC, &status)) == -ETIMEDOUT) {
		if (!lab_interrupted() && nsec_now() < until)
			continue;
		(void)spawn_stop(pid, NSEC_PER_SEC, &status);
		if (lab_interrupted())
			return err_set(e, -EINTR, "interrupted while %s ran", argv[0]);
		return err_set(e, -ETIMEDOUT, "%s did not end within %lld s", argv[0], (long long)(limit / NSEC_PER_SEC));
	}
	if (r)
		return err_sys(e, r, "lost sight of %s", argv[0]);
	if (!status)
		return 0;
	n = pread(out, said, sizeof(said) - 1, 0);
	said[n > 0 ? n : 0] = 0;
	for (char *c = said; *c; c++)
		if (*c == '\n')
			*c = c[1] ? ' ' : 0;
	return err_set(e, -EIO, "%s failed (%d): %s", argv[0], status, said);
}

/* The words of a list joined with '+', as arguments. */
static int add_words(const char **argv, int n, char *words)
{
	char *save = NULL;

	for (char *w = words ? strtok_r(words, "+", &save) : NULL; w && n < ARGS_MAX - 3; w = strtok_r(NULL, "+", &save))
		argv[n++] = w;
	return n;
}

int make_fs(const struct lab_conf *c, const struct loop *l, struct err *e)
{
	cleanup_free char *extra = mem_dup(c->mkfs);
	const struct fs *f = find_fs(c->fs);
	const char *argv[ARGS_MAX] = { 0 };
	int n = 0, r;

	if (!f)
		return 0;
	for (; f->args[n]; n++)
		argv[n] = f->args[n];
	n = add_words(argv, n, extra);
	argv[n++] = l->path;
	argv[n] = NULL;
	r = loop_is_ours(l, e);
	return r ? r : run(argv, MKFS_LIMIT, e);
}

int mount_fs(const struct lab_conf *c, const struct loop *l, const char *point, struct undo *u, struct err *e)
{
	cleanup_free char *options = mem_dup(c->mount);
	const char *argv[] = { "mount", "-t", c->fs, "-o", options ? options : "defaults", l->path, point, NULL };
	int r;

	if (!find_fs(c->fs))
		return 0;
	for (char *s = options; s && *s; s++)
		if (*s == '+')
			*s = ',';
	r = loop_is_ours(l, e);
	if (!r)
		r = undo_note(u, UNDO_MOUNT, point, l->path, NULL, e);
	return r ? r : run(argv, MOUNT_LIMIT, e);
}

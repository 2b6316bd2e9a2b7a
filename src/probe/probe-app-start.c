/* SPDX-License-Identifier: MIT */
/*
 * Starting a program that was not used for a while.
 *
 * With `command` it is a real one, from exec to exit: its executable and what
 * `files` names are dropped from the page cache first where they are ours, and
 * their resident share is asked. Other libraries stay as they are.
 *
 * Without, it is what a browser does, on the directory under test: 60 MB of
 * libraries are mapped and faulted in mixed order, 64 KiB at a time, 30 small
 * settings are read, and three small files (a lock, a profile, a session) are
 * written and fsynced, each in turn. fsync-heavy browsers were unusable on
 * every kernel of the 2.6.30 years.
 */
#include "base/argv.h"
#include "base/child.h"
#include "base/cleanup.h"
#include "op/files.h"
#include "probe/probe.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define LIBS		12		/* one slot each */
#define SLOT_SMALL	LIBS
#define TOUCH		(UINT64_C(64) << 10)
#define SETTINGS	30
#define SYNCED		3
#define PATIENCE	(2 * NSEC_PER_SEC)
#define EXTRA		32		/* files named beside a command's executable */

struct conf {
	char *command, *files;
	uint64_t mapped;
};

struct state {
	struct files_cursor libs, settings;
	int stage;
	uint64_t at;
	/* of a command */
	struct argv argv, extra;
	char exe[4096];
};

static const struct param params[] = {
	PARAM(struct conf, command, PARAM_TEXT, NULL, "a real program to start instead, without a shell"),
	PARAM(struct conf, files, PARAM_TEXT, NULL, "with command: its libraries and data, to be dropped and checked too"),
	{ .name = "mapped", .type = PARAM_SIZE, .offset = offsetof(struct conf, mapped), .def = "60M",
	  .help = "without: bytes of mapped libraries", .min = LIBS * TOUCH, .max = 1e10 },
	{ 0 },
};

static const char *const steps[] = { "map", "fault", "settings", "write", "fsync", "command", NULL };
enum { STEP_MAP, STEP_FAULT, STEP_SETTINGS, STEP_WRITE, STEP_SYNC, STEP_COMMAND };

static uint64_t lib_size(const struct conf *c)
{
	return c->mapped / LIBS / TOUCH * TOUCH;
}

static struct files libs(const struct conf *c)
{
	return (struct files){ .prefix = "lib", .n = LIBS, .per_dir = LIBS, .size = lib_size(c) };
}

static struct files settings(void)
{
	return (struct files){ .prefix = "etc", .n = SETTINGS, .per_dir = SETTINGS, .size = 8192, .mixed = true };
}

static bool by_once(const void *conf)
{
	return ((const struct conf *)conf)->command;
}

static uint64_t space(const void *conf)
{
	struct files l = libs(conf), s = settings();

	return by_once(conf) ? 0 : files_bytes(&l) + files_bytes(&s) + SYNCED * 4096;
}

static uint64_t writes(const void *conf)
{
	return by_once(conf) ? 0 : SYNCED * 4096;
}

static void scale(void *conf, double share)
{
	struct conf *c = conf;
	uint64_t n = (uint64_t)((double)c->mapped * share);

	c->mapped = MAX(MIN(n, c->mapped), LIBS * TOUCH);
}

static int prepare(void *st, const void *conf, struct rng *rng, struct op *ops, int max)
{
	struct files l = libs(conf), e = settings();
	struct state *s = st;
	int n = by_once(conf) ? 0 : files_lay_out(&l, &s->libs, ops, max);

	return n || by_once(conf) ? n : files_lay_out(&e, &s->settings, ops, max);
}

static int add_maps(const struct conf *c, struct op *ops, int n)
{
	struct files f = libs(c);

	for (uint8_t i = 0; i < LIBS; i++) {
		ops[n] = (struct op){ .kind = OP_OPEN, .slot = i, .step = STEP_MAP, .flags = OPF_READ };
		files_path(&f, i, ops[n++].path);
		ops[n++] = (struct op){ .kind = OP_MMAP, .slot = i, .step = STEP_MAP };
	}
	return n;
}

/* Mixed order: strides through all pieces by a number that shares no factor with their count. */
static int add_faults(const struct conf *c, struct state *s, struct op *ops, int max)
{
	uint64_t each = lib_size(c) / TOUCH, all = each * LIBS, stride = all * 5 / 13 | 1;
	int n = 0;

	for (uint64_t a = all, b = stride; ; a = all, b = ++stride) {
		while (b) {
			uint64_t rest = a % b;

			a = b;
			b = rest;
		}
		if (a == 1)
			break;
	}
	for (; s->at < all && n < max - 1; s->at++) {
		uint64_t piece = s->at * stride % all;

		ops[n++] = (struct op){ .kind = OP_TOUCH, .slot = (uint8_t)(piece / each), .step = STEP_FAULT,
					.offset = piece % each * TOUCH, .bytes = TOUCH };
	}
	if (s->at == all)
		s->stage++;
	return n;
}

static int add_settings(struct state *s, struct op *ops, int max)
{
	struct files f = settings();
	int n = 0;

	for (; s->at < SETTINGS && n < max - 4; s->at++) {
		ops[n] = (struct op){ .kind = OP_OPEN, .slot = SLOT_SMALL, .step = STEP_SETTINGS, .flags = OPF_READ };
		files_path(&f, s->at, ops[n++].path);
		ops[n++] = (struct op){ .kind = OP_READ, .slot = SLOT_SMALL, .step = STEP_SETTINGS, .bytes = 1 << 16 };
		ops[n++] = (struct op){ .kind = OP_CLOSE, .slot = SLOT_SMALL, .step = STEP_SETTINGS };
	}
	if (s->at == SETTINGS)
		s->stage++;
	return n;
}

static int add_synced(struct op *ops)
{
	static const char *const names[SYNCED] = { "lock", "profile", "session" };
	int n = 0;

	for (int i = 0; i < SYNCED; i++) {
		ops[n] = (struct op){ .kind = OP_OPEN, .slot = SLOT_SMALL, .step = STEP_WRITE,
				      .flags = OPF_WRITE | OPF_CREATE | OPF_TRUNC };
		snprintf(ops[n++].path, OP_PATH_MAX, "%s", names[i]);
		ops[n++] = (struct op){ .kind = OP_WRITE, .slot = SLOT_SMALL, .step = STEP_WRITE, .bytes = 4096 };
		ops[n++] = (struct op){ .kind = OP_FSYNC, .slot = SLOT_SMALL, .step = STEP_SYNC };
		ops[n++] = (struct op){ .kind = OP_CLOSE, .slot = SLOT_SMALL, .step = STEP_SYNC };
	}
	return n;
}

/* The end of the program, outside: unmapped, and all of it made cold for the next start. */
static int add_end(const struct conf *c, struct state *s, struct op *ops, int max)
{
	struct files l = libs(c), e = settings();
	int n = 0;

	for (uint8_t i = 0; s->at == 0 && i < LIBS; i++) {
		ops[n++] = (struct op){ .kind = OP_MUNMAP, .slot = i, .step = OP_OUTSIDE };
		ops[n++] = (struct op){ .kind = OP_CLOSE, .slot = i, .step = OP_OUTSIDE };
	}
	for (; s->at < LIBS + SETTINGS && n < max - FILES_DROP_OPS; s->at++)
		n = s->at < LIBS ? files_drop(&l, s->at, ops, n) : files_drop(&e, s->at - LIBS, ops, n);
	if (s->at == LIBS + SETTINGS)
		s->stage++;
	return n;
}

static int script(void *st, const void *conf, struct rng *rng, struct op *ops, int max)
{
	enum { MAPS, FAULTS, READS, SYNCS, END, DONE };
	struct state *s = st;
	int n, stage;

	if (!op_goes_on(ops)) {
		s->stage = MAPS;
		s->at = 0;
	}
	stage = s->stage;
	switch (stage) {
	case MAPS:
		n = add_maps(conf, ops, 0);
		s->stage++;
		break;
	case FAULTS:
		n = add_faults(conf, s, ops, max);
		break;
	case READS:
		n = add_settings(s, ops, max);
		break;
	case SYNCS:
		n = add_synced(ops);
		s->stage++;
		break;
	default:
		n = add_end(conf, s, ops, max);
		break;
	}
	if (s->stage != stage)
		s->at = 0;
	if (s->stage != DONE)
		ops[n++] = (struct op){ .kind = OP_MORE };
	return n;
}

/* The program's file as exec will find it. */
static int find(const char *name, char *ret, size_t size)
{
	const char *path = getenv("PATH") ?: "/usr/local/bin:/usr/bin:/bin", *c;

	if (strchr(name, '/'))
		return snprintf(ret, size, "%s", name) < (int)size && !access(ret, X_OK) ? 0 : -ENOENT;
	for (c = path; *c; c += strcspn(c, ":"), c += *c == ':')
		if (snprintf(ret, size, "%.*s/%s", (int)strcspn(c, ":"), c, name) < (int)size && !access(ret, X_OK))
			return 0;
	return -ENOENT;
}

static int open_command(void *st, const void *conf, struct probe_once *p, struct err *e)
{
	const struct conf *c = conf;
	struct state *s = st;
	int r;

	if (!by_once(conf))
		return 0;
	r = argv_split(c->command, &s->argv, e);
	if (!r && c->files)
		r = argv_split(c->files, &s->extra, e);
	if (r)
		return r;
	if (s->extra.n > EXTRA)
		return err_set(e, -EINVAL, "files names more than %d files", EXTRA);
	if (find(s->argv.v[0], s->exe, sizeof(s->exe)))
		return err_set(e, -ENOENT, "there is no program '%s'", s->argv.v[0]);
	return 0;
}

static void close_command(void *st)
{
	struct state *s = st;

	argv_done(&s->argv);
	argv_done(&s->extra);
}

/* Drops one file of the program and asks what is left: mincore() tells the truth only about files we may write. */
static void make_cold(const char *path, struct op_proof *proof)
{
	cleanup_close int fd = open(path, O_RDONLY | O_CLOEXEC);
	unsigned char vec[4096];
	long page = sysconf(_SC_PAGESIZE);
	struct stat sb;

	if (fd < 0 || fstat(fd, &sb) < 0 || (sb.st_uid != geteuid() && access(path, W_OK)))
		return;
	posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	for (off_t at = 0; at < sb.st_size; at += (off_t)sizeof(vec) * page) {
		size_t n = (size_t)MIN((off_t)sizeof(vec) * page, sb.st_size - at);
		void *m = mmap(NULL, n, PROT_READ, MAP_SHARED, fd, at);

		if (m == MAP_FAILED)
			return;
		if (!mincore(m, n, vec)) {
			for (size_t i = 0; i < (n + (size_t)page - 1) / (size_t)page; i++)
				proof->resident += vec[i] & 1;
			proof->asked += (n + (size_t)page - 1) / (size_t)page;
		}
		munmap(m, n);
	}
}

static int once(void *st, const void *conf, struct probe_once *p, struct err *e)
{
	struct child_end end = { 0 };
	struct state *s = st;
	pid_t pid;
	int r;

	make_cold(s->exe, &p->proof);
	for (int i = 0; i < s->extra.n; i++)
		make_cold(s->extra.v[i], &p->proof);
	p->step(p->ctx, STEP_COMMAND);
	r = child_start(s->argv.v, p->dirfd, -1, &pid, e);
	if (!r)
		r = child_wait(pid, p->stop, PATIENCE, NULL, NULL, &end, e);
	p->step(p->ctx, -1);
	if (r)
		return r;
	p->proof.read_blocks += end.read_blocks;
	p->bytes = end.read_blocks * 512;
	if (WIFSIGNALED(end.status))
		return err_set(e, -EIO, "'%s' was ended by signal %d", s->argv.v[0], WTERMSIG(end.status));
	if (WEXITSTATUS(end.status))
		return err_set(e, -EIO, "'%s' failed with exit code %d", s->argv.v[0], WEXITSTATUS(end.status));
	return 0;
}

const struct probe_ops probe_app_start = {
	.plug = { .name = "app-start", .about = "starting a program: a browser-like start, or a real command",
		  .conf_size = sizeof(struct conf), .state_size = sizeof(struct state), .params = params },
	.measures = "one start of a program that was not in memory",
	.loop = LOOP_CLOSED,
	.interval = 2 * NSEC_PER_SEC,
	.limit = NSEC_PER_SEC,
	.interactive = true,
	.wants_cold = true,
	.steps = steps,
	.space = space,
	.scale = scale,
	.writes = writes,
	.prepare = prepare,
	.script = script,
	.once = once,
	.by_once = by_once,
	.open = open_command,
	.close = close_command,
	.why_no_sim = "with command a real program makes the system calls",
	.command_param = "command",
};

/* SPDX-License-Identifier: MIT */
/*
 * The log is text, one line an event, each appended with one write(2) and
 * synced before the change it announces:
 *
 *	stallmark-undo 1 BOOT-ID
 *	+ 1 file /proc/sys/vm/dirty_ratio 20 ~
 *	= 1 5 ~				our write is done and left this
 *	- 1 ~				undone
 *
 * Fields are separated by blanks; blanks, line breaks, ~ and % in them are %XX.
 * A line without its ~ was torn (killed in the write): what it announces was
 * not done.
 */
#include "base/cleanup.h"
#include "base/mem.h"
#include "base/vec.h"
#include "sys/kfile.h"
#include "sys/proc.h"
#include "sys/undo-kind.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#define SUFFIX ".undo"

struct undo {
	char *path;
	int fd;			/* -1: no entry yet */
	int next_id;
	bool other_boot;
	VEC(struct undo_entry) list;
};

static bool in_memory(const char *dir)
{
	struct statfs fs;

	return !statfs(dir, &fs) && (fs.f_type == TMPFS_MAGIC || fs.f_type == RAMFS_MAGIC);
}

static bool private_dir(const char *dir)
{
	struct stat st;

	if (mkdir(dir, 0700) < 0 && errno != EEXIST)
		return false;
	return lstat(dir, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == geteuid() && !(st.st_mode & 077);
}

const char *undo_dir(void)
{
	static char dir[512];
	const char *test = getenv("STALLMARK_RUNTIME_DIR"), *user = getenv("XDG_RUNTIME_DIR");
	const char *parent = geteuid() ? user : "/run";

	if (test && *test == '/') {
		snprintf(dir, sizeof(dir), "%s", test);
		return private_dir(dir) ? dir : NULL;
	}
	if (parent && *parent == '/' && in_memory(parent)) {
		snprintf(dir, sizeof(dir), "%s/stallmark", parent);
		if (private_dir(dir))
			return dir;
	}
	snprintf(dir, sizeof(dir), "/dev/shm/stallmark-%u", (unsigned)geteuid());
	if (in_memory("/dev/shm") && private_dir(dir))
		return dir;
	/* on a disk, then: late is better than never */
	if (!parent || *parent != '/')
		return NULL;
	snprintf(dir, sizeof(dir), "%s/stallmark", parent);
	return private_dir(dir) ? dir : NULL;
}

static void put_field(struct strbuf *b, const char *s)
{
	strbuf_addc(b, ' ');
	for (; s && *s; s++) {
		if (*s == ' ' || *s == '\n' || *s == '%' || *s == '~')
			strbuf_addf(b, "%%%02X", (unsigned char)*s);
		else
			strbuf_addc(b, *s);
	}
}

/* The next field of the line, or NULL; moves *pos. */
static char *get_field(const char **pos)
{
	cleanup_strbuf struct strbuf b = STRBUF_INIT;
	const char *s = *pos;

	if (*s != ' ')
		return NULL;
	for (s++; *s && *s != ' ' && *s != '\n'; s++) {
		unsigned x;

		if (*s == '%' && s[1] && s[2] && sscanf(s + 1, "%2x", &x) == 1) {
			strbuf_addc(&b, (char)x);
			s += 2;
		} else {
			strbuf_addc(&b, *s);
		}
	}
	*pos = s;
	return strbuf_detach(&b);
}

static void entry_done(struct undo_entry *n)
{
	free(n->object);
	free(n->detail);
	free(n->now);
}

static struct undo_entry *entry_of(struct undo *u, int id)
{
	for (size_t i = 0; i < u->list.n; i++)
		if (u->list.p[i].id == id && !u->list.p[i].gone)
			return &u->list.p[i];
	return NULL;
}

static size_t left(const struct undo *u)
{
	size_t n = 0;

	for (size_t i = 0; i < u->list.n; i++)
		n += !u->list.p[i].gone;
	return n;
}

#define END " ~\n"

static void one_line(struct undo *u, const char *line)
{
	size_t len = strcspn(line, "\n");
	const char *pos = line + 1;
	cleanup_free char *id = get_field(&pos), *word = NULL;
	struct undo_entry *have, n = { .id = id ? atoi(id) : 0 };

	if (!id || n.id < 1 || len < 4 || strncmp(line + len - 2, END, 3))
		return;
	have = entry_of(u, n.id);
	u->next_id = MAX(u->next_id, n.id + 1);
	if (*line == '-' && have) {
		have->gone = true;
	} else if (*line == '=' && have) {
		free(have->now);
		have->now = get_field(&pos);
	} else if (*line == '+' && !have) {
		word = get_field(&pos);
		n.object = get_field(&pos);
		n.detail = get_field(&pos);
		n.kind = word ? (enum undo_kind)undo_kind_by_name(word) : 0;
		if (n.object && n.detail && word && undo_kind_by_name(word) >= 0)
			vec_push(&u->list, n);
		else
			entry_done(&n);
	}
}

/* Reads a log; whole lines only. */
static int load(struct undo *u, struct err *e)
{
	cleanup_strbuf struct strbuf b = STRBUF_INIT;
	int r = file_read(u->path, &b, e);
	const char *boot = proc_boot_id();
	char was[40];

	if (r)
		return r;
	strbuf_addc(&b, '\n');
	if (sscanf(b.s, "stallmark-undo 1 %39s", was) == 1)
		u->other_boot = strcmp(was, "-") && boot[0] && strcmp(was, boot);
	else if (b.len > 1)
		return err_set(e, -EBADMSG, "%s is not an undo log of this version", u->path);
	for (const char *line = strchr(b.s, '\n'); line && line[1]; line = strchr(line + 1, '\n'))
		one_line(u, line + 1);
	return 0;
}

static char *log_path(pid_t pid)
{
	uint64_t start = 0;

	if (!undo_dir() || proc_start_time(pid, &start))
		return NULL;
	return mem_printf("%s/%d.%llu" SUFFIX, undo_dir(), (int)pid, (unsigned long long)start);
}

int undo_open(struct undo **ret, struct err *e)
{
	struct undo *u = mem_alloc(sizeof(*u));
	int r = 0;

	u->fd = -1;
	u->next_id = 1;
	u->path = log_path(getpid());
	if (!u->path)
		r = err_set(e, -EACCES, "there is no private folder for the undo log (/run/stallmark, $XDG_RUNTIME_DIR/stallmark "
			    "or /dev/shm), so no setting may be changed");
	if (!r && access(u->path, F_OK) == 0) {		/* handed over to us */
		r = load(u, e);
		u->fd = r ? -1 : open(u->path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW);
		if (!r && u->fd < 0)
			r = err_sys(e, -errno, "cannot open the undo log %s", u->path);
	}
	if (r) {
		undo_close(u);
		return r;
	}
	*ret = u;
	return 0;
}

static int append(struct undo *u, const struct strbuf *b, struct err *e)
{
	if (u->fd < 0) {
		u->fd = open(u->path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
		if (u->fd < 0)
			return err_sys(e, -errno, "cannot create the undo log %s", u->path);
		if (dprintf(u->fd, "stallmark-undo 1 %s\n", proc_boot_id()[0] ? proc_boot_id() : "-") < 0)
			return err_sys(e, -errno, "cannot write the undo log %s", u->path);
	}
	if (write(u->fd, b->s, b->len) != (ssize_t)b->len || fdatasync(u->fd) < 0)
		return err_sys(e, errno ? -errno : -EIO, "cannot write the undo log %s", u->path);
	return 0;
}

int undo_note(struct undo *u, enum undo_kind kind, const char *object, const char *detail, int *ret_id, struct err *e)
{
	cleanup_strbuf struct strbuf b = STRBUF_INIT;
	char start[24];
	int r;

	if (kind == UNDO_PROCESS && !detail) {
		uint64_t s;

		r = proc_start_time((pid_t)atoi(object), &s);
		if (r)
			return err_sys(e, r, "cannot note process %s", object);
		snprintf(start, sizeof(start), "%llu", (unsigned long long)s);
		detail = start;
	}
	strbuf_addf(&b, "+ %d %s", u->next_id, undo_kind_name(kind));
	put_field(&b, object);
	put_field(&b, detail);
	strbuf_adds(&b, END);
	r = append(u, &b, e);
	if (r)
		return r;
	vec_push(&u->list, ((struct undo_entry){ .id = u->next_id, .kind = kind, .object = mem_dup(object),
						 .detail = mem_dup(detail ? detail : "") }));
	if (ret_id)
		*ret_id = u->next_id;
	u->next_id++;
	return 0;
}

static struct undo_entry *entry_of_file(struct undo *u, const char *file)
{
	for (size_t i = 0; i < u->list.n; i++)
		if (u->list.p[i].kind == UNDO_FILE && !u->list.p[i].gone && !strcmp(u->list.p[i].object, file))
			return &u->list.p[i];
	return NULL;
}

int undo_set(struct undo *u, const char *file, const char *value, struct strbuf *ret_now, struct err *e)
{
	cleanup_strbuf struct strbuf raw = STRBUF_INIT, old = STRBUF_INIT, line = STRBUF_INIT;
	struct undo_entry *n = entry_of_file(u, file);
	int id, r = file_read(file, &raw, e);

	if (r)
		return r;
	file_chosen(strbuf_str(&raw), &old);
	if (!strcmp(strbuf_str(&old), value)) {
		if (ret_now)
			strbuf_adds(ret_now, value);
		return 0;
	}
	if (strchr(strbuf_str(&old), '\n'))
		return err_set(e, -ENOTSUP, "%s has several lines; they could not be brought back by one write", file);
	if (!n) {
		r = undo_note(u, UNDO_FILE, file, strbuf_str(&old), &id, e);
		if (r)
			return r;
		n = entry_of(u, id);
	}
	id = n->id;
	r = file_write(file, value, e);
	if (r) {
		if (!n->now)	/* the kernel refused: nothing to undo */
			(void)undo_forget(u, id, NULL);
		return r;
	}
	r = file_read(file, &raw, e);
	if (r)
		return r;
	file_chosen(strbuf_str(&raw), &old);
	strbuf_addf(&line, "= %d", id);
	put_field(&line, strbuf_str(&old));
	strbuf_adds(&line, END);
	r = append(u, &line, e);
	if (r)
		return r;
	free(n->now);
	n->now = mem_dup(strbuf_str(&old));
	if (ret_now)
		strbuf_adds(ret_now, strbuf_str(&old));
	return 0;
}

int undo_forget(struct undo *u, int id, struct err *e)
{
	cleanup_strbuf struct strbuf b = STRBUF_INIT;
	struct undo_entry *n = entry_of(u, id);
	int r;

	if (!n)
		return 0;
	strbuf_addf(&b, "- %d" END, id);
	r = append(u, &b, e);
	if (!r)
		n->gone = true;
	return r;
}

/* 1: undone; 0: it stays in the log. */
static int take_back(struct undo *u, struct undo_entry *n, struct strbuf *said, struct err *e)
{
	struct err why = { 0 };
	int r = undo_entry_take_back(n, u->other_boot, &why);

	/* -EPERM of a tree: it is not ours, which will not change */
	if (r && said)
		strbuf_addf(said, "%s\n", why.msg);
	if (r < 0 && !(r == -EPERM && n->kind == UNDO_TREE)) {
		if (e)
			*e = why;
		return r;
	}
	return undo_forget(u, n->id, e);
}

int undo_one(struct undo *u, int id, struct strbuf *said, struct err *e)
{
	struct undo_entry *n = entry_of(u, id);

	return n ? take_back(u, n, said, e) : 0;
}

static int all(struct undo *u, struct strbuf *said, int *ret_undone, struct err *e)
{
	struct err why = { 0 };
	size_t failed = 0;

	for (size_t i = u->list.n; i-- > 0;) {
		if (u->list.p[i].gone)
			continue;
		if (take_back(u, &u->list.p[i], said, failed ? NULL : &why))
			failed++;
		else
			++*ret_undone;
	}
	if (failed)
		return err_set(e, -EBUSY, "%zu of our changes could not be undone yet (%s); stallmark clean tries again", failed, why.msg);
	return 0;
}

int undo_all(struct undo *u, struct strbuf *said, struct err *e)
{
	int n = 0;

	return all(u, said, &n, e);
}

void undo_close(struct undo *u)
{
	if (!u)
		return;
	if (u->fd >= 0 && !left(u))
		unlink(u->path);
	if (u->fd >= 0)
		close(u->fd);
	for (size_t i = 0; i < u->list.n; i++)
		entry_done(&u->list.p[i]);
	vec_done(&u->list);
	free(u->path);
	free(u);
}

int undo_hand_over(struct undo *u, pid_t to, struct err *e)
{
	cleanup_free char *path = log_path(to);

	if (!path)
		return err_set(e, -ESRCH, "there is no process %d to hand the undo log to", (int)to);
	if (u->fd >= 0 && left(u) && rename(u->path, path) < 0)
		return err_sys(e, -errno, "cannot hand the undo log over to process %d", (int)to);
	undo_close(u);
	return 0;
}

/* Calls fn for each log: its path, owner, and whether the owner lives. */
static int logs_each(int (*fn)(void *ctx, const char *path, pid_t pid, bool alive), void *ctx, struct err *e)
{
	const char *dir = undo_dir();
	DIR *d = dir ? opendir(dir) : NULL;
	struct dirent *de;
	int r = 0;

	if (!d)
		return 0;
	while (!r && (de = readdir(d))) {
		cleanup_free char *path = NULL;
		unsigned long long start;
		int pid, end = 0;

		if (sscanf(de->d_name, "%d.%llu" SUFFIX "%n", &pid, &start, &end) != 2 || !end || de->d_name[end])
			continue;
		path = mem_printf("%s/%s", dir, de->d_name);
		r = fn(ctx, path, pid, proc_is(pid, start));
	}
	closedir(d);
	return r;
}

struct stale {
	struct strbuf *said;
	struct err *e;
	int undone;
};

static int undo_log(void *ctx, const char *path, pid_t pid, bool alive)
{
	struct stale *s = ctx;
	struct err why = { 0 };
	struct undo *u;
	int fd;

	if (alive)
		return 0;
	u = mem_alloc(sizeof(*u));
	u->path = mem_dup(path);
	u->next_id = 1;
	fd = u->fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW);
	/* two commands may find the same log; the second leaves it to the first */
	if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0 || load(u, &why)) {
		if (why.code && s->said)
			strbuf_addf(s->said, "%s\n", why.msg);
		u->fd = -1;
		undo_close(u);
		if (fd >= 0)
			close(fd);
		return 0;
	}
	(void)all(u, s->said, &s->undone, s->e);
	undo_close(u);
	return 0;
}

int undo_stale(struct strbuf *said, struct err *e)
{
	struct stale s = { .said = said, .e = e };
	int r = logs_each(undo_log, &s, e);

	return r < 0 ? r : s.undone;
}

struct listing {
	struct strbuf *out;
	bool stale_only;
	struct err *e;
};

static void describe(struct strbuf *out, const struct undo_entry *n)
{
	switch (n->kind) {
	case UNDO_FILE:
		strbuf_addf(out, "set %s back to %s", n->object, n->detail);
		break;
	case UNDO_RMDIR:
	case UNDO_UNLINK:
	case UNDO_TREE:
		strbuf_addf(out, "remove %s", n->object);
		break;
	case UNDO_MOUNT:
		strbuf_addf(out, "unmount %s", n->object);
		break;
	case UNDO_LOOP:
		strbuf_addf(out, "detach %s from %s", n->object, n->detail);
		break;
	case UNDO_PROCESS:
		strbuf_addf(out, "end process %s", n->object);
		break;
	case UNDO_FUSE:
		strbuf_addf(out, "abort the FUSE connection of %s", n->detail);
		break;
	case UNDO_CGROUP:
		strbuf_addf(out, "kill what is in the cgroup %s and remove it", n->object);
		break;
	}
}

static int list_log(void *ctx, const char *path, pid_t pid, bool alive)
{
	struct listing *l = ctx;
	struct undo *u;

	if (alive && l->stale_only)
		return 0;
	u = mem_alloc(sizeof(*u));
	u->path = mem_dup(path);
	u->fd = -1;
	if (!load(u, l->e)) {
		for (size_t i = u->list.n; i-- > 0;) {
			if (u->list.p[i].gone)
				continue;
			describe(l->out, &u->list.p[i]);
			strbuf_addf(l->out, " (process %d, %s)\n", (int)pid, alive ? "running" : "gone");
		}
	}
	undo_close(u);
	return 0;
}

int undo_list(struct strbuf *out, bool stale_only, struct err *e)
{
	struct listing l = { .out = out, .stale_only = stale_only, .e = e };

	return logs_each(list_log, &l, e);
}

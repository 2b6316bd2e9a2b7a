/* SPDX-License-Identifier: MIT */
#include "sys/folder.h"
#include "base/cleanup.h"
#include "base/mem.h"
#include "sys/kfile.h"
#include "sys/proc.h"
#include "sys/undo.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>

#define MARK	".stallmark"
#define DEEPEST	200		/* folders in folders that removal follows */

static int make_parents(char *path)
{
	for (char *s = path + 1; ; s++) {
		if (*s != '/' && *s)
			continue;
		char was = *s;

		*s = 0;
		if (mkdir(path, 0700) < 0 && errno != EEXIST)
			return -errno;
		*s = was;
		if (!was)
			return 0;
	}
}

/* The registry's folder, made when missing; NULL when there is no place for it. Freed by the caller. */
static char *registry(void)
{
	const char *test = getenv("STALLMARK_STATE_DIR"), *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
	char *dir = NULL;
	struct stat st;

	if (test && *test == '/')
		dir = mem_printf("%s/folders", test);
	else if (!geteuid())
		dir = mem_dup("/var/lib/stallmark/folders");
	else if (state && *state == '/')
		dir = mem_printf("%s/stallmark/folders", state);
	else if (home && *home == '/')
		dir = mem_printf("%s/.local/state/stallmark/folders", home);
	if (!dir || make_parents(dir) < 0) {
		free(dir);
		dir = undo_dir() ? mem_printf("%s/folders", undo_dir()) : NULL;
		if (dir && make_parents(dir) < 0) {
			free(dir);
			return NULL;
		}
	}
	/* what is in it makes us delete things: nobody else may write there */
	if (dir && (lstat(dir, &st) < 0 || !S_ISDIR(st.st_mode) || st.st_uid != geteuid() || st.st_mode & 022)) {
		free(dir);
		return NULL;
	}
	return dir;
}

struct entry {
	char path[PATH_MAX];
	char token[FOLDER_TOKEN];
	char boot[40];
	pid_t pid;
	uint64_t start;
	uint64_t dev, ino;	/* 0: it was not made yet when the entry was written */
};

static int entry_write(const struct entry *n, struct err *e)
{
	cleanup_free char *dir = registry(), *file = NULL, *tmp = NULL, *text = NULL;
	int r;

	if (!dir)
		return err_set(e, -EACCES, "there is no private folder for the registry of our work folders "
			       "(/var/lib/stallmark, or ~/.local/state/stallmark)");
	file = mem_printf("%s/%s", dir, n->token);
	tmp = mem_printf("%s.new", file);
	text = mem_printf("1 %d %llu %s %llu %llu\n%s\n", (int)n->pid, (unsigned long long)n->start, n->boot[0] ? n->boot : "-",
			  (unsigned long long)n->dev, (unsigned long long)n->ino, n->path);
	r = file_write_durable(tmp, text, 0600, e);
	if (!r && rename(tmp, file) < 0)
		r = err_sys(e, -errno, "cannot write %s", file);
	return r;
}

static bool token_ok(const char *t)
{
	return strlen(t) == FOLDER_TOKEN - 1 && strspn(t, "0123456789abcdef") == FOLDER_TOKEN - 1;
}

static int entry_read(const char *dir, const char *token, struct entry *ret)
{
	cleanup_free char *file = mem_printf("%s/%s", dir, token);
	cleanup_strbuf struct strbuf b = STRBUF_INIT;
	struct entry n = { .pid = 0 };
	unsigned long long start, dev, ino;
	const char *path;
	int pid, r = file_read(file, &b, NULL);

	if (r)
		return r;
	path = strchr(strbuf_str(&b), '\n');
	if (!path || path[1] != '/' || strlen(path + 1) >= sizeof(n.path) ||
	    sscanf(strbuf_str(&b), "1 %d %llu %39s %llu %llu", &pid, &start, n.boot, &dev, &ino) != 5)
		return -EBADMSG;
	snprintf(n.path, sizeof(n.path), "%s", path + 1);
	snprintf(n.token, sizeof(n.token), "%s", token);
	n.pid = pid;
	n.start = start;
	n.dev = dev;
	n.ino = ino;
	*ret = n;
	return 0;
}

static void entry_drop(const char *token)
{
	cleanup_free char *dir = registry(), *file = dir ? mem_printf("%s/%s", dir, token) : NULL;

	if (file)
		unlink(file);
}

static void new_token(char token[FOLDER_TOKEN])
{
	unsigned char raw[(FOLDER_TOKEN - 1) / 2];

	if (getrandom(raw, sizeof(raw), 0) != sizeof(raw))
		abort();	/* 16 bytes never come short once the pool is up (getrandom(2)) */
	for (size_t i = 0; i < sizeof(raw); i++)
		snprintf(token + 2 * i, 3, "%02x", raw[i]);
}

int folder_make(const char *parent, struct folder *ret, struct err *e)
{
	cleanup_free char *real = realpath(parent, NULL);
	struct entry n = { .pid = getpid() };
	cleanup_close int fd = -1, mark = -1;
	struct stat st;
	int r;

	if (!real)
		return err_sys(e, -errno, "cannot use the directory %s", parent);
	if (stat(real, &st) < 0 || !S_ISDIR(st.st_mode))
		return err_set(e, -ENOTDIR, "%s is not a directory", parent);
	new_token(n.token);
	if (snprintf(n.path, sizeof(n.path), "%s/stallmark-%.8s", strcmp(real, "/") ? real : "", n.token) >= (int)sizeof(n.path))
		return err_set(e, -ENAMETOOLONG, "the path of %s is too long", parent);
	if (strchr(n.path, '\n'))
		return err_set(e, -EINVAL, "the name of %s has a line break in it; choose another directory", parent);
	snprintf(n.boot, sizeof(n.boot), "%s", proc_boot_id());
	(void)proc_start_time(n.pid, &n.start);
	r = entry_write(&n, e);
	if (r)
		return r;
	if (mkdir(n.path, 0700) < 0) {
		r = err_sys(e, -errno, "cannot make a work folder in %s", parent);
		entry_drop(n.token);
		return r;
	}
	fd = open(n.path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0 || (mark = openat(fd, MARK, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600)) < 0 ||
	    write(mark, n.token, FOLDER_TOKEN - 1) != FOLDER_TOKEN - 1)
		r = -errno;
	n.dev = st.st_dev;
	n.ino = st.st_ino;
	if (!r)
		r = entry_write(&n, e);
	else
		err_sys(e, r, "cannot mark the work folder %s", n.path);
	if (r) {
		if (fd >= 0)
			unlinkat(fd, MARK, 0);
		rmdir(n.path);
		entry_drop(n.token);
		return r;
	}
	memcpy(ret->path, n.path, sizeof(n.path));
	memcpy(ret->token, n.token, sizeof(n.token));
	ret->fd = take_fd(fd);
	return 0;
}

int folder_hand_over(const char *token, pid_t to, struct err *e)
{
	cleanup_free char *dir = registry();
	struct entry n;
	int r = dir && token_ok(token) ? entry_read(dir, token, &n) : -ENOENT;

	if (!r)
		r = proc_start_time(to, &n.start);
	if (r)
		return err_sys(e, r, "cannot hand a work folder over to process %d", (int)to);
	n.pid = to;
	return entry_write(&n, e);
}

void folder_done(struct folder *f)
{
	if (f && f->fd > 0)
		close(f->fd);
	if (f)
		f->fd = -1;
}

/* Everything below the directory; consumes fd. The mark goes last, so that a killed removal can be taken up again. */
static int empty(int fd, dev_t dev, int depth, bool top, struct err *e)
{
	DIR *d = fdopendir(fd);
	struct dirent *de;
	int r = 0;

	if (!d) {
		r = -errno;
		close(fd);
		return err_sys(e, r, "cannot list a folder");
	}
	while (!r && (errno = 0, de = readdir(d))) {
		struct stat st;
		int sub;

		if (!strcmp(de->d_name, ".") || !strcmp(de->d_name, "..") || (top && !strcmp(de->d_name, MARK)))
			continue;
		if (de->d_type != DT_DIR && unlinkat(fd, de->d_name, 0) == 0)
			continue;
		if (de->d_type != DT_DIR && errno != EISDIR && errno != EPERM) {
			if (errno != ENOENT)
				r = err_sys(e, -errno, "cannot remove %s", de->d_name);
			continue;
		}
		sub = openat(fd, de->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (sub < 0) {
			if (errno != ENOENT)
				r = err_sys(e, -errno, "cannot open the folder %s", de->d_name);
			continue;
		}
		if (fstat(sub, &st) < 0 || st.st_dev != dev || depth >= DEEPEST) {
			close(sub);
			r = depth >= DEEPEST ? err_set(e, -ELOOP, "folders are nested more than %d deep", DEEPEST) :
			    err_set(e, -EBUSY, "something is mounted at %s", de->d_name);
			continue;
		}
		r = empty(sub, dev, depth + 1, false, e);
		if (!r && unlinkat(fd, de->d_name, AT_REMOVEDIR) < 0 && errno != ENOENT)
			r = err_sys(e, -errno, "cannot remove the folder %s", de->d_name);
	}
	if (!r && errno)
		r = err_sys(e, -errno, "cannot list a folder");
	closedir(d);
	return r;
}

/* The folder at the path, proved to be that of the token; -EPERM when it is another one. */
static int open_ours(const char *path, const struct entry *n, struct stat *ret_st, struct err *e)
{
	cleanup_close int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	cleanup_strbuf struct strbuf mark = STRBUF_INIT;

	if (fd < 0 && (errno == ENOENT || errno == ENOTDIR || errno == ELOOP))
		return errno == ENOENT ? -ENOENT : err_set(e, -EPERM, "%s is not our folder any more", path);
	if (fd < 0 || fstat(fd, ret_st) < 0)
		return err_sys(e, -errno, "cannot open %s", path);
	/* st_dev may change over a reboot, the inode does not */
	if (ret_st->st_uid != geteuid() || (n->ino && ret_st->st_ino != n->ino))
		return err_set(e, -EPERM, "%s is not the folder that we made", path);
	if (file_read_at(fd, MARK, &mark, NULL)) {
		DIR *d;
		struct dirent *de;
		int others = 0;

		/* killed between making and marking it: empty, with the inode or at once after its making */
		d = fdopendir(dup(fd));
		while (d && (de = readdir(d)))
			others += strcmp(de->d_name, ".") && strcmp(de->d_name, "..");
		if (d)
			closedir(d);
		if (!d || others)
			return err_set(e, -EPERM, "%s does not carry our mark", path);
	} else if (strcmp(strbuf_str(&mark), n->token)) {
		return err_set(e, -EPERM, "%s carries the mark of another run", path);
	}
	return take_fd(fd);
}

int folder_remove(const char *path, const char *token, struct err *e)
{
	cleanup_free char *dir = registry();
	struct entry n = { .pid = 0 };
	struct stat st;
	int fd, again, r;

	if (!token_ok(token))
		return err_set(e, -EINVAL, "'%s' is not a token of a work folder", token);
	if (!dir || entry_read(dir, token, &n) < 0 || strcmp(n.path, path)) {
		if (access(path, F_OK) < 0 && errno == ENOENT)
			return 0;
		return err_set(e, -EPERM, "%s is not in our registry and stays", path);
	}
	fd = open_ours(path, &n, &st, e);
	if (fd < 0) {
		if (fd == -ENOENT || fd == -EPERM)
			entry_drop(token);
		return fd == -ENOENT ? 0 : fd;
	}
	again = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	r = again < 0 ? -errno : empty(fd, st.st_dev, 0, true, e);
	if (again < 0)
		close(fd);
	if (!r && unlinkat(again, MARK, 0) < 0 && errno != ENOENT)
		r = err_sys(e, -errno, "cannot remove the mark of %s", path);
	if (again >= 0)
		close(again);
	if (!r && rmdir(path) < 0 && errno != ENOENT)
		r = err_sys(e, -errno, "cannot remove %s", path);
	if (r) {
		if (e && strncmp(e->msg, "cannot remove /", 15))
			err_wrap(e, "the work folder %s stays", path);
		return r;
	}
	entry_drop(token);
	return 0;
}

int folder_each(int (*fn)(void *ctx, const struct folder_info *f), void *ctx)
{
	cleanup_free char *dir = registry();
	DIR *d = dir ? opendir(dir) : NULL;
	struct dirent *de;
	int r = 0;

	while (d && !r && (de = readdir(d))) {
		struct folder_info f = { .token = de->d_name };
		struct entry n;
		struct stat st;
		int fd;

		if (!token_ok(de->d_name) || entry_read(dir, de->d_name, &n) < 0)
			continue;
		f.path = n.path;
		f.pid = n.pid;
		f.alive = (!strcmp(n.boot, "-") || !strcmp(n.boot, proc_boot_id())) && proc_is(n.pid, n.start);
		fd = open_ours(n.path, &n, &st, NULL);
		f.there = fd >= 0;
		if (fd >= 0)
			close(fd);
		r = fn(ctx, &f);
	}
	if (d)
		closedir(d);
	return r;
}

struct stale {
	struct strbuf *said;
	int gone;
};

static int remove_if_stale(void *ctx, const struct folder_info *f)
{
	struct stale *s = ctx;
	struct err why = { 0 };

	if (f->alive)
		return 0;
	if (!folder_remove(f->path, f->token, &why))
		s->gone += f->there;
	else if (s->said)
		strbuf_addf(s->said, "%s\n", why.msg);
	return 0;
}

int folder_stale(struct strbuf *said)
{
	struct stale s = { .said = said };

	(void)folder_each(remove_if_stale, &s);
	return s.gone;
}

/* SPDX-License-Identifier: MIT */
#include "analyze/blk-input.h"
#include "base/cleanup.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/vec.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define PAGE	4096u
#define CPU_MAX	65536

struct found {
	VEC(struct blk_file) files;
	VEC(struct blk_set) sets;
};

int blk_input_cpu(const char *path)
{
	const char *dot = strrchr(path, '.');
	char *end;
	long n;

	if (!dot || dot - path < 9 || strncmp(dot - 9, ".blktrace", 9) || dot[1] < '0' || dot[1] > '9')
		return -1;
	errno = 0;
	n = strtol(dot + 1, &end, 10);
	return *end || errno || n >= CPU_MAX ? -1 : (int)n;
}

static const char *base_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/*
 * A mapped file that is cut short by someone else makes the next access a
 * SIGBUS. Put a page of zeroes there: no record begins in zeroes, so the reader
 * comes to its ordinary "foreign bytes until the end".
 */
static void shrunk(int sig, siginfo_t *info, void *ctx)
{
	void *page = (void *)((uintptr_t)info->si_addr & ~(uintptr_t)(PAGE - 1));

	if (info->si_code != BUS_ADRERR ||
	    mmap(page, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED) {
		signal(sig, SIG_DFL);
		raise(sig);
	}
}

/* Maps or opens one file; trouble is kept in f->error. 1: a stream. */
static int open_file(struct blk_file *f)
{
	cleanup_close int fd = -1;
	struct stat st;
	void *map;

	f->fd = -1;
	if (!strcmp(f->path, "-")) {
		f->fd = dup(STDIN_FILENO);
		f->error = f->fd < 0 ? -errno : 0;
		return !f->error;
	}
	fd = open(f->path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0 || fstat(fd, &st) < 0) {
		f->error = -errno;
		return 0;
	}
	if (S_ISFIFO(st.st_mode) || S_ISCHR(st.st_mode) || S_ISSOCK(st.st_mode)) {
		f->fd = take_fd(fd);
		return 1;
	}
	if (!S_ISREG(st.st_mode)) {
		f->error = S_ISDIR(st.st_mode) ? -EISDIR : -EINVAL;
		return 0;
	}
	if (!st.st_size)
		return 0;
	map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (map == MAP_FAILED) {
		f->error = -errno;
		return 0;
	}
	madvise(map, (size_t)st.st_size, MADV_SEQUENTIAL);
	f->map = map;
	f->size = (size_t)st.st_size;
	return 0;
}

static void add_set(struct found *fd, const char *name)
{
	struct blk_set s = { .name = mem_dup(name), .first = (unsigned)fd->files.n, .missing_cpu = -1 };

	vec_push(&fd->sets, s);
}

/* Takes `path`. */
static void add_file(struct found *fd, char *path, int cpu)
{
	struct blk_file f = { .path = path, .cpu = cpu, .set = (unsigned)fd->sets.n - 1, .fd = -1 };

	vec_push(&fd->files, f);
	fd->sets.p[fd->sets.n - 1].n++;
}

static bool have_file(const struct found *fd, const char *path)
{
	for (size_t i = 0; i < fd->files.n; i++)
		if (!strcmp(fd->files.p[i].path, path))
			return true;
	return false;
}

static int by_name_and_cpu(const void *a, const void *b)
{
	const char *x = *(char *const *)a, *y = *(char *const *)b;
	size_t nx = (size_t)(strrchr(x, '.') - x), ny = (size_t)(strrchr(y, '.') - y);
	int c = nx == ny ? memcmp(x, y, nx) : strcmp(x, y), cx = blk_input_cpu(x), cy = blk_input_cpu(y);

	return c ? c : (cx > cy) - (cx < cy);
}

/* Groups sorted NAME.blktrace.CPU paths into sets; takes the strings. */
static void add_sorted(struct found *fd, char **paths, size_t n)
{
	qsort(paths, n, sizeof(*paths), by_name_and_cpu);
	for (size_t i = 0; i < n; i++) {
		size_t len = (size_t)(strrchr(paths[i], '.') - paths[i]);
		cleanup_free char *name = mem_dupn(paths[i], len - strlen(".blktrace"));
		bool same = i && !strncmp(paths[i], fd->files.p[fd->files.n - 1].path, len + 1);

		if (!same)
			add_set(fd, base_of(name));
		if (have_file(fd, paths[i]))
			free(paths[i]);
		else
			add_file(fd, paths[i], blk_input_cpu(paths[i]));
	}
}

/* Every NAME.blktrace.CPU in `dir`; name NULL: any. Returns how many, or -errno. */
static int scan_dir(struct found *fd, const char *dir, const char *name)
{
	VEC(char *) paths = { 0 };
	DIR *d = opendir(*dir ? dir : ".");
	struct dirent *de;
	int n;

	if (!d)
		return -errno;
	while ((de = readdir(d))) {
		size_t len = name ? strlen(name) : 0;

		if (blk_input_cpu(de->d_name) < 0)
			continue;
		if (name && (strncmp(de->d_name, name, len) || strrchr(de->d_name, '.') - 9 != de->d_name + len))
			continue;
		vec_push(&paths, *dir ? mem_printf("%s/%s", dir, de->d_name) : mem_dup(de->d_name));
	}
	closedir(d);
	n = (int)paths.n;
	add_sorted(fd, paths.p, paths.n);
	vec_done(&paths);
	return n;
}

static int nothing(struct err *e, const char *arg)
{
	return err_set(e, -ENOENT, "there is no block trace '%s': neither a file of that name nor %s.blktrace.0, .1, ...",
		       arg, arg);
}

/* NAME, cut at ".blktrace." as blkparse does; CPU files from 0 until one is missing. */
static int find_strict(struct found *fd, const char *arg, struct err *e)
{
	cleanup_free char *name = mem_dup(arg);
	char *cut = strstr(name, ".blktrace.");

	if (cut)
		*cut = '\0';
	for (size_t i = 0; i < fd->files.n; i++)
		if (!strncmp(fd->files.p[i].path, name, strlen(name)) &&
		    fd->files.p[i].path[strlen(name)] == '.' && !strcmp(fd->sets.p[fd->files.p[i].set].name, base_of(name)))
			return 0;
	add_set(fd, base_of(name));
	for (int cpu = 0; cpu < CPU_MAX; cpu++) {
		char *path = mem_printf("%s.blktrace.%d", name, cpu);

		if (access(path, R_OK)) {
			free(path);
			break;
		}
		add_file(fd, path, cpu);
	}
	return fd->sets.p[fd->sets.n - 1].n ? 0 : nothing(e, arg);
}

static int find(struct found *fd, const char *arg, struct err *e)
{
	cleanup_free char *dir = NULL;
	struct stat st;
	int n;

	if (!strcmp(arg, "-")) {
		add_set(fd, "stdin");
		add_file(fd, mem_dup("-"), BLK_ANY_CPU);
		return 0;
	}
	if (stat(arg, &st) == 0 && S_ISDIR(st.st_mode)) {
		n = scan_dir(fd, arg, NULL);
		if (n < 0)
			return err_sys(e, n, "cannot read the folder %s", arg);
		return n ? 0 : err_set(e, -ENOENT, "the folder %s holds no NAME.blktrace.CPU files", arg);
	}
	if (stat(arg, &st) == 0) {
		char *path = mem_dup(arg);

		if (blk_input_cpu(arg) >= 0)
			return add_sorted(fd, &path, 1), 0;
		add_set(fd, base_of(arg));
		add_file(fd, path, BLK_ANY_CPU);
		return 0;
	}
	dir = mem_dupn(arg, base_of(arg) == arg ? 0 : (size_t)(base_of(arg) - arg - 1));
	n = scan_dir(fd, !*dir && *arg == '/' ? "/" : dir, base_of(arg));
	return n > 0 ? 0 : nothing(e, arg);
}

/* `sda.blktrace.1 sda.blktrace.0` on the command line are one set: put files of equal names together, by CPU. */
static int by_set_and_cpu(const void *a, const void *b)
{
	const struct blk_file *x = a, *y = b;

	return x->set != y->set ? (x->set > y->set) - (x->set < y->set) : (x->cpu > y->cpu) - (x->cpu < y->cpu);
}

static void join_sets(struct found *fd)
{
	size_t out = 0;

	for (size_t i = 0; i < fd->files.n; i++) {
		struct blk_file *f = &fd->files.p[i];

		for (size_t j = 0; f->cpu >= 0 && j < i; j++) {
			const struct blk_file *o = &fd->files.p[j];
			size_t len = (size_t)(strrchr(f->path, '.') - f->path) + 1;

			if (o->cpu >= 0 && !strncmp(f->path, o->path, len)) {
				f->set = o->set;
				break;
			}
		}
	}
	qsort(fd->files.p, fd->files.n, sizeof(*fd->files.p), by_set_and_cpu);
	for (size_t s = 0; s < fd->sets.n; s++) {
		struct blk_set set = fd->sets.p[s];

		set.n = 0;
		for (size_t i = 0; i < fd->files.n; i++) {
			if (fd->files.p[i].set != s)
				continue;
			if (!set.n)
				set.first = (unsigned)i;
			if (set.missing_cpu < 0 && fd->files.p[i].cpu > (int)set.n)
				set.missing_cpu = (int)set.n;
			set.n++;
		}
		if (!set.n) {
			free(set.name);
			continue;
		}
		for (unsigned i = set.first; i < set.first + set.n; i++)
			fd->files.p[i].set = (unsigned)out;
		fd->sets.p[out++] = set;
	}
	fd->sets.n = out;
}

int blk_input_open(const char *const *args, size_t nargs, bool strict, struct blk_input *ret, struct err *e)
{
	struct sigaction sa = { .sa_sigaction = shrunk, .sa_flags = SA_SIGINFO };
	struct found fd = { 0 };
	struct blk_input in = { 0 };
	const char *first_bad = NULL;
	unsigned good = 0;
	int r = 0;

	for (size_t i = 0; !r && i < nargs; i++)
		r = strict && strcmp(args[i], "-") ? find_strict(&fd, args[i], e) : find(&fd, args[i], e);
	if (!r)
		join_sets(&fd);
	in.files = fd.files.p;
	in.nfiles = (unsigned)fd.files.n;
	in.sets = fd.sets.p;
	in.nsets = (unsigned)fd.sets.n;
	for (unsigned i = 0; !r && i < in.nfiles; i++) {
		struct blk_file *f = &in.files[i];

		in.stream |= open_file(f) == 1;
		in.bytes += f->size;
		good += !f->error;
		if (f->error && !first_bad) {
			first_bad = f->path;
			err_sys(e, f->error, "cannot read the trace file %s", first_bad);
		}
	}
	if (!r && !good)
		r = first_bad ? in.files[0].error : err_set(e, -ENOENT, "no trace was named");
	if (!r && in.stream && in.nfiles > 1)
		r = err_set(e, -EINVAL, "a stream is read alone: give only '-' or one pipe");
	if (r) {
		blk_input_close(&in);
		return r;
	}
	sigaction(SIGBUS, &sa, NULL);
	*ret = in;
	return 0;
}

void blk_input_close(struct blk_input *in)
{
	for (unsigned i = 0; i < in->nfiles; i++) {
		if (in->files[i].map)
			munmap((void *)in->files[i].map, in->files[i].size);
		if (in->files[i].fd >= 0)
			close(in->files[i].fd);
		free(in->files[i].path);
	}
	for (unsigned i = 0; i < in->nsets; i++)
		free(in->sets[i].name);
	free(in->files);
	free(in->sets);
	*in = (struct blk_input){ 0 };
}

size_t blk_input_window(unsigned nfiles)
{
	size_t w = ((size_t)64 << 20) / MAX(nfiles, 1u);

	return MIN(MAX(w, (size_t)64 << 10), (size_t)4 << 20);
}

const uint8_t *blk_input_drop(const uint8_t *from, const uint8_t *to)
{
	uintptr_t a = ((uintptr_t)from + PAGE - 1) & ~(uintptr_t)(PAGE - 1), b = (uintptr_t)to & ~(uintptr_t)(PAGE - 1);

	if (b <= a)
		return from;
	madvise((void *)a, b - a, MADV_DONTNEED);
	return (const uint8_t *)b;
}

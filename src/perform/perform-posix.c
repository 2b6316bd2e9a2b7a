/* SPDX-License-Identifier: MIT */
/*
 * Ops by plain system calls, one after another: what an ordinary program does.
 * Everything is allocated in open(); an op makes its system calls, reads the
 * clock twice and nothing else.
 */
#include "base/cleanup.h"
#include "perform/data.h"
#include "perform/posix.h"
#include "perform/touch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#define CHUNK		(UINT64_C(1) << 20)	/* between two looks at *stop */
#define VEC_PAGES	65536			/* pages per mincore(): 256 MiB */
#define SLICE		(100 * NSEC_PER_MSEC)	/* of a sleep, between two looks at *stop */

struct mapping {
	unsigned char *addr;
	uint64_t bytes;
};

struct posix {
	int dirfd;
	int fd[OP_SLOTS];
	struct mapping map[OP_SLOTS];
	struct data data;	/* written from its first half, read into its second */
	uint64_t chunk;		/* largest single call */
	unsigned char *vec;	/* mincore's answer */
	volatile int *stop;
	uint64_t sink;		/* keeps OP_BURN's work alive */
	uint64_t page;
};

static bool stopped(const struct posix *p)
{
	return p->stop && *p->stop;
}

int posix_fd(const void *st, uint8_t slot)
{
	return ((const struct posix *)st)->fd[slot];
}

static int ret_errno(long r)
{
	return r < 0 ? -errno : 0;
}

/* Below our directory only: rule 9 of the design. */
static const char *inside(const char *path)
{
	if (path[0] == '/')
		return NULL;
	for (const char *c = path; *c; c += strcspn(c, "/"), c += *c == '/')
		if (c[0] == '.' && c[1] == '.' && (c[2] == '/' || !c[2]))
			return NULL;
	return *path ? path : ".";
}

static int at_path(const char *path, const char **ret)
{
	*ret = inside(path);
	return *ret ? 0 : -EXDEV;
}

static int do_none(struct posix *p, const struct op *op, struct op_result *res)
{
	return 0;
}

static int do_close(struct posix *p, const struct op *op, struct op_result *res)
{
	int fd = p->fd[op->slot];

	p->fd[op->slot] = -1;
	return fd < 0 ? -EBADF : ret_errno(close(fd));
}

static int do_munmap(struct posix *p, const struct op *op, struct op_result *res)
{
	struct mapping m = p->map[op->slot];

	p->map[op->slot] = (struct mapping){ 0 };
	return m.addr ? ret_errno(munmap(m.addr, m.bytes)) : -EINVAL;
}

static int do_open(struct posix *p, const struct op *op, struct op_result *res)
{
	static const struct { uint32_t opf; int flag; } map[] = {
		{ OPF_CREATE, O_CREAT }, { OPF_EXCL, O_EXCL }, { OPF_TRUNC, O_TRUNC }, { OPF_APPEND, O_APPEND },
		{ OPF_DIRECT, O_DIRECT }, { OPF_SYNC, O_SYNC }, { OPF_DSYNC, O_DSYNC }, { OPF_NOATIME, O_NOATIME },
	};
	int flags = O_CLOEXEC | O_NOFOLLOW;
	const char *path;
	int r = at_path(op->path, &path);

	if (r < 0)
		return r;
	if (op->flags & OPF_WRITE)
		flags |= op->flags & OPF_READ ? O_RDWR : O_WRONLY;
	for (size_t i = 0; i < ARRAY_SIZE(map); i++)
		if (op->flags & map[i].opf)
			flags |= map[i].flag;
	if (p->fd[op->slot] >= 0)	/* an action that broke off in the middle left it */
		close(p->fd[op->slot]);
	p->fd[op->slot] = openat(p->dirfd, path, flags, 0600);
	if (p->fd[op->slot] >= 0 && op->flags & OPF_RANDOM)
		posix_fadvise(p->fd[op->slot], 0, 0, POSIX_FADV_RANDOM);
	return ret_errno(p->fd[op->slot]);
}

/* Moves op->bytes in calls of at most a chunk; looks at *stop between them. */
static int transfer(struct posix *p, const struct op *op, struct op_result *res)
{
	bool writes = op->kind == OP_WRITE, follow = op->offset == OP_AT_POSITION;
	unsigned char *in = p->data.buf + p->chunk;
	int fd = p->fd[op->slot];

	while (res->bytes < op->bytes) {
		size_t n = MIN(op->bytes - res->bytes, p->chunk);
		off_t at = (off_t)(op->offset + res->bytes);
		ssize_t got;

		if (writes) {
			void *out = data_stamp(&p->data, 0, n);

			got = follow ? write(fd, out, n) : pwrite(fd, out, n, at);
		} else {
			got = follow ? read(fd, in, n) : pread(fd, in, n, at);
		}
		if (got < 0 && errno != EINTR)
			return -errno;
		if (got == 0)
			return writes ? -ENOSPC : 0;
		if (got > 0)
			res->bytes += (uint64_t)got;
		if (res->bytes < op->bytes && stopped(p))
			return -EINTR;
	}
	return 0;
}

static int do_fsync(struct posix *p, const struct op *op, struct op_result *res)
{
	return ret_errno(fsync(p->fd[op->slot]));
}

static int do_fdatasync(struct posix *p, const struct op *op, struct op_result *res)
{
	return ret_errno(fdatasync(p->fd[op->slot]));
}

static int do_sync_range(struct posix *p, const struct op *op, struct op_result *res)
{
	return ret_errno(sync_file_range(p->fd[op->slot], (off_t)op->offset, (off_t)op->bytes, op->flags));
}

static int do_syncfs(struct posix *p, const struct op *op, struct op_result *res)
{
	return ret_errno(syncfs(p->dirfd));
}

static int do_sync(struct posix *p, const struct op *op, struct op_result *res)
{
	sync();
	return 0;
}

static int do_fallocate(struct posix *p, const struct op *op, struct op_result *res)
{
	return ret_errno(fallocate(p->fd[op->slot], op->flags & OPF_KEEP_SIZE ? FALLOC_FL_KEEP_SIZE : 0,
				   (off_t)op->offset, (off_t)op->bytes));
}

static int do_truncate(struct posix *p, const struct op *op, struct op_result *res)
{
	return ret_errno(ftruncate(p->fd[op->slot], (off_t)op->bytes));
}

static int do_two_paths(struct posix *p, const struct op *op, struct op_result *res)
{
	const char *from, *to;
	int r = at_path(op->path, &from);

	if (!r)
		r = at_path(op->path2, &to);
	if (r < 0)
		return r;
	if (op->kind == OP_LINK)
		return ret_errno(linkat(p->dirfd, from, p->dirfd, to, 0));
	return ret_errno(renameat(p->dirfd, from, p->dirfd, to));
}

static int do_one_path(struct posix *p, const struct op *op, struct op_result *res)
{
	struct stat sb;
	const char *path;
	int r = at_path(op->path, &path);

	if (r < 0)
		return r;
	switch (op->kind) {
	case OP_UNLINK:
		return ret_errno(unlinkat(p->dirfd, path, 0));
	case OP_RMDIR:
		return ret_errno(unlinkat(p->dirfd, path, AT_REMOVEDIR));
	case OP_MKDIR:
		return ret_errno(mkdirat(p->dirfd, path, 0700));
	default:
		return ret_errno(fstatat(p->dirfd, path, &sb, AT_SYMLINK_NOFOLLOW));
	}
}

static int open_dir(struct posix *p, const struct op *op)
{
	const char *path;
	int r = at_path(op->path, &path), fd;

	if (r < 0)
		return r;
	fd = openat(p->dirfd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	return fd < 0 ? -errno : fd;
}

/* getdents64 into our buffer: opendir() would allocate. */
static int do_readdir(struct posix *p, const struct op *op, struct op_result *res)
{
	cleanup_close int fd = open_dir(p, op);
	unsigned char *buf = p->data.buf + p->chunk;
	long n;

	if (fd < 0)
		return fd;
	while ((n = syscall(SYS_getdents64, fd, buf, p->chunk)) > 0) {
		for (long at = 0; at < n; ) {
			const struct dirent64 *d = (const void *)(buf + at);

			res->bytes += strcmp(d->d_name, ".") && strcmp(d->d_name, "..");
			at += d->d_reclen;
		}
	}
	return ret_errno(n);
}

static int do_fsync_dir(struct posix *p, const struct op *op, struct op_result *res)
{
	cleanup_close int fd = open_dir(p, op);

	return fd < 0 ? fd : ret_errno(fsync(fd));
}

static int do_dontneed(struct posix *p, const struct op *op, struct op_result *res)
{
	return -posix_fadvise(p->fd[op->slot], (off_t)op->offset, (off_t)op->bytes, POSIX_FADV_DONTNEED);
}

/* Asks mincore() through a mapping of its own, VEC_PAGES at a time. */
static int do_resident(struct posix *p, const struct op *op, struct op_result *res)
{
	uint64_t at = op->offset / p->page * p->page, end;
	struct stat sb;

	if (fstat(p->fd[op->slot], &sb) < 0)
		return -errno;
	end = op->bytes ? MIN(op->offset + op->bytes, (uint64_t)sb.st_size) : (uint64_t)sb.st_size;
	while (at < end) {
		uint64_t n = MIN(end - at, VEC_PAGES * p->page), pages = (n + p->page - 1) / p->page;
		void *m = mmap(NULL, n, PROT_READ, MAP_SHARED, p->fd[op->slot], (off_t)at);
		int r;

		if (m == MAP_FAILED)
			return -errno;
		r = ret_errno(mincore(m, n, p->vec));
		munmap(m, n);
		if (r < 0)
			return r;
		for (uint64_t i = 0; i < pages; i++)
			res->bytes += p->vec[i] & 1;
		res->total += pages;
		at += n;
	}
	return 0;
}

static int do_mmap(struct posix *p, const struct op *op, struct op_result *res)
{
	struct mapping *m = &p->map[op->slot];
	struct stat sb;
	void *addr;

	if (m->addr)
		do_munmap(p, op, res);
	if (fstat(p->fd[op->slot], &sb) < 0)
		return -errno;
	m->bytes = op->bytes ? op->bytes : (uint64_t)sb.st_size - MIN(op->offset, (uint64_t)sb.st_size);
	addr = mmap(NULL, m->bytes, op->flags & OPF_WRITE ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED,
		    p->fd[op->slot], (off_t)op->offset);
	if (addr == MAP_FAILED)
		return -errno;
	m->addr = addr;
	touch_arm();
	if (op->flags & OPF_RANDOM)
		madvise(addr, m->bytes, MADV_RANDOM);
	return 0;
}

static int do_touch(struct posix *p, const struct op *op, struct op_result *res)
{
	struct mapping *m = &p->map[op->slot];
	uint64_t n = MAX(op->bytes, UINT64_C(1));

	if (!m->addr || op->offset >= m->bytes || n > m->bytes - op->offset)
		return -EFAULT;
	res->bytes = (n + p->page - 1) / p->page * p->page;
	return touch_pages(m->addr + op->offset, n, p->page, op->flags & OPF_WRITE);
}

static int do_burn(struct posix *p, const struct op *op, struct op_result *res)
{
	nsec_t until = nsec_thread_cpu() + (nsec_t)op->bytes;
	uint64_t x = p->sink | 1;

	do {
		for (int i = 0; i < 4000; i++)
			x = x * UINT64_C(6364136223846793005) + 1442695040888963407u;
		p->sink = x;
		if (stopped(p))
			return -EINTR;
	} while (nsec_thread_cpu() < until);
	return 0;
}

static int do_sleep(struct posix *p, const struct op *op, struct op_result *res)
{
	nsec_t end = nsec_now() + (nsec_t)op->bytes, now;

	while ((now = nsec_now()) < end) {
		if (stopped(p))
			return -EINTR;
		nsec_sleep_until(MIN(end, now + SLICE), p->stop);
	}
	return 0;
}

static int (*const doers[OP_MAX])(struct posix *p, const struct op *op, struct op_result *res) = {
	[OP_NONE] = do_none, [OP_OPEN] = do_open, [OP_CLOSE] = do_close, [OP_READ] = transfer, [OP_WRITE] = transfer,
	[OP_FSYNC] = do_fsync, [OP_FDATASYNC] = do_fdatasync, [OP_SYNC_RANGE] = do_sync_range,
	[OP_SYNCFS] = do_syncfs, [OP_SYNC] = do_sync, [OP_FALLOCATE] = do_fallocate, [OP_TRUNCATE] = do_truncate,
	[OP_RENAME] = do_two_paths, [OP_LINK] = do_two_paths, [OP_UNLINK] = do_one_path, [OP_MKDIR] = do_one_path,
	[OP_RMDIR] = do_one_path, [OP_STAT] = do_one_path, [OP_READDIR] = do_readdir,
	[OP_FSYNC_DIR] = do_fsync_dir, [OP_DONTNEED] = do_dontneed, [OP_RESIDENT] = do_resident, [OP_MMAP] = do_mmap,
	[OP_TOUCH] = do_touch, [OP_MUNMAP] = do_munmap, [OP_BURN] = do_burn, [OP_SLEEP] = do_sleep,
	[OP_MORE] = do_none,
};

static void posix_perform(void *st, const struct op *op, struct op_result *ret)
{
	struct op_result res = { 0 };
	struct posix *p = st;

	res.start = nsec_now();
	res.error = op->kind < OP_MAX && op->slot < OP_SLOTS ? doers[op->kind](p, op, &res) : -EINVAL;
	res.end = nsec_now();
	if (op->flags & OPF_MAY_FAIL && (res.error == -ENOENT || res.error == -EEXIST || res.error == -EOPNOTSUPP))
		res.error = 0;
	*ret = res;
}

static int posix_open(void *st, const struct perform_conf *conf, struct err *e)
{
	struct posix *p = st;
	int r;

	memset(p, 0, sizeof(*p));
	p->dirfd = conf->dirfd;
	p->stop = conf->stop;
	p->page = (uint64_t)sysconf(_SC_PAGESIZE);
	p->chunk = conf->buffer_bytes ? (conf->buffer_bytes + DATA_PAGE - 1) / DATA_PAGE * DATA_PAGE : CHUNK;
	if (p->stop)
		p->chunk = MIN(p->chunk, CHUNK);
	for (int i = 0; i < OP_SLOTS; i++)
		p->fd[i] = -1;
	r = data_open(&p->data, p->chunk * 2 + VEC_PAGES, conf->seed, e);
	if (r < 0)
		return r;
	p->vec = p->data.buf + p->chunk * 2;
	return 0;
}

static void posix_close(void *st)
{
	struct posix *p = st;

	for (int i = 0; i < OP_SLOTS; i++) {
		if (p->map[i].addr)
			munmap(p->map[i].addr, p->map[i].bytes);
		p->map[i] = (struct mapping){ 0 };
		if (p->fd[i] >= 0)
			close(p->fd[i]);
		p->fd[i] = -1;
	}
	data_close(&p->data);
}

const struct perform_ops perform_posix = {
	.plug = { .name = "posix", .about = "plain system calls, one after another", .state_size = sizeof(struct posix) },
	.open = posix_open,
	.perform = posix_perform,
	.close = posix_close,
};

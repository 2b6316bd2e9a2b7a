/* SPDX-License-Identifier: MIT */
#include "sys/kfile.h"
#include "base/cleanup.h"
#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

static int read_fd(int fd, const char *name, struct strbuf *ret, struct err *e)
{
	cleanup_free char *buf = mem_alloc(65536);
	ssize_t n;

	strbuf_clear(ret);
	while ((n = read(fd, buf, 65536)) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_sys(e, -errno, "cannot read %s", name);
		strbuf_add(ret, buf, (size_t)n);
		if (ret->len > FILE_MOST)
			return err_set(e, -EFBIG, "%s is too long", name);
	}
	if (ret->len && ret->s[ret->len - 1] == '\n')
		ret->s[--ret->len] = 0;
	return 0;
}

int file_read(const char *path, struct strbuf *ret, struct err *e)
{
	cleanup_close int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return err_sys(e, -errno, "cannot open %s", path);
	return read_fd(fd, path, ret, e);
}

int file_read_at(int dirfd, const char *name, struct strbuf *ret, struct err *e)
{
	cleanup_close int fd = openat(dirfd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

	if (fd < 0)
		return err_sys(e, -errno, "cannot open %s", name);
	return read_fd(fd, name, ret, e);
}

int file_read_u64(const char *path, uint64_t *ret, struct err *e)
{
	cleanup_strbuf struct strbuf b = STRBUF_INIT;
	int got = file_read(path, &b, e);
	unsigned long long x;
	char *end;

	if (got)
		return got;
	errno = 0;
	x = strtoull(strbuf_str(&b), &end, 10);
	if (errno || end == b.s || !end)
		return err_set(e, -EINVAL, "%s holds no number: '%s'", path, strbuf_str(&b));
	*ret = x;
	return 0;
}

int file_write(const char *path, const char *text, struct err *e)
{
	cleanup_close int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
	size_t n = strlen(text);
	ssize_t w;

	if (fd < 0)
		return err_sys(e, -errno, "cannot open %s for writing", path);
	do
		w = write(fd, text, n);
	while (w < 0 && errno == EINTR);
	if (w < 0)
		return err_sys(e, -errno, "cannot write '%s' to %s", text, path);
	return (size_t)w == n ? 0 : err_set(e, -EIO, "only %zd of %zu bytes went into %s", w, n, path);
}

int file_write_durable(const char *path, const char *text, mode_t mode, struct err *e)
{
	cleanup_close int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, mode);
	size_t n = strlen(text);

	if (fd < 0)
		return err_sys(e, -errno, "cannot create %s", path);
	if (write(fd, text, n) != (ssize_t)n || fsync(fd) < 0)
		return err_sys(e, errno ? -errno : -EIO, "cannot write %s", path);
	return 0;
}

ssize_t file_again(int fd, char *buf, size_t size)
{
	size_t have = 0;

	/* seq_files hand out a page at a time */
	while (have < size - 1) {
		ssize_t n = pread(fd, buf + have, size - 1 - have, (off_t)have);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (!n)
			break;
		have += (size_t)n;
	}
	buf[have] = 0;
	return (ssize_t)have;
}

bool file_field(const char *text, const char *key, uint64_t *ret)
{
	size_t n = strlen(key);

	for (const char *line = text; line; line = strchr(line, '\n')) {
		char *end;
		unsigned long long x;

		line += *line == '\n';
		if (strncmp(line, key, n) || (line[n] != ' ' && line[n] != '\t'))
			continue;
		x = strtoull(line + n, &end, 10);
		if (end == line + n)
			return false;
		*ret = x;
		return true;
	}
	return false;
}

void file_chosen(const char *text, struct strbuf *ret)
{
	const char *open = strchr(text, '['), *shut = open ? strchr(open, ']') : NULL;

	strbuf_clear(ret);
	if (shut)
		strbuf_add(ret, open + 1, (size_t)(shut - open - 1));
	else
		strbuf_adds(ret, text);
}

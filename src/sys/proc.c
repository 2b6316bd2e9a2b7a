/* SPDX-License-Identifier: MIT */
#include "sys/proc.h"
#include "base/cleanup.h"
#include "sys/kfile.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

static int read_task(pid_t pid, pid_t tid, const char *what, char *buf, size_t size)
{
	char path[64];
	cleanup_close int fd = -1;
	ssize_t n;

	if (tid)
		snprintf(path, sizeof(path), "/proc/%d/task/%d/%s", (int)pid, (int)tid, what);
	else
		snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, what);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT && kill(pid, 0) < 0 && errno == ESRCH ? -ESRCH : -errno;
	n = file_again(fd, buf, size);
	return n < 0 ? (int)n : 0;
}

bool proc_stat_parse(const char *text, struct proc_stat *ret)
{
	const char *open = strchr(text, '('), *shut = strrchr(text, ')');
	struct proc_stat s = { .pid = (pid_t)strtol(text, NULL, 10) };
	size_t n;

	if (!open || !shut || shut < open)
		return false;
	n = MIN((size_t)(shut - open - 1), sizeof(s.comm) - 1);
	memcpy(s.comm, open + 1, n);
	/* fields after the name: state ppid pgrp session tty tpgid flags minflt cminflt majflt cmajflt utime stime
	 * cutime cstime priority nice threads itrealvalue starttime vsize rss */
	if (sscanf(shut + 1, " %c %d %d %*d %*d %*d %*u %lu %*u %lu %*u %lu %lu %*d %*d %*d %*d %u %*d %lu %*u %lu", &s.state,
		   &s.ppid, &s.pgrp, &s.minflt, &s.majflt, &s.utime, &s.stime, &s.threads, &s.start, &s.rss_pages) != 10)
		return false;
	*ret = s;
	return true;
}

int proc_stat(pid_t pid, pid_t tid, struct proc_stat *ret)
{
	char buf[1024];
	int got = read_task(pid, tid, "stat", buf, sizeof(buf));

	if (got)
		return got == -ENOENT ? -ESRCH : got;
	return proc_stat_parse(buf, ret) ? 0 : -EBADMSG;
}

bool proc_io_parse(const char *text, struct proc_io *ret)
{
	struct proc_io io = { 0 };

	if (!file_field(text, "read_bytes:", &io.read_bytes) || !file_field(text, "write_bytes:", &io.write_bytes) ||
	    !file_field(text, "cancelled_write_bytes:", &io.cancelled_write_bytes) || !file_field(text, "rchar:", &io.rchar) ||
	    !file_field(text, "wchar:", &io.wchar))
		return false;
	*ret = io;
	return true;
}

int proc_io(pid_t pid, struct proc_io *ret)
{
	char buf[512];
	int got = read_task(pid, 0, "io", buf, sizeof(buf));

	if (got)
		return got;
	return proc_io_parse(buf, ret) ? 0 : -EBADMSG;
}

int proc_start_time(pid_t pid, uint64_t *ret)
{
	struct proc_stat s;
	int got = proc_stat(pid, 0, &s);

	if (!got)
		*ret = s.start;
	return got;
}

bool proc_is(pid_t pid, uint64_t start)
{
	struct proc_stat s;

	return pid > 0 && !proc_stat(pid, 0, &s) && s.start == start && s.state != 'Z' && s.state != 'X';
}

int proc_runq(pid_t pid, pid_t tid, nsec_t *ret)
{
	unsigned long long ran, waited;
	char buf[128];
	int got = read_task(pid, tid, "schedstat", buf, sizeof(buf));

	if (got)
		return got;
	if (sscanf(buf, "%llu %llu", &ran, &waited) != 2)
		return -ENOENT;
	*ret = (nsec_t)waited;
	return 0;
}

int proc_text(pid_t pid, pid_t tid, const char *what, char *buf, size_t size)
{
	int got = read_task(pid, tid, what, buf, size);
	size_t n;

	if (got)
		return got;
	n = strlen(buf);
	if (n && buf[n - 1] == '\n')
		buf[n - 1] = 0;
	else if (n == size - 1 && strrchr(buf, '\n'))
		*strrchr(buf, '\n') = 0;
	return 0;
}

const char *proc_syscall_name(const char *text, char *buf, size_t size)
{
	/* those in which a task waits for a disk, and those it sleeps in on purpose */
	static const struct { long nr; const char *name; } names[] = {
#define S(n) { SYS_##n, #n },
		S(read) S(write) S(pread64) S(pwrite64) S(readv) S(writev) S(preadv) S(pwritev) S(preadv2) S(pwritev2)
		S(fsync) S(fdatasync) S(sync) S(syncfs) S(sync_file_range) S(fallocate) S(ftruncate) S(truncate) S(openat)
		S(close) S(unlinkat) S(mkdirat) S(renameat2) S(linkat) S(symlinkat) S(fstat) S(statx) S(getdents64) S(statfs)
		S(fstatfs) S(fadvise64) S(readahead) S(mmap) S(munmap) S(msync) S(madvise) S(mincore) S(mlock) S(mlockall)
		S(io_submit) S(io_getevents) S(io_uring_enter) S(io_uring_setup) S(copy_file_range) S(sendfile) S(splice)
		S(execve) S(exit_group) S(wait4) S(futex) S(nanosleep) S(clock_nanosleep) S(ppoll) S(pselect6) S(epoll_pwait)
		S(flock) S(fcntl) S(ioctl) S(mount) S(umount2) S(fchmod) S(fchown) S(utimensat) S(setxattr) S(fsetxattr)
		S(getxattr) S(clone) S(prctl) S(brk) S(lseek) S(dup) S(chdir)
#ifdef SYS_open
		S(open) S(stat) S(lstat) S(access) S(creat) S(mkdir) S(rmdir) S(unlink) S(rename) S(link) S(symlink) S(readlink)
		S(poll) S(select) S(epoll_wait) S(fork) S(vfork) S(getdents) S(pause) S(chmod) S(utimes) S(renameat)
#endif
#ifdef SYS_newfstatat
		S(newfstatat)
#endif
#undef S
	};
	char *end;
	long nr = strtol(text, &end, 10);

	buf[0] = 0;
	if (end == text || nr < 0)
		return buf;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (names[i].nr == nr) {
			snprintf(buf, size, "%s", names[i].name);
			return buf;
		}
	}
	snprintf(buf, size, "syscall %ld", nr);
	return buf;
}

int proc_stack_frames(char *text, const char **ret_frames, int max)
{
	int n = 0;

	for (char *line = text, *next; line && *line && n < max; line = next) {
		char *name = line, *end;

		next = strchr(line, '\n');
		if (next)
			*next++ = 0;
		if (*name == '[') {
			name = strchr(name, ']');
			if (!name)
				continue;
			name++;
		}
		while (*name == ' ')
			name++;
		end = name + strcspn(name, "+ ");
		*end = 0;
		if (*name && strncmp(name, "0x", 2))
			ret_frames[n++] = name;
	}
	return n;
}

const char *proc_boot_id(void)
{
	static char id[40];

	if (!id[0]) {
		cleanup_strbuf struct strbuf b = STRBUF_INIT;

		if (!file_read("/proc/sys/kernel/random/boot_id", &b, NULL))
			snprintf(id, sizeof(id), "%s", strbuf_str(&b));
	}
	return id;
}

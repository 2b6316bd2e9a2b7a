/* SPDX-License-Identifier: MIT */
/*
 * The culprit, and the decoys that look like it: all are called "worker" and
 * all write a little into a file of their own. usage: worker OP OWN-FILE PATH [N].
 * Does its deed when a line comes on standard input; ends with its input.
 *	idle	nothing more (a decoy)		write	N MiB into the page cache, once
 *	stream	writes until the end		wsync	write + fsync of N MiB, again and again
 *	dwrite	one O_DIRECT write of N MiB to the shared file PATH
 *	meta	makes and removes N small files in the folder PATH, again and again
 *	storm	append 4 KiB, fsync, again and again
 *	list	reads the folder PATH (cold)	dread	O_DIRECT reads of 1 MiB, again and again
 *	burn	computes			stop	stops process N for 1.5 s
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static void need(int ok, const char *what)
{
	if (!ok) {
		perror(what);
		exit(2);
	}
}

static char *buf;
static const size_t mib = 1 << 20;

/* Has the input ended? */
static int over(void)
{
	struct pollfd p = { .fd = 0, .events = POLLIN };
	char c;

	return poll(&p, 1, 0) > 0 && read(0, &c, 1) <= 0;
}

static void put(int fd, size_t n)
{
	while (n) {
		size_t k = n < mib ? n : mib;

		need(write(fd, buf, k) == (ssize_t)k, "write");
		n -= k;
	}
}

static int file(const char *path, int flags)
{
	int fd = open(path, O_WRONLY | O_CREAT | flags, 0600);

	need(fd >= 0, path);
	return fd;
}

static void list(const char *path)
{
	DIR *d = opendir(path);
	struct dirent *e;

	need(d != NULL, path);
	while ((e = readdir(d)))
		;
	closedir(d);
}

static void meta(const char *path, int n)
{
	char name[4096];

	for (int i = 0; i < n && !over(); i++) {
		snprintf(name, sizeof(name), "%s/%d-%d", path, (int)getpid(), i);
		close(file(name, O_EXCL));
		if (i >= n / 2) {
			snprintf(name, sizeof(name), "%s/%d-%d", path, (int)getpid(), i - n / 2);
			unlink(name);
		}
	}
}

static void deed(const char *op, const char *path, int n)
{
	int fd;

	if (!strcmp(op, "write")) {
		fd = file(path, O_TRUNC);
		put(fd, (size_t)n * mib);
		close(fd);
	} else if (!strcmp(op, "stream")) {
		for (fd = file(path, O_TRUNC); !over();)
			put(fd, mib);
	} else if (!strcmp(op, "wsync")) {
		for (fd = file(path, O_TRUNC); !over(); fsync(fd))
			put(fd, (size_t)n * mib);
	} else if (!strcmp(op, "dwrite")) {
		void *big;

		need(!posix_memalign(&big, 4096, (size_t)n * mib), "memory");
		memset(big, 7, (size_t)n * mib);
		fd = file(path, O_DIRECT | O_TRUNC);
		need(pwrite(fd, big, (size_t)n * mib, 0) > 0, "pwrite");
	} else if (!strcmp(op, "meta")) {
		while (!over())
			meta(path, n);
	} else if (!strcmp(op, "storm")) {
		for (fd = file(path, O_APPEND); !over(); fsync(fd))
			put(fd, 4096);
	} else if (!strcmp(op, "list")) {
		list(path);
	} else if (!strcmp(op, "dread")) {
		struct stat st;

		fd = open(path, O_RDONLY | O_DIRECT);
		need(fd >= 0 && !fstat(fd, &st), path);
		for (off_t at = 0; !over(); at = (at + (off_t)mib) % (st.st_size - (off_t)mib) / 4096 * 4096)
			need(pread(fd, buf, mib, at) > 0, "pread");
	} else if (!strcmp(op, "burn")) {
		for (volatile long x = 0; !over();)
			for (int i = 0; i < 10000000; i++)
				x++;
	} else if (!strcmp(op, "stop")) {
		kill(n, SIGSTOP);
		usleep(1500000);
		kill(n, SIGCONT);
	}
}

int main(int argc, char **argv)
{
	char line[16];
	int fd;

	if (argc < 4)
		return 2;
	prctl(PR_SET_NAME, "worker");
	signal(SIGPIPE, SIG_IGN);
	need(!posix_memalign((void **)&buf, 4096, mib), "memory");
	srand((unsigned)getpid());
	for (size_t i = 0; i < mib; i++)
		buf[i] = (char)rand();
	fd = file(argv[2], O_APPEND);		/* what every worker does, guilty or not */
	put(fd, 8192);
	if (!fgets(line, sizeof(line), stdin))
		return 0;
	deed(argv[1], argv[3], argc > 4 ? atoi(argv[4]) : 0);
	while (!over()) {
		put(fd, 512);
		usleep(1000000);
	}
	return 0;
}

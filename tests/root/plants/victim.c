/* SPDX-License-Identifier: MIT */
/*
 * The one who waits. usage: victim OP PATH [N]; begins when a line comes on
 * standard input, prints the longest of its N actions in milliseconds.
 *	fsync	append 100 bytes, fsync		own	write 24 MiB, fsync
 *	create	make a file in the folder	write	write 256 KiB into the page cache
 *	dread	4 KiB, O_DIRECT, anywhere	read	4 KiB through the page cache, anywhere
 *	append	write to a shared file		sync	syncfs
 *	touch	set the times of its file
 *	spin	20 ms of computing		reread	read a file of 8 MiB through the page cache
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static void need(int ok, const char *what)
{
	if (!ok) {
		perror(what);
		exit(2);
	}
}

static char buf[1 << 20] __attribute__((aligned(4096)));

static void act(const char *op, const char *path, int i)
{
	char name[4096];
	int fd;

	if (!strcmp(op, "fsync") || !strcmp(op, "own")) {
		size_t n = !strcmp(op, "own") ? 24 : 0;

		fd = open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);
		need(fd >= 0, path);
		for (size_t k = 0; k < n; k++)
			need(write(fd, buf, sizeof(buf)) > 0, "write");
		need(write(fd, buf, 100) == 100, "write");
		need(!fsync(fd), "fsync");
	} else if (!strcmp(op, "create")) {
		snprintf(name, sizeof(name), "%s/victim-%d", path, i);
		fd = open(name, O_WRONLY | O_CREAT | O_EXCL, 0600);
		need(fd >= 0, name);
	} else if (!strcmp(op, "write") || !strcmp(op, "append")) {
		fd = open(path, O_WRONLY | O_CREAT | (!strcmp(op, "append") ? O_APPEND : 0), 0600);
		need(fd >= 0, path);
		need(write(fd, buf, 256 << 10) > 0, "write");
	} else if (!strcmp(op, "dread") || !strcmp(op, "read")) {
		struct stat st;

		fd = open(path, O_RDONLY | (!strcmp(op, "dread") ? O_DIRECT : 0));
		need(fd >= 0 && !fstat(fd, &st), path);
		posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM);
		need(pread(fd, buf, 4096, (rand() % (st.st_size / 4096)) * 4096) > 0, "pread");
	} else if (!strcmp(op, "reread")) {
		fd = open(path, O_RDONLY);
		need(fd >= 0, path);
		while (read(fd, buf, sizeof(buf)) > 0)
			;
	} else if (!strcmp(op, "touch")) {
		fd = open(path, O_WRONLY | O_CREAT, 0600);
		need(fd >= 0 && !futimens(fd, NULL), path);
	} else if (!strcmp(op, "sync")) {
		fd = open(path, O_RDONLY);
		need(fd >= 0 && !syncfs(fd), path);
	} else {
		double end = now() + 0.02;

		for (fd = -1; now() < end;)
			;
	}
	if (fd >= 0)
		close(fd);
}

int main(int argc, char **argv)
{
	int n = argc > 3 ? atoi(argv[3]) : 1;
	double worst = 0;
	char line[16];

	if (argc < 3)
		return 2;
	prctl(PR_SET_NAME, "victim");
	srand(7);
	for (size_t i = 0; i < sizeof(buf); i++)
		buf[i] = (char)rand();
	if (!fgets(line, sizeof(line), stdin))
		return 2;
	for (int i = 0; i < n; i++) {
		double t = now();

		act(argv[1], argv[2], i);
		t = now() - t;
		worst = t > worst ? t : worst;
		usleep(20000);
	}
	printf("%.0f\n", worst * 1e3);
	return 0;
}

/* SPDX-License-Identifier: MIT */
#include "base/child.h"
#include "base/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define LOOK_MS		50				/* between two looks at *stop */
#define AFTER_KILL	(2 * NSEC_PER_SEC)

static void in_child(char *const argv[], int dirfd, int errfd, int tell)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC), code;
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	for (int s = 1; s < NSIG; s++)
		signal(s, SIG_DFL);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (setpgid(0, 0) == 0 && fchdir(dirfd) == 0 && dup2(null, 0) >= 0 && dup2(null, 1) >= 0 &&
	    dup2(errfd >= 0 ? errfd : null, 2) >= 0)
		execvp(argv[0], argv);
	code = errno;
	(void)!write(tell, &code, sizeof(code));
	_exit(127);
}

int child_start(char *const argv[], int dirfd, int errfd, pid_t *ret_pid, struct err *e)
{
	int tell[2], code = 0;
	pid_t pid;

	if (pipe2(tell, O_CLOEXEC) < 0)
		return err_sys(e, -errno, "cannot start '%s'", argv[0]);
	pid = fork();
	if (pid == 0)
		in_child(argv, dirfd, errfd, tell[1]);
	close(tell[1]);
	if (pid < 0) {
		code = errno;
		close(tell[0]);
		return err_sys(e, -code, "cannot start '%s'", argv[0]);
	}
	while (read(tell[0], &code, sizeof(code)) < 0 && errno == EINTR)
		;
	close(tell[0]);
	if (code) {
		waitpid(pid, NULL, 0);
		return err_sys(e, -code, "cannot run '%s'", argv[0]);
	}
	*ret_pid = pid;
	return 0;
}

/* 1: it ended within the time; polls a pidfd, so its end is seen at once. */
static int ended(int pidfd, nsec_t until, const volatile int *stop, void (*look)(void *ctx), void *ctx)
{
	struct pollfd pfd = { .fd = pidfd, .events = POLLIN };

	while (!(stop && *stop)) {
		nsec_t left = until == NSEC_NEVER ? NSEC_NEVER : until - nsec_now();

		if (left <= 0)
			return 0;
		if (poll(&pfd, 1, left / NSEC_PER_MSEC < LOOK_MS ? (int)(left / NSEC_PER_MSEC) + 1 : LOOK_MS) > 0)
			return 1;
		if (look)
			look(ctx);
	}
	return 0;
}

int child_wait(pid_t pid, const volatile int *stop, nsec_t patience, void (*look)(void *ctx), void *ctx,
	       struct child_end *ret, struct err *e)
{
	cleanup_close int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	struct rusage ru = { 0 };
	int stopped = 0, status;

	if (pidfd < 0)
		return err_sys(e, -errno, "cannot watch process %d", (int)pid);
	if (!ended(pidfd, NSEC_NEVER, stop, look, ctx)) {
		stopped = 1;
		kill(-pid, SIGTERM);
		ended(pidfd, nsec_now() + patience, NULL, NULL, NULL);
		kill(-pid, SIGKILL);	/* also those of the group that outlived their leader */
		if (!ended(pidfd, nsec_now() + AFTER_KILL, NULL, NULL, NULL))
			return err_set(e, -EINTR, "process %d is stuck in the kernel and was left behind", (int)pid);
	}
	if (wait4(pid, &status, 0, &ru) < 0)
		return err_sys(e, -errno, "lost process %d", (int)pid);
	kill(-pid, SIGKILL);
	if (stopped)
		return -EINTR;
	*ret = (struct child_end){ .status = status, .read_blocks = (uint64_t)ru.ru_inblock,
				   .written_blocks = (uint64_t)ru.ru_oublock };
	return 0;
}

#define DESCENDANTS 4096	/* looked at by one child_io() */

static bool read_small(const char *path, char *buf, size_t size)
{
	cleanup_close int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, buf, size - 1);

	buf[n > 0 ? n : 0] = 0;
	return n > 0;
}

/* A parent takes over the figures of a child it waits for, so each living task is counted and none twice. */
static bool add_io(pid_t pid, int depth, int *left, uint64_t *r, uint64_t *w)
{
	char path[64], buf[4096], *c;
	unsigned long long x;

	if (--*left < 0 || depth > 32)
		return true;
	snprintf(path, sizeof(path), "/proc/%d/io", (int)pid);
	if (!read_small(path, buf, sizeof(buf)))
		return false;
	c = strstr(buf, "\nread_bytes:");
	if (c && sscanf(c, "\nread_bytes: %llu", &x) == 1)
		*r += x;
	c = strstr(buf, "\nwrite_bytes:");
	if (c && sscanf(c, "\nwrite_bytes: %llu", &x) == 1)
		*w += x;
	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)pid, (int)pid);
	if (read_small(path, buf, sizeof(buf)))
		for (char *end, *p = buf; (x = strtoull(p, &end, 10)) > 0 && end != p; p = end)
			add_io((pid_t)x, depth + 1, left, r, w);
	return true;
}

bool child_io(pid_t pid, uint64_t *ret_read_bytes, uint64_t *ret_written_bytes)
{
	uint64_t r = 0, w = 0;
	int left = DESCENDANTS;

	if (!add_io(pid, 0, &left, &r, &w))
		return false;
	*ret_read_bytes = r;
	*ret_written_bytes = w;
	return true;
}

/* SPDX-License-Identifier: MIT */
#include "run/child.h"
#include "base/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

struct board *board_new(size_t nslots)
{
	size_t size = sizeof(struct board) + nslots * sizeof(struct slot);
	struct board *b = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (b == MAP_FAILED)
		return NULL;
	b->nslots = nslots;
	return b;
}

void board_free(struct board *b)
{
	if (b)
		munmap(b, sizeof(*b) + b->nslots * sizeof(struct slot));
}

void child_become(const struct child_setup *cs, const char *name)
{
	static const int plain[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGCHLD, SIGUSR1, SIGUSR2 };
	char comm[32];
	sigset_t none;
	int null;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != cs->controller)	/* it died before the line above */
		_exit(1);
	setpgid(0, 0);
	snprintf(comm, sizeof(comm), "stallmark-%s", name);
	prctl(PR_SET_NAME, comm);
	prctl(PR_SET_TIMERSLACK, 1);
	for (size_t i = 0; i < ARRAY_SIZE(plain); i++)
		signal(plain[i], SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	for (int fd = 0; fd < 3 && null >= 0; fd++)
		dup2(null, fd);
	for (int fd = 3; fd < 4096; fd++)
		if (fd != cs->alive)
			close(fd);
}

void child_fail(const struct child_setup *cs, const struct err *e)
{
	cs->slot->error = e->code ? e->code : -EIO;
	snprintf(cs->slot->msg, sizeof(cs->slot->msg), "%s", e->msg);
	slot_set(cs->slot, CHILD_FAILED);
	_exit(1);
}

void child_wait_go(const struct child_setup *cs)
{
	struct pollfd pfd = { .fd = cs->alive, .events = POLLIN };

	/* 2 ms: when all begin, they begin together */
	while (!cs->slot->go && !cs->slot->stop)
		if (poll(&pfd, 1, 2) > 0)
			_exit(1);
	if (cs->slot->stop) {
		slot_set(cs->slot, CHILD_ENDED);
		_exit(0);
	}
}

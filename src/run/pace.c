/* SPDX-License-Identifier: MIT */
#include "run/pace.h"
#include "base/cleanup.h"

#include <poll.h>
#include <time.h>

#define LOOK_UP (200 * NSEC_PER_MSEC)	/* how often a sleeper looks at *stop */

void pace_start(struct pace *p, bool open_loop, nsec_t interval, nsec_t backlog, nsec_t first)
{
	*p = (struct pace){ .open_loop = open_loop, .interval = interval, .backlog = backlog, .due = first };
}

enum pace_verdict pace_look(const struct pace *p, nsec_t now)
{
	if (now < p->due)
		return PACE_WAIT;
	if (p->open_loop && now - p->due > p->backlog)
		return PACE_GIVE_UP;
	return PACE_GO;
}

void pace_done(struct pace *p, nsec_t end)
{
	p->id++;
	p->due = p->open_loop ? p->due + p->interval : end + p->interval;
}

bool pace_wait(nsec_t t, const volatile int *stop, int fd)
{
	struct pollfd pfd = { .fd = fd, .events = POLLIN };
	nsec_t now;

	while ((now = nsec_now()) < t) {
		nsec_t left = t - now;
		struct timespec ts;

		if (stop && *stop)
			return false;
		if (left <= PACE_SPIN)
			continue;
		left = MIN(left - PACE_SPIN, LOOK_UP);
		ts = (struct timespec){ .tv_sec = left / NSEC_PER_SEC, .tv_nsec = left % NSEC_PER_SEC };
		if (ppoll(&pfd, fd >= 0 ? 1 : 0, &ts, NULL) > 0)
			return false;
	}
	return !(stop && *stop);
}

/* SPDX-License-Identifier: MIT */
/*
 * Pressure stall information: the share of time in which some, or all, tasks
 * could not go on for want of I/O, memory or CPU (Linux 4.20,
 * Documentation/accounting/psi.rst). From the running totals, not from the
 * averages, so that a stall is in the second in which it was. About 10 us a
 * tick.
 */
#include "base/cleanup.h"
#include "collect/source.h"
#include "sys/kfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

static const char *const whats[] = { "io", "memory", "cpu" };

struct psi {
	const struct source_env *env;
	int fd[ARRAY_SIZE(whats)];
	int series[ARRAY_SIZE(whats)][2];	/* some, full */
	uint64_t last[ARRAY_SIZE(whats)][2];	/* microseconds */
	nsec_t then, due;
};

static int supported(struct err *why)
{
	char buf[256];
	cleanup_close int fd = open("/proc/pressure/io", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -errno : file_again(fd, buf, sizeof(buf));

	if (n == -EOPNOTSUPP)
		return err_set(why, -ENOTSUP, "this kernel has pressure stall information switched off; boot with psi=1");
	if (n < 0)
		return err_set(why, -ENOTSUP, "this kernel has no pressure stall information (/proc/pressure)");
	return 0;
}

/* The "total=" of the line that begins with `line`. */
static bool total(const char *text, const char *line, uint64_t *ret)
{
	const char *l = strstr(text, line), *t = l ? strstr(l, "total=") : NULL;
	unsigned long long x;

	if (!t || sscanf(t, "total=%llu", &x) != 1)
		return false;
	*ret = x;
	return true;
}

static int read_all(struct psi *p, nsec_t now, bool first, struct err *e)
{
	char buf[512];

	for (size_t i = 0; i < ARRAY_SIZE(whats); i++) {
		if (p->fd[i] < 0 || file_again(p->fd[i], buf, sizeof(buf)) < 0)
			continue;
		for (int k = 0; k < 2; k++) {
			uint64_t us;
			int r;

			if (!p->series[i][k] || !total(buf, k ? "full " : "some ", &us))
				continue;
			if (!first && now > p->then) {
				/* us per ns of time, in millionths */
				double share = (double)(us - p->last[i][k]) * 1e9 / (double)(now - p->then);

				r = rec_counter(p->env->rec, p->env->run, p->series[i][k], now, (int64_t)(share + 0.5), e);
				if (r)
					return r;
			}
			p->last[i][k] = us;
		}
	}
	p->then = now;
	return 0;
}

static int psi_open(void *st, const void *conf, const struct source_env *env, struct err *e)
{
	struct psi *p = st;

	p->env = env;
	for (size_t i = 0; i < ARRAY_SIZE(whats); i++) {
		char path[32], name[32], meaning[80];

		snprintf(path, sizeof(path), "/proc/pressure/%s", whats[i]);
		p->fd[i] = open(path, O_RDONLY | O_CLOEXEC);
		for (int k = 0; k < 2 && p->fd[i] >= 0; k++) {
			struct rec_series s = { .kind = SERIES_COUNTER, .name = name, .unit = "ppm", .meaning = meaning,
						.group = "system" };
			int r;

			snprintf(name, sizeof(name), "psi.%s.%s", whats[i], k ? "full" : "some");
			snprintf(meaning, sizeof(meaning), "share of time in which %s waited for %s",
				 k ? "all tasks" : "at least one task", i == 2 ? "a CPU" : i ? "memory" : "I/O");
			r = rec_series(env->rec, &s, &p->series[i][k], e);
			if (r)
				return r;
		}
	}
	return 0;
}

static int psi_start(void *st, struct err *e)
{
	struct psi *p = st;

	p->due = nsec_now() + p->env->period;
	return read_all(p, nsec_now(), true, e);
}

static nsec_t psi_due(void *st, nsec_t now)
{
	return ((struct psi *)st)->due;
}

static int psi_drain(void *st, nsec_t now, struct err *e)
{
	struct psi *p = st;

	if (now < p->due)
		return 0;
	p->due = MAX(p->due + p->env->period, now + p->env->period / 2);
	return read_all(p, now, false, e);
}

static int psi_stop(void *st, struct err *e)
{
	struct psi *p = st;
	nsec_t now = nsec_now();

	/* the rest of a second, when it is long enough to say something */
	return now - p->then > p->env->period / 4 ? read_all(p, now, false, e) : 0;
}

static uint64_t psi_lost(const void *st)
{
	return 0;
}

static void psi_close(void *st)
{
	struct psi *p = st;

	for (size_t i = 0; i < ARRAY_SIZE(whats); i++)
		if (p->fd[i] > 0)
			close(p->fd[i]);
}

const struct source_ops source_psi = {
	.plug = { .name = "psi", .about = "pressure stall information of I/O, memory and CPU", .state_size = sizeof(struct psi) },
	.supported = supported,
	.open = psi_open,
	.start = psi_start,
	.due = psi_due,
	.drain = psi_drain,
	.stop = psi_stop,
	.lost = psi_lost,
	.close = psi_close,
};

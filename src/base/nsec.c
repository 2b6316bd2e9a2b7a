/* SPDX-License-Identifier: MIT */
#include "base/nsec.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <time.h>

static nsec_t read_clock(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return ts.tv_sec * NSEC_PER_SEC + ts.tv_nsec;
}

nsec_t nsec_now(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

nsec_t nsec_wall(void)
{
	return read_clock(CLOCK_REALTIME);
}

nsec_t nsec_thread_cpu(void)
{
	return read_clock(CLOCK_THREAD_CPUTIME_ID);
}

void nsec_sleep_until(nsec_t t, const volatile int *stop)
{
	struct timespec ts = { .tv_sec = t / NSEC_PER_SEC, .tv_nsec = t % NSEC_PER_SEC };

	if (t < 0)
		return;
	while (!(stop && *stop) && clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL) == EINTR)
		;
}

nsec_t nsec_add(nsec_t a, nsec_t b)
{
	nsec_t sum;

	if (a == NSEC_NEVER || b == NSEC_NEVER || __builtin_add_overflow(a, b, &sum))
		return NSEC_NEVER;
	return sum;
}

double nsec_seconds(nsec_t t)
{
	return (double)t / 1e9;
}

nsec_t nsec_from_seconds(double s)
{
	double ns = s * 1e9;

	if (isnan(ns))
		return 0;
	if (ns >= 9.2e18)
		return NSEC_NEVER;
	if (ns <= -9.2e18)
		return INT64_MIN;
	return llround(ns);
}

const char *nsec_text(nsec_t t, char buf[NSEC_TEXT])
{
	const char *sign = t < 0 ? "-" : "";
	double s = fabs(nsec_seconds(t));

	if (t == NSEC_NEVER)
		snprintf(buf, NSEC_TEXT, "never");
	else if (!t)
		snprintf(buf, NSEC_TEXT, "0 s");
	else if (s < 9.95e-6)
		snprintf(buf, NSEC_TEXT, "%s%.1f us", sign, s * 1e6);
	else if (s < 99.5e-6)
		snprintf(buf, NSEC_TEXT, "%s%.0f us", sign, s * 1e6);
	else if (s < 9.95e-3)
		snprintf(buf, NSEC_TEXT, "%s%.1f ms", sign, s * 1e3);
	else if (s < 0.9995)
		snprintf(buf, NSEC_TEXT, "%s%.0f ms", sign, s * 1e3);
	else if (s < 9.995)
		snprintf(buf, NSEC_TEXT, "%s%.2f s", sign, s);
	else if (s < 119.95)
		snprintf(buf, NSEC_TEXT, "%s%.1f s", sign, s);
	else if (s < 7199.5)
		snprintf(buf, NSEC_TEXT, "%s%d min %d s", sign, (int)lround(s) / 60, (int)lround(s) % 60);
	else
		snprintf(buf, NSEC_TEXT, "%s%.0f h %d min", sign, floor(s / 3600), (int)(fmod(s, 3600) / 60));
	return buf;
}

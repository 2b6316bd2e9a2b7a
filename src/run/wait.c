/* SPDX-License-Identifier: MIT */
#include "base/cleanup.h"
#include "base/units.h"
#include "run/conduct.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#define STEP		(50 * NSEC_PER_MSEC)
#define PROGRESS	(200 * NSEC_PER_MSEC)

static int sigfd = -1;

void run_guard(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);	/* a closed terminal must not end the clean-up */
	if (sigfd < 0)
		sigfd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	/* Memory pressure is what we make: the conductor must not wait for its own pages. May fail without privilege. */
	if (mlockall(MCL_CURRENT | MCL_ONFAULT) < 0)
		(void)!mlockall(MCL_CURRENT);
}

/* From the second signal on, the kernel ends us at once. */
static void let_the_next_one_kill(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	signal(SIGHUP, SIG_DFL);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}

int conduct_signal(struct conductor *c)
{
	struct signalfd_siginfo si;

	if (!c->signal && sigfd >= 0 && read(sigfd, &si, sizeof(si)) == sizeof(si)) {
		c->signal = (int)si.ssi_signo;
		let_the_next_one_kill();
	}
	return c->signal;
}

void conduct_note(struct conductor *c, enum note_kind kind, const char *key, const char *fmt, ...)
{
	char text[800];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (c->recorder)
		recorder_note(c->recorder, kind, key, text);
	else
		rec_note(c->conf->rec, c->res->run, kind, nsec_now(), key, text, NULL);
}

void conduct_phase(struct conductor *c, enum sample_phase phase, nsec_t until)
{
	nsec_t now = nsec_now();
	const struct run_hooks *h = c->conf->hooks;

	c->phase = phase;
	c->phase_began = now;
	c->phase_until = until;
	c->say = "";
	c->next_progress = 0;
	if (c->recorder)
		recorder_phase(c->recorder, phase, now);
	if (h && h->phase)
		h->phase(h->ctx, phase, now);
}

static void progress(struct conductor *c, nsec_t now)
{
	const struct run_hooks *h = c->conf->hooks;
	struct run_view v = { .phase = c->phase, .since = c->phase_began, .until = c->phase_until, .now = now, .say = c->say ?: "" };

	if (!h || !h->progress || now < c->next_progress)
		return;
	if (c->recorder)
		recorder_view(c->recorder, &v);
	h->progress(h->ctx, &v);
	c->next_progress = now + PROGRESS;
}

static void breaks(struct conductor *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void breaks(struct conductor *c, const char *fmt, ...)
{
	va_list ap;

	if (c->why[0])
		return;
	va_start(ap, fmt);
	vsnprintf(c->why, sizeof(c->why), fmt, ap);
	va_end(ap);
}

/* A child that ended on its own: what that means depends on what it was and when. */
static void judge(struct conductor *c, struct child *k)
{
	bool measuring = c->phase == PHASE_MEASURE || (k->load && c->phase == PHASE_LOAD_UP);
	char text[700];

	if (k->said || k->slot->stop)
		return;
	k->said = true;
	if (slot_state(k->slot) == CHILD_FAILED)
		snprintf(text, sizeof(text), "%.600s", k->slot->msg);
	else if (WIFSIGNALED(k->status))
		snprintf(text, sizeof(text), "%s was killed by signal %d%s", k->name, WTERMSIG(k->status),
			 WTERMSIG(k->status) == SIGKILL ? " (out of memory?)" : "");
	else if (k->load && slot_state(k->slot) == CHILD_ENDED)
		snprintf(text, sizeof(text), "%s ended by itself", k->name);
	else
		snprintf(text, sizeof(text), "%s ended without a word", k->name);
	if (!k->load)
		c->probes_alive--;
	if (k->load && slot_state(k->slot) == CHILD_ENDED) {
		conduct_note(c, NOTE_WARNING, "load-ended", "%s", text);
		return;
	}
	conduct_note(c, NOTE_WARNING, k->load ? "load-failed" : "probe-failed", "%s", text);
	if (k->load && WIFSIGNALED(k->status) && c->plan->loads.p[k->index].ops->touches & LOAD_MEMORY)
		return;		/* it is there to fill memory, and the first to be killed when that is full */
	if (measuring || (k->load && c->phase < PHASE_STOP))
		breaks(c, "%s", text);
	else if (!c->probes_alive && c->phase < PHASE_STOP)
		breaks(c, "no probe can run; the last one said: %s", text);
}

void children_reap(struct conductor *c)
{
	for (size_t i = 0; i < c->kids.n; i++) {
		struct child *k = &c->kids.p[i];

		if (!k->gone && waitpid(k->pid, &k->status, WNOHANG) == k->pid) {
			k->gone = true;
			judge(c, k);
		}
	}
}

static void check(struct conductor *c)
{
	struct err e = { 0 };
	char most[UNITS_TEXT];

	children_reap(c);
	if (c->recorder && recorder_failed(c->recorder, &e))
		breaks(c, "the record could not be written: %s", e.msg);
	if (children_written(c) > c->plan->write_budget)
		breaks(c, "the loads have written their budget of %s (write-budget)",
		       units_size_text(c->plan->write_budget, most));
}

enum wait_end conduct_wait(struct conductor *c, nsec_t until, bool (*cond)(struct conductor *c))
{
	struct pollfd pfd = { .fd = sigfd, .events = POLLIN };

	for (;;) {
		nsec_t now = nsec_now(), left;
		struct timespec ts;

		check(c);
		if (conduct_signal(c) || c->why[0])
			return WAIT_BROKEN;
		if (cond && cond(c))
			return WAIT_DONE;
		if (now >= until)
			return WAIT_TIME;
		progress(c, now);
		left = MIN(until - now, STEP);
		ts = (struct timespec){ .tv_sec = left / NSEC_PER_SEC, .tv_nsec = left % NSEC_PER_SEC };
		ppoll(&pfd, 1, &ts, NULL);
	}
}

int run_wait_helper(void (*fn)(void *ctx), void *ctx)
{
	struct pollfd pfd = { .fd = sigfd, .events = POLLIN };
	pid_t pid = helper_start(fn, ctx, false);
	int status = 0;

	if (pid < 0)
		return -errno;
	while (waitpid(pid, &status, WNOHANG) == 0)
		if (poll(&pfd, sigfd >= 0 ? 1 : 0, 20) > 0)
			return -EINTR;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

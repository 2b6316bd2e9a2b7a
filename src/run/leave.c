/* SPDX-License-Identifier: MIT */
/* Folders below the tested directories are made and removed by processes that may wait; the conductor may not. */
#include "base/cleanup.h"
#include "base/mem.h"
#include "run/conduct.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAKE_MAX	(60 * NSEC_PER_SEC)
#define REMOVE_MAX	(600 * NSEC_PER_SEC)

pid_t helper_start(void (*fn)(void *ctx), void *ctx, bool outlives)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	setpgid(0, 0);
	if (outlives) {
		int null = open("/dev/null", O_RDWR | O_CLOEXEC);

		setsid();
		for (int fd = 0; fd < 3 && null >= 0; fd++)
			dup2(null, fd);
	}
	signal(SIGINT, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	fn(ctx);
	_exit(0);
}

/* ---- making ---- */

static size_t area_size(size_t n)
{
	return sizeof(struct area) + n * sizeof(struct work_dir);
}

const char *area_path(const struct conductor *c, bool load, size_t index)
{
	static char path[PATH_MAX + 100];
	const struct plan *p = c->plan;
	const char *top = c->area->dir[load ? p->loads.p[index].dir : p->probes.p[index].dir].path;

	snprintf(path, sizeof(path), "%s/%s-%s", top, load ? "load" : "probe", load ? p->loads.p[index].name : p->probes.p[index].name);
	return path;
}

static void make_all(void *ctx)
{
	struct conductor *c = ctx;
	struct area *a = c->area;
	const struct plan *p = c->plan;
	int r = 0;

	for (size_t i = 0; i < a->n && !r; i++) {
		struct folder f = { .fd = -1 };

		r = folder_make(p->dirs.p[i].path, &f, &a->error);
		if (r)
			break;
		snprintf(a->dir[i].path, sizeof(a->dir[i].path), "%s", f.path);
		memcpy(a->dir[i].token, f.token, sizeof(f.token));
		a->dir[i].made = true;
		folder_done(&f);
		r = folder_hand_over(a->dir[i].token, getppid(), &a->error);
	}
	for (size_t i = 0; i < p->probes.n + p->loads.n && !r; i++) {
		bool load = i >= p->probes.n;
		const char *path = area_path(c, load, load ? i - p->probes.n : i);

		if (mkdir(path, 0700) < 0)
			r = err_sys(&a->error, -errno, "cannot make %s", path);
	}
	_exit(r ? 1 : 0);
}

static pid_t making;

static bool made(struct conductor *c)
{
	return waitpid(making, NULL, WNOHANG) == making;
}

int area_make(struct conductor *c, struct err *e)
{
	size_t n = c->plan->dirs.n;

	c->area = mmap(NULL, area_size(n), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (c->area == MAP_FAILED) {
		c->area = NULL;
		return err_sys(e, -ENOMEM, "cannot get memory for the run");
	}
	c->area->n = n;
	making = helper_start(make_all, c, false);
	if (making < 0)
		return err_sys(e, -errno, "cannot start a process");
	c->say = "waiting for the filesystem to make our folder";
	switch (conduct_wait(c, nsec_now() + MAKE_MAX, made)) {
	case WAIT_TIME:
		return err_set(e, -ETIMEDOUT, "making a folder in %s takes more than a minute; is its disk alive?",
			       c->plan->dirs.p[0].path);
	case WAIT_BROKEN:
		return -EINTR;
	case WAIT_DONE:
		break;
	}
	if (c->area->error.code) {
		if (e)
			*e = c->area->error;
		return c->area->error.code;
	}
	return 0;
}

/* ---- leaving ---- */

struct leaving {
	struct leftovers *left;
	const char *record, *target;
};

static void remove_all(struct leftovers *left)
{
	for (size_t i = 0; left->area && i < left->area->n; i++) {
		struct work_dir *d = &left->area->dir[i];

		if (d->made && !folder_remove(d->path, d->token, &left->area->error))
			d->made = false;
	}
}

/* In the detached child: first the answer is brought to its place, then the folders go when nobody writes any more. */
static void leave_all(void *ctx)
{
	struct leaving *l = ctx;
	nsec_t until = nsec_now() + REMOVE_MAX;

	for (size_t i = 0; l->left->area && i < l->left->area->n; i++)
		if (l->left->area->dir[i].made)
			folder_hand_over(l->left->area->dir[i].token, getpid(), NULL);
	if (l->target && !rec_copy(l->record, l->target, NULL))
		unlink(l->record);
	for (size_t i = 0; i < l->left->still.n; i++)
		while (task_state(l->left->still.p[i].pid) && nsec_now() < until)
			usleep(100000);
	remove_all(l->left);
}

static void left_free(struct leftovers *left)
{
	if (left->area)
		munmap(left->area, area_size(left->area->n));
	vec_done(&left->still);
	free(left);
}

/* Zombies of ours are gone for our purposes. */
static bool still_there(const struct child *k)
{
	char state = task_state(k->pid);

	return waitpid(k->pid, NULL, WNOHANG) != k->pid && state && state != 'Z';
}

static void say_still(const struct leftovers *left, struct strbuf *said)
{
	size_t n = 0;

	for (size_t i = 0; i < left->still.n; i++)
		n += still_there(&left->still.p[i]);
	if (!n)
		return;
	strbuf_addf(said, "%zu task%s still finishing in the kernel (D), not waiting:", n, n > 1 ? "s" : "");
	for (size_t i = 0, k = 0; i < left->still.n && k < 8; i++) {
		if (!still_there(&left->still.p[i]))
			continue;
		strbuf_addf(said, "%s %s (pid %d)", k ? "," : "", left->still.p[i].name, (int)left->still.p[i].pid);
		k++;
	}
	strbuf_adds(said, n > 8 ? ", ...\n" : "\n");
}

void run_leave(struct run_result *res, bool in_background, const char *record, const char *target, struct strbuf *said)
{
	struct leftovers *left = take(res->left);
	struct leaving l = { .left = left, .record = record, .target = target };
	nsec_t until = nsec_now() + 30 * NSEC_PER_SEC;
	pid_t pid;

	if (!left)
		return;
	if (said)
		say_still(left, said);
	pid = helper_start(leave_all, &l, true);
	if (pid < 0) {
		if (said)
			strbuf_adds(said, "our folders could not be removed; stallmark clean does it\n");
	} else if (!in_background) {
		while (waitpid(pid, NULL, WNOHANG) == 0 && nsec_now() < until)
			usleep(10000);
		for (size_t i = 0; left->area && i < left->area->n && said; i++)
			if (left->area->dir[i].made)
				strbuf_addf(said, "%s is still being removed; if it stays: stallmark clean\n",
					    left->area->dir[i].path);
	}
	left_free(left);
}

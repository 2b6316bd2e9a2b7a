/* SPDX-License-Identifier: MIT */
#include "sys/spawn.h"
#include "base/cleanup.h"
#include "base/mem.h"
#include "base/vec.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>

extern char **environ;

char *spawn_find(const char *name)
{
	const char *env = getenv("PATH");
	cleanup_free char *path = mem_printf("%s:/usr/local/sbin:/usr/sbin:/sbin", env ? env : "/usr/bin:/bin");

	if (strchr(name, '/'))
		return access(name, X_OK) ? NULL : mem_dup(name);
	for (const char *p = path; *p;) {
		size_t n = strcspn(p, ":");
		char *full = mem_printf("%.*s/%s", (int)n, p, name);

		/* an empty or relative part of PATH would run a program of the folder we happen to be in */
		if (*p == '/' && !access(full, X_OK))
			return full;
		free(full);
		p += n + (p[n] == ':');
	}
	return NULL;
}

static int status_of(int wstatus)
{
	return WIFSIGNALED(wstatus) ? 128 + WTERMSIG(wstatus) : WEXITSTATUS(wstatus);
}

int spawn_start(const struct spawn *s, pid_t *ret_pid, struct err *e)
{
	cleanup_free char *file = spawn_find(s->argv[0]);
	VEC(char *) env = { 0 };
	posix_spawn_file_actions_t fa;
	posix_spawnattr_t at;
	sigset_t none, all;
	pid_t pid;
	int r;

	if (!file)
		return err_set(e, -ENOENT, "there is no program '%s'", s->argv[0]);
	for (const char *const *v = s->env; v && *v; v++)
		vec_push(&env, (char *)*v);
	for (char **v = environ; *v; v++) {
		size_t n = strcspn(*v, "=") + 1;
		bool ours = false;

		for (const char *const *o = s->env; o && *o; o++)
			ours |= !strncmp(*o, *v, n);
		if (!ours)
			vec_push(&env, *v);
	}
	vec_push(&env, NULL);
	posix_spawn_file_actions_init(&fa);
	posix_spawnattr_init(&at);
	for (int i = 0; i < 3; i++) {
		int fd = i == 0 ? s->in : i == 1 ? s->out : s->err;

		if (fd > 0)
			posix_spawn_file_actions_adddup2(&fa, fd, i);
		else
			posix_spawn_file_actions_addopen(&fa, i, "/dev/null", i ? O_WRONLY : O_RDONLY, 0);
	}
	if (s->dir)
		posix_spawn_file_actions_addchdir_np(&fa, s->dir);
	sigemptyset(&none);
	sigfillset(&all);
	posix_spawnattr_setpgroup(&at, 0);
	posix_spawnattr_setsigmask(&at, &none);
	posix_spawnattr_setsigdefault(&at, &all);
	posix_spawnattr_setflags(&at, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
	r = posix_spawn(&pid, file, &fa, &at, (char *const *)s->argv, env.p);
	posix_spawn_file_actions_destroy(&fa);
	posix_spawnattr_destroy(&at);
	vec_done(&env);
	if (r)
		return err_sys(e, -r, "cannot start %s", file);
	*ret_pid = pid;
	return 0;
}

int spawn_wait(pid_t pid, nsec_t limit, int *ret_status)
{
	cleanup_close int fd = (int)syscall(SYS_pidfd_open, pid, 0);
	nsec_t until = nsec_add(nsec_now(), limit), step = 200 * NSEC_PER_USEC;
	int status;

	for (;;) {
		pid_t got = waitpid(pid, &status, WNOHANG);
		nsec_t now = nsec_now();

		if (got == pid) {
			if (ret_status)
				*ret_status = status_of(status);
			return 0;
		}
		if (got < 0 && errno != EINTR)
			return -errno;
		if (now >= until)
			return -ETIMEDOUT;
		if (fd >= 0) {
			struct pollfd p = { .fd = fd, .events = POLLIN };
			nsec_t left = (until - now) / NSEC_PER_MSEC + 1;

			(void)poll(&p, 1, (int)MIN(left, (nsec_t)60000));
		} else {	/* before Linux 5.3 */
			nsec_sleep_until(MIN(now + step, until), NULL);
			step = MIN(step * 2, 50 * NSEC_PER_MSEC);
		}
	}
}

int spawn_stop(pid_t pid, nsec_t grace, int *ret_status)
{
	int got;

	if (kill(-pid, SIGTERM) < 0)
		(void)kill(pid, SIGTERM);
	(void)kill(-pid, SIGCONT);	/* a stopped one would not hear it */
	got = spawn_wait(pid, grace, ret_status);
	/* the leader may be gone while others of its group are not */
	if (kill(-pid, SIGKILL) < 0 && got == -ETIMEDOUT)
		(void)kill(pid, SIGKILL);
	if (got == -ETIMEDOUT)
		got = spawn_wait(pid, NSEC_PER_SEC, ret_status);
	return got == -ETIMEDOUT ? -EBUSY : got;
}

struct stream {
	int fd;
	struct strbuf *to;
	size_t kept;
};

/* Reads what is there; closes the stream at its end. */
static void take_output(struct stream *s, size_t most)
{
	char buf[8192];
	ssize_t n = read(s->fd, buf, sizeof(buf));

	if (n > 0) {
		size_t k = MIN((size_t)n, most - s->kept);

		if (s->to)
			strbuf_add(s->to, buf, k);
		s->kept += k;
	} else if (n == 0 || (errno != EINTR && errno != EAGAIN)) {
		close(s->fd);
		s->fd = -1;
	}
}

int spawn_run(const struct spawn *given, struct strbuf *ret_out, struct strbuf *ret_err, int *ret_status, struct err *e)
{
	struct spawn s = *given;
	struct stream st[2] = { { -1, ret_out, 0 }, { -1, ret_err, 0 } };
	nsec_t limit = s.limit ? s.limit : 60 * NSEC_PER_SEC, until = nsec_add(nsec_now(), limit);
	size_t most = s.most ? s.most : 1 << 20;
	int out[2], err[2], r;
	pid_t pid;

	if (pipe2(out, O_CLOEXEC) < 0)
		return err_sys(e, -errno, "cannot make a pipe for %s", s.argv[0]);
	if (pipe2(err, O_CLOEXEC) < 0) {
		r = -errno;
		close(out[0]);
		close(out[1]);
		return err_sys(e, r, "cannot make a pipe for %s", s.argv[0]);
	}
	s.out = out[1];
	s.err = err[1];
	r = spawn_start(&s, &pid, e);
	close(out[1]);
	close(err[1]);
	st[0].fd = out[0];
	st[1].fd = err[0];
	while (!r && (st[0].fd >= 0 || st[1].fd >= 0)) {
		struct pollfd p[2] = { { st[0].fd, POLLIN, 0 }, { st[1].fd, POLLIN, 0 } };
		nsec_t left = until - nsec_now();

		if (left <= 0)
			break;
		if (poll(p, 2, (int)MIN(left / NSEC_PER_MSEC + 1, (nsec_t)60000)) < 0 && errno != EINTR)
			break;
		for (int i = 0; i < 2; i++)
			if (st[i].fd >= 0 && p[i].revents)
				take_output(&st[i], most);
	}
	for (int i = 0; i < 2; i++)
		if (st[i].fd >= 0)
			close(st[i].fd);
	if (r)
		return r;
	r = spawn_wait(pid, MAX(until - nsec_now(), (nsec_t)0), ret_status);
	if (r == -ETIMEDOUT) {
		char t[NSEC_TEXT];

		r = spawn_stop(pid, 200 * NSEC_PER_MSEC, NULL);
		return err_set(e, -ETIMEDOUT, "%s did not end within %s%s", s.argv[0], nsec_text(limit, t),
			       r == -EBUSY ? " and still waits in the kernel" : " and was killed");
	}
	return r ? err_sys(e, r, "cannot wait for %s", s.argv[0]) : 0;
}

int spawn_must(const struct spawn *s, struct strbuf *ret_out, struct err *e)
{
	cleanup_strbuf struct strbuf said = STRBUF_INIT;
	int status, r = spawn_run(s, ret_out, &said, &status, e);
	const char *text = strbuf_str(&said);

	if (r || !status)
		return r;
	return err_set(e, -EIO, "%s failed (%s %d)%s%.*s", s->argv[0], status > 128 ? "signal" : "exit code",
		       status > 128 ? status - 128 : status, *text ? ": " : "", (int)MIN(strcspn(text, "\n"), (size_t)400), text);
}

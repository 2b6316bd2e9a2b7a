/* SPDX-License-Identifier: MIT */
#include "load/commands.h"
#include "base/argv.h"
#include "base/child.h"
#include "base/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>

#define PATIENCE (3 * NSEC_PER_SEC)

struct running {
	pid_t pid;
	int errfd;			/* what it complains about, as it comes */
	char tail[400];			/* the last of it */
	size_t n;
	struct load_tally *tally;
	uint64_t read_before, written_before;
};

/* Keeps the end of what the program says; reading all of it also keeps the pipe from filling up. */
static void listen_to(struct running *r)
{
	char buf[512];
	ssize_t got;

	while ((got = read(r->errfd, buf, sizeof(buf))) > 0) {
		size_t k = MIN((size_t)got, sizeof(r->tail) - 1), keep = MIN(r->n, sizeof(r->tail) - 1 - k);

		memmove(r->tail, r->tail + r->n - keep, keep);
		memcpy(r->tail + keep, buf + (size_t)got - k, k);
		r->n = keep + k;
	}
	r->tail[r->n] = 0;
}

static void look(void *ctx)
{
	struct running *r = ctx;
	uint64_t rd, wr;

	listen_to(r);
	if (child_io(r->pid, &rd, &wr)) {
		r->tally->bytes_read = r->read_before + rd;
		r->tally->bytes_written = r->written_before + wr;
	}
}

static const char *last_line(struct running *r)
{
	char *line;

	while (r->n && strchr("\n\r ", r->tail[r->n - 1]))
		r->tail[--r->n] = 0;
	line = strrchr(r->tail, '\n');
	return r->n ? (line ? line + 1 : r->tail) : "it said nothing";
}

static int judge(char *const argv[], struct running *r, int status, struct err *e)
{
	if (WIFSIGNALED(status))
		return err_set(e, -EIO, "'%s' was ended by signal %d: %s", argv[0], WTERMSIG(status), last_line(r));
	if (WEXITSTATUS(status))
		return err_set(e, -EIO, "'%s' failed with exit code %d: %s", argv[0], WEXITSTATUS(status), last_line(r));
	return 0;
}

static int run_one(char *const argv[], int dirfd, struct load_step *s, struct err *e)
{
	struct running r = { .tally = s->tally, .read_before = s->tally->bytes_read,
			     .written_before = s->tally->bytes_written };
	struct child_end end = { 0 };
	int p[2], got;

	if (pipe2(p, O_CLOEXEC | O_NONBLOCK) < 0)
		return err_sys(e, -errno, "cannot run '%s'", argv[0]);
	r.errfd = p[0];
	fcntl(p[1], F_SETFL, 0);	/* its own end blocks, as programs expect */
	got = child_start(argv, dirfd, p[1], &r.pid, e);
	close(p[1]);
	if (!got)
		got = child_wait(r.pid, s->stop, PATIENCE, look, &r, &end, e);
	listen_to(&r);
	close(p[0]);
	if (got)
		return got == -EINTR && *s->stop ? 0 : got;
	s->tally->bytes_read = MAX(s->tally->bytes_read, r.read_before + end.read_blocks * 512);
	s->tally->bytes_written = MAX(s->tally->bytes_written, r.written_before + end.written_blocks * 512);
	return judge(argv, &r, end.status, e);
}

/* One round; argv holds all commands with NULL where a ";" was. */
static int run_round(char **v, int n, int dirfd, struct load_step *s, struct err *e)
{
	for (int from = 0, i = 0; i <= n; i++) {
		int r;

		if (v[i])
			continue;
		if (i > from && !*s->stop) {
			r = run_one(v + from, dirfd, s, e);
			if (r)
				return r;
		}
		from = i + 1;
	}
	return 0;
}

int commands_run(const char *commands, int dirfd, bool again, struct load_step *s, struct err *e)
{
	struct argv a;
	int r = argv_split(commands, &a, e);

	if (r)
		return r;
	for (int i = 0; i < a.n; i++)
		if (!strcmp(a.v[i], ";"))
			a.v[i] = NULL;
	s->tally->state = 1;
	do {
		r = run_round(a.v, a.n, dirfd, s, e);
		if (!r && !*s->stop)
			s->tally->units++;
	} while (again && !r && !*s->stop);
	argv_done(&a);
	return r;
}

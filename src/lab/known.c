/* SPDX-License-Identifier: MIT */
/* Labs of other processes: found by their runtime folder, asked over their control socket. */
#include "base/cleanup.h"
#include "base/mem.h"
#include "base/units.h"
#include "lab/lab-internal.h"
#include "lab/store.h"
#include "sys/kfile.h"
#include "sys/proc.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#define PREFIX "lab-"

int lab_ask(const char *dir, const char *command, struct strbuf *ret_answer, struct err *e)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	struct timeval limit = { .tv_sec = 10 };
	cleanup_close int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	char text[1300];
	ssize_t n;

	if (snprintf(at.sun_path, sizeof(at.sun_path), "%s/ctl", dir) >= (int)sizeof(at.sun_path))
		return err_set(e, -ENAMETOOLONG, "the path of the lab's control socket is too long: %s/ctl", dir);
	if (fd < 0 || connect(fd, (struct sockaddr *)&at, sizeof(at)))
		return err_sys(e, -ENOTCONN, "the lab server does not answer at %s (%s); stallmark clean takes its remains away",
			       at.sun_path, strerror(errno));
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
	if (send(fd, command, strlen(command), MSG_NOSIGNAL) < 0 || (n = recv(fd, text, sizeof(text) - 1, 0)) <= 0)
		return err_set(e, -ENOTCONN, "the lab server at %s gave no answer", dir);
	text[n] = 0;
	if (strncmp(text, "ok", 2))
		return err_set(e, -EIO, "%s", !strncmp(text, "error ", 6) ? text + 6 : text);
	if (ret_answer)
		strbuf_adds(ret_answer, text + (text[2] == ' ' ? 3 : 2));
	return 0;
}

int lab_info_write(const struct lab *lab, pid_t owner, struct err *e)
{
	cleanup_free char *path = mem_printf("%s/info", lab->dir);
	cleanup_strbuf struct strbuf b = STRBUF_INIT;
	char size[UNITS_TEXT];

	strbuf_addf(&b, "device=%s\ndisk=%s\nfs=%s\nsched=%s\ndir=%s\nmount=%s\nsize=%s\nserver=%d\nowner=%d\nservice=%lld\n",
		    lab->loop.path, lab->profile->name, lab->conf.fs, lab->conf.sched, lab->point,
		    lab->conf.mount ? lab->conf.mount : "", units_size_text(lab->conf.size, size), (int)lab->server, (int)owner,
		    (long long)lab->profile->ops->expect_random_read(lab->profile->conf, lab->conf.size));
	for (const char *line = lab->said.s; line && *line;) {
		size_t n = strcspn(line, "\n");

		strbuf_addf(&b, "said=%.*s\n", (int)n, line);
		line += n + (line[n] == '\n');
	}
	return file_write_durable(path, strbuf_str(&b), 0600, e);
}

static void put(char *to, size_t size, const char *from)
{
	snprintf(to, size, "%s", from);
}

static int read_info(const char *name, struct lab_info *ret)
{
	cleanup_free char *dir = mem_printf("%s/" PREFIX "%s", undo_dir(), name), *info = mem_printf("%s/info", dir);
	cleanup_free char *log_path = mem_printf("%s/log", dir);
	cleanup_strbuf struct strbuf b = STRBUF_INIT;
	const struct lab_log *log;
	struct lateness late;
	struct proc_stat st;
	char *save = NULL;
	int r = file_read(info, &b, NULL);

	*ret = (struct lab_info){ 0 };
	put(ret->name, sizeof(ret->name), name);
	if (r)
		return r;
	for (char *line = strtok_r(b.s, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		char *eq = strchr(line, '=');

		if (!eq)
			continue;
		*eq++ = 0;
		if (!strcmp(line, "device"))
			put(ret->device, sizeof(ret->device), eq);
		else if (!strcmp(line, "disk"))
			put(ret->disk, sizeof(ret->disk), eq);
		else if (!strcmp(line, "fs"))
			put(ret->fs, sizeof(ret->fs), eq);
		else if (!strcmp(line, "sched"))
			put(ret->sched, sizeof(ret->sched), eq);
		else if (!strcmp(line, "dir"))
			put(ret->dir, sizeof(ret->dir), eq);
		else if (!strcmp(line, "mount"))
			put(ret->mount, sizeof(ret->mount), eq);
		else if (!strcmp(line, "size"))
			put(ret->size, sizeof(ret->size), eq);
		else if (!strcmp(line, "server"))
			ret->server = (pid_t)atoi(eq);
		else if (!strcmp(line, "owner"))
			ret->owner = (pid_t)atoi(eq);
		else if (!strcmp(line, "service"))
			ret->median_service = strtoll(eq, NULL, 10);
		else if (!strcmp(line, "said") && strlen(ret->said) + strlen(eq) + 2 < sizeof(ret->said))
			strncat(strncat(ret->said, eq, sizeof(ret->said) - strlen(ret->said) - 2), "\n", 2);
	}
	ret->alive = ret->server > 1 && !proc_stat(ret->server, 0, &st) && !strcmp(st.comm, "stallmark-lab") && st.state != 'Z';
	if (!log_open(log_path, &log, NULL)) {
		ret->served = log->head;
		ret->refused = log->refused;
		ret->pokes = log->npokes;
		ret->stored_bytes = log->stored_blocks * STORE_BLOCK;
		ret->store_bytes = log->max_blocks * STORE_BLOCK;
		log_lateness(log, 0, &late);
		ret->late_p50 = late.p50;
		ret->late_p99 = late.p99;
		ret->late_max = late.max;
		log_close(log);
	}
	return 0;
}

static int only_labs(const struct dirent *d)
{
	return !strncmp(d->d_name, PREFIX, strlen(PREFIX)) && strlen(d->d_name) <= strlen(PREFIX) + LAB_NAME_MAX;
}

int lab_each(int (*fn)(void *ctx, const struct lab_info *i), void *ctx)
{
	struct dirent **d = NULL;
	int n = undo_dir() ? scandir(undo_dir(), &d, only_labs, alphasort) : 0, r = 0;

	for (int i = 0; i < n; i++) {
		struct lab_info info;

		if (!r && !read_info(d[i]->d_name + strlen(PREFIX), &info))
			r = fn(ctx, &info);
		free(d[i]);
	}
	free(d);
	return r;
}

struct names {
	VEC(const char *) v;
};

static int add_name(void *ctx, const struct lab_info *i)
{
	struct names *n = ctx;

	vec_push(&n->v, mem_dup(i->name));
	return 0;
}

int lab_find(const char *name, struct lab_info *ret, struct err *e)
{
	struct lab_conf c;
	struct names n = { 0 };
	const char *near;
	int r = lab_conf_init(&c, name, e);

	if (r)
		return r;
	lab_conf_done(&c);
	if (undo_dir() && !read_info(name, ret))
		return 0;
	lab_each(add_name, &n);
	near = units_nearest(name, n.v.p, n.v.n);
	if (near)
		r = err_set(e, -ENOENT, "there is no lab '%s'; did you mean '%s'?", name, near);
	else
		r = err_set(e, -ENOENT, "there is no lab '%s'; stallmark lab list shows them", name);
	for (size_t i = 0; i < n.v.n; i++)
		free((void *)(uintptr_t)n.v.p[i]);
	vec_done(&n.v);
	return r;
}

int lab_poke_by_name(const char *name, const char *fault, struct err *e)
{
	cleanup_free char *command = mem_printf("poke %s", fault), *dir = NULL;
	struct lab_info i;
	int r = lab_find(name, &i, e);

	if (r)
		return r;
	dir = mem_printf("%s/" PREFIX "%s", undo_dir(), name);
	return lab_ask(dir, command, NULL, e);
}

int lab_down_by_name(const char *name, struct strbuf *said, struct err *e)
{
	cleanup_free char *dir = NULL, *command = mem_printf("hand-over %d", (int)getpid());
	struct undo *u = NULL;
	struct lab_info i;
	int r = lab_find(name, &i, e);

	if (r)
		return r;
	dir = mem_printf("%s/" PREFIX "%s", undo_dir(), name);
	if (!i.alive) {		/* its log has no owner any more */
		r = undo_stale(said, e);
		return r < 0 ? r : 0;
	}
	if (i.owner != i.server)
		return err_set(e, -EBUSY, "lab '%s' belongs to a run (process %d), which takes it down at its end", name, (int)i.owner);
	(void)lab_ask(dir, "timing off", NULL, NULL);
	r = lab_ask(dir, command, NULL, e);
	if (!r)
		r = undo_open(&u, e);
	if (r)
		return r;
	r = undo_all(u, said, e);
	undo_close(u);
	return r;
}

static int add_held(void *ctx, const struct lab_info *i)
{
	*(uint64_t *)ctx += i->alive ? i->store_bytes : 0;
	return 0;
}

static uint64_t files_in(const char *path, int depth)
{
	DIR *d = opendir(path);
	uint64_t sum = 0;
	struct dirent *de;
	struct stat st;

	while (d && (de = readdir(d))) {
		if (de->d_name[0] == '.' || fstatat(dirfd(d), de->d_name, &st, AT_SYMLINK_NOFOLLOW))
			continue;
		if (S_ISREG(st.st_mode)) {
			sum += (uint64_t)st.st_blocks * 512;
		} else if (S_ISDIR(st.st_mode) && depth > 0 && strncmp(de->d_name, PREFIX, strlen(PREFIX))) {
			cleanup_free char *sub = mem_printf("%s/%s", path, de->d_name);

			sum += files_in(sub, depth - 1);
		}
	}
	if (d)
		closedir(d);
	return sum;
}

uint64_t lab_memory_held(void)
{
	uint64_t sum = 0;

	lab_each(add_held, &sum);
	return sum + (undo_dir() ? files_in(undo_dir(), 2) : 0);	/* records and rings are in the runtime folder */
}

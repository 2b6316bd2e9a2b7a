/* SPDX-License-Identifier: MIT */
/*
 * The server's end of the control socket. Commands are lines of text:
 *
 *	poke FAULT		poke-at NANOSECONDS FAULT (CLOCK_MONOTONIC)
 *	timing on|off		queued		end
 *	hand-over PID		the undo log goes to that process, which will tear the lab down
 *
 * Answers: "ok", "ok TEXT" or "error SENTENCE".
 */
#include "lab/server.h"
#include "base/cleanup.h"
#include "base/mem.h"
#include "sys/undo.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

struct control {
	struct server *server;
	int fd;
};

static int command(struct server *s, char *text, char *ret_say, size_t size, struct err *e)
{
	char *rest;

	if (!strncmp(text, "poke ", 5))
		return server_poke(s, text + 5, 0, e);
	if (!strncmp(text, "poke-at ", 8)) {
		nsec_t at = strtoll(text + 8, &rest, 10);

		return server_poke(s, rest + strspn(rest, " "), at, e);
	}
	if (!strcmp(text, "timing on") || !strcmp(text, "timing off")) {
		server_timing(s, text[8] == 'n');
		return 0;
	}
	if (!strcmp(text, "queued")) {
		snprintf(ret_say, size, "%u", server_queued(s));
		return 0;
	}
	if (!strncmp(text, "hand-over ", 10)) {
		struct undo *u = NULL;
		int r = undo_open(&u, e);

		return r ? r : undo_hand_over(u, (pid_t)atoi(text + 10), e);
	}
	return err_set(e, -EINVAL, "the lab server does not know the command '%.40s'", text);
}

static void serve_one(struct server *s, int fd)
{
	char text[256], say[200] = "", out[1200];
	struct err e = { 0 };
	ssize_t n = recv(fd, text, sizeof(text) - 1, 0);

	if (n <= 0)
		return;
	text[n] = 0;
	text[strcspn(text, "\n")] = 0;
	if (!strcmp(text, "end")) {
		(void)!send(fd, "ok", 2, MSG_NOSIGNAL);
		server_end(s);
		return;
	}
	if (command(s, text, say, sizeof(say), &e))
		snprintf(out, sizeof(out), "error %s", e.msg);
	else
		snprintf(out, sizeof(out), "ok%s%s", *say ? " " : "", say);
	(void)!send(fd, out, strlen(out), MSG_NOSIGNAL);
}

static void *serve(void *arg)
{
	struct control *c = arg;
	struct timeval limit = { .tv_sec = 5 };

	pthread_setname_np(pthread_self(), "stallmark-ctl");
	for (;;) {
		int fd = accept4(c->fd, NULL, NULL, SOCK_CLOEXEC);

		if (fd < 0 && errno == EINTR)
			continue;
		if (fd < 0)
			return NULL;
		setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
		setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
		serve_one(c->server, fd);
		close(fd);
	}
}

int server_control_start(struct server *s, const char *dir, struct err *e)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	struct control *c = mem_alloc(sizeof(*c));
	pthread_t thread;

	c->server = s;
	c->fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (snprintf(at.sun_path, sizeof(at.sun_path), "%s/ctl", dir) >= (int)sizeof(at.sun_path))
		return err_set(e, -ENAMETOOLONG, "the path of the lab's control socket is too long: %s/ctl", dir);
	if (c->fd < 0 || bind(c->fd, (struct sockaddr *)&at, sizeof(at)) || listen(c->fd, 8))
		return err_sys(e, -errno, "cannot make the control socket %s", at.sun_path);
	if (pthread_create(&thread, NULL, serve, c))
		return err_set(e, -EAGAIN, "cannot start the lab server's control thread");
	return 0;
}

/* SPDX-License-Identifier: MIT */
#include "collect/watch.h"
#include "base/cleanup.h"
#include "base/mem.h"
#include "base/units.h"
#include "base/vec.h"
#include "collect/source.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#define SEGMENT_BYTES	(64u << 20)
#define SEGMENTS_KEPT	4
#define SYNC_EVERY	(5 * NSEC_PER_SEC)
#define LONGEST_SLEEP	(100 * NSEC_PER_MSEC)

extern char **environ;

struct watched_source {
	const struct source_ops *ops;
	void *conf, *state;
};

struct watch {
	const struct watch_conf *c;
	struct rec *rec;
	struct source_env env;		/* sources keep a pointer to it */
	char path[REC_DIR_MAX + 64];
	int run;
	VEC(struct watched_source) sources;
	pid_t child, syncer;
	nsec_t began, committed, synced;
	uint64_t synced_bytes;
	unsigned segment;
	char kept[SEGMENTS_KEPT][1024];	/* records of finished segments */
};

static void add_source(struct watch *w, const char *name, nsec_t threshold, bool full, struct watch_result *res)
{
	const struct source_ops *ops = plug_find(source_table, name);
	struct watched_source s = { .ops = ops };
	char text[NSEC_TEXT];
	struct err e = { 0 };
	int r;

	if (!ops)
		return;
	if (ops->supported && ops->supported(&e) < 0) {
		if (!strcmp(name, "bpf"))
			snprintf(res->note, sizeof(res->note), "%s", e.msg);
		return;
	}
	s.conf = mem_alloc(ops->plug.conf_size + 1);
	s.state = mem_alloc(ops->plug.state_size + 1);
	param_defaults(ops->plug.params, s.conf);
	if (!strcmp(name, "bpf")) {
		snprintf(text, sizeof(text), "%lldns", (long long)threshold);
		param_set(ops->plug.params, s.conf, name, "threshold", text, NULL);
		param_set(ops->plug.params, s.conf, name, "keep", full ? "full" : "stalls", NULL);
	}
	r = ops->open(s.state, s.conf, &w->env, &e);
	if (!r && ops->start)
		r = ops->start(s.state, &e);
	if (r < 0) {
		if (!strcmp(name, "bpf"))
			snprintf(res->note, sizeof(res->note), "%s", e.msg);
		rec_note(w->rec, w->run, NOTE_WARNING, nsec_now(), "source-failed", e.msg, NULL);
		ops->close(s.state);
		param_done(ops->plug.params, s.conf);
		free(s.conf);
		free(s.state);
		return;
	}
	vec_push(&w->sources, s);
	if (!strcmp(name, "bpf") || !strcmp(name, "stacks"))
		snprintf(res->backend, sizeof(res->backend), "%s", name);
}

static int begin(struct watch *w, struct watch_result *res, struct err *e)
{
	char dir[REC_DIR_MAX];
	struct rec_run run = { .scenario = "trace", .scenario_text = "", .command = w->c->command_line, .producer = "trace",
			       .cell = "", .version = w->c->version, .wall_start = nsec_wall(), .t0 = nsec_now() };
	struct utsname u;
	int r = rec_dir(NULL, dir, e);

	if (r < 0)
		return r;
	snprintf(w->path, sizeof(w->path), "%s/trace-%d-%u.smk", dir, (int)getpid(), ++w->segment);
	r = rec_create(w->path, &w->rec, e);
	if (r < 0)
		return r;
	r = rec_run_begin(w->rec, &run, &w->run, e);
	if (!r && !uname(&u)) {
		r = rec_env(w->rec, w->run, "kernel", u.release, true, e);
		if (!r)
			r = rec_env(w->rec, w->run, "machine", u.machine, true, e);
	}
	if (!r)
		r = rec_env(w->rec, w->run, "trace.scope", w->c->scope, false, e);
	if (r < 0)
		return r;
	w->env = (struct source_env){ .rec = w->rec, .run = w->run, .period = NSEC_PER_SEC };
	snprintf(res->backend, sizeof(res->backend), "none");
	if (!w->c->sampled)
		add_source(w, "bpf", w->c->threshold, w->c->full, res);
	if (!w->sources.n)
		add_source(w, "stacks", w->c->threshold, false, res);
	add_source(w, "proc", 0, false, res);
	add_source(w, "psi", 0, false, res);
	r = rec_env(w->rec, w->run, "trace.backend", res->backend, true, e);
	if (!r && *res->note)
		r = rec_note(w->rec, w->run, NOTE_WARNING, nsec_now(), "trace-backend", res->note, e);
	w->committed = nsec_now();
	return r;
}

static int stop_sources(struct watch *w, struct err *e)
{
	int first = 0;

	for (size_t i = 0; i < w->sources.n; i++) {
		struct watched_source *s = &w->sources.p[i];
		struct err why = { 0 };
		int r = s->ops->stop ? s->ops->stop(s->state, &why) : 0;

		if (r < 0 && !first) {
			first = r;
			if (e)
				*e = why;
		}
		s->ops->close(s->state);
		param_done(s->ops->plug.params, s->conf);
		free(s->conf);
		free(s->state);
	}
	w->sources.n = 0;
	return first;
}

/* DIR/NAME for the segment that ends now; the last of all is the output itself. */
static void segment_name(const struct watch *w, bool last, char *buf, size_t size)
{
	const char *dot = strrchr(w->c->output, '.');
	int stem = dot && !strcmp(dot, ".smk") ? (int)(dot - w->c->output) : (int)strlen(w->c->output);

	if (last)
		snprintf(buf, size, "%s", w->c->output);
	else
		snprintf(buf, size, "%.*s-%u.smk", stem, w->c->output, w->segment);
}

static int end(struct watch *w, bool last, bool partial, struct watch_result *res, struct err *e)
{
	struct rec *rec = w->rec;
	char *target = w->kept[w->segment % SEGMENTS_KEPT];
	int r = stop_sources(w, e);

	w->rec = NULL;
	if (!r)
		r = rec_run_end(rec, w->run, nsec_now(), partial, partial ? "stopped by a signal" : NULL, e);
	if (!r)
		r = rec_run_wall_end(rec, w->run, nsec_wall(), e);
	if (r < 0) {
		rec_close(rec);
		return r;
	}
	if (*target)	/* the oldest of those kept */
		unlink(target);
	segment_name(w, last, target, sizeof(w->kept[0]));
	res->segments = w->segment;
	r = rec_finish(rec, target, e);
	if (last)
		*target = '\0';
	return r;
}

/*
 * The copy for the case of a power cut. A snapshot in tmpfs first (memory speed), then a child brings it to the disk
 * and renames it: we never wait for the disk that may be the one that is stuck.
 */
static void sync_out(struct watch *w, nsec_t now)
{
	char snapshot[sizeof(w->path) + 8], target[1024];
	struct stat st;

	if (w->syncer) {
		if (waitpid(w->syncer, NULL, WNOHANG) == 0)
			return;
		w->syncer = 0;
	}
	if (now - w->synced < SYNC_EVERY || stat(w->path, &st) < 0 || (uint64_t)st.st_size == w->synced_bytes)
		return;
	w->synced = now;
	w->synced_bytes = (uint64_t)st.st_size;
	snprintf(snapshot, sizeof(snapshot), "%s.copy", w->path);
	snprintf(target, sizeof(target), "%.900s/trace-%d-%u.smk", w->c->sync_dir, (int)getpid(), w->segment);
	unlink(snapshot);
	if (rec_copy(w->path, snapshot, NULL) < 0)
		return;
	w->syncer = fork();
	if (w->syncer == 0) {
		int r = rec_copy(snapshot, target, NULL);

		unlink(snapshot);
		_exit(r < 0);
	}
	if (w->syncer < 0)
		w->syncer = 0;
}

static int start_command(struct watch *w, struct err *e)
{
	posix_spawnattr_t attr;
	sigset_t none;
	int r;

	sigemptyset(&none);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK);
	posix_spawnattr_setsigmask(&attr, &none);
	r = posix_spawnp(&w->child, w->c->command[0], NULL, &attr, w->c->command, environ);
	posix_spawnattr_destroy(&attr);
	if (!r && !strcmp(w->c->scope, "command")) {
		char scope[32];

		snprintf(scope, sizeof(scope), "tree %d", (int)w->child);
		return rec_env(w->rec, w->run, "trace.scope", scope, false, e);
	}
	return r ? err_sys(e, -r, "cannot start '%s'", w->c->command[0]) : 0;
}

/* One round: let sources drain, commit, rotate. *ret_next is when to come again. */
static int tend(struct watch *w, nsec_t now, struct watch_result *res, nsec_t *ret_next, struct err *e)
{
	bool recorder = !w->c->time && !w->c->command;
	struct stat st;
	int r = 0;

	*ret_next = now + LONGEST_SLEEP;
	for (size_t i = 0; i < w->sources.n; i++) {
		struct watched_source *s = &w->sources.p[i];

		if (s->ops->due(s->state, now) <= now)
			r = s->ops->drain(s->state, now, e);
		if (r < 0)
			return r;
		*ret_next = MIN(*ret_next, s->ops->due(s->state, now));
	}
	if (now - w->committed >= NSEC_PER_SEC) {
		w->committed = now;
		r = rec_commit(w->rec, e);
		if (r < 0)
			return r;
		if (w->c->sync_dir)
			sync_out(w, now);
		if (recorder && !stat(w->path, &st) && (uint64_t)st.st_size > SEGMENT_BYTES) {
			r = end(w, false, false, res, e);
			if (!r)
				r = begin(w, res, e);
		}
	}
	return r;
}

int watch(const struct watch_conf *c, struct watch_result *ret, struct err *e)
{
	struct watch w = { .c = c };
	nsec_t next = 0;
	int r;

	memset(ret, 0, sizeof(*ret));
	r = begin(&w, ret, e);
	if (!r && c->command)
		r = start_command(&w, e);
	w.began = nsec_now();
	while (!r) {
		nsec_t now = nsec_now();

		r = tend(&w, now, ret, &next, e);
		if (r < 0 || (c->stop && *c->stop) || (c->time && now - w.began >= c->time))
			break;
		if (w.child && waitpid(w.child, &ret->exit_status, WNOHANG) == w.child) {
			w.child = 0;
			break;
		}
		if (c->time)
			next = MIN(next, w.began + c->time);
		nsec_sleep_until(MAX(next, now + NSEC_PER_MSEC), (const volatile int *)c->stop);
	}
	ret->stopped = c->stop && *c->stop;
	if (w.child && ret->stopped) {	/* our command ends with us; it is reaped, but not waited for without a limit */
		kill(w.child, SIGTERM);
		for (int i = 0; i < 20 && waitpid(w.child, NULL, WNOHANG) == 0; i++)
			nsec_sleep_until(nsec_now() + 50 * NSEC_PER_MSEC, NULL);
	}
	if (w.rec) {
		int r2 = end(&w, true, ret->stopped && (c->time || c->command), ret, r < 0 ? NULL : e);

		r = r < 0 ? r : r2;
	}
	vec_done(&w.sources);
	if (w.syncer)
		waitpid(w.syncer, NULL, WNOHANG);
	return r;
}

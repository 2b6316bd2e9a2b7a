/* SPDX-License-Identifier: MIT */
#include "base/cleanup.h"
#include "base/mem.h"
#include "base/units.h"
#include "lab/lab-internal.h"
#include "lab/make-fs.h"
#include "lab/server.h"
#include "lab/settings.h"
#include "sys/kfile.h"
#include "sys/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>

#define READY_LIMIT (120 * NSEC_PER_SEC)	/* locking some GiB takes seconds */

int lab_supported(struct err *e)
{
	if (geteuid())
		return err_set(e, -EPERM, "the lab makes block devices and mounts, which needs root: sudo stallmark ...");
	if (access("/dev/loop-control", R_OK | W_OK))
		return err_set(e, -ENOTSUP, "the lab needs loop devices (/dev/loop-control: %s): modprobe loop", strerror(errno));
	return server_supported(e);
}

static int load_profile(const struct lab_conf *c, const char *const *dirs, struct profile **ret, struct err *e)
{
	struct profile *p;
	char text[24];
	int r = profile_load(c->disk, dirs, &p, e);

	if (r)
		return err_wrap(e, "lab %s", c->name);
	for (size_t i = 0; i < c->profile.n && !r; i++)
		r = profile_set(p, c->profile.p[i].key, c->profile.p[i].value, e);
	if (!r && c->depth) {
		snprintf(text, sizeof(text), "%llu", (unsigned long long)c->depth);
		r = profile_set(p, "depth", text, e);
	}
	if (!r && c->write_cache)
		r = profile_set(p, "write_cache", c->write_cache == 2 ? "yes" : "no", e);
	if (r) {
		profile_free(p);
		return err_wrap(e, "lab %s", c->name);
	}
	*ret = p;
	return 0;
}

/* Labs, guests and records together take at most half of what is available (without them). */
static int memory_for(const struct lab_conf *c, uint64_t *ret_pool, struct err *e)
{
	cleanup_strbuf struct strbuf b = STRBUF_INIT;
	uint64_t kb = 0, held = lab_memory_held(), most, size = c->size / STORE_BLOCK * STORE_BLOCK;
	char want[UNITS_TEXT], have[UNITS_TEXT], taken[UNITS_TEXT];
	/* a table entry and a free-list entry a block */
	uint64_t tables = size / STORE_BLOCK * 4;

	if (c->file) {
		*ret_pool = c->store ? MIN(c->store, size) : size;
		return 0;
	}
	if (file_read("/proc/meminfo", &b, e) || !file_field(strbuf_str(&b), "MemAvailable:", &kb))
		return err_set(e, -EIO, "/proc/meminfo does not say how much memory is available");
	most = (kb * 1024 + held) / 2;
	most = most > held + tables ? most - held - tables : 0;
	units_size_text(held, taken);
	units_size_text(most, have);
	if (c->store && c->store > most)
		return err_set(e, -ENOMEM, "lab %s: store = %s is more than the %s that labs may still lock (half of the memory "
			       "available, %s of it is taken); a smaller store or file = PATH will do", c->name,
			       units_size_text(c->store, want), have, taken);
	*ret_pool = c->store ? MIN(c->store, size) : MIN(size, most);
	if (*ret_pool < (16 << 20))
		return err_set(e, -ENOMEM, "lab %s: only %s of memory may be locked for its blocks (half of what is available, %s of "
			       "it is taken), too little for a disk; stallmark lab list shows other labs", c->name, have, taken);
	return 0;
}

static int make_dir(struct undo *u, const char *path, struct err *e)
{
	int r = undo_note(u, UNDO_RMDIR, path, NULL, NULL, e);

	if (!r && mkdir(path, 0700))
		r = err_sys(e, -errno, "cannot make the folder %s", path);
	return r;
}

static int note_file(struct undo *u, const char *dir, const char *name, int *ret_id, struct err *e)
{
	cleanup_free char *path = mem_printf("%s/%s", dir, name);

	return undo_note(u, UNDO_UNLINK, path, NULL, ret_id, e);
}

static int make_dirs(struct lab *lab, struct err *e)
{
	cleanup_free char *mnt = mem_printf("%s/mnt", lab->dir), *fs = mem_printf("%s/fs", lab->dir);
	int r;

	if (!access(lab->dir, F_OK)) {
		struct lab_info i;

		/* left by somebody who was killed? */
		if (lab_find(lab->conf.name, &i, NULL) || !i.alive)
			(void)undo_stale(NULL, NULL);
		if (!access(lab->dir, F_OK))
			return err_set(e, -EEXIST, "a lab named '%s' is up already; stallmark lab down %s ends it", lab->conf.name,
				       lab->conf.name);
	}
	/* the first entry is the last one undone */
	r = undo_note(lab->undo, UNDO_RMDIR, lab->dir, NULL, &lab->first_id, e);
	if (!r && mkdir(lab->dir, 0700))
		r = err_sys(e, -errno, "cannot make the folder %s", lab->dir);
	if (!r)
		r = make_dir(lab->undo, mnt, e);
	if (!r)
		r = make_dir(lab->undo, fs, e);
	if (!r)
		r = note_file(lab->undo, lab->dir, "log", NULL, e);
	if (!r)
		r = note_file(lab->undo, lab->dir, "ctl", NULL, e);
	return r;
}

/* ---- the server ---- */

/* The child waits for `go`: it does nothing before it stands in the undo log, and ends when we are killed before. */
static void child(struct lab *lab, uint64_t pool, struct lab_log *log, int go, int ready) __attribute__((noreturn));

static void child(struct lab *lab, uint64_t pool, struct lab_log *log, int go, int ready)
{
	struct server_conf sc = {
		.name = lab->conf.name, .dir = lab->dir, .profile = lab->profile, .seed = lab->conf.seed, .file = lab->conf.file,
		.capacity_bytes = lab->conf.size / STORE_BLOCK * STORE_BLOCK, .pool_bytes = pool, .log = log, .ready = ready,
	};
	char c;

	if (read(go, &c, 1) != 1)
		_exit(0);
	server_main(&sc);
}

static int wait_ready(int fd, struct err *e)
{
	nsec_t until = nsec_now() + READY_LIMIT;
	char text[900];
	ssize_t n;

	for (;;) {
		struct pollfd p = { .fd = fd, .events = POLLIN };
		int r = poll(&p, 1, 50);

		if (lab_interrupted())
			return err_set(e, -EINTR, "interrupted while the lab server started");
		if (r > 0)
			break;
		if (nsec_now() > until)
			return err_set(e, -ETIMEDOUT, "the lab server was not ready within %lld s", (long long)(READY_LIMIT / NSEC_PER_SEC));
	}
	n = read(fd, text, sizeof(text) - 1);
	text[n > 0 ? n : 0] = 0;
	if (!strcmp(text, "ok"))
		return 0;
	return err_set(e, -EIO, "%s", n > 0 ? text : "the lab server ended while it started; the kernel log may say why (memory?)");
}

static int start_server(struct lab *lab, uint64_t pool, struct err *e)
{
	cleanup_free char *log_path = mem_printf("%s/log", lab->dir), *mnt = mem_printf("%s/mnt", lab->dir);
	cleanup_close int go_r = -1, go_w = -1, ready_r = -1, ready_w = -1;
	int go[2], ready[2], r;
	struct lab_log *log;
	char pid[16], minor_text[16];
	struct stat st;

	r = log_create(log_path, &log, e);
	if (r)
		return r;
	lab->log = log;
	if (pipe2(go, O_CLOEXEC))
		return err_sys(e, -errno, "cannot make a pipe");
	go_r = go[0];
	go_w = go[1];
	if (pipe2(ready, O_CLOEXEC))
		return err_sys(e, -errno, "cannot make a pipe");
	ready_r = ready[0];
	ready_w = ready[1];
	lab->server = fork();
	if (lab->server < 0)
		return err_sys(e, -errno, "cannot start the lab server");
	if (!lab->server) {
		close(go[1]);
		child(lab, pool, log, go[0], ready[1]);
	}
	close(take_fd(ready_w));
	snprintf(pid, sizeof(pid), "%d", (int)lab->server);
	r = undo_note(lab->undo, UNDO_PROCESS, pid, NULL, NULL, e);
	if (!r)
		r = undo_note(lab->undo, UNDO_MOUNT, mnt, "stallmark-lab", NULL, e);
	if (r)
		return r;
	if (write(go_w, "g", 1) != 1)
		return err_sys(e, -errno, "the lab server ended early");
	r = wait_ready(ready_r, e);
	if (r)
		return r;
	if (stat(mnt, &st))
		return err_sys(e, -errno, "cannot look at %s", mnt);
	snprintf(minor_text, sizeof(minor_text), "%u", minor(st.st_dev));
	return undo_note(lab->undo, UNDO_FUSE, minor_text, mnt, NULL, e);
}

/* ---- up and down ---- */

static void lab_free(struct lab *lab)
{
	loop_done(&lab->loop);
	log_close(lab->log);
	profile_free(lab->profile);
	lab_conf_done(&lab->conf);
	strbuf_done(&lab->said);
	strbuf_done(&lab->cgroup);
	free(lab->dir);
	free(lab->point);
	free(lab);
}

/* Undoes what was noted for this lab, newest first. */
static int take_down(struct lab *lab, struct strbuf *said, struct err *e)
{
	struct err first = { 0 };

	loop_done(&lab->loop);		/* an open loop device is detached only when its last user goes */
	for (int id = lab->last_id; id >= lab->first_id; id--) {
		struct err one = { 0 };

		if (undo_one(lab->undo, id, said, &one) < 0 && !first.code)
			first = one;
	}
	if (!first.code)
		return 0;
	if (e)
		*e = first;
	return first.code;
}

static void copy_conf(struct lab_conf *to, const struct lab_conf *from)
{
	*to = *from;
	memset(&to->tunables, 0, sizeof(to->tunables));
	memset(&to->profile, 0, sizeof(to->profile));
	memset(&to->pokes, 0, sizeof(to->pokes));
	for (const struct param *p = lab_params; p->name; p++)
		if (p->type == PARAM_TEXT) {
			char **s = (char **)((char *)to + p->offset);

			*s = mem_dup(*s);
		}
	for (size_t i = 0; i < from->tunables.n; i++)
		vec_push(&to->tunables, ((struct lab_pair){ mem_dup(from->tunables.p[i].key), mem_dup(from->tunables.p[i].value) }));
	for (size_t i = 0; i < from->profile.n; i++)
		vec_push(&to->profile, ((struct lab_pair){ mem_dup(from->profile.p[i].key), mem_dup(from->profile.p[i].value) }));
	for (size_t i = 0; i < from->pokes.n; i++)
		vec_push(&to->pokes, ((struct lab_poke_at){ from->pokes.p[i].at, mem_dup(from->pokes.p[i].text) }));
}

static int stop_here(struct err *e)
{
	return lab_interrupted() ? err_set(e, -EINTR, "interrupted") : 0;
}

static int build(struct lab *lab, uint64_t pool, struct err *e)
{
	const struct lab_conf *c = &lab->conf;
	cleanup_free char *disk = mem_printf("%s/mnt/disk", lab->dir);
	int r = make_dirs(lab, e);

	if (!r)
		r = start_server(lab, pool, e);
	if (!r)
		r = loop_attach(disk, lab->undo, &lab->loop, e);
	if (!r)
		r = settings_apply(c, lab->profile, lab->loop.name, lab->undo, &lab->said, e);
	if (!r && c->memory)
		r = settings_cgroup(c, lab->undo, &lab->cgroup, e);
	if (!r)
		r = stop_here(e);
	if (!r)
		r = make_fs(c, &lab->loop, e);
	if (!r)
		r = mount_fs(c, &lab->loop, lab->point, lab->undo, e);
	if (!r)
		r = stop_here(e);
	if (!r)
		r = lab_ask(lab->dir, "timing on", NULL, e);
	return r;
}

int lab_up(const struct lab_conf *c, const char *const *profile_dirs, struct undo *u, struct lab **ret, struct err *e)
{
	struct lab *lab;
	uint64_t pool = 0;
	int r = lab_supported(e), end;

	if (r)
		return r;
	lab = mem_alloc(sizeof(*lab));
	lab->undo = u;
	lab->loop.fd = -1;
	copy_conf(&lab->conf, c);
	r = load_profile(c, profile_dirs, &lab->profile, e);
	if (!r)
		r = make_fs_check(c, e);
	if (!r)
		r = memory_for(c, &pool, e);
	if (!r && !undo_dir())
		r = err_set(e, -EACCES, "there is no private folder for the lab (/run/stallmark)");
	if (r) {
		lab_free(lab);
		return r;
	}
	lab->dir = mem_printf("%s/lab-%s", undo_dir(), c->name);
	lab->point = strcmp(c->fs, "none") ? mem_printf("%s/fs", lab->dir) : mem_dup("");
	r = build(lab, pool, e);
	if (lab->first_id) {	/* ids rise: this one ends our range */
		end = note_file(u, lab->dir, "info", &lab->last_id, r ? NULL : e);
		r = r ? r : end;
	}
	if (!r)
		r = lab_info_write(lab, getpid(), e);
	if (r) {
		if (lab->first_id) {
			(void)lab_ask(lab->dir, "timing off", NULL, NULL);
			(void)take_down(lab, NULL, NULL);
		}
		lab_free(lab);
		return r;
	}
	*ret = lab;
	return 0;
}

void lab_hurry(struct lab *lab)
{
	(void)lab_ask(lab->dir, "timing off", NULL, NULL);
}

int lab_down(struct lab *lab, struct strbuf *said, struct err *e)
{
	int r;

	lab_hurry(lab);		/* what is dirty need not wait for the modelled disk any more */
	r = take_down(lab, said, e);
	lab_free(lab);
	return r;
}

int lab_release(struct lab *lab, struct undo *u, struct err *e)
{
	int r = lab_info_write(lab, lab->server, e);

	if (!r)
		r = undo_hand_over(u, lab->server, e);
	if (!r)
		lab_free(lab);
	return r;
}

const char *lab_name(const struct lab *lab)
{
	return lab->conf.name;
}

const char *lab_dir(const struct lab *lab)
{
	return lab->point;
}

const char *lab_device(const struct lab *lab)
{
	return lab->loop.path;
}

const char *lab_cgroup(const struct lab *lab)
{
	return strbuf_str(&lab->cgroup);
}

const char *lab_refused(const struct lab *lab)
{
	return strbuf_str(&lab->said);
}

int lab_poke(struct lab *lab, const char *fault, nsec_t at, struct err *e)
{
	cleanup_free char *command = at > 0 ? mem_printf("poke-at %lld %s", (long long)at, fault) : mem_printf("poke %s", fault);

	return lab_ask(lab->dir, command, NULL, e);
}

int lab_arm(struct lab *lab, nsec_t t0, struct err *e)
{
	for (size_t i = 0; i < lab->conf.pokes.n; i++) {
		int r = lab_poke(lab, lab->conf.pokes.p[i].text, t0 + lab->conf.pokes.p[i].at, e);

		if (r)
			return r;
	}
	return 0;
}

/* SPDX-License-Identifier: MIT */
#include "collect/blk-tap.h"
#include "base/cleanup.h"
#include "base/mem.h"
#include "base/vec.h"
#include "sys/kfile.h"
#include "sys/topology.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define BUFFER_KIB	8192
#define NAMES		"16384"		/* tasks the kernel remembers the name of */
#define NAMES_EVERY	(20 * NSEC_PER_MSEC)
#define CHUNK		((size_t)256 << 10)

struct pid_set {		/* of 32-bit numbers; open addressing */
	uint32_t *slot;		/* pid + 1, 0: free */
	size_t slots, n;
};

struct tap_cpu {
	int fd;
	uint32_t seq;
	uint8_t *buf;
	size_t len;
	struct pid_set named;
};

struct name {
	uint32_t pid;
	char comm[16];
};

struct blk_tap {
	struct blk_tap_conf conf;
	char dir[256];			/* of tracefs */
	struct tap_cpu *cpus;
	int ncpus;
	VEC(struct name) names;		/* by pid */
	nsec_t names_read;
	uint64_t lost, records, skipped;
	int err;			/* of the last change that failed */
};

static bool add_pid(struct pid_set *s, uint32_t pid)
{
	size_t i;

	if (s->n * 2 >= s->slots) {
		struct pid_set bigger = { .slots = s->slots ? s->slots * 2 : 64 };

		bigger.slot = mem_array(bigger.slots, sizeof(*bigger.slot));
		for (size_t k = 0; k < s->slots; k++)
			if (s->slot[k])
				add_pid(&bigger, s->slot[k] - 1);
		free(s->slot);
		*s = bigger;
	}
	i = pid * UINT64_C(0x9e3779b97f4a7c15) >> 32 & (s->slots - 1);
	for (; s->slot[i]; i = (i + 1) & (s->slots - 1))
		if (s->slot[i] == pid + 1)
			return false;
	s->slot[i] = pid + 1;
	s->n++;
	return true;
}

/* ---- where tracefs is ---- */

static int find_tracefs(void *ctx, const struct mount_entry *m)
{
	char *dir = ctx;

	if (strcmp(m->type, "tracefs") || strlen(m->point) > 200)
		return 0;
	strncpy(dir, m->point, 255);
	return 1;
}

static int tracefs(struct blk_tap *t, struct err *e)
{
	static const char at[] = "/sys/kernel/tracing";
	int id, r;

	if (mount_each(find_tracefs, t->dir, NULL) == 1)
		return 0;
	if (access(at, F_OK))
		return err_set(e, -ENOTSUP, "this kernel has no tracefs (%s is not there)", at);
	r = undo_note(t->conf.undo, UNDO_MOUNT, at, "tracefs", &id, e);
	if (r)
		return r;
	if (mount("tracefs", at, "tracefs", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL)) {
		r = -errno;
		undo_forget(t->conf.undo, id, NULL);
		return err_sys(e, r, "cannot mount tracefs on %s", at);
	}
	strncpy(t->dir, at, sizeof(t->dir) - 1);
	return 0;
}

int blk_tap_supported(struct err *why)
{
	char dir[256] = "";
	cleanup_strbuf struct strbuf text = STRBUF_INIT;
	cleanup_free char *path = NULL;

	if (geteuid())
		return err_set(why, -ENOTSUP, "tracing block devices needs root");
	if (mount_each(find_tracefs, dir, NULL) != 1) {
		if (access("/sys/kernel/tracing", F_OK))
			return err_set(why, -ENOTSUP, "this kernel has no tracefs");
		return 0;
	}
	path = mem_printf("%s/available_tracers", dir);
	if (file_read(path, &text, NULL))
		return err_set(why, -ENOTSUP, "the tracers of this kernel cannot be read (%s)", path);
	if (!strstr(strbuf_str(&text), "blk"))
		return err_set(why, -ENOTSUP, "this kernel has no blk tracer (CONFIG_BLK_DEV_IO_TRACE)");
	return 0;
}

/* ---- names ---- */

static int by_pid(const void *a, const void *b)
{
	const struct name *x = a, *y = b;

	return (x->pid > y->pid) - (x->pid < y->pid);
}

/* "pid comm" lines of every task the tracer saw. */
static void read_names(struct blk_tap *t)
{
	cleanup_strbuf struct strbuf text = STRBUF_INIT;
	cleanup_free char *path = mem_printf("%s/saved_cmdlines", t->dir);
	char *save = NULL;

	t->names_read = nsec_now();
	if (file_read(path, &text, NULL) || !text.s)
		return;
	t->names.n = 0;
	for (char *line = strtok_r(text.s, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		struct name n = { 0 };
		char *end;

		n.pid = (uint32_t)strtoul(line, &end, 10);
		if (end == line || *end != ' ')
			continue;
		memcpy(n.comm, end + 1, MIN(strlen(end + 1), sizeof(n.comm) - 1));
		vec_push(&t->names, n);
	}
	if (t->names.n)
		qsort(t->names.p, t->names.n, sizeof(*t->names.p), by_pid);
}

static bool name_of(struct blk_tap *t, uint32_t pid, char comm[16])
{
	struct name key = { .pid = pid }, *n = NULL;
	char path[64];
	cleanup_close int fd = -1;
	ssize_t got;

	if (!pid)
		return false;
	for (int again = 0; again < 2; again++) {
		if (t->names.n)
			n = bsearch(&key, t->names.p, t->names.n, sizeof(key), by_pid);
		if (n && strcmp(n->comm, "<...>")) {
			memcpy(comm, n->comm, 16);
			return true;
		}
		if (again || nsec_now() - t->names_read < NAMES_EVERY)
			break;
		read_names(t);
	}
	snprintf(path, sizeof(path), "/proc/%u/comm", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	got = fd < 0 ? -1 : read(fd, comm, 15);
	if (got <= 0)
		return false;
	comm[got] = '\0';
	comm[strcspn(comm, "\n")] = '\0';
	return true;
}

/* ---- the stream ---- */

static void hand_on(struct blk_tap *t, struct tap_cpu *c, struct blk_rec *r)
{
	char comm[16] = { 0 };

	if (add_pid(&c->named, r->pid) && name_of(t, r->pid, comm)) {
		struct blk_rec n = { .version = 7, .time = r->time, .act = BLK_TN_PROCESS, .tc = BLK_TC_NOTIFY, .pid = r->pid,
				     .cpu = r->cpu, .pdu = (const uint8_t *)comm, .pdu_len = sizeof(comm) };

		t->conf.record(t->conf.ctx, &n);
	}
	if (!(r->tc & BLK_TC_NOTIFY))
		r->seq = ++c->seq;
	t->records++;
	t->conf.record(t->conf.ctx, r);
}

/* "CPU:0 [LOST 123 EVENTS]\n" between records. Its length, 0 when it is not one, -1 when it may become one. */
static int lost_line(struct blk_tap *t, struct tap_cpu *c, const uint8_t *p, size_t n)
{
	char line[80] = { 0 };
	const uint8_t *end = memchr(p, '\n', MIN(n, sizeof(line) - 1));
	unsigned long long lost;

	if (p[0] != 'C' || (n >= 4 && memcmp(p, "CPU:", 4)))
		return 0;
	if (!end)
		return n < sizeof(line) - 1 ? -1 : 0;
	memcpy(line, p, (size_t)(end - p));
	if (sscanf(line, "CPU:%*d [LOST %llu EVENTS]", &lost) == 1) {
		t->lost += lost;
		c->seq += (uint32_t)lost;
	} else if (strstr(line, "[LOST EVENTS]")) {
		t->lost++;
		c->seq++;
	} else {
		return 0;
	}
	return (int)(end - p) + 1;
}

static void parse(struct blk_tap *t, struct tap_cpu *c)
{
	size_t at = 0;

	while (at < c->len) {
		struct blk_rec r;
		long n = blk_decode(c->buf + at, c->len - at, &r);
		size_t skip;

		if (n > 0) {
			at += (size_t)n;
			hand_on(t, c, &r);
			continue;
		}
		if (n == BLK_MORE)
			break;
		n = lost_line(t, c, c->buf + at, c->len - at);
		if (n < 0)
			break;
		if (n > 0) {
			at += (size_t)n;
			continue;
		}
		skip = blk_resync(c->buf + at, c->len - at);
		if (at + skip >= c->len)	/* a magic may begin at the very end */
			skip = c->len - at > BLK_V7_BYTES ? c->len - at - BLK_V7_BYTES : 0;
		if (!skip)
			break;
		t->skipped += skip;
		at += skip;
	}
	memmove(c->buf, c->buf + at, c->len - at);
	c->len -= at;
}

ssize_t blk_tap_read(struct blk_tap *t, struct err *e)
{
	ssize_t total = 0;

	for (int i = 0; i < t->ncpus; i++) {
		struct tap_cpu *c = &t->cpus[i];

		for (size_t this = 0; c->fd >= 0 && this < CHUNK;) {
			ssize_t got = read(c->fd, c->buf + c->len, CHUNK - c->len);

			if (got < 0 && errno != EAGAIN && errno != EINTR)
				return err_sys(e, -errno, "reading the trace of CPU %d", i);
			if (got <= 0)
				break;
			c->len += (size_t)got;
			this += (size_t)got;
			total += got;
			parse(t, c);
			if (c->len > CHUNK / 2) {	/* nothing in it is a record */
				t->skipped += c->len;
				c->len = 0;
			}
		}
	}
	return total;
}

/* ---- switching on and off ---- */

static int set(struct blk_tap *t, const char *name, const char *value, struct err *e)
{
	cleanup_free char *path = mem_printf("%s/%s", t->dir, name);

	return undo_set(t->conf.undo, path, value, NULL, e);
}

static int claim(struct blk_tap *t, struct err *e)
{
	cleanup_strbuf struct strbuf now = STRBUF_INIT;
	cleanup_free char *path = mem_printf("%s/current_tracer", t->dir);
	char kib[16];
	int r = file_read(path, &now, e);

	if (r)
		return r;
	if (strcmp(strbuf_str(&now), "nop"))
		return err_set(e, -EBUSY, "the tracer '%s' is active in %s; there is one at a time: end it, or write nop into %s",
			       strbuf_str(&now), t->dir, path);
	r = set(t, "trace_clock", "mono", e);
	r = r ? r : set(t, "current_tracer", "blk", e);
	r = r ? r : set(t, "options/bin", "1", e);
	r = r ? r : set(t, "options/context-info", "0", e);
	r = r ? r : set(t, "options/record-cmd", "1", e);
	if (r)
		return r;
	/* comfort, not need: a kernel that refuses loses more, and counts it */
	snprintf(kib, sizeof(kib), "%u", t->conf.buffer_kib ? t->conf.buffer_kib : BUFFER_KIB);
	(void)set(t, "buffer_size_kb", kib, NULL);
	(void)set(t, "saved_cmdlines_size", NAMES, NULL);
	return set(t, "tracing_on", "1", e);
}

static int open_pipes(struct blk_tap *t, struct err *e)
{
	t->ncpus = (int)sysconf(_SC_NPROCESSORS_CONF);
	t->cpus = mem_array((size_t)t->ncpus, sizeof(*t->cpus));
	for (int i = 0; i < t->ncpus; i++) {
		cleanup_free char *path = mem_printf("%s/per_cpu/cpu%d/trace_pipe", t->dir, i);

		t->cpus[i].buf = mem_alloc(CHUNK);
		t->cpus[i].fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
		if (t->cpus[i].fd < 0 && errno != ENOENT)
			return err_sys(e, -errno, "cannot open %s (is another program reading it?)", path);
	}
	return 0;
}

static void destroy(struct blk_tap *t)
{
	for (int i = 0; t->cpus && i < t->ncpus; i++) {
		if (t->cpus[i].fd >= 0)
			close(t->cpus[i].fd);
		free(t->cpus[i].buf);
		free(t->cpus[i].named.slot);
	}
	free(t->cpus);
	vec_done(&t->names);
	free(t);
}

int blk_tap_open(const struct blk_tap_conf *conf, struct blk_tap **ret, struct err *e)
{
	struct blk_tap *t = mem_alloc(sizeof(*t));
	struct err second = { 0 };
	int r;

	t->conf = *conf;
	r = tracefs(t, e);
	r = r ? r : blk_tap_supported(e);
	r = r ? r : claim(t, e);
	r = r ? r : open_pipes(t, e);
	for (int i = 0; !r && i < conf->ndevices; i++) {
		cleanup_free char *path = mem_printf("/sys/dev/block/%u:%u/trace/enable", major(conf->devices[i]),
						     minor(conf->devices[i]));

		if (access(path, F_OK))
			r = err_set(e, -ENOTSUP, "the device %u:%u cannot be traced (there is no %s)", major(conf->devices[i]),
				    minor(conf->devices[i]), path);
		else
			r = undo_set(conf->undo, path, "1", NULL, e);
	}
	if (r) {
		destroy(t);	/* the pipes first: an open one keeps the tracer busy */
		undo_all(conf->undo, NULL, &second);
		return r;
	}
	*ret = t;
	return 0;
}

int blk_tap_cpus(const struct blk_tap *t)
{
	return t->ncpus;
}

uint64_t blk_tap_lost(const struct blk_tap *t)
{
	return t->lost;
}

uint64_t blk_tap_records(const struct blk_tap *t)
{
	return t->records;
}

uint64_t blk_tap_skipped(const struct blk_tap *t)
{
	return t->skipped;
}

int blk_tap_close(struct blk_tap *t, uint64_t *ret_lost, struct err *e)
{
	cleanup_strbuf struct strbuf said = STRBUF_INIT;
	struct undo *undo = t->conf.undo;
	int r = 0;

	for (int i = 0; i < t->conf.ndevices; i++) {
		cleanup_free char *path = mem_printf("/sys/dev/block/%u:%u/trace/enable", major(t->conf.devices[i]),
						     minor(t->conf.devices[i]));

		(void)undo_set(undo, path, "0", NULL, NULL);
	}
	while (blk_tap_read(t, NULL) > 0)
		;
	if (ret_lost)
		*ret_lost = t->lost;
	destroy(t);
	r = undo_all(undo, &said, e);
	if (!r && said.len)
		r = err_set(e, -EIO, "not everything could be put back: %.*s", (int)strcspn(said.s, "\n"), said.s);
	return r;
}

/* SPDX-License-Identifier: MIT */
/* Lines of /proc/self/mountinfo. */
#include "base/cleanup.h"
#include "base/mem.h"
#include "sys/kfile.h"
#include "sys/topology.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

void mount_entry_done(struct mount_entry *m)
{
	free(m->root);
	free(m->point);
	free(m->options);
	free(m->type);
	free(m->source);
	free(m->super);
	memset(m, 0, sizeof(*m));
}

/* A field up to the next blank, with \040 and the like turned back. */
static char *field(const char **pos)
{
	const char *s = *pos;
	size_t n = strcspn(s, " \n");
	char *out = mem_alloc(n + 1), *o = out;

	for (size_t i = 0; i < n; i++) {
		if (s[i] == '\\' && i + 3 < n + 1 && s[i + 1] >= '0' && s[i + 1] <= '3' && s[i + 2] >= '0' && s[i + 2] <= '7' &&
		    s[i + 3] >= '0' && s[i + 3] <= '7') {
			*o++ = (char)((s[i + 1] - '0') << 6 | (s[i + 2] - '0') << 3 | (s[i + 3] - '0'));
			i += 3;
		} else {
			*o++ = s[i];
		}
	}
	*o = 0;
	*pos = s + n + (s[n] == ' ');
	return out;
}

/* "36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue" (proc(5)) */
bool mount_parse(const char *line, struct mount_entry *ret)
{
	struct mount_entry m = { 0 };
	unsigned maj, min;
	int used = 0;
	const char *pos;

	if (sscanf(line, "%d %d %u:%u %n", &m.id, &m.parent, &maj, &min, &used) != 4 || !used)
		return false;
	m.dev = makedev(maj, min);
	pos = line + used;
	m.root = field(&pos);
	m.point = field(&pos);
	m.options = field(&pos);
	while (*pos && *pos != '\n' && strncmp(pos, "- ", 2)) {		/* optional fields */
		size_t n = strcspn(pos, " \n");

		pos += n + (pos[n] == ' ');
	}
	if (strncmp(pos, "- ", 2)) {
		mount_entry_done(&m);
		return false;
	}
	pos += 2;
	m.type = field(&pos);
	m.source = field(&pos);
	m.super = field(&pos);
	*ret = m;
	return true;
}

int mount_each(int (*fn)(void *ctx, const struct mount_entry *m), void *ctx, struct err *e)
{
	cleanup_strbuf struct strbuf b = STRBUF_INIT;
	int r = file_read("/proc/self/mountinfo", &b, e);

	for (const char *line = r ? NULL : strbuf_str(&b); line && *line && !r;) {
		const char *next = strchr(line, '\n');
		struct mount_entry m;

		if (mount_parse(line, &m)) {
			r = fn(ctx, &m);
			mount_entry_done(&m);
		}
		line = next ? next + 1 : NULL;
	}
	return r;
}

struct search {
	int id;			/* 0: by point */
	const char *point;
	dev_t dev;
	bool found;
	struct mount_entry m;
};


static int match(void *ctx, const struct mount_entry *m)
{
	struct search *s = ctx;

	if (s->id ? m->id != s->id : s->point ? strcmp(m->point, s->point) != 0 : m->dev != s->dev)
		return 0;
	if (s->found)
		mount_entry_done(&s->m);	/* the later one covers it */
	s->m = *m;
	s->m.root = mem_dup(m->root);
	s->m.point = mem_dup(m->point);
	s->m.options = mem_dup(m->options);
	s->m.type = mem_dup(m->type);
	s->m.source = mem_dup(m->source);
	s->m.super = mem_dup(m->super);
	s->found = true;
	return 0;
}

static int mount_id(const char *path)
{
	cleanup_close int fd = open(path, O_PATH | O_CLOEXEC);
	cleanup_strbuf struct strbuf b = STRBUF_INIT;
	char info[64];
	uint64_t id;

	if (fd < 0)
		return -errno;
	snprintf(info, sizeof(info), "/proc/self/fdinfo/%d", fd);
	if (file_read(info, &b, NULL) || !file_field(strbuf_str(&b), "mnt_id:", &id) || id > INT_MAX)
		return 0;
	return (int)id;
}

int mount_of(const char *path, struct mount_entry *ret, struct err *e)
{
	struct search s = { .id = mount_id(path) };
	struct stat st;
	int r;

	if (s.id < 0)
		return err_sys(e, s.id, "cannot use %s", path);
	if (!s.id) {
		if (stat(path, &st) < 0)
			return err_sys(e, -errno, "cannot use %s", path);
		s.dev = st.st_dev;
	}
	r = mount_each(match, &s, e);
	if (r)
		return r;
	if (!s.found)
		return err_set(e, -ENOENT, "the mount of %s is not in /proc/self/mountinfo", path);
	*ret = s.m;
	return 0;
}

int mount_at(const char *point, struct mount_entry *ret, struct err *e)
{
	cleanup_free char *real = realpath(point, NULL);
	struct search s = { .point = real ? real : point };
	int r = mount_each(match, &s, e);

	if (r)
		return r;
	if (!s.found)
		return err_set(e, -ENOENT, "nothing is mounted at %s", point);
	*ret = s.m;
	return 0;
}

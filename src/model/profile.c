/* SPDX-License-Identifier: MIT */
#include "model/profile.h"
#include "base/cleanup.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/units.h"
#include "base/vec.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#define FILE_MAX	65536
#define SUFFIX		".profile"

void profile_free(struct profile *p)
{
	if (!p)
		return;
	if (p->ops && p->conf)
		param_done(p->ops->plug.params, p->conf);
	for (size_t i = 0; i < p->nlines; i++) {
		free(p->lines[i].key);
		free(p->lines[i].value);
		free(p->lines[i].source);
	}
	free(p->lines);
	free(p->conf);
	free(p->name);
	free(p->path);
	free(p->about);
	free(p);
}

struct disk_conf *profile_disk(const struct profile *p)
{
	return p->conf;
}

static void put_line(struct profile *p, const char *key, const char *value, const char *source, int line)
{
	p->lines = mem_realloc(p->lines, (p->nlines + 1) * sizeof(*p->lines));
	p->lines[p->nlines++] = (struct profile_line){ mem_dup(key), mem_dup(value), mem_dup(source), line };
}

static struct profile_line *find_line(struct profile *p, const char *key)
{
	for (size_t i = 0; i < p->nlines; i++)
		if (!strcmp(p->lines[i].key, key))
			return &p->lines[i];
	return NULL;
}

static char *trim(char *s)
{
	size_t n;

	while (isspace((unsigned char)*s))
		s++;
	n = strlen(s);
	while (n && isspace((unsigned char)s[n - 1]))
		s[--n] = 0;
	return s;
}

/* Cuts "value # source" in two; returns the source or NULL. */
static char *cut_source(char *value)
{
	for (char *c = value; *c; c++)
		if (*c == '#' && (c == value || isspace((unsigned char)c[-1]))) {
			*c = 0;
			return trim(c + 1);
		}
	return NULL;
}

static int parse_line(struct profile *p, char *text, const char *file, int line, struct err *e)
{
	char owner[300], *eq = strchr(text, '='), *key, *value, *source;
	struct profile_line *old;
	int r;

	snprintf(owner, sizeof(owner), "%s:%d", file, line);
	if (!eq)
		return err_set(e, -EINVAL, "%s: '%.60s' is not 'key = value  # source'", owner, text);
	*eq = 0;
	key = trim(text);
	source = cut_source(eq + 1);
	value = trim(eq + 1);
	if (!*key || !*value)
		return err_set(e, -EINVAL, "%s: '%s' has no %s", owner, *key ? key : value, *key ? "value" : "key");
	if (!strcmp(key, "model")) {
		if (p->ops)
			return err_set(e, -EINVAL, "%s: model is given twice", owner);
		p->ops = plug_need(disk_table, "disk model", value, e);
		if (!p->ops)
			return err_wrap(e, "%s", owner);
		p->conf = mem_alloc(p->ops->plug.conf_size);
		param_defaults(p->ops->plug.params, p->conf);
		return 0;
	}
	if (!p->ops)
		return err_set(e, -EINVAL, "%s: the first line must be 'model = ...', here is '%s'", owner, key);
	old = find_line(p, key);
	if (old)
		return err_set(e, -EINVAL, "%s: %s is given twice, first in line %d", owner, key, old->line);
	r = param_set(p->ops->plug.params, p->conf, owner, key, value, e);
	if (!r)
		put_line(p, key, value, source && *source ? source : "assumed", line);
	return r;
}

int profile_parse(const char *text, size_t len, const char *file, const char *name, struct profile **ret, struct err *e)
{
	cleanup_strbuf struct strbuf about = STRBUF_INIT;
	struct profile *p = mem_alloc(sizeof(*p));
	bool first_block = true;
	int line = 0, r = 0;

	p->name = mem_dup(name);
	p->path = mem_dup(file);
	for (const char *at = text, *end = text + len; at < end && !r;) {
		const char *nl = memchr(at, '\n', (size_t)(end - at));
		size_t n = nl ? (size_t)(nl - at) : (size_t)(end - at);
		cleanup_free char *copy = mem_dupn(at, n);
		char *t = trim(copy);

		line++;
		for (size_t i = 0; i < n && !r; i++)
			if ((unsigned char)at[i] < ' ' && at[i] != '\t' && at[i] != '\r')
				r = err_set(e, -EINVAL, "%s:%d: a control character (%#x): this is no profile", file, line,
					    (unsigned char)at[i]);
		at += n + (nl ? 1 : 0);
		if (r)
			break;
		if (*t == '#' || *t == ';') {
			if (first_block && *trim(t + 1))
				strbuf_addf(&about, "%s%s", about.len ? " " : "", trim(t + 1));
			continue;
		}
		if (*t) {
			first_block = false;
			r = parse_line(p, t, file, line, e);
		} else if (about.len) {
			first_block = false;
		}
	}
	if (!r && !p->ops)
		r = err_set(e, -EINVAL, "%s: no 'model = ...' line: this is no profile", file);
	if (r) {
		profile_free(p);
		return r;
	}
	p->about = strbuf_detach(&about);
	*ret = p;
	return 0;
}

static int load_file(const char *path, const char *name, struct profile **ret, struct err *e)
{
	cleanup_close int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	cleanup_free char *buf = NULL;
	size_t n = 0;
	struct stat st;

	if (fd < 0)
		return err_sys(e, -errno, "could not read the disk profile %s", path);
	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_size > FILE_MAX)
		return err_set(e, -EINVAL, "%s is not a disk profile: a text file of at most 64 KiB is expected", path);
	buf = mem_alloc(FILE_MAX + 1);
	while (n < FILE_MAX) {
		ssize_t k = read(fd, buf + n, FILE_MAX - n);

		if (k < 0 && errno == EINTR)
			continue;
		if (k < 0)
			return err_sys(e, -errno, "could not read the disk profile %s", path);
		if (k == 0)
			break;
		n += (size_t)k;
	}
	return profile_parse(buf, n, path, name, ret, e);
}

static bool ends_in_suffix(const char *s)
{
	size_t n = strlen(s), k = strlen(SUFFIX);

	return n > k && !strcmp(s + n - k, SUFFIX);
}

int profile_load(const char *name, const char *const *dirs, struct profile **ret, struct err *e)
{
	char **names = NULL;
	const char *near;
	size_t n = 0;
	int r;

	if (strchr(name, '/') || ends_in_suffix(name)) {
		const char *base = strrchr(name, '/');
		cleanup_free char *plain = mem_dup(base ? base + 1 : name);

		if (ends_in_suffix(plain))
			plain[strlen(plain) - strlen(SUFFIX)] = 0;
		return load_file(name, plain, ret, e);
	}
	for (const char *const *d = dirs; *d; d++) {
		cleanup_free char *path = mem_printf("%s/%s" SUFFIX, *d, name);

		if (!access(path, F_OK))
			return load_file(path, name, ret, e);
	}
	r = profile_names(dirs, &names, &n, e);
	if (r)
		return r;
	near = units_nearest(name, (const char *const *)names, n);
	if (near)
		r = err_set(e, -ENOENT, "there is no disk profile '%.80s'; did you mean '%s'?", name, near);
	else
		r = err_set(e, -ENOENT, "there is no disk profile '%.80s'; stallmark lab disks lists them", name);
	profile_names_free(names, n);
	return r;
}

int profile_set(struct profile *p, const char *key, const char *value, struct err *e)
{
	int r = param_set(p->ops->plug.params, p->conf, p->name, key, value, e);
	struct profile_line *old = find_line(p, key);

	if (r)
		return r;
	if (!old) {
		put_line(p, key, value, "set by hand", 0);
		return 0;
	}
	free(old->value);
	free(old->source);
	old->value = mem_dup(value);
	old->source = mem_dup("set by hand");
	return 0;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

int profile_names(const char *const *dirs, char ***ret, size_t *ret_n, struct err *e)
{
	VEC(char *) v = { 0 };
	size_t n = 0;

	for (const char *const *d = dirs; *d; d++) {
		DIR *dir = opendir(*d);
		struct dirent *de;

		while (dir && (de = readdir(dir)))
			if (ends_in_suffix(de->d_name))
				vec_push(&v, mem_dupn(de->d_name, strlen(de->d_name) - strlen(SUFFIX)));
		if (dir)
			closedir(dir);
	}
	if (v.n)
		qsort(v.p, v.n, sizeof(*v.p), by_name);
	for (size_t i = 0; i < v.n; i++) {
		if (n && !strcmp(v.p[n - 1], v.p[i]))
			free(v.p[i]);
		else
			v.p[n++] = v.p[i];
	}
	*ret = v.p;
	*ret_n = n;
	return 0;
}

void profile_names_free(char **names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(names[i]);
	free(names);
}

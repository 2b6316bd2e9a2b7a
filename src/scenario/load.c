/* SPDX-License-Identifier: MIT */
/* Files, includes, variables and overrides become one scenario. */
#include "base/cleanup.h"
#include "base/mem.h"
#include "base/units.h"
#include "base/vec.h"
#include "scenario/scenario-internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

struct definition {
	char *name, *value;
	bool used;
};

struct loading {
	const char *const *dirs;
	struct definition *defs;
	size_t ndefs;
};

static bool is_path(const char *name)
{
	size_t n = strlen(name);

	return strchr(name, '/') || (n > 9 && !strcmp(name + n - 9, ".scenario"));
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

int scenario_names(const char *const *dirs, char ***ret, size_t *ret_n, struct err *e)
{
	VEC(char *) names = { 0 };
	size_t out = 0;

	for (; dirs && *dirs; dirs++) {
		DIR *d = opendir(*dirs);
		struct dirent *de;

		while (d && (de = readdir(d))) {
			size_t n = strlen(de->d_name);

			if (de->d_name[0] != '.' && n > 9 && !strcmp(de->d_name + n - 9, ".scenario"))
				vec_push(&names, mem_dupn(de->d_name, n - 9));
		}
		if (d)
			closedir(d);
	}
	if (names.n)
		qsort(names.p, names.n, sizeof(*names.p), by_text);
	for (size_t i = 0; i < names.n; i++) {
		if (out && !strcmp(names.p[out - 1], names.p[i]))
			free(names.p[i]);
		else
			names.p[out++] = names.p[i];
	}
	*ret = names.p;
	*ret_n = out;
	return 0;
}

/* The path of a shipped scenario, or NULL with the sentence and the nearest name. */
static char *shipped_path(const char *name, const char *const *dirs, struct err *e)
{
	char **names = NULL;
	const char *near;
	size_t n = 0;

	for (const char *const *d = dirs; d && *d; d++) {
		cleanup_free char *p = mem_printf("%s/%s.scenario", *d, name);

		if (!access(p, R_OK))
			return take(p);
	}
	scenario_names(dirs, &names, &n, e);
	near = units_nearest(name, (const char *const *)names, n);
	if (near)
		err_set(e, -ENOENT, "there is no scenario '%s'; did you mean '%s'?", name, near);
	else
		err_set(e, -ENOENT, "there is no scenario '%s'; stallmark scenarios lists them, a file of your own is "
				    "named with its path (./%s.scenario)", name, name);
	for (size_t i = 0; i < n; i++)
		free(names[i]);
	free(names);
	return NULL;
}

static int read_text(const char *path, char **ret, size_t *ret_n, struct err *e)
{
	/* O_NONBLOCK: a FIFO must not hang us */
	cleanup_close int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	cleanup_free char *buf = NULL;
	struct stat st;
	size_t n = 0;

	if (fd < 0)
		return err_sys(e, -errno, "cannot read the scenario %s", path);
	if (fstat(fd, &st))
		return err_sys(e, -errno, "cannot read the scenario %s", path);
	if (!S_ISREG(st.st_mode))
		return err_set(e, -EINVAL, "%s is not a regular file", path);
	buf = mem_alloc(SCN_FILE_MAX + 2);
	while (n <= SCN_FILE_MAX) {
		ssize_t got = read(fd, buf + n, SCN_FILE_MAX + 1 - n);

		if (got < 0)
			return err_sys(e, -errno, "cannot read the scenario %s", path);
		if (!got)
			break;
		n += (size_t)got;
	}
	*ret = take(buf);
	*ret_n = n;
	return 0;
}

static void merge(struct scenario *into, const struct scenario *from)
{
	for (size_t i = 0; i < from->nsections; i++) {
		const struct scn_section *f = &from->sections[i];
		struct scn_section *sec = scn_section_add(into, f->kind, f->name, f->label, f->file, f->line);

		for (size_t j = 0; sec && j < f->nkeys; j++)
			scn_key_set(sec, f->keys[j].key, f->keys[j].value, f->keys[j].file, f->keys[j].line);
	}
	if (from->question) {
		free(into->question);
		into->question = mem_dup(from->question);
	}
}

static int load_file(const struct loading *ld, const char *path, int depth, struct scenario *into, struct err *e);

static int load_includes(const struct loading *ld, const char *path, struct scn_section *global, int depth,
			 struct scenario *into, struct err *e)
{
	struct scn_key *k = global ? scn_key_find(global, "include") : NULL;
	char *save = NULL;
	int r = 0;

	if (!k)
		return 0;
	if (depth == SCN_DEPTH)
		return scenario_complain(k, e, "includes go more than %d deep; does a file include itself?", SCN_DEPTH);
	for (char *w = strtok_r(k->value, ", \t", &save); w && !r; w = strtok_r(NULL, ", \t", &save)) {
		const char *slash = strrchr(path, '/');
		cleanup_free char *p = NULL;

		if (!is_path(w))
			p = shipped_path(w, ld->dirs, e);
		else if (w[0] == '/' || !slash)
			p = mem_dup(w);
		else
			p = mem_printf("%.*s/%s", (int)(slash - path), path, w);
		r = p ? load_file(ld, p, depth + 1, into, e) : -ENOENT;
		if (r && depth == 0)
			r = err_wrap(e, "%s:%d: include", k->file, k->line);
	}
	return r;
}

/* Takes the `include` key out, so that it is no part of the result. */
static void drop_include(struct scn_section *global)
{
	size_t out = 0;

	for (size_t i = 0; i < global->nkeys; i++) {
		struct scn_key *k = &global->keys[i];

		if (strcmp(k->key, "include")) {
			global->keys[out++] = *k;
			continue;
		}
		free(k->key);
		free(k->value);
		free(k->file);
	}
	global->nkeys = out;
}

static int load_file(const struct loading *ld, const char *path, int depth, struct scenario *into, struct err *e)
{
	cleanup_free char *text = NULL;
	struct scenario *own = scn_new(path);
	struct scn_section *global;
	size_t n = 0;
	int r = read_text(path, &text, &n, e);

	if (!r)
		r = scn_parse_into(own, text, n, path, e);
	global = scenario_section(own, "global", "");
	if (!r)
		r = load_includes(ld, path, global, depth, into, e);
	if (!r) {
		drop_include(global);
		merge(into, own);
	}
	scenario_free(own);
	return r;
}

static struct definition *find_def(const struct loading *ld, const char *name, size_t n)
{
	for (size_t i = ld->ndefs; i > 0; i--)
		if (strlen(ld->defs[i - 1].name) == n && !strncmp(ld->defs[i - 1].name, name, n))
			return &ld->defs[i - 1];
	return NULL;
}

static int expand(const struct loading *ld, struct scn_key *k, struct err *e)
{
	cleanup_strbuf struct strbuf out = STRBUF_INIT;
	const char *p = k->value;

	if (!strstr(p, "${"))
		return 0;
	while (*p) {
		const char *end;
		cleanup_free char *name = NULL;
		struct definition *d;
		const char *v;

		if (!strncmp(p, "$${", 3)) {
			strbuf_adds(&out, "${");
			p += 3;
			continue;
		}
		if (strncmp(p, "${", 2)) {
			strbuf_addc(&out, *p++);
			continue;
		}
		end = strchr(p, '}');
		if (!end)
			return scenario_complain(k, e, "'${' without '}'");
		name = mem_dupn(p + 2, (size_t)(end - p - 2));
		d = find_def(ld, name, strlen(name));
		if (d)
			d->used = true;
		v = d ? d->value : getenv(name);
		if (!v)
			return scenario_complain(k, e, "${%s} is not defined; give it with -D %s=VALUE or in the environment",
						 name, name);
		for (const char *c = v; *c; c++)
			if ((unsigned char)*c < 32)
				return scenario_complain(k, e, "${%s} holds a control byte", name);
		strbuf_adds(&out, v);
		p = end + 1;
	}
	free(k->value);
	k->value = strbuf_detach(&out);
	return 0;
}

static struct scn_section *find_section(struct scenario *s, const char *kind, const char *label, int *ret_n)
{
	struct scn_section *found = NULL;

	*ret_n = 0;
	for (size_t i = 0; i < s->nsections; i++) {
		struct scn_section *sec = &s->sections[i];
		bool same = !strcmp(sec->label, label) || (!*sec->label && !strcmp(sec->kind, label));

		if (same && *label && (!kind || !strcmp(sec->kind, kind))) {
			found = sec;
			++*ret_n;
		}
	}
	return found;
}

int scenario_override(struct scenario *s, const char *text, struct err *e)
{
	const char *eq = strchr(text, '='), *dot, *value;
	cleanup_free char *left = NULL;
	struct scn_section *sec;
	VEC(const char *) names = { 0 };
	const char *near;
	char *key;
	int n = 1;

	if (!eq || eq == text)
		return err_set(e, -EINVAL, "-D %s: write -D section.key=value", text);
	left = mem_dupn(text, (size_t)(eq - text));
	value = eq + 1;
	if (!strncmp(left, "matrix.", 7))
		dot = NULL;
	else
		dot = strrchr(left, '.');
	key = dot ? left + (dot - left) + 1 : left;
	if (!dot) {
		sec = scn_section_add(s, "global", "", "", "-D", 0);
	} else {
		char *inner;

		left[dot - left] = 0;
		inner = strchr(left, '.');
		sec = !strcmp(left, "global") ? scenario_section(s, "global", "") : find_section(s, NULL, left, &n);
		if (!sec && inner) {
			*inner = 0;
			sec = find_section(s, left, inner + 1, &n);
			*inner = '.';
		}
	}
	if (n > 1)
		return err_set(e, -EINVAL, "-D %s: '%s' names %d sections; write -D kind.%s.%s=%s", text, left, n, left, key,
			       value);
	if (!sec) {
		for (size_t i = 0; i < s->nsections; i++)
			vec_push(&names, *s->sections[i].label ? s->sections[i].label : s->sections[i].kind);
		near = units_nearest(left, names.p, names.n);
		vec_done(&names);
		return err_set(e, -ENOENT, "-D %s: this scenario has no section '%s'%s%s%s", text, left,
			       near ? "; did you mean '" : "", near ?: "", near ? "'?" : "");
	}
	scn_key_set(sec, key, value, "-D", 0);
	return 0;
}

int scenario_load(const char *name, const char *const *dirs, const struct scn_override *over, size_t nover,
		  struct scenario **ret, struct err *e)
{
	struct loading ld = { .dirs = dirs };
	cleanup_free char *path = is_path(name) ? mem_dup(name) : shipped_path(name, dirs, e);
	struct scenario *s;
	int r = 0;

	if (!path)
		return -ENOENT;
	s = scn_new(path);
	s->shipped = !is_path(name);
	ld.defs = mem_array(nover + 1, sizeof(*ld.defs));
	for (size_t i = 0; i < nover; i++) {
		const char *eq = strchr(over[i].text, '=');

		if (!eq || memchr(over[i].text, '.', (size_t)(eq - over[i].text)))
			continue;
		ld.defs[ld.ndefs++] = (struct definition){ .name = mem_dupn(over[i].text, (size_t)(eq - over[i].text)),
							   .value = mem_dup(eq + 1) };
	}
	r = load_file(&ld, path, 0, s, e);
	for (size_t i = 0; i < s->nsections && !r; i++)
		for (size_t j = 0; j < s->sections[i].nkeys && !r; j++)
			r = expand(&ld, &s->sections[i].keys[j], e);
	for (size_t i = 0; i < nover && !r; i++) {
		const char *eq = strchr(over[i].text, '=');
		struct definition *d = eq ? find_def(&ld, over[i].text, (size_t)(eq - over[i].text)) : NULL;

		if (!d || !d->used)
			r = scenario_override(s, over[i].text, e);
	}
	for (size_t i = 0; i < ld.ndefs; i++) {
		free(ld.defs[i].name);
		free(ld.defs[i].value);
	}
	free(ld.defs);
	if (r) {
		scenario_free(s);
		return r;
	}
	*ret = s;
	return 0;
}

/* SPDX-License-Identifier: MIT */
#include "trial/setting.h"
#include "base/cleanup.h"
#include "base/units.h"
#include "sys/kfile.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char *const vm_words[] = { "dirty_ratio", "dirty_bytes", "dirty_background_ratio", "dirty_background_bytes",
					"dirty_expire_centisecs", "dirty_writeback_centisecs", NULL };
static const char *const lab_words[] = { "fs", "mkfs", "mount", "disk", NULL };
static const char *const plain_words[] = { "scheduler", "kernel", "fs", "mkfs", "mount", "disk", NULL };

static bool in(const char *word, const char *const *list)
{
	for (; *list; list++)
		if (!strcmp(word, *list))
			return true;
	return false;
}

/* Names of kernel files: no slash, no dot, so no way out of the folder. */
static bool plain_name(const char *s)
{
	if (!*s)
		return false;
	for (; *s; s++)
		if (!islower((unsigned char)*s) && !isdigit((unsigned char)*s) && *s != '_')
			return false;
	return true;
}

static int take_vm(struct setting *s, const char *name, struct err *e)
{
	size_t n = 0;
	const char *near;

	while (vm_words[n])
		n++;
	if (!in(name, vm_words)) {
		near = units_nearest(name, vm_words, n);
		return err_set(e, -EINVAL, "'%s': only the dirty settings of vm can be set%s%s%s", s->key, near ? "; did you mean 'vm." : "",
			       near ? near : "", near ? "'?" : "");
	}
	if (strstr(name, "_bytes")) {
		uint64_t bytes;

		if (units_size(s->value, &bytes, e))
			return err_wrap(e, "%s", s->key);
		free(s->value);
		s->value = mem_printf("%" PRIu64, bytes);
	}
	s->kind = SETTING_VM;
	s->attr = mem_dup(name);
	return 0;
}

static int classify(struct setting *s, struct err *e)
{
	const char *dot = strchr(s->key, '.'), *near;
	size_t n = 0;

	if (!strncmp(s->key, "vm.", 3))
		return take_vm(s, s->key + 3, e);
	if (!strncmp(s->key, "queue.", 6) || !strncmp(s->key, "scheduler.", 10)) {
		if (!plain_name(dot + 1))
			return err_set(e, -EINVAL, "'%s' is no attribute of a request queue", s->key);
		s->kind = SETTING_QUEUE;
		s->attr = mem_printf("%s%s", *s->key == 's' ? "iosched/" : "", dot + 1);
		return 0;
	}
	if (in(s->key, lab_words) || !strncmp(s->key, "lab.", 4))
		return err_set(e, -EINVAL, "'%s' would need another filesystem or disk: that is only done in a lab, never to yours", s->key);
	if (!strcmp(s->key, "cmd"))
		return err_set(e, -EINVAL, "'cmd=': commands of your own between runs are not supported; put them into a script that calls "
			       "stallmark run and stallmark compare");
	if (!strcmp(s->key, "scheduler")) {
		s->kind = SETTING_QUEUE;
		s->attr = mem_dup("scheduler");
		return 0;
	}
	if (!strcmp(s->key, "kernel")) {
		s->kind = SETTING_KERNEL;
		return 0;
	}
	while (plain_words[n])
		n++;
	near = dot ? NULL : units_nearest(s->key, plain_words, n);
	if (near)
		return err_set(e, -EINVAL, "there is no setting '%s'; did you mean '%s'?", s->key, near);
	s->kind = SETTING_SCENARIO;
	return 0;
}

int ab_settings_parse(const char *text, struct ab_settings *ret, struct err *e)
{
	struct ab_settings out = { 0 };
	int r = 0;

	while (!r && text && *text) {
		size_t n = strcspn(text, ",");
		cleanup_free char *word = mem_dupn(text, n);
		char *eq = strchr(word, '=');
		struct setting s = { 0 };

		text += n + (text[n] == ',');
		if (!eq || eq == word || !eq[1] || strpbrk(word, "\n\r")) {
			r = err_set(e, -EINVAL, "'%s' is not KEY=VALUE", word);
			break;
		}
		s.key = mem_dupn(word, (size_t)(eq - word));
		s.value = mem_dup(eq + 1);
		r = classify(&s, e);
		vec_push(&out.p, s);
	}
	if (r)
		ab_settings_done(&out);
	else
		*ret = out;
	return r;
}

void ab_settings_done(struct ab_settings *s)
{
	for (size_t i = 0; i < s->p.n; i++) {
		free(s->p.p[i].key);
		free(s->p.p[i].value);
		free(s->p.p[i].attr);
	}
	vec_done(&s->p);
}

bool ab_settings_need_root(const struct ab_settings *s)
{
	for (size_t i = 0; i < s->p.n; i++)
		if (s->p.p[i].kind == SETTING_QUEUE || s->p.p[i].kind == SETTING_VM)
			return true;
	return false;
}

bool ab_settings_machine_wide(const struct ab_settings *s)
{
	for (size_t i = 0; i < s->p.n; i++)
		if (s->p.p[i].kind == SETTING_VM)
			return true;
	return false;
}

const char *ab_settings_kernel(const struct ab_settings *s)
{
	for (size_t i = 0; i < s->p.n; i++)
		if (s->p.p[i].kind == SETTING_KERNEL)
			return s->p.p[i].value;
	return NULL;
}

/* "[none] mq-deadline": is `word` one of them? */
static bool offered(const char *list, const char *word)
{
	size_t len = strlen(word);

	while (*list) {
		size_t n;

		list += strspn(list, " []\n");
		n = strcspn(list, " []\n");
		if (n == len && !strncmp(list, word, n))
			return true;
		list += n;
	}
	return false;
}

int ab_settings_check(const struct ab_settings *s, const char *const *queue_dirs, struct err *e)
{
	bool new_scheduler = false;

	for (size_t i = 0; i < s->p.n; i++)
		new_scheduler |= s->p.p[i].kind == SETTING_QUEUE && !strcmp(s->p.p[i].attr, "scheduler");
	for (size_t i = 0; i < s->p.n; i++) {
		const struct setting *x = &s->p.p[i];

		if (x->kind != SETTING_QUEUE)
			continue;
		if (!*queue_dirs)
			return err_set(e, -EINVAL, "'%s': the directory is on no disk with a request queue of its own", x->key);
		for (const char *const *q = queue_dirs; *q; q++) {
			cleanup_free char *file = mem_printf("%s/%s", *q, x->attr);
			cleanup_strbuf struct strbuf now = STRBUF_INIT;
			int r;

			if (!strncmp(x->attr, "iosched/", 8) && new_scheduler)
				continue;	/* is there once the scheduler is */
			r = file_read(file, &now, e);
			if (r)
				return err_wrap(e, "'%s'", x->key);
			if (!strcmp(x->attr, "scheduler") && !offered(strbuf_str(&now), x->value))
				return err_set(e, -EINVAL, "%s does not offer the scheduler '%s' (%s)", *q, x->value, strbuf_str(&now));
		}
	}
	return 0;
}

static int set_one(const char *file, const struct setting *x, struct undo *u, struct err *e)
{
	cleanup_strbuf struct strbuf now = STRBUF_INIT, chosen = STRBUF_INIT;
	int r = undo_set(u, file, x->value, &now, e);

	if (r)
		return r;
	file_chosen(strbuf_str(&now), &chosen);
	if (strcmp(strbuf_str(&chosen), x->value))
		return err_set(e, -EIO, "%s=%s was written to %s, but it says '%s' now", x->key, x->value, file, strbuf_str(&chosen));
	return 0;
}

int ab_settings_apply(const struct ab_settings *s, const char *const *queue_dirs, struct undo *u, struct err *e)
{
	int r = 0;

	for (int pass = 0; pass < 2 && !r; pass++)
		for (size_t i = 0; i < s->p.n && !r; i++) {
			const struct setting *x = &s->p.p[i];
			bool first = x->attr && !strcmp(x->attr, "scheduler");

			if (x->kind == SETTING_VM && pass == 0) {
				cleanup_free char *file = mem_printf("/proc/sys/vm/%s", x->attr);

				r = set_one(file, x, u, e);
			} else if (x->kind == SETTING_QUEUE && first == (pass == 0)) {
				for (const char *const *q = queue_dirs; *q && !r; q++) {
					cleanup_free char *file = mem_printf("%s/%s", *q, x->attr);

					r = set_one(file, x, u, e);
				}
			}
		}
	return r;
}

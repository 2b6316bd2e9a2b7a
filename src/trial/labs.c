/* SPDX-License-Identifier: MIT */
#include "trial/labs.h"
#include "base/cleanup.h"
#include "base/mem.h"
#include "base/units.h"
#include "lab/lab.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CLOCK 0	/* the run's main clock: the server stamps with CLOCK_MONOTONIC too */

struct labs {
	struct scenario *scenario;
	struct undo *undo;
	VEC(struct lab_conf) confs;
	VEC(struct lab *) up;
	bool option;			/* the first is that of --lab */
	struct err broken;		/* the first thing that could not be recorded */
};

static void labs_free(struct labs *l)
{
	for (size_t i = 0; i < l->confs.n; i++)
		lab_conf_done(&l->confs.p[i]);
	vec_done(&l->confs);
	vec_done(&l->up);
	undo_close(l->undo);
	free(l);
}

static int add_option(struct labs *l, const char *text, struct err *e)
{
	struct lab_conf c;
	int r = lab_conf_init(&c, "lab", e);

	if (r)
		return r;
	vec_push(&l->confs, c);
	l->option = true;
	return lab_conf_parse(&l->confs.p[l->confs.n - 1], text, e);
}

static int add_section(struct labs *l, struct scn_section *sec, struct err *e)
{
	struct lab_conf c;
	int r = lab_conf_init(&c, *sec->label ? sec->label : sec->name, e);

	if (r)
		return err_wrap(e, "%s:%d", sec->file, sec->line);
	vec_push(&l->confs, c);
	for (size_t i = 0; i < sec->nkeys && !r; i++) {
		sec->keys[i].used = true;
		r = lab_conf_set(&l->confs.p[l->confs.n - 1], sec->keys[i].key, sec->keys[i].value, e);
		if (r)
			err_wrap(e, "%s:%d", sec->keys[i].file, sec->keys[i].line);
	}
	return r;
}

/* Calls fn for every `dir = @NAME`; name without the @. */
static int each_at(struct labs *l, int (*fn)(struct labs *l, struct scn_key *k, const char *name, struct err *e), struct err *e)
{
	for (size_t i = 0; i < l->scenario->nsections; i++)
		for (size_t j = 0; j < l->scenario->sections[i].nkeys; j++) {
			struct scn_key *k = &l->scenario->sections[i].keys[j];

			if (strcmp(k->key, "dir") || k->value[0] != '@')
				continue;
			int r = fn(l, k, k->value + 1, e);

			if (r)
				return r;
		}
	return 0;
}

static int is_known(struct labs *l, struct scn_key *k, const char *name, struct err *e)
{
	VEC(const char *) names = { 0 };
	const char *near;

	for (size_t i = 0; i < l->confs.n; i++) {
		if (!strcmp(l->confs.p[i].name, name)) {
			vec_done(&names);
			return 0;
		}
		vec_push(&names, l->confs.p[i].name);
	}
	near = units_nearest(name, names.p, names.n);
	vec_done(&names);
	if (near)
		return err_set(e, -ENOENT, "%s:%d: there is no [lab %s] section; did you mean @%s?", k->file, k->line, name, near);
	return err_set(e, -ENOENT, "%s:%d: there is no [lab %s] section", k->file, k->line, name);
}

int labs_make(struct scenario *s, const char *option, struct labs **ret, struct err *e)
{
	struct labs *l = mem_alloc(sizeof(*l));
	int r = 0;

	l->scenario = s;
	if (option)
		r = add_option(l, option, e);
	for (size_t i = 0; i < s->nsections && !r; i++)
		if (!strcmp(s->sections[i].kind, "lab"))
			r = add_section(l, &s->sections[i], e);
	if (!r)
		r = each_at(l, is_known, e);
	if (r || !l->confs.n) {
		labs_free(l);
		l = NULL;
	}
	if (!r)
		*ret = l;
	return r;
}

void labs_consent(const struct labs *l, struct strbuf *out)
{
	char size[UNITS_TEXT];

	for (size_t i = 0; l && i < l->confs.n; i++) {
		const struct lab_conf *c = &l->confs.p[i];

		strbuf_addf(out, "Makes a modelled disk '%s' (%s, in memory): ", c->name, units_size_text(c->size, size));
		lab_conf_text(c, out);
		strbuf_adds(out, "\n");
		if (c->dirty_bytes || c->dirty_background_bytes)
			strbuf_adds(out, "  changes vm.dirty_bytes of the whole machine, and changes it back\n");
	}
}

bool labs_machine_wide(const struct labs *l)
{
	for (size_t i = 0; l && i < l->confs.n; i++)
		if (lab_conf_machine_wide(&l->confs.p[i]))
			return true;
	return false;
}

static int put_path(struct labs *l, struct scn_key *k, const char *name, struct err *e)
{
	for (size_t i = 0; i < l->up.n; i++)
		if (!strcmp(lab_name(l->up.p[i]), name)) {
			if (!*lab_dir(l->up.p[i]))
				return err_set(e, -EINVAL, "%s:%d: lab %s has no filesystem (fs = none)", k->file, k->line, name);
			free(k->value);
			k->value = mem_dup(lab_dir(l->up.p[i]));
			return 0;
		}
	return -ENOENT;		/* labs_make has checked */
}

int labs_up(struct labs *l, const char *const *profile_dirs, struct err *e)
{
	int r = undo_open(&l->undo, e);

	for (size_t i = 0; i < l->confs.n && !r; i++) {
		struct lab *lab;

		r = lab_up(&l->confs.p[i], profile_dirs, l->undo, &lab, e);
		if (!r)
			vec_push(&l->up, lab);
	}
	if (!r)
		r = each_at(l, put_path, e);
	if (r) {
		while (l->up.n)
			(void)lab_down(l->up.p[--l->up.n], NULL, NULL);
	}
	return r;
}

const char *labs_dir(const struct labs *l)
{
	return l && l->option && l->up.n && *lab_dir(l->up.p[0]) ? lab_dir(l->up.p[0]) : NULL;
}

void labs_refused(const struct labs *l, struct strbuf *out)
{
	for (size_t i = 0; l && i < l->up.n; i++)
		for (const char *s = lab_refused(l->up.p[i]); *s; s += strcspn(s, "\n") + 1)
			strbuf_addf(out, "lab %s: %.*s\n", lab_name(l->up.p[i]), (int)strcspn(s, "\n"), s);
}

int labs_begin(void *labs, struct rec *rec, int run, struct err *e)
{
	struct labs *l = labs;
	int r = 0;

	for (size_t i = 0; i < l->up.n && !r; i++)
		r = lab_facts(l->up.p[i], rec, run, e);
	return r;
}

void labs_phase(void *labs, enum sample_phase phase, nsec_t t)
{
	struct labs *l = labs;

	for (size_t i = 0; i < l->up.n && phase == PHASE_MEASURE; i++)
		if (lab_arm(l->up.p[i], t, l->broken.code ? NULL : &l->broken) && !l->broken.code)
			l->broken.code = -EIO;
}

void labs_second(void *labs, struct rec *rec, int run, nsec_t now)
{
	struct labs *l = labs;

	for (size_t i = 0; i < l->up.n && !l->broken.code; i++)
		(void)lab_record(l->up.p[i], rec, run, CLOCK, &l->broken);
}

void labs_end(void *labs, struct rec *rec, int run, bool partial)
{
	struct labs *l = labs;
	struct err e = { 0 };

	for (size_t i = 0; i < l->up.n; i++)
		(void)lab_record_end(l->up.p[i], rec, run, CLOCK, &e);
	if (l->broken.code || e.code)	/* said in the record: what is missing must not look like nothing happened */
		(void)rec_note(rec, run, NOTE_LOSS, 0, "lab-record", l->broken.code ? l->broken.msg : e.msg, NULL);
	l->broken = (struct err){ 0 };
}

void labs_hurry(struct labs *l)
{
	for (size_t i = 0; l && i < l->up.n; i++)
		lab_hurry(l->up.p[i]);
}

void labs_down(struct labs *l, struct strbuf *said)
{
	struct err e = { 0 };

	if (!l)
		return;
	while (l->up.n)
		if (lab_down(l->up.p[--l->up.n], said, &e) && said && e.msg[0])
			strbuf_addf(said, "%s\n", e.msg);
	labs_free(l);
}

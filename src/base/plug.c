/* SPDX-License-Identifier: MIT */
#include "base/plug.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/units.h"
#include "base/vec.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int bounded(const struct param *p, double x, const char *value, struct err *e)
{
	if ((p->min != 0 || p->max != 0) && (x < p->min || (p->max > p->min && x > p->max)))
		return err_set(e, -ERANGE, "%s = %s is out of range (%g to %g)", p->name, value, p->min,
			       p->max > p->min ? p->max : 1.8e19);
	return 0;
}

static int set_word(const struct param *p, int *slot, const char *value, struct err *e)
{
	cleanup_strbuf struct strbuf all = STRBUF_INIT;
	const char *near;
	size_t n = 0;

	for (; p->words[n]; n++) {
		if (!strcmp(p->words[n], value)) {
			*slot = (int)n;
			return 0;
		}
		strbuf_addf(&all, "%s%s", n ? ", " : "", p->words[n]);
	}
	near = units_nearest(value, p->words, n);
	if (near)
		return err_set(e, -EINVAL, "%s = %s: did you mean '%s'? It is one of %s", p->name, value, near,
			       strbuf_str(&all));
	return err_set(e, -EINVAL, "%s = %s: it is one of %s", p->name, value, strbuf_str(&all));
}

static int set_value(const struct param *p, void *conf, const char *value, struct err *e)
{
	void *slot = (char *)conf + p->offset;
	uint64_t u;
	double x;
	nsec_t t;
	bool b;
	int r;

	switch (p->type) {
	case PARAM_BOOL:
		r = units_bool(value, &b, e);
		if (!r)
			*(bool *)slot = b;
		break;
	case PARAM_COUNT:
	case PARAM_SIZE:
		r = p->type == PARAM_SIZE ? units_size(value, &u, e) : units_count(value, &u, e);
		if (!r)
			r = bounded(p, (double)u, value, e);
		if (!r)
			*(uint64_t *)slot = u;
		break;
	case PARAM_NSEC:
		r = units_nsec(value, &t, e);
		if (!r)
			r = bounded(p, (double)t, value, e);
		if (!r)
			*(nsec_t *)slot = t;
		break;
	case PARAM_NUMBER:
	case PARAM_SHARE:
		r = p->type == PARAM_SHARE ? units_share(value, &x, e) : units_number(value, &x, e);
		if (!r)
			r = bounded(p, x, value, e);
		if (!r)
			*(double *)slot = x;
		break;
	case PARAM_WORD:
		return set_word(p, slot, value, e);
	case PARAM_TEXT:
		free(*(char **)slot);
		*(char **)slot = mem_dup(value);
		return 0;
	default:
		assert(!"unknown parameter type");
		return -EINVAL;
	}
	if (r && e && strncmp(e->msg, p->name, strlen(p->name)))
		err_wrap(e, "%s", p->name);
	return r;
}

void param_defaults(const struct param *params, void *conf)
{
	for (const struct param *p = params; p && p->name; p++) {
		if (p->def && set_value(p, conf, p->def, NULL) < 0) {
			fprintf(stderr, "stallmark: bad default %s = %s\n", p->name, p->def);
			abort();
		}
	}
}

int param_set(const struct param *params, void *conf, const char *owner, const char *key, const char *value,
	      struct err *e)
{
	VEC(const char *) names = { 0 };
	const char *near;
	int r;

	for (const struct param *p = params; p && p->name; p++) {
		if (!strcmp(p->name, key)) {
			vec_done(&names);
			r = set_value(p, conf, value, e);
			return r ? err_wrap(e, "%s", owner) : 0;
		}
		vec_push(&names, p->name);
	}
	near = units_nearest(key, names.p, names.n);
	if (near)
		r = err_set(e, -ENOENT, "%s has no key '%s'; did you mean '%s'?", owner, key, near);
	else
		r = err_set(e, -ENOENT, "%s has no key '%s'", owner, key);
	vec_done(&names);
	return r;
}

const char *param_get_text(const struct param *p, const void *conf, char *buf, size_t size)
{
	const void *slot = (const char *)conf + p->offset;
	uint64_t u;
	nsec_t t;

	switch (p->type) {
	case PARAM_BOOL:
		snprintf(buf, size, "%s", *(const bool *)slot ? "yes" : "no");
		break;
	case PARAM_COUNT:
		snprintf(buf, size, "%llu", (unsigned long long)*(const uint64_t *)slot);
		break;
	case PARAM_SIZE: {
		static const char unit[] = { 0, 'k', 'M', 'G', 'T' };
		size_t i = 0;

		u = *(const uint64_t *)slot;
		while (u && !(u % 1024) && i + 1 < sizeof(unit)) {
			u /= 1024;
			i++;
		}
		snprintf(buf, size, "%llu%.1s", (unsigned long long)u, i ? &unit[i] : "");
		break;
	}
	case PARAM_NSEC:
		t = *(const nsec_t *)slot;
		if (t % NSEC_PER_SEC == 0)
			snprintf(buf, size, "%llds", (long long)(t / NSEC_PER_SEC));
		else if (t % NSEC_PER_MSEC == 0)
			snprintf(buf, size, "%lldms", (long long)(t / NSEC_PER_MSEC));
		else if (t % NSEC_PER_USEC == 0)
			snprintf(buf, size, "%lldus", (long long)(t / NSEC_PER_USEC));
		else
			snprintf(buf, size, "%lldns", (long long)t);
		break;
	case PARAM_NUMBER:
		snprintf(buf, size, "%g", *(const double *)slot);
		break;
	case PARAM_SHARE:
		snprintf(buf, size, "%g%%", *(const double *)slot * 100);
		break;
	case PARAM_WORD:
		snprintf(buf, size, "%s", p->words[*(const int *)slot]);
		break;
	case PARAM_TEXT:
		snprintf(buf, size, "%s", *(char *const *)slot ? *(char *const *)slot : "");
		break;
	}
	return buf;
}

void param_done(const struct param *params, void *conf)
{
	for (const struct param *p = params; p && p->name; p++) {
		if (p->type == PARAM_TEXT) {
			char **slot = (char **)((char *)conf + p->offset);

			free(*slot);
			*slot = NULL;
		}
	}
}

const void *plug_find(const void *const *table, const char *name)
{
	for (; *table; table++)
		if (!strcmp(((const struct plug *)*table)->name, name))
			return *table;
	return NULL;
}

const void *plug_need(const void *const *table, const char *kind, const char *name, struct err *e)
{
	cleanup_strbuf struct strbuf all = STRBUF_INIT;
	const void *found = plug_find(table, name);
	VEC(const char *) names = { 0 };
	const char *near;

	if (found)
		return found;
	for (; *table; table++) {
		const struct plug *p = *table;

		strbuf_addf(&all, "%s%s", names.n ? ", " : "", p->name);
		vec_push(&names, p->name);
	}
	near = units_nearest(name, names.p, names.n);
	if (near)
		err_set(e, -ENOENT, "there is no %s '%s'; did you mean '%s'? Known: %s", kind, name, near,
			strbuf_str(&all));
	else
		err_set(e, -ENOENT, "there is no %s '%s'; known: %s", kind, name, strbuf_str(&all));
	vec_done(&names);
	return NULL;
}

/* SPDX-License-Identifier: MIT */
/* Shared by the tests of importers: text in, collected result out. */
#ifndef TESTS_IMPORT_HELP_H
#define TESTS_IMPORT_HELP_H

#include "unit.h"

#include "format/memory.h"

#include <string.h>

/* Fails the test when the text cannot be imported. The caller frees. */
static inline struct import_mem *import_bytes(const void *data, size_t n, const char *name, const char *as)
{
	struct input *in = input_of_memory(data, n, name);
	struct import_mem *m = NULL;
	struct err e = { 0 };
	int r = import_mem_take(in, as, &m, &e);

	if (r)
		fail_msg("%s: %d %s", name, r, e.msg);
	input_close(in);
	return m;
}

static inline struct import_mem *import_text(const char *text, const char *as)
{
	return import_bytes(text, strlen(text), "test", as);
}

/* Fails the test when the text can be imported; the sentence has to hold `say`. */
static inline void import_refused(const char *text, const char *as, const char *say)
{
	struct input *in = input_of_memory(text, strlen(text), "test");
	struct import_mem *m = NULL;
	struct err e = { 0 };
	int r = import_mem_take(in, as, &m, &e);

	assert_true(r < 0);
	if (!strstr(e.msg, say))
		fail_msg("the sentence is: %s", e.msg);
	input_close(in);
}

/* A file below tests/data. */
static inline struct import_mem *import_data(const char *file, const char *as)
{
	struct import_mem *m = NULL;
	struct err e = { 0 };
	char path[1024];
	int r;

	snprintf(path, sizeof(path), "%s/tests/data/%s", getenv("SOURCE_DIR"), file);
	r = import_mem_read(path, as, 0, &m, &e);
	if (r)
		fail_msg("%s: %d %s", path, r, e.msg);
	return m;
}

static inline bool has_note(const struct import_mem *m, const char *say)
{
	for (size_t i = 0; i < m->runs.n; i++)
		for (size_t k = 0; k < m->runs.p[i].notes.n; k++)
			if (strstr(m->runs.p[i].notes.p[k].text, say))
				return true;
	return false;
}

static inline const struct import_series *find_series(const struct import_run *r, const char *name)
{
	for (size_t i = 0; i < r->series.n; i++)
		if (!strcmp(r->series.p[i].name, name))
			return &r->series.p[i];
	fail_msg("there is no series %s", name);
	return NULL;
}

static inline const struct import_number *find_number(const struct import_run *r, const char *name)
{
	for (size_t i = 0; i < r->numbers.n; i++)
		if (!strcmp(r->numbers.p[i].name, name))
			return &r->numbers.p[i];
	fail_msg("there is no number %s", name);
	return NULL;
}

static inline const char *find_fact(const struct import_run *r, const char *key)
{
	for (size_t i = 0; i < r->facts.n; i++)
		if (!strcmp(r->facts.p[i].key, key))
			return r->facts.p[i].value;
	return NULL;
}

#endif

/* SPDX-License-Identifier: MIT */
/*
 * What every plug-in has in common: probe, load, disk, scheduler, importer,
 * cause, source, report. `struct plug` is the first member of each ops struct,
 * so that list, help, parameters and the documentation check are written once.
 * A plug-in never parses text: its parameters land in its conf struct.
 */
#ifndef BASE_PLUG_H
#define BASE_PLUG_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum param_type {
	PARAM_BOOL,	/* bool */
	PARAM_COUNT,	/* uint64_t */
	PARAM_SIZE,	/* uint64_t bytes */
	PARAM_NSEC,	/* nsec_t */
	PARAM_NUMBER,	/* double */
	PARAM_SHARE,	/* double, 0.05 for 5% */
	PARAM_WORD,	/* int: index into words[] */
	PARAM_TEXT,	/* char *, owned by the conf, freed by param_done() */
};

struct param {
	const char *name;
	enum param_type type;
	size_t offset;			/* into the conf struct */
	const char *def;		/* as one types it; NULL: TEXT that is absent */
	const char *help;
	const char *const *words;	/* PARAM_WORD: NULL-terminated */
	double min, max;		/* bounds of numbers in base units; both 0: none */
};

struct plug {
	const char *name, *about;	/* "fsync"; one line */
	size_t conf_size, state_size;	/* the caller allocates, zeroes and frees both */
	const struct param *params;	/* ends with a NULL name; may be NULL */
};

#define PARAM(conf, field, type_, def_, help_) \
	{ .name = #field, .type = (type_), .offset = offsetof(conf, field), .def = (def_), .help = (help_) }

/* Fills `conf` (zeroed, conf_size bytes) with the defaults. A default that does not parse is our bug (assert). */
void param_defaults(const struct param *params, void *conf);

/* Sets one parameter from text. -ENOENT: no such parameter (the sentence suggests the nearest);
 * -EINVAL/-ERANGE: bad value. `owner` is named in the sentence ("probe fsync"). */
int param_set(const struct param *params, void *conf, const char *owner, const char *key, const char *value,
	      struct err *e);

/* The value as one would type it, into buf; returns buf. */
const char *param_get_text(const struct param *p, const void *conf, char *buf, size_t size);

/* Frees what TEXT parameters own. */
void param_done(const struct param *params, void *conf);

/* The entry with that name in a table of pointers to ops structs ending with NULL; NULL when absent. */
const void *plug_find(const void *const *table, const char *name);

/* As plug_find, but says so: "there is no probe 'fsnc'; did you mean 'fsync'? ..." (kind: "probe"). */
const void *plug_need(const void *const *table, const char *kind, const char *name, struct err *e);

#endif

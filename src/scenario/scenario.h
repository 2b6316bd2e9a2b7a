/* SPDX-License-Identifier: MIT */
/*
 * A scenario: INI text as data. Pure text work: no plug-in is looked up here.
 *
 *	# what question, what cost, what risk
 *	include = other.scenario
 *	time = 60s
 *	[probe fsync]		kind "probe", name "fsync"
 *	pause = 1s
 *	[load write]
 *	n = 16
 *	[lab usb]
 *	disk = usb_stick
 *
 * `#` and `;` begin comments only at the start of a line. Keys before the
 * first section belong to section "global". A section named twice goes on; a
 * key given twice in one file is an error, except `limit`, which adds up. A
 * second probe or load of one kind: [load write:second]. `include =` (global
 * keys only) is a path beside the file or a shipped name; what the including
 * file says wins. `${VAR}` is the environment or a -D definition; unknown: an
 * error; `$${` is a plain `${`. Comma lists make a matrix only in [lab] and
 * [settings] sections and `matrix.SECTION.KEY` keys (scenario_cells).
 *
 * Files are hostile: at most 1 MiB, 256 sections, 4096 keys, includes 8 deep.
 */
#ifndef SCENARIO_SCENARIO_H
#define SCENARIO_SCENARIO_H

#include "base/err.h"
#include "base/strbuf.h"

#include <stdbool.h>
#include <stddef.h>

struct scn_key {
	char *key, *value;
	char *file;		/* where it was written; "-D" for overrides */
	int line;
	bool used;		/* set by who understood it; scenario_unused() finds the rest */
};

struct scn_section {
	char *kind, *name;	/* "probe", "fsync"; "global", "" */
	char *label;		/* "fsync" or what follows the colon: unique among its kind */
	char *file;
	int line;
	struct scn_key *keys;
	size_t nkeys;
};

struct scenario {
	char *name, *path;
	char *question;		/* first comment block, for `scenarios` */
	struct scn_section *sections;
	size_t nsections;
	bool shipped;		/* from the installed folder */
};

/* -D section.key=value. "section" is a label ("fsync") or kind.label where that is not enough ("load.write");
 * "key=value" sets a global key, or defines ${key} when the text uses that. */
struct scn_override {
	const char *text;
};

/* `name` is a path (contains '/' or ends in .scenario) or a shipped name; dirs: where shipped ones are (NULL-terminated). */
int scenario_load(const char *name, const char *const *dirs, const struct scn_override *over, size_t nover,
		  struct scenario **ret, struct err *e);
/* Names of all shipped scenarios, sorted, each once; free each and the array. */
int scenario_names(const char *const *dirs, char ***ret, size_t *ret_n, struct err *e);
int scenario_parse(const char *text, size_t len, const char *file, struct scenario **ret, struct err *e);	/* no include */
void scenario_free(struct scenario *s);

/* Sets a key as an override would; -ENOENT names the nearest section. */
int scenario_override(struct scenario *s, const char *text, struct err *e);
struct scn_section *scenario_section(struct scenario *s, const char *kind, const char *label);
/* The value, marked as used; def when absent. */
const char *scenario_get(struct scn_section *sec, const char *key, const char *def);
/* -EINVAL with "file:line:" and the sentence, for complaints about one key. */
int scenario_complain(const struct scn_key *k, struct err *e, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* -EINVAL with file, line and the nearest right key for the first key nobody used. known: NULL-terminated. */
int scenario_unused(const struct scenario *s, const char *const *known, struct err *e);
/* The complete text after includes and overrides, in fixed order: what the record keeps and the hash is made of. */
void scenario_text(const struct scenario *s, struct strbuf *out);

/* One cell for each combination of listed values, in the order of the file; label "fs=ext4 sched=bfq". */
struct scn_cell {
	char *label;
	struct scenario *s;	/* a copy with single values */
};
int scenario_cells(const struct scenario *s, struct scn_cell **ret, size_t *ret_n, struct err *e);
struct scenario *scenario_copy(const struct scenario *s);
void scenario_cells_free(struct scn_cell *cells, size_t n);

#endif

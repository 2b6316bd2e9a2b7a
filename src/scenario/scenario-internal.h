/* SPDX-License-Identifier: MIT */
/* Building a scenario; for the files of this folder only. */
#ifndef SCENARIO_INTERNAL_H
#define SCENARIO_INTERNAL_H

#include "scenario/scenario.h"

#define SCN_FILE_MAX	(1 << 20)
#define SCN_SECTIONS	256
#define SCN_KEYS	4096
#define SCN_DEPTH	8
#define SCN_CELLS	4096

struct scenario *scn_new(const char *path);
/* Finds or adds; NULL: too many. */
struct scn_section *scn_section_add(struct scenario *s, const char *kind, const char *name, const char *label,
				    const char *file, int line);
/* Appends, or replaces the value of an existing key unless it is one that adds up. */
struct scn_key *scn_key_set(struct scn_section *sec, const char *key, const char *value, const char *file, int line);
struct scn_key *scn_key_find(struct scn_section *sec, const char *key);
bool scn_adds_up(const char *key);
/* Parses text into s; `include` lines become keys of section global. */
int scn_parse_into(struct scenario *s, const char *text, size_t len, const char *file, struct err *e);

#endif

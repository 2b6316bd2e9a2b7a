/* SPDX-License-Identifier: MIT */
/*
 * Makes text of a record fit to be shown to strangers: without host names,
 * paths and command lines. What is left out is left out whole (facts that are
 * nothing but such text) or replaced in place ("<path>", "<host>").
 */
#ifndef FORMAT_SCRUB_H
#define FORMAT_SCRUB_H

#include "base/strbuf.h"
#include "base/vec.h"
#include "record/record.h"

struct scrub {
	bool on;
	VEC(char *) hosts;		/* names of the machines known */
	struct strbuf text;
};

/* With r: the host names it holds are collected; this machine's is one too. */
void scrub_begin(struct scrub *s, struct rec *r, bool on);
void scrub_end(struct scrub *s);

/* May this fact be told at all? */
bool scrub_fact(const struct scrub *s, const char *key);
/* The text without what must not be told; lives until the next call. The text itself when scrubbing is off. */
const char *scrub_text(struct scrub *s, const char *text);

/* The same for the name of a series: only paths, for "vm.dirty" is no host even where the host is called vm. */
const char *scrub_name(struct scrub *s, const char *name);

#endif

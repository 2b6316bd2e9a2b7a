/* SPDX-License-Identifier: MIT */
/*
 * A page becomes bytes. One file per format; writers render cells and never
 * compute. Text from records is hostile: control bytes are shown escaped.
 */
#ifndef REPORT_REPORT_H
#define REPORT_REPORT_H

#include "base/plug.h"
#include "base/strbuf.h"
#include "page/page.h"

struct report_conf {
	unsigned width;		/* columns of the terminal; 0: 78 */
	bool colour, utf8, verbose;
};

struct report_ops {
	struct plug plug;	/* name as in --format: term, json, md, csv, lkml, html */
	const char *suffix;
	void (*write)(const struct page *p, const struct report_conf *conf, struct strbuf *out);
};

extern const void *const report_table[];	/* of struct report_ops, ends with NULL */

/* s with control bytes and broken UTF-8 made visible (\x1b), appended to out. */
void report_add_clean(struct strbuf *out, const char *s);

#endif

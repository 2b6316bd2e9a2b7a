/* SPDX-License-Identifier: MIT */
/* Parts of the HTML writer: embedded style and scripts, escaping, pictures. */
#ifndef REPORT_HTML_H
#define REPORT_HTML_H

#include "base/strbuf.h"
#include "page/chart.h"

extern const char style_text[], style_hash[];	/* style.css and uPlot's */
extern const char script_text[], script_hash[];	/* uPlot (when it was there at build time) and report.js */

/* Text for an element or an attribute in double quotes: & < > " ' and control bytes are made harmless. */
void html_add(struct strbuf *out, const char *s);
/* A JSON string for a data block: also < > & as \u003c. */
void html_add_json(struct strbuf *out, const char *s);

/* The chart as inline SVG with its data for the script behind it. */
void svg_chart(struct strbuf *out, const struct chart *c);

#endif

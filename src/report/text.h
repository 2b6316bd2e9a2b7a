/* SPDX-License-Identifier: MIT */
/* The text layout that the terminal and the mail format share. */
#ifndef REPORT_TEXT_H
#define REPORT_TEXT_H

#include "report/report.h"

/* Lays the page out in conf->width columns; colour and UTF-8 only when conf says so. */
void text_write(const struct page *p, const struct report_conf *conf, struct strbuf *out);

/* Columns that s takes on a terminal (UTF-8 characters counted as one). */
size_t text_width(const char *s);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Waits in one or more columns of text, as people paste them into a mail:
 * each column is a side. Shared by the formats fsync-tester, columns and plain.
 *
 *	ext3				a heading: names the table when there are several
 *	vanilla         patched		as many words as columns: their labels
 *	fsync time: 3.4173  fsync time: 0.0171
 *	0.8831 s        95 ms		the word may be missing, a unit may be there
 *	                0.0848		a shorter column: found by its position
 *
 * Lines that are neither rows nor headings are counted and named in a note.
 */
#ifndef FORMAT_COLUMNS_H
#define FORMAT_COLUMNS_H

#include "format/format.h"

struct columns_conf {
	const char *prefix;		/* "fsync time:", NULL: none */
	const char *series, *meaning;
	const char *what;		/* "fsync times", for messages */
	const char *interval_ns;	/* the pause between two actions; NULL: unknown */
};

int columns_import(struct input *in, const struct columns_conf *conf, const struct import_sink *sink, struct err *e);

/* What a head holds, for sniffing. */
struct columns_look {
	const char *prefix;		/* set by the caller */
	unsigned rows;			/* lines of numbers only */
	unsigned prefixed;		/* rows with the prefix */
	unsigned wide;			/* rows of two columns or more */
	unsigned other;			/* lines with text that are neither empty nor comments */
	unsigned comma;			/* rows with a decimal comma */
};

void columns_look(const uint8_t *head, size_t n, struct columns_look *look);

#endif

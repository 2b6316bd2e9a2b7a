/* SPDX-License-Identifier: MIT */
/*
 * One line of comma-separated values into its cells (RFC 4180 quoting, without
 * newlines inside quotes), in place. Separators , ; and tab.
 */
#ifndef FORMAT_CSV_H
#define FORMAT_CSV_H

#include "base/nsec.h"

#include <stdbool.h>
#include <stddef.h>

#define CSV_COLS_MAX 256

/* What a column's name says it holds. */
enum csv_role { CSV_SKIP, CSV_OTHER, CSV_WAIT, CSV_T, CSV_RUN, CSV_SERIES, CSV_STATUS, CSV_BYTES, CSV_PHASE };

struct csv_column {
	enum csv_role role;
	nsec_t unit;		/* 0: the name says none */
	char name[64];		/* without unit: "fsync_ms" is "fsync"; "" when nothing but a unit */
};

/* Cuts line at sep; returns how many cells (at most CSV_COLS_MAX, the rest is dropped). */
size_t csv_split(char *line, char sep, char *cell[CSV_COLS_MAX]);
/* The separator of a line of names: the most frequent of tab ; and comma, or 0 when there is none. */
char csv_separator(const char *line);
void csv_column_of(const char *head, struct csv_column *ret);

#endif

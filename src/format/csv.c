/* SPDX-License-Identifier: MIT */
#include "format/csv.h"
#include "base/cleanup.h"
#include "format/text.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

size_t csv_split(char *line, char sep, char *cell[CSV_COLS_MAX])
{
	size_t n = 0;
	char *r = line;

	while (n < CSV_COLS_MAX) {
		char *w;

		while (*r == ' ')
			r++;
		cell[n++] = w = r;
		if (*r == '"') {
			for (r++; *r && !(*r == '"' && r[1] != '"'); r++) {
				if (*r == '"')
					r++;
				*w++ = *r;
			}
			r += *r == '"';
			while (*r && *r != sep)
				r++;
		} else {
			while (*r && *r != sep)
				*w++ = *r++;
			while (w > cell[n - 1] && isspace((unsigned char)w[-1]))
				w--;
		}
		if (!*r) {
			*w = 0;
			return n;
		}
		r++;		/* first: *w may be the separator itself */
		*w = 0;
	}
	return n;
}

char csv_separator(const char *line)
{
	static const char seps[] = "\t;,";
	size_t best = 0;
	char sep = 0;

	for (const char *s = seps; *s; s++) {
		size_t n = 0;

		for (const char *c = line; *c; c++)
			n += *c == *s;
		if (n > best) {
			best = n;
			sep = *s;
		}
	}
	return sep;
}

static const struct { const char *word; enum csv_role role; } words[] = {
	{ "wait", CSV_WAIT }, { "latency", CSV_WAIT }, { "lat", CSV_WAIT }, { "clat", CSV_WAIT }, { "response", CSV_WAIT },
	{ "duration", CSV_WAIT }, { "took", CSV_WAIT }, { "delay", CSV_WAIT }, { "fsync", CSV_WAIT },
	{ "t", CSV_T }, { "timestamp", CSV_T }, { "start", CSV_T }, { "elapsed", CSV_T }, { "second", CSV_T },
	{ "run", CSV_RUN }, { "iteration", CSV_RUN }, { "rep", CSV_RUN },
	{ "probe", CSV_SERIES }, { "series", CSV_SERIES }, { "operation", CSV_SERIES }, { "op", CSV_SERIES },
	{ "status", CSV_STATUS }, { "bytes", CSV_BYTES }, { "phase", CSV_PHASE },
	{ "file", CSV_SKIP }, { "name", CSV_SKIP }, { "id", CSV_SKIP }, { "pid", CSV_SKIP }, { "tid", CSV_SKIP },
	{ "date", CSV_SKIP }, { "n", CSV_SKIP }, { "index", CSV_SKIP }, { "offset", CSV_SKIP }, { "kb", CSV_SKIP },
	{ "kib", CSV_SKIP }, { "mb", CSV_SKIP }, { "mib", CSV_SKIP }, { "service", CSV_SKIP }, { "cold", CSV_SKIP },
	{ "error", CSV_SKIP }, { "percent", CSV_SKIP }, { "count", CSV_SKIP },
};

/* The name falls into words; a unit among them makes it a time, a known word says which. */
void csv_column_of(const char *head, struct csv_column *ret)
{
	size_t len = 0;
	bool time = false;

	*ret = (struct csv_column){ .role = CSV_OTHER };
	for (const char *s = head; *s; ) {
		size_t n;

		s += strspn(s, " _-()[]/.:");
		n = strcspn(s, " _-()[]/.:");
		if (!n)
			break;
		/* "m" and "h" and "min" name too much else ("min" is the smallest) */
		if (text_unit(s, n) && text_unit(s, n) <= NSEC_PER_SEC) {
			ret->unit = text_unit(s, n);
		} else {
			bool known = false;

			for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
				if (strlen(words[i].word) != n || strncasecmp(words[i].word, s, n))
					continue;
				known = true;
				if (ret->role == CSV_OTHER)
					ret->role = words[i].role;
			}
			if (!known && n == 4 && !strncasecmp(s, "time", 4))
				time = true;
			if (len + n + 2 < sizeof(ret->name))
				len += (size_t)snprintf(ret->name + len, sizeof(ret->name) - len, "%s%.*s", len ? "_" : "",
							(int)n, s);
		}
		s += n;
	}
	if (ret->role == CSV_OTHER && time)
		ret->role = CSV_T;		/* of a "time" alone the reader makes a wait when there is no other */
	if (ret->role == CSV_OTHER && ret->unit)
		ret->role = CSV_WAIT;
}

/* SPDX-License-Identifier: MIT */
/*
 * JSON documents out of a file that holds other things too: messages and
 * progress lines before, between, behind and inside, several documents one
 * after another, mail quotes, and a last document that was cut off. A cut one
 * ends at its last complete value and is closed.
 *
 * Life: jsondoc_open -> jsondoc_next ... -> jsondoc_close. The json_t belongs
 * to the caller (json_decref).
 */
#ifndef FORMAT_JSONDOC_H
#define FORMAT_JSONDOC_H

#include "format/format.h"

#include <jansson.h>

#define JSONDOC_DEPTH	128
#define JSONDOC_MAX	(128u * 1024 * 1024)	/* of one document */

struct jsondoc {
	char *text;		/* the whole file, without quote marks and overwritten progress */
	size_t n, at;
	uint64_t garbage;	/* lines that are no JSON */
	uint64_t broken;	/* documents that could not be used */
	bool truncated;		/* the document handed out last was cut */
	bool ended;		/* at is right behind a complete document */
};

int jsondoc_open(struct input *in, struct jsondoc *ret, struct err *e);
/* 1: *ret is a document, 0: no more, or an error. A document that cannot be parsed is counted and left out. */
int jsondoc_next(struct jsondoc *d, json_t **ret, struct err *e);
void jsondoc_close(struct jsondoc *d);
/* Notes on what was left out. */
int jsondoc_notes(const struct jsondoc *d, const struct import_sink *sink);

/* Members by path "clat_ns/min"; false when absent or of another type. */
bool jsondoc_number(const json_t *o, const char *path, double *ret);
const char *jsondoc_string(const json_t *o, const char *path);	/* NULL when absent */
json_t *jsondoc_at(const json_t *o, const char *path);

/* For sniffing: true when a document begins in this head and `word` (a quoted key) stands in it. */
bool jsondoc_sniff(const uint8_t *head, size_t n, const char *word);

#endif

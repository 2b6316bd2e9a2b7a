/* SPDX-License-Identifier: MIT */
/*
 * A document as data. Analysis returns a page; the writers in report/ turn it
 * into the terminal screen, JSON, HTML, Markdown or CSV and never compute.
 *
 * A page is a tree. Each node has a stable key (its JSON name; NULL: only for
 * people) and a label (what people read; NULL: only for programs):
 *
 *	GROUP	JSON object; on screen its children under the label as heading
 *	LIST	JSON array; on screen its children one after another
 *	TABLE	JSON array of objects; on screen a table with one line a row
 *	ROW	one row of a TABLE: its cells, keys as in the table's columns
 *	CELL	one value
 *	TEXT	a paragraph for people, wrapped; not in JSON
 *	PRE	preformatted lines for people; not in JSON
 *	SERIES	numbers over time (or over x): JSON arrays, one line of bars on screen
 *	CHART	a picture (page/chart.h): HTML only
 *	FILE	a download in HTML: label is its name, key its MIME type
 *
 * Nodes belong to the page and die with it (page_free). Text is copied and may
 * be hostile: writers escape and strip control bytes.
 */
#ifndef PAGE_PAGE_H
#define PAGE_PAGE_H

#include "base/nsec.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum node_kind { NODE_GROUP, NODE_LIST, NODE_TABLE, NODE_ROW, NODE_CELL, NODE_TEXT, NODE_PRE, NODE_SERIES, NODE_CHART, NODE_FILE };

enum unit {
	UNIT_NONE,	/* a plain number */
	UNIT_COUNT,
	UNIT_SECONDS,	/* JSON: seconds as a number */
	UNIT_BYTES,
	UNIT_BYTES_S,	/* bytes per second */
	UNIT_SHARE,	/* 0..1; on screen percent */
	UNIT_POINTS,	/* difference of shares, 0.12 = 12 points */
	UNIT_RATIO,	/* on screen x0.04 */
	UNIT_PER_S,
};

enum value_kind {
	VALUE_NULL,	/* unknown; JSON null, on screen "-" */
	VALUE_NUMBER,
	VALUE_AT_LEAST,	/* a lower bound; on screen ">=8.8 s"; JSON see CELL_BOUND */
	VALUE_TEXT,
	VALUE_BOOL,
};

struct value {
	enum value_kind kind;
	enum unit unit;
	double x;
	const char *text;
	bool b;
};

/* how and where a node shows */
#define NODE_SCREEN_ONLY	(1u << 0)	/* not in JSON */
#define NODE_JSON_ONLY		(1u << 1)	/* not on screen */
#define NODE_BOUND		(1u << 2)	/* CELL: JSON {"seconds": x|null, "at_least": y|null} */
#define NODE_RIGHT		(1u << 3)	/* column: right-aligned */
#define NODE_WARN		(1u << 4)	/* says something the reader must not miss; never by colour alone */
#define NODE_GOOD		(1u << 5)	/* proven better */
#define NODE_BAD		(1u << 6)	/* proven worse */
#define NODE_HTML_ONLY		(1u << 7)	/* too long for the screen: in HTML and JSON */
#define NODE_LOUD		(1u << 8)	/* headline */
#define NODE_DETAIL		(1u << 9)	/* on screen only with --verbose */
#define NODE_INLINE		(1u << 10)	/* GROUP: on screen "label value, label value" on one line */

struct chart;

struct node {
	enum node_kind kind;
	unsigned flags;
	char *key, *label;
	struct value v;			/* CELL, TEXT and PRE (text) */
	struct node **kids;
	size_t nkids;
	/* TABLE: its columns as cells with key, label and flags, in order */
	struct node **cols;
	size_t ncols;
	/* SERIES */
	double *x, *y;
	size_t n;
	enum unit unit_x, unit_y;
	struct chart *chart;		/* CHART */
	char *id;			/* anchor in HTML; NULL: none */
};

struct page {
	char *schema;			/* "stallmark.show/1" */
	struct node *root;		/* a GROUP */
};

struct page *page_new(const char *schema);
void page_free(struct page *p);

struct node *page_group(struct node *parent, const char *key, const char *label);
struct node *page_list(struct node *parent, const char *key, const char *label);
struct node *page_table(struct node *parent, const char *key, const char *label);
void page_column(struct node *table, const char *key, const char *label, unsigned flags);
struct node *page_row(struct node *table);

struct node *page_cell(struct node *parent, const char *key, const char *label, struct value v);
struct node *page_text(struct node *parent, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
struct node *page_pre(struct node *parent, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Copies n points; y may hold NAN for "unknown" (JSON null). */
struct node *page_series(struct node *parent, const char *key, const char *label, const double *x, enum unit ux,
			 const double *y, enum unit uy, size_t n);
struct node *page_file(struct node *parent, const char *name, const char *mime, const char *content);
/* Moves all of from's nodes under parent; from keeps its schema only and is freed. */
void page_adopt(struct node *parent, struct page *from);
struct node *page_flag(struct node *n, unsigned flags);	/* returns n */
void page_anchor(struct node *n, const char *fmt, ...) __attribute__((format(printf, 2, 3)));	/* letters, digits, dashes */

static inline struct value val_null(enum unit u) { return (struct value){ .kind = VALUE_NULL, .unit = u }; }
static inline struct value val(double x, enum unit u) { return (struct value){ .kind = VALUE_NUMBER, .unit = u, .x = x }; }
static inline struct value val_at_least(double x, enum unit u) { return (struct value){ .kind = VALUE_AT_LEAST, .unit = u, .x = x }; }
static inline struct value val_nsec(nsec_t t) { return val((double)t / 1e9, UNIT_SECONDS); }
static inline struct value val_text(const char *s) { return (struct value){ .kind = s ? VALUE_TEXT : VALUE_NULL, .text = s }; }
static inline struct value val_bool(bool b) { return (struct value){ .kind = VALUE_BOOL, .b = b }; }

/* The child with that key, or NULL; page_find takes a path "probes/0/worst". */
struct node *page_child(const struct node *n, const char *key);
struct node *page_find(const struct page *p, const char *path);

#define VALUE_STR 40
/* As people read it: "0.2 ms", "43%", "x0.04", ">=8.8 s", "112 MB/s", "-". Returns buf. */
const char *value_str(const struct value *v, char buf[VALUE_STR]);

#endif

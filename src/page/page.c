/* SPDX-License-Identifier: MIT */
#include "page/page.h"
#include "base/mem.h"
#include "base/units.h"
#include "page/chart.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct node *node_new(struct node *parent, enum node_kind kind, const char *key, const char *label)
{
	struct node *n = mem_alloc(sizeof(*n));

	n->kind = kind;
	n->key = mem_dup(key);
	n->label = mem_dup(label);
	if (parent) {
		parent->kids = mem_realloc(parent->kids, (parent->nkids + 1) * sizeof(*parent->kids));
		parent->kids[parent->nkids++] = n;
	}
	return n;
}

static void node_free(struct node *n)
{
	for (size_t i = 0; i < n->nkids; i++)
		node_free(n->kids[i]);
	for (size_t i = 0; i < n->ncols; i++)
		node_free(n->cols[i]);
	free(n->kids);
	free(n->cols);
	free(n->key);
	free(n->label);
	free((char *)n->v.text);
	free(n->x);
	free(n->y);
	free(n->id);
	chart_free(n->chart);
	free(n);
}

struct page *page_new(const char *schema)
{
	struct page *p = mem_alloc(sizeof(*p));

	p->schema = mem_dup(schema);
	p->root = node_new(NULL, NODE_GROUP, NULL, NULL);
	return p;
}

void page_free(struct page *p)
{
	if (!p)
		return;
	node_free(p->root);
	free(p->schema);
	free(p);
}

struct node *page_group(struct node *parent, const char *key, const char *label)
{
	return node_new(parent, NODE_GROUP, key, label);
}

struct node *page_list(struct node *parent, const char *key, const char *label)
{
	return node_new(parent, NODE_LIST, key, label);
}

struct node *page_table(struct node *parent, const char *key, const char *label)
{
	return node_new(parent, NODE_TABLE, key, label);
}

void page_column(struct node *table, const char *key, const char *label, unsigned flags)
{
	struct node *c = node_new(NULL, NODE_CELL, key, label);

	assert(table->kind == NODE_TABLE);
	c->flags = flags;
	table->cols = mem_realloc(table->cols, (table->ncols + 1) * sizeof(*table->cols));
	table->cols[table->ncols++] = c;
}

struct node *page_row(struct node *table)
{
	return node_new(table, NODE_ROW, NULL, NULL);
}

struct node *page_cell(struct node *parent, const char *key, const char *label, struct value v)
{
	struct node *n = node_new(parent, NODE_CELL, key, label);

	n->v = v;
	n->v.text = mem_dup(v.text);
	return n;
}

static struct node *text_node(struct node *parent, enum node_kind kind, const char *fmt, va_list ap)
{
	struct node *n = node_new(parent, kind, NULL, NULL);
	char *s;

	if (vasprintf(&s, fmt, ap) < 0)
		abort();
	n->v = (struct value){ .kind = VALUE_TEXT, .text = s };
	return n;
}

struct node *page_text(struct node *parent, const char *fmt, ...)
{
	struct node *n;
	va_list ap;

	va_start(ap, fmt);
	n = text_node(parent, NODE_TEXT, fmt, ap);
	va_end(ap);
	return n;
}

struct node *page_pre(struct node *parent, const char *fmt, ...)
{
	struct node *n;
	va_list ap;

	va_start(ap, fmt);
	n = text_node(parent, NODE_PRE, fmt, ap);
	va_end(ap);
	return n;
}

struct node *page_series(struct node *parent, const char *key, const char *label, const double *x, enum unit ux,
			 const double *y, enum unit uy, size_t n)
{
	struct node *s = node_new(parent, NODE_SERIES, key, label);

	s->x = mem_array(n, sizeof(*x));
	s->y = mem_array(n, sizeof(*y));
	if (n) {
		memcpy(s->x, x, n * sizeof(*x));
		memcpy(s->y, y, n * sizeof(*y));
	}
	s->n = n;
	s->unit_x = ux;
	s->unit_y = uy;
	return s;
}

struct chart *page_chart(struct node *parent, const char *label, enum chart_kind kind, const char *group)
{
	struct node *n = node_new(parent, NODE_CHART, NULL, label);

	n->chart = mem_alloc(sizeof(*n->chart));
	n->chart->kind = kind;
	n->chart->group = mem_dup(group);
	return n->chart;
}

struct node *page_file(struct node *parent, const char *name, const char *mime, const char *content)
{
	struct node *n = node_new(parent, NODE_FILE, mime, name);

	n->v = (struct value){ .kind = VALUE_TEXT, .text = mem_dup(content) };
	return n;
}

void page_adopt(struct node *parent, struct page *from)
{
	struct node *root = from->root;

	parent->kids = mem_realloc(parent->kids, (parent->nkids + root->nkids) * sizeof(*parent->kids));
	for (size_t i = 0; i < root->nkids; i++)
		parent->kids[parent->nkids++] = root->kids[i];
	root->nkids = 0;
	page_free(from);
}

void page_anchor(struct node *n, const char *fmt, ...)
{
	va_list ap;

	free(n->id);
	va_start(ap, fmt);
	if (vasprintf(&n->id, fmt, ap) < 0)
		abort();
	va_end(ap);
}

struct node *page_flag(struct node *n, unsigned flags)
{
	n->flags |= flags;
	return n;
}

struct node *page_child(const struct node *n, const char *key)
{
	for (size_t i = 0; n && i < n->nkids; i++)
		if (n->kids[i]->key && !strcmp(n->kids[i]->key, key))
			return n->kids[i];
	return NULL;
}

struct node *page_find(const struct page *p, const char *path)
{
	struct node *n = p->root;

	while (n && *path) {
		size_t len = strcspn(path, "/");
		char part[128];
		char *end;
		unsigned long i;

		if (len >= sizeof(part))
			return NULL;
		memcpy(part, path, len);
		part[len] = 0;
		path += len + (path[len] == '/');
		i = strtoul(part, &end, 10);
		if (*part && !*end)
			n = i < n->nkids ? n->kids[i] : NULL;
		else
			n = page_child(n, part);
	}
	return n;
}

static void number_str(double x, enum unit unit, char *buf, size_t size)
{
	char tmp[UNITS_TEXT];

	switch (unit) {
	case UNIT_SECONDS:
		snprintf(buf, size, "%s", nsec_text(nsec_from_seconds(x), tmp));
		break;
	case UNIT_BYTES:
		snprintf(buf, size, "%s", units_size_text(x < 0 ? 0 : (uint64_t)x, tmp));
		break;
	case UNIT_BYTES_S:
		snprintf(buf, size, "%s", units_rate_text(x, tmp));
		break;
	case UNIT_SHARE:
		if (x > 0 && x < 0.0005)
			snprintf(buf, size, "<0.1%%");
		else if (x < 0.0995 && x != 0)
			snprintf(buf, size, "%.1f%%", x * 100);
		else
			snprintf(buf, size, "%.0f%%", x * 100);
		break;
	case UNIT_POINTS:
		snprintf(buf, size, "%+.0f points", x * 100);
		break;
	case UNIT_RATIO:
		if (x < 0.995)
			snprintf(buf, size, "x%.2g", x);
		else if (x < 9.95)
			snprintf(buf, size, "x%.2f", x);
		else
			snprintf(buf, size, "x%.0f", x);
		break;
	case UNIT_PER_S:
		snprintf(buf, size, fabs(x) < 9.95 ? "%.2f/s" : "%.0f/s", x);
		break;
	case UNIT_COUNT:
		snprintf(buf, size, "%.0f", x);
		break;
	case UNIT_NONE:
		snprintf(buf, size, "%.4g", x);
		break;
	}
}

const char *value_str(const struct value *v, char buf[VALUE_STR])
{
	switch (v->kind) {
	case VALUE_NULL:
		snprintf(buf, VALUE_STR, "-");
		break;
	case VALUE_NUMBER:
		if (!isfinite(v->x))
			snprintf(buf, VALUE_STR, "-");
		else
			number_str(v->x, v->unit, buf, VALUE_STR);
		break;
	case VALUE_AT_LEAST:
		snprintf(buf, VALUE_STR, ">=");
		number_str(v->x, v->unit, buf + 2, VALUE_STR - 2);
		break;
	case VALUE_TEXT:
		snprintf(buf, VALUE_STR, "%s", v->text);
		break;
	case VALUE_BOOL:
		snprintf(buf, VALUE_STR, "%s", v->b ? "yes" : "no");
		break;
	}
	return buf;
}

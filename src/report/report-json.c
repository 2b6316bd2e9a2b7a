/* SPDX-License-Identifier: MIT */
/*
 * The same page as one JSON document, "schema" first. A bound is an object
 * {"seconds": x|null, "at_least": y|null}; unknown is null.
 */
#include "report/report.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* jansson refuses broken UTF-8: what is not valid is shown as \xNN, as on screen. */
static json_t *json_text(const char *s)
{
	json_t *j = json_string(s);

	if (!j) {
		cleanup_strbuf struct strbuf b = STRBUF_INIT;

		report_add_clean(&b, s);
		j = json_string(strbuf_str(&b));
	}
	return j;
}

static json_t *number(double x, enum unit unit)
{
	if (!isfinite(x))
		return json_null();
	if ((unit == UNIT_COUNT || unit == UNIT_BYTES) && fabs(x) < 9e15 && x == floor(x))
		return json_integer((json_int_t)x);
	return json_real(x);
}

static json_t *cell(const struct node *n)
{
	const struct value *v = &n->v;

	if ((n->flags & NODE_BOUND) || v->kind == VALUE_AT_LEAST) {
		json_t *o = json_object();

		json_object_set_new(o, v->unit == UNIT_SECONDS ? "seconds" : "value",
				    v->kind == VALUE_NUMBER ? number(v->x, v->unit) : json_null());
		json_object_set_new(o, "at_least", v->kind == VALUE_AT_LEAST ? number(v->x, v->unit) : json_null());
		return o;
	}
	switch (v->kind) {
	case VALUE_NUMBER:
		return number(v->x, v->unit);
	case VALUE_TEXT:
		return json_text(v->text);
	case VALUE_BOOL:
		return json_boolean(v->b);
	default:
		return json_null();
	}
}

static json_t *doubles(const double *x, size_t n, enum unit unit)
{
	json_t *a = json_array();

	for (size_t i = 0; i < n; i++)
		json_array_append_new(a, number(x[i], unit));
	return a;
}

static void children(const struct node *g, json_t *into);

static json_t *node(const struct node *n)
{
	json_t *j;

	switch (n->kind) {
	case NODE_CELL:
		return cell(n);
	case NODE_LIST:
	case NODE_TABLE:
		j = json_array();
		for (size_t i = 0; i < n->nkids; i++) {
			const struct node *k = n->kids[i];

			if (!(k->flags & NODE_SCREEN_ONLY) && k->kind != NODE_TEXT && k->kind != NODE_PRE &&
			    k->kind != NODE_CHART && k->kind != NODE_FILE)
				json_array_append_new(j, node(k));
		}
		return j;
	case NODE_SERIES:
		j = json_object();
		json_object_set_new(j, "x", doubles(n->x, n->n, n->unit_x));
		json_object_set_new(j, "y", doubles(n->y, n->n, n->unit_y));
		return j;
	default:
		j = json_object();
		children(n, j);
		return j;
	}
}

static void children(const struct node *g, json_t *into)
{
	for (size_t i = 0; i < g->nkids; i++) {
		const struct node *n = g->kids[i];

		if ((n->flags & NODE_SCREEN_ONLY) || n->kind == NODE_TEXT || n->kind == NODE_PRE ||
		    n->kind == NODE_CHART || n->kind == NODE_FILE)
			continue;
		if (n->key)
			json_object_set_new(into, n->key, node(n));
		else if (n->kind == NODE_GROUP)
			children(n, into);	/* a group for people only: its keys belong to the parent */
	}
}

static void write_json(const struct page *p, const struct report_conf *conf, struct strbuf *out)
{
	json_t *doc = json_object();
	char *s;

	json_object_set_new(doc, "schema", json_string(p->schema));
	children(p->root, doc);
	s = json_dumps(doc, JSON_INDENT(1) | JSON_REAL_PRECISION(12));
	strbuf_adds(out, s ? s : "{}");
	strbuf_addc(out, '\n');
	free(s);
	json_decref(doc);
}

const struct report_ops report_json = {
	.plug = { .name = "json", .about = "one JSON document" },
	.suffix = "json",
	.write = write_json,
};

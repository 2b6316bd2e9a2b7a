/* SPDX-License-Identifier: MIT */
/*
 * One self-contained HTML file: opens from file:// without network, readable
 * without JavaScript, nothing from a record can run (content security policy
 * with hashes, every string escaped).
 */
#include "report/html.h"
#include "report/report.h"

#include <stdlib.h>
#include <string.h>

void html_add(struct strbuf *out, const char *s)
{
	cleanup_strbuf struct strbuf clean = STRBUF_INIT;

	report_add_clean(&clean, s);
	for (const char *c = strbuf_str(&clean); *c; c++) {
		switch (*c) {
		case '&':
			strbuf_adds(out, "&amp;");
			break;
		case '<':
			strbuf_adds(out, "&lt;");
			break;
		case '>':
			strbuf_adds(out, "&gt;");
			break;
		case '"':
			strbuf_adds(out, "&quot;");
			break;
		case '\'':
			strbuf_adds(out, "&#39;");
			break;
		default:
			strbuf_addc(out, *c);
		}
	}
}

void html_add_json(struct strbuf *out, const char *s)
{
	cleanup_strbuf struct strbuf clean = STRBUF_INIT;

	report_add_clean(&clean, s);
	strbuf_addc(out, '"');
	for (const char *c = strbuf_str(&clean); *c; c++) {
		if (strchr("<>&\"\\", *c))
			strbuf_addf(out, "\\u%04x", *c);
		else
			strbuf_addc(out, *c);
	}
	strbuf_addc(out, '"');
}

static const char *class_of(unsigned flags)
{
	if (flags & NODE_BAD)
		return "bad";
	if (flags & NODE_GOOD)
		return "good";
	if (flags & NODE_WARN)
		return "warn";
	if (flags & NODE_LOUD)
		return "loud";
	return NULL;
}

static void add_value(struct strbuf *out, const struct value *v)
{
	char buf[VALUE_STR];

	html_add(out, v->kind == VALUE_TEXT ? v->text : value_str(v, buf));
}

/* " class=... id=..." of a node. */
static void attributes(struct strbuf *out, const struct node *n, const char *class)
{
	if (class)
		strbuf_addf(out, " class=\"%s\"", class);
	if (n->id) {
		strbuf_adds(out, " id=\"");
		html_add(out, n->id);
		strbuf_adds(out, "\"");
	}
}

static void table(struct strbuf *out, const struct node *t)
{
	strbuf_adds(out, "<div class=\"wide\"><table><thead><tr>");
	for (size_t c = 0; c < t->ncols; c++) {
		if (t->cols[c]->flags & NODE_JSON_ONLY)
			continue;
		strbuf_addf(out, "<th scope=\"col\"%s>", t->cols[c]->flags & NODE_RIGHT ? " class=\"r\"" : "");
		html_add(out, t->cols[c]->label ? t->cols[c]->label : "");
		strbuf_adds(out, "</th>");
	}
	strbuf_adds(out, "</tr></thead><tbody>\n");
	for (size_t r = 0; r < t->nkids; r++) {
		const struct node *row = t->kids[r];

		if (row->kind != NODE_ROW || (row->flags & NODE_JSON_ONLY))
			continue;
		strbuf_adds(out, "<tr");
		attributes(out, row, class_of(row->flags));
		strbuf_adds(out, ">");
		for (size_t c = 0; c < t->ncols; c++) {
			const struct node *n = t->cols[c]->key ? page_child(row, t->cols[c]->key) : NULL;

			if (t->cols[c]->flags & NODE_JSON_ONLY)
				continue;
			strbuf_addf(out, "<td%s>", t->cols[c]->flags & NODE_RIGHT ? " class=\"r\"" : "");
			if (n)
				add_value(out, &n->v);
			strbuf_adds(out, "</td>");
		}
		strbuf_adds(out, "</tr>\n");
		for (size_t k = 0; k < row->nkids; k++) {
			if (row->kids[k]->kind != NODE_TEXT)
				continue;
			strbuf_addf(out, "<tr><td colspan=\"%zu\">", t->ncols);
			add_value(out, &row->kids[k]->v);
			strbuf_adds(out, "</td></tr>\n");
		}
	}
	strbuf_adds(out, "</tbody></table></div>\n");
}

/* The content itself is in the link: the file needs no other file beside it. */
static void download(struct strbuf *out, const struct node *n)
{
	static const char b64[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const unsigned char *s = (const unsigned char *)n->v.text;
	size_t len = strlen(n->v.text);

	strbuf_adds(out, "<p><a download=\"");
	html_add(out, n->label);
	strbuf_addf(out, "\" href=\"data:%s;base64,", n->key);
	for (size_t i = 0; i < len; i += 3) {
		unsigned x = (unsigned)s[i] << 16 | (i + 1 < len ? (unsigned)s[i + 1] << 8 : 0) | (i + 2 < len ? s[i + 2] : 0);

		strbuf_addc(out, b64[x >> 18 & 63]);
		strbuf_addc(out, b64[x >> 12 & 63]);
		strbuf_addc(out, i + 1 < len ? b64[x >> 6 & 63] : '=');
		strbuf_addc(out, i + 2 < len ? b64[x & 63] : '=');
	}
	strbuf_adds(out, "\">");
	html_add(out, n->label);
	strbuf_adds(out, "</a></p>\n");
}

static void section_id(struct strbuf *out, const char *label)
{
	strbuf_adds(out, "s-");
	for (const char *c = label; *c; c++) {
		if ((*c >= 'a' && *c <= 'z') || (*c >= '0' && *c <= '9'))
			strbuf_addc(out, *c);
		else if (*c >= 'A' && *c <= 'Z')
			strbuf_addc(out, (char)(*c | 0x20));
		else
			strbuf_addc(out, '-');
	}
}

static void children(struct strbuf *out, const struct node *g, int depth)
{
	bool in_list = false;

	for (size_t i = 0; i < g->nkids; i++) {
		const struct node *n = g->kids[i];
		bool folded = n->flags & NODE_DETAIL;
		const char *class = class_of(n->flags);

		if (n->flags & NODE_JSON_ONLY)
			continue;
		if (in_list && n->kind != NODE_CELL) {
			strbuf_adds(out, "</dl>\n");
			in_list = false;
		}
		if ((n->kind == NODE_TABLE || n->kind == NODE_LIST || n->kind == NODE_GROUP) && !n->nkids)
			continue;
		if (n->label && (n->kind == NODE_GROUP || n->kind == NODE_LIST || n->kind == NODE_TABLE)) {
			strbuf_addf(out, "<h%d", depth);
			if (depth == 2) {
				strbuf_adds(out, " id=\"");
				section_id(out, n->label);
				strbuf_adds(out, "\"");
			} else {
				attributes(out, n, NULL);
			}
			strbuf_adds(out, ">");
			html_add(out, n->label);
			strbuf_addf(out, "</h%d>\n", depth);
		}
		if (folded && n->kind != NODE_CELL)
			strbuf_adds(out, "<details><summary>details</summary>");
		switch (n->kind) {
		case NODE_GROUP:
		case NODE_LIST:
			children(out, n, n->label && depth < 4 ? depth + 1 : depth);
			break;
		case NODE_TABLE:
			table(out, n);
			break;
		case NODE_CELL:
			if (!n->label)
				break;
			if (!in_list)
				strbuf_adds(out, "<dl>\n");
			in_list = true;
			strbuf_adds(out, "<dt>");
			html_add(out, n->label);
			strbuf_adds(out, "</dt><dd");
			attributes(out, n, class);
			strbuf_adds(out, ">");
			add_value(out, &n->v);
			strbuf_adds(out, "</dd>\n");
			break;
		case NODE_TEXT:
			strbuf_adds(out, "<p");
			attributes(out, n, class);
			strbuf_adds(out, ">");
			add_value(out, &n->v);
			strbuf_adds(out, "</p>\n");
			break;
		case NODE_PRE: {
			const char *s = n->v.text;

			strbuf_adds(out, "<pre tabindex=\"0\"");
			attributes(out, n, NULL);
			strbuf_adds(out, ">");
			while (*s) {
				size_t len = strcspn(s, "\n");
				cleanup_strbuf struct strbuf line = STRBUF_INIT;

				strbuf_add(&line, s, len);
				html_add(out, strbuf_str(&line));
				strbuf_addc(out, '\n');
				s += len + (s[len] == '\n');
			}
			strbuf_adds(out, "</pre>\n");
			break;
		}
		case NODE_CHART:
			strbuf_adds(out, "<figure");
			attributes(out, n, NULL);
			strbuf_adds(out, "><figcaption>");
			html_add(out, n->label ? n->label : "");
			strbuf_adds(out, "</figcaption>");
			svg_chart(out, n->chart);
			strbuf_adds(out, "</figure>\n");
			break;
		case NODE_FILE:
			download(out, n);
			break;
		case NODE_SERIES:
		case NODE_ROW:
			break;
		}
		if (folded && n->kind != NODE_CELL)
			strbuf_adds(out, "</details>\n");
	}
	if (in_list)
		strbuf_adds(out, "</dl>\n");
}

/* The first sentence that is loud is the title. */
static const char *title_of(const struct node *g)
{
	for (size_t i = 0; i < g->nkids; i++) {
		const char *t;

		if (g->kids[i]->kind == NODE_TEXT && (g->kids[i]->flags & NODE_LOUD))
			return g->kids[i]->v.text;
		t = g->kids[i]->kind == NODE_GROUP ? title_of(g->kids[i]) : NULL;
		if (t)
			return t;
	}
	return NULL;
}

static void write_html(const struct page *p, const struct report_conf *conf, struct strbuf *out)
{
	const char *title = title_of(p->root);

	strbuf_addf(out, "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
			 "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src '%s'; script-src '%s'; "
			 "img-src data:; base-uri 'none'; form-action 'none'\">\n"
			 "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<link rel=\"icon\" href=\"data:,\">\n<title>stallmark: ",
		    style_hash, script_hash);
	html_add(out, title ? title : p->schema);
	strbuf_addf(out, "</title>\n<style>%s</style></head><body>\n<header><h1>stallmark</h1></header>\n<nav aria-label=\"sections\">",
		    style_text);
	for (size_t i = 0; i < p->root->nkids; i++) {
		const struct node *n = p->root->kids[i];

		if (!n->label || !n->nkids || (n->flags & NODE_JSON_ONLY) ||
		    (n->kind != NODE_GROUP && n->kind != NODE_TABLE && n->kind != NODE_LIST))
			continue;
		strbuf_adds(out, "<a href=\"#");
		section_id(out, n->label);
		strbuf_adds(out, "\">");
		html_add(out, n->label);
		strbuf_adds(out, "</a>");
	}
	strbuf_adds(out, "</nav>\n<main>\n");
	children(out, p->root, 2);
	strbuf_addf(out, "</main>\n<footer>Made by stallmark. Everything on this page is in this file; nothing is loaded from elsewhere.</footer>\n"
			 "<script>%s</script>\n</body></html>\n", script_text);
}

const struct report_ops report_html = {
	.plug = { .name = "html", .about = "one self-contained HTML file" },
	.suffix = "html",
	.write = write_html,
};

/* SPDX-License-Identifier: MIT */
/* Markdown for issue trackers and wikis: headings, paragraphs, pipe tables. */
#include "report/report.h"

#include <string.h>

/* Cleaned text with what Markdown or HTML would act on escaped. */
static void add_escaped(struct strbuf *out, const char *s)
{
	cleanup_strbuf struct strbuf b = STRBUF_INIT;

	report_add_clean(&b, s);
	for (const char *c = strbuf_str(&b); *c; c++) {
		if (strchr("\\`*_[]<>|#", *c))
			strbuf_addc(out, '\\');
		strbuf_addc(out, *c);
	}
}

static void add_value(struct strbuf *out, const struct value *v)
{
	char buf[VALUE_STR];

	if (v->kind == VALUE_TEXT)
		add_escaped(out, v->text);
	else
		strbuf_adds(out, value_str(v, buf));
}

static bool hidden(const struct node *n, const struct report_conf *conf)
{
	return (n->flags & (NODE_JSON_ONLY | NODE_HTML_ONLY)) || ((n->flags & NODE_DETAIL) && !conf->verbose);
}

static void table(const struct node *t, const struct report_conf *conf, struct strbuf *out)
{
	strbuf_adds(out, "\n|");
	for (size_t c = 0; c < t->ncols; c++)
		if (!hidden(t->cols[c], conf))
			strbuf_addf(out, " %s |", t->cols[c]->label ? t->cols[c]->label : "");
	strbuf_adds(out, "\n|");
	for (size_t c = 0; c < t->ncols; c++)
		if (!hidden(t->cols[c], conf))
			strbuf_adds(out, t->cols[c]->flags & NODE_RIGHT ? "---:|" : "---|");
	strbuf_addc(out, '\n');
	for (size_t r = 0; r < t->nkids; r++) {
		if (t->kids[r]->kind != NODE_ROW || hidden(t->kids[r], conf))
			continue;
		strbuf_addc(out, '|');
		for (size_t c = 0; c < t->ncols; c++) {
			const struct node *n = t->cols[c]->key ? page_child(t->kids[r], t->cols[c]->key) : NULL;

			if (hidden(t->cols[c], conf))
				continue;
			strbuf_addc(out, ' ');
			if (n)
				add_value(out, &n->v);
			strbuf_adds(out, " |");
		}
		strbuf_addc(out, '\n');
	}
	strbuf_addc(out, '\n');
}

static void children(const struct node *g, const struct report_conf *conf, int depth, struct strbuf *out)
{
	for (size_t i = 0; i < g->nkids; i++) {
		const struct node *n = g->kids[i];

		if (hidden(n, conf) || ((n->kind == NODE_TABLE || n->kind == NODE_LIST) && !n->nkids))
			continue;
		if (n->label && (n->kind == NODE_GROUP || n->kind == NODE_LIST || n->kind == NODE_TABLE)) {
			strbuf_addc(out, '\n');
			strbuf_addn(out, '#', depth);
			strbuf_addc(out, ' ');
			add_escaped(out, n->label);
			strbuf_adds(out, "\n\n");
		}
		switch (n->kind) {
		case NODE_GROUP:
		case NODE_LIST:
			children(n, conf, depth < 5 ? depth + 1 : 5, out);
			break;
		case NODE_TABLE:
			table(n, conf, out);
			break;
		case NODE_CELL:
			if (!n->label)
				break;
			strbuf_adds(out, "- ");
			add_escaped(out, n->label);
			strbuf_adds(out, *n->label ? ": " : "");
			add_value(out, &n->v);
			strbuf_addc(out, '\n');
			break;
		case NODE_TEXT:
			strbuf_adds(out, n->flags & NODE_LOUD ? "\n**" : "\n");
			add_escaped(out, n->v.text);
			strbuf_adds(out, n->flags & NODE_LOUD ? "**\n" : "\n");
			break;
		case NODE_PRE: {
			const char *s = n->v.text;

			strbuf_addc(out, '\n');
			while (*s) {	/* indented code: no fence that hostile text could close */
				size_t len = strcspn(s, "\n");
				cleanup_strbuf struct strbuf line = STRBUF_INIT;

				strbuf_add(&line, s, len);
				strbuf_adds(out, "    ");
				report_add_clean(out, strbuf_str(&line));
				strbuf_addc(out, '\n');
				s += len + (s[len] == '\n');
			}
			strbuf_addc(out, '\n');
			break;
		}
		case NODE_ROW:
		case NODE_SERIES:
		case NODE_CHART:
		case NODE_FILE:
			break;
		}
	}
}

static void write_md(const struct page *p, const struct report_conf *conf, struct strbuf *out)
{
	children(p->root, conf, 2, out);
}

const struct report_ops report_md = {
	.plug = { .name = "md", .about = "Markdown" },
	.suffix = "md",
	.write = write_md,
};

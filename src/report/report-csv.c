/* SPDX-License-Identifier: MIT */
/* Every number of the page, one a line: path,value,at_least,unit. Paths are those of the JSON document. */
#include "report/report.h"

#include <math.h>
#include <string.h>

static const char *unit_name(enum unit u)
{
	switch (u) {
	case UNIT_SECONDS:
		return "s";
	case UNIT_BYTES:
		return "B";
	case UNIT_BYTES_S:
		return "B/s";
	case UNIT_PER_S:
		return "1/s";
	case UNIT_SHARE:
	case UNIT_POINTS:
	case UNIT_RATIO:
	case UNIT_COUNT:
	case UNIT_NONE:
		break;
	}
	return "1";
}

static void quoted(struct strbuf *out, const char *s)
{
	cleanup_strbuf struct strbuf b = STRBUF_INIT;

	report_add_clean(&b, s);
	/* a leading = + - @ would be run as a formula by spreadsheets */
	strbuf_adds(out, strchr("=+-@", *strbuf_str(&b)) && b.len ? "\"'" : "\"");
	for (const char *c = strbuf_str(&b); *c; c++) {
		if (*c == '"')
			strbuf_addc(out, '"');
		strbuf_addc(out, *c);
	}
	strbuf_addc(out, '"');
}

static void walk(const struct node *n, const char *path, struct strbuf *out)
{
	size_t index = 0;

	for (size_t i = 0; i < n->nkids; i++) {
		const struct node *k = n->kids[i];
		cleanup_strbuf struct strbuf at = STRBUF_INIT;
		bool array = n->kind == NODE_LIST || n->kind == NODE_TABLE;

		if ((k->flags & NODE_SCREEN_ONLY) || k->kind == NODE_TEXT || k->kind == NODE_PRE ||
		    k->kind == NODE_CHART || k->kind == NODE_FILE)
			continue;
		strbuf_adds(&at, path);
		if (array)
			strbuf_addf(&at, "%s%zu", at.len ? "/" : "", index++);
		else if (k->key)
			strbuf_addf(&at, "%s%s", at.len ? "/" : "", k->key);
		else if (k->kind != NODE_GROUP)
			continue;
		if (k->kind == NODE_SERIES) {
			for (size_t p = 0; p < k->n; p++)
				if (isfinite(k->y[p]))
					strbuf_addf(out, "%s/%.9g,%.12g,,%s\n", strbuf_str(&at), k->x[p], k->y[p],
						    unit_name(k->unit_y));
			continue;
		}
		if (k->kind != NODE_CELL) {
			walk(k, strbuf_str(&at), out);
			continue;
		}
		strbuf_addf(out, "%s,", strbuf_str(&at));
		switch (k->v.kind) {
		case VALUE_NUMBER:
			strbuf_addf(out, "%.12g,,%s\n", k->v.x, unit_name(k->v.unit));
			break;
		case VALUE_AT_LEAST:
			strbuf_addf(out, ",%.12g,%s\n", k->v.x, unit_name(k->v.unit));
			break;
		case VALUE_TEXT:
			quoted(out, k->v.text);
			strbuf_adds(out, ",,\n");
			break;
		case VALUE_BOOL:
			strbuf_addf(out, "%s,,\n", k->v.b ? "true" : "false");
			break;
		case VALUE_NULL:
			strbuf_adds(out, ",,\n");
			break;
		}
	}
}

static void write_csv(const struct page *p, const struct report_conf *conf, struct strbuf *out)
{
	strbuf_adds(out, "path,value,at_least,unit\n");
	walk(p->root, "", out);
}

const struct report_ops report_csv = {
	.plug = { .name = "csv", .about = "every number of the page, one a line" },
	.suffix = "csv",
	.write = write_csv,
};

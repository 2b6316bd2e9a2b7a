/* SPDX-License-Identifier: MIT */
#include "report/text.h"
#include "base/cleanup.h"
#include "base/mem.h"
#include "base/units.h"

#include <math.h>
#include <string.h>

struct layout {
	const struct report_conf *conf;
	struct strbuf *out;
	size_t width;
	bool blank;		/* the last line written was empty */
};

static bool hidden(const struct layout *l, const struct node *n)
{
	return (n->flags & (NODE_JSON_ONLY | NODE_HTML_ONLY)) || ((n->flags & NODE_DETAIL) && !l->conf->verbose);
}

size_t text_width(const char *s)
{
	size_t n = 0;

	for (; *s; s++)
		n += (*s & 0xc0) != 0x80;
	return n;
}

static const char *colour_of(const struct layout *l, unsigned flags)
{
	if (!l->conf->colour)
		return NULL;
	if (flags & NODE_BAD)
		return "\033[31m";
	if (flags & NODE_GOOD)
		return "\033[32m";
	if (flags & NODE_WARN)
		return "\033[33m";
	if (flags & NODE_LOUD)
		return "\033[1m";
	return NULL;
}

static void end_line(struct layout *l)
{
	while (l->out->len && l->out->s[l->out->len - 1] == ' ')
		l->out->s[--l->out->len] = 0;
	strbuf_addc(l->out, '\n');
	l->blank = false;
}

static void blank_line(struct layout *l)
{
	if (!l->blank && l->out->len)
		strbuf_addc(l->out, '\n');
	l->blank = true;
}

static void value_text(const struct value *v, struct strbuf *out)
{
	char buf[VALUE_STR];

	if (v->kind == VALUE_TEXT)
		report_add_clean(out, v->text);
	else
		strbuf_adds(out, value_str(v, buf));
}

/* Words of s from the cursor at `col`, wrapped; further lines begin at `indent`. Lines of s are kept. */
static void wrap(struct layout *l, const char *s, size_t indent, size_t col)
{
	while (*s) {
		cleanup_strbuf struct strbuf word = STRBUF_INIT;
		cleanup_free char *raw = mem_dupn(s, strcspn(s, " \n"));
		size_t w;

		report_add_clean(&word, raw);
		w = text_width(strbuf_str(&word));
		if (col > indent && col + w > l->width) {
			end_line(l);
			strbuf_addn(l->out, ' ', indent);
			col = indent;
		}
		strbuf_adds(l->out, strbuf_str(&word));
		col += w;
		s += strlen(raw);
		if (*s == '\n') {
			end_line(l);
			strbuf_addn(l->out, ' ', indent);
			col = indent;
			s++;
		} else {
			for (; *s == ' '; s++, col++)
				strbuf_addc(l->out, ' ');
		}
	}
	end_line(l);
}

static void text(struct layout *l, const struct node *n, size_t indent)
{
	const char *colour = colour_of(l, n->flags), *s = n->v.text;

	for (; *s == ' '; s++)		/* spaces at the front indent the whole paragraph */
		indent++;
	strbuf_addn(l->out, ' ', indent);
	if (colour)
		strbuf_adds(l->out, colour);
	if (n->flags & NODE_WARN) {
		strbuf_adds(l->out, "! ");
		indent += 2;
	}
	wrap(l, s, indent, indent);
	if (colour) {
		l->out->s[--l->out->len] = 0;
		strbuf_adds(l->out, "\033[0m\n");
	}
}

static void pre(struct layout *l, const struct node *n, size_t indent)
{
	const char *s = n->v.text;

	while (*s) {
		size_t len = strcspn(s, "\n");
		cleanup_free char *line = mem_dupn(s, len);

		strbuf_addn(l->out, ' ', indent);
		report_add_clean(l->out, line);
		end_line(l);
		s += len + (s[len] == '\n');
	}
}

/* A line of cells with labels in a column: "label    value". */
static void cell(struct layout *l, const struct node *n, size_t indent, size_t label_width)
{
	cleanup_strbuf struct strbuf v = STRBUF_INIT;
	const char *colour = colour_of(l, n->flags);
	size_t w = text_width(n->label);

	if (n->v.kind == VALUE_TEXT)
		strbuf_adds(&v, n->v.text);
	else
		value_text(&n->v, &v);
	strbuf_addn(l->out, ' ', indent);
	if (colour)
		strbuf_adds(l->out, colour);
	strbuf_adds(l->out, n->label);
	strbuf_addn(l->out, ' ', (w < label_width ? label_width - w : 0) + 2);
	wrap(l, strbuf_str(&v), indent + label_width + 2, indent + MAX(w, label_width) + 2);
	if (colour) {
		l->out->s[--l->out->len] = 0;
		strbuf_adds(l->out, "\033[0m\n");
	}
}

static void inline_group(struct layout *l, const struct node *g, size_t indent)
{
	cleanup_strbuf struct strbuf s = STRBUF_INIT;
	bool first = true;

	if (g->label)
		strbuf_addf(&s, "%s: ", g->label);
	for (size_t i = 0; i < g->nkids; i++) {
		const struct node *n = g->kids[i];

		if (hidden(l, n) || n->kind != NODE_CELL)
			continue;
		strbuf_adds(&s, first ? "" : ", ");
		first = false;
		if (n->label)
			strbuf_addf(&s, "%s%s", n->label, *n->label ? " " : "");
		if (n->v.kind == VALUE_TEXT)
			strbuf_adds(&s, n->v.text);
		else
			value_text(&n->v, &s);
	}
	strbuf_addn(l->out, ' ', indent);
	wrap(l, strbuf_str(&s), indent + 2, indent);
}

#define TABLE_COLS 24

static const struct node *table_cell(const struct node *row, const struct node *col, size_t c)
{
	const struct node *found = col->key ? page_child(row, col->key) : NULL;
	size_t i = 0;

	if (found || col->key)
		return found;
	for (size_t k = 0; k < row->nkids; k++)	/* columns without a key: by position among such cells */
		if (row->kids[k]->kind == NODE_CELL && !row->kids[k]->key && i++ == c)
			return row->kids[k];
	return NULL;
}

/* One table line. Cells wider than their column wrap below themselves. */
static void table_line(struct layout *l, char *const *cells, const size_t *width, const bool *right, size_t n,
		       size_t gap, size_t indent)
{
	const char *rest[TABLE_COLS];
	bool more = true, first = true;

	for (size_t c = 0; c < n; c++)
		rest[c] = cells[c];
	while (more) {
		more = false;
		strbuf_addn(l->out, ' ', indent);
		for (size_t c = 0; c < n; c++) {
			const char *s = rest[c];
			size_t bytes = strlen(s), w = text_width(s);

			if (w > width[c]) {		/* cut at the last space that fits, else hard */
				size_t cols = 0, space = 0, b = 0;

				while (cols < width[c]) {
					if (s[b] == ' ')
						space = b;
					b++;
					while ((s[b] & 0xc0) == 0x80)
						b++;
					cols++;
				}
				bytes = s[b] == ' ' ? b : space ? space : b;
				more = true;
			}
			rest[c] = s + bytes;
			while (*rest[c] == ' ')
				rest[c]++;
			w = 0;
			for (size_t b = 0; b < bytes; b++)
				w += (s[b] & 0xc0) != 0x80;
			if (right[c] && first)
				strbuf_addn(l->out, ' ', width[c] - w);
			strbuf_add(l->out, s, bytes);
			if (!(right[c] && first) && c + 1 < n)
				strbuf_addn(l->out, ' ', width[c] - w);
			if (c + 1 < n)
				strbuf_addn(l->out, ' ', gap);
		}
		end_line(l);
		first = false;
	}
}

static void table(struct layout *l, const struct node *t, size_t indent)
{
	const struct node *col[TABLE_COLS];
	size_t width[TABLE_COLS] = { 0 }, ncols = 0, total = 0, widest = 0, gap = 2;
	bool right[TABLE_COLS], header = false;
	char **grid;
	size_t rows = 0;

	for (size_t c = 0; c < t->ncols && ncols < TABLE_COLS; c++)
		if (!hidden(l, t->cols[c]))
			col[ncols++] = t->cols[c];
	if (!ncols)
		return;
	grid = mem_array((t->nkids + 1) * ncols, sizeof(*grid));
	for (size_t r = 0; r <= t->nkids; r++) {
		if (r && (t->kids[r - 1]->kind != NODE_ROW || hidden(l, t->kids[r - 1])))
			continue;
		rows++;
		for (size_t c = 0; c < ncols; c++) {
			struct strbuf s = STRBUF_INIT;
			const struct node *n = r ? table_cell(t->kids[r - 1], col[c], c) : NULL;

			if (!r) {
				strbuf_adds(&s, col[c]->label ? col[c]->label : "");
				header |= s.len > 0;
			} else if (n) {
				value_text(&n->v, &s);
			}
			right[c] = col[c]->flags & NODE_RIGHT;
			grid[r * ncols + c] = strbuf_detach(&s);
			width[c] = MAX(width[c], text_width(grid[r * ncols + c]));
		}
	}
	for (size_t c = 0; c < ncols; c++)
		total += width[c] + (c ? 2 : 0);
	if (total + indent > l->width) {	/* first the gaps give way, then the widest column, down to 8 */
		gap = 1;
		total -= ncols - 1;
	}
	while (total + indent > l->width) {
		for (size_t c = widest = 0; c < ncols; c++)
			if (width[c] > width[widest])
				widest = c;
		if (width[widest] <= 8)
			break;
		width[widest]--;
		total--;
	}
	for (size_t r = 0; r <= t->nkids; r++) {
		const char *colour = r ? colour_of(l, t->kids[r - 1]->flags) : NULL;

		if (!grid[r * ncols] || (!r && !header))
			continue;
		if (colour)
			strbuf_adds(l->out, colour);
		table_line(l, &grid[r * ncols], width, right, ncols, gap, indent);
		if (colour) {
			l->out->s[--l->out->len] = 0;
			strbuf_adds(l->out, "\033[0m\n");
		}
		for (size_t k = 0; r && k < t->kids[r - 1]->nkids; k++)
			if (t->kids[r - 1]->kids[k]->kind == NODE_TEXT && !hidden(l, t->kids[r - 1]->kids[k]))
				text(l, t->kids[r - 1]->kids[k], indent + 2);
	}
	for (size_t i = 0; i < (t->nkids + 1) * ncols; i++)
		free(grid[i]);
	free(grid);
}

/* A series as one line of bars; each column is the largest value of its part. */
static void series(struct layout *l, const struct node *n, size_t indent)
{
	static const char *const bars[2][9] = {
		{ " ", ".", ":", "-", "=", "+", "*", "%", "#" },
		{ " ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" },
	};
	size_t cols = l->width - indent - MIN(l->width / 2, text_width(n->label) + 14), i = 0;
	struct value top = { .kind = VALUE_NUMBER, .unit = n->unit_y };
	char buf[VALUE_STR];

	for (size_t k = 0; k < n->n; k++)
		if (isfinite(n->y[k]))
			top.x = MAX(top.x, n->y[k]);
	cols = MIN(cols, n->n);
	strbuf_addn(l->out, ' ', indent);
	strbuf_addf(l->out, "%s  ", n->label);
	for (size_t c = 0; c < cols; c++) {
		double best = 0;

		for (; i < (c + 1) * n->n / cols; i++)
			if (isfinite(n->y[i]))
				best = MAX(best, n->y[i]);
		strbuf_adds(l->out, bars[l->conf->utf8][top.x > 0 ? (int)ceil(best / top.x * 8) : 0]);
	}
	strbuf_addf(l->out, "  max %s", value_str(&top, buf));
	end_line(l);
}

static void children(struct layout *l, const struct node *g, size_t indent)
{
	size_t label_width = 0;

	for (size_t i = 0; i < g->nkids; i++)
		if (g->kids[i]->kind == NODE_CELL && g->kids[i]->label && !hidden(l, g->kids[i]))
			label_width = MAX(label_width, MIN(text_width(g->kids[i]->label), (size_t)28));
	for (size_t i = 0; i < g->nkids; i++) {
		const struct node *n = g->kids[i];
		bool heading = n->label && (n->kind == NODE_GROUP || n->kind == NODE_LIST || n->kind == NODE_TABLE) &&
			       !(n->flags & NODE_INLINE);

		if (hidden(l, n) || ((n->kind == NODE_TABLE || n->kind == NODE_LIST) && !n->nkids))
			continue;
		if (heading) {
			blank_line(l);
			strbuf_addn(l->out, ' ', indent);
			if (l->conf->colour)
				strbuf_adds(l->out, "\033[1m");
			report_add_clean(l->out, n->label);
			if (l->conf->colour)
				strbuf_adds(l->out, "\033[0m");
			end_line(l);
		} else if (n->kind == NODE_TABLE) {
			blank_line(l);
		}
		switch (n->kind) {
		case NODE_GROUP:
		case NODE_LIST:
			if (n->flags & NODE_INLINE)
				inline_group(l, n, indent);
			else
				children(l, n, indent + (heading ? 2 : 0));
			break;
		case NODE_TABLE:
			table(l, n, indent + 2);
			if (!heading)
				blank_line(l);
			break;
		case NODE_CELL:
			if (n->label)
				cell(l, n, indent, label_width);
			break;
		case NODE_TEXT:
			text(l, n, indent);
			break;
		case NODE_PRE:
			pre(l, n, indent);
			break;
		case NODE_SERIES:
			if (n->label && n->n)
				series(l, n, indent);
			break;
		case NODE_ROW:
		case NODE_CHART:
		case NODE_FILE:
			break;
		}
	}
}

void text_write(const struct page *p, const struct report_conf *conf, struct strbuf *out)
{
	struct layout l = { .conf = conf, .out = out, .width = conf->width ? conf->width : 78, .blank = true };

	children(&l, p->root, 0);
	while (out->len > 1 && out->s[out->len - 1] == '\n' && out->s[out->len - 2] == '\n')
		out->s[--out->len] = 0;
}

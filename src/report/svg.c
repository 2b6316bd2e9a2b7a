/* SPDX-License-Identifier: MIT */
/* Pictures as inline SVG: readable without a script, in mail and on paper. */
#include "report/html.h"
#include "base/mem.h"
#include "base/cleanup.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The outer picture; the plot inside has coordinates of its own so that a zoom only moves its viewBox. */
#define W	1000.0
#define LEFT	96.0
#define RIGHT	16.0
#define TOP	8.0
#define BOTTOM	44.0
#define PLOT	(W - LEFT - RIGHT)

static const char *unit_word(enum unit u)
{
	switch (u) {
	case UNIT_SECONDS:
		return "s";
	case UNIT_BYTES:
		return "B";
	case UNIT_BYTES_S:
		return "B/s";
	case UNIT_SHARE:
		return "%";
	default:
		return "";
	}
}

static void add_value(struct strbuf *out, double x, enum unit u)
{
	struct value v = val(x, u);
	char buf[VALUE_STR];

	html_add(out, value_str(&v, buf));
}

/* Ticks of an axis: powers of ten on a log axis, five round steps otherwise. */
static int ticks(const struct chart_axis *a, double *t, int max)
{
	double step, span = a->max - a->min;
	int n = 0;

	if (a->log) {
		int every = MAX(1, (int)ceil(log10(a->max / a->min) / 8));

		for (int e = (int)ceil(log10(a->min) - 1e-9); n < max && pow(10, e) <= a->max * 1.0001; e += every)
			t[n++] = pow(10, e);
		return n;
	}
	step = pow(10, floor(log10(span / 4)));
	if (span / step > 20)
		step *= 5;
	else if (span / step > 8)
		step *= 2;
	for (double v = ceil(a->min / step - 1e-9) * step; n < max && v <= a->max + step * 1e-6; v += step)
		t[n++] = fabs(v) < step * 1e-9 ? 0 : v;
	return n;
}

static double px(const struct chart *c, double x)
{
	return chart_place(&c->x, x) * 1000;
}

static double py(const struct chart *c, double y)
{
	return 1000 - chart_place(&c->y, y) * 1000;
}

static void frame(struct strbuf *out, const struct chart *c, double height)
{
	double t[24], plot = height - TOP - BOTTOM;
	int n = ticks(&c->y, t, 24);

	for (int i = 0; i < n; i++) {
		double y = TOP + plot * (1 - chart_place(&c->y, t[i]));

		strbuf_addf(out, "<line class=\"tick\" x1=\"%.0f\" x2=\"%.0f\" y1=\"%.1f\" y2=\"%.1f\"/>"
				 "<text x=\"%.0f\" y=\"%.1f\" text-anchor=\"end\">", LEFT, W - RIGHT, y, y, LEFT - 8, y + 4);
		add_value(out, t[i], c->y.unit);
		strbuf_adds(out, "</text>");
	}
	if (c->x.log) {
		n = ticks(&c->x, t, 24);
	} else {
		n = 6;		/* evenly spread, so that a zoom can relabel them */
		for (int i = 0; i < n; i++)
			t[i] = c->x.min + (c->x.max - c->x.min) * i / (n - 1);
	}
	for (int i = 0; i < n; i++) {
		double x = LEFT + PLOT * chart_place(&c->x, t[i]);

		strbuf_addf(out, "<text class=\"xt\" x=\"%.1f\" y=\"%.0f\" text-anchor=\"%s\">", x, height - BOTTOM + 18,
			    i == 0 ? "start" : i == n - 1 ? "end" : "middle");
		add_value(out, t[i], c->x.unit);
		strbuf_adds(out, "</text>");
	}
	strbuf_addf(out, "<text x=\"%.0f\" y=\"%.0f\" text-anchor=\"middle\">", LEFT + PLOT / 2, height - 8);
	html_add(out, c->x.label ? c->x.label : "");
	strbuf_adds(out, "</text>");
}

static void bands(struct strbuf *out, const struct chart *c)
{
	for (size_t i = 0; i < c->nbands; i++) {
		double a = px(c, c->bands[i].x0), b = px(c, c->bands[i].x1);

		strbuf_addf(out, "<rect class=\"b%u\" x=\"%.1f\" y=\"0\" width=\"%.1f\" height=\"1000\"><title>",
			    c->bands[i].shade & 3, a, fmax(0, b - a));
		html_add(out, c->bands[i].label ? c->bands[i].label : "");
		strbuf_adds(out, "</title></rect>");
	}
}

static void marks(struct strbuf *out, const struct chart *c)
{
	for (size_t i = 0; i < c->nmarks; i++) {
		const struct chart_mark *m = &c->marks[i];

		if (m->anchor) {
			strbuf_adds(out, "<a href=\"#");
			html_add(out, m->anchor);
			strbuf_adds(out, "\">");
		}
		strbuf_addf(out, "<ellipse class=\"mark\" cx=\"%.1f\" cy=\"%.1f\" rx=\"5\" ry=\"16\"><title>", px(c, m->x), py(c, m->y));
		html_add(out, m->label ? m->label : "");
		strbuf_adds(out, m->anchor ? "</title></ellipse></a>" : "</title></ellipse>");
	}
}

static void polyline(struct strbuf *out, const struct chart *c, const struct chart_line *l, unsigned colour)
{
	bool pen = false;

	if (l->limit)
		strbuf_adds(out, "<path class=\"limit\" d=\"");
	else
		strbuf_addf(out, "<path class=\"line l%u\" d=\"", colour % 6);
	for (size_t i = 0; i < l->n; i++) {
		if (!isfinite(l->y[i])) {
			pen = false;
			continue;
		}
		strbuf_addf(out, "%c%.1f %.1f", pen ? 'L' : 'M', px(c, l->x[i]), py(c, l->y[i]));
		pen = true;
	}
	strbuf_adds(out, "\"><title>");
	html_add(out, l->label ? l->label : "");
	strbuf_adds(out, "</title></path>");
}

static void dots(struct strbuf *out, const struct chart *c, const struct chart_line *l, unsigned colour)
{
	for (size_t i = 0; i < l->n; i++) {
		if (!isfinite(l->y[i]))
			continue;
		strbuf_addf(out, "<ellipse class=\"d%u\" cx=\"%.1f\" cy=\"%.1f\" rx=\"4\" ry=\"12\"><title>", colour % 6,
			    px(c, l->x[i]), py(c, l->y[i]));
		html_add(out, l->label ? l->label : "");
		strbuf_adds(out, " ");
		add_value(out, l->y[i], c->y.unit);
		strbuf_adds(out, "</title></ellipse>");
	}
}

static int by_count(const void *a, const void *b)
{
	unsigned x = *(const unsigned *)a, y = *(const unsigned *)b;

	return (x > y) - (x < y);
}

#define RANKS 5

/* Colour by rank among the filled cells: few waits stay visible beside many. One path a colour keeps the file small. */
static void heat(struct strbuf *out, const struct chart *c)
{
	size_t n = c->cols * c->rows, filled = 0;
	unsigned *sorted = mem_array(n, sizeof(*sorted)), top[RANKS];
	double w = 1000.0 / (double)c->cols, h = 1000.0 / (double)c->rows;

	for (size_t i = 0; i < n; i++)
		if (c->cell[i])
			sorted[filled++] = c->cell[i];
	qsort(sorted, filled, sizeof(*sorted), by_count);
	for (size_t k = 0; k < RANKS; k++)
		top[k] = filled ? sorted[(k + 1) * filled / RANKS ? (k + 1) * filled / RANKS - 1 : 0] : 0;
	for (size_t k = 0; k < RANKS; k++) {
		strbuf_addf(out, "<path class=\"q%zu\" d=\"", k + 2);
		for (size_t i = 0; i < n; i++)
			if (c->cell[i] && c->cell[i] <= top[k] && (!k || c->cell[i] > top[k - 1]))
				strbuf_addf(out, "M%.1f %.1fh%.1fv%.1fh-%.1fz", (double)(i % c->cols) * w,
					    1000 - (double)(i / c->cols + 1) * h, w + 0.3, h + 0.3, w + 0.3);
		strbuf_adds(out, "\"/>");
	}
	free(sorted);
}

/* The filled cells for hover: index, count, index, count ... */
static void heat_data(struct strbuf *out, const struct chart *c)
{
	bool first = true;

	strbuf_addf(out, ",\"cols\":%zu,\"rows\":%zu,\"y0\":%.9g,\"y1\":%.9g,\"cells\":[", c->cols, c->rows, c->y.min, c->y.max);
	for (size_t i = 0; i < c->cols * c->rows; i++) {
		if (!c->cell[i])
			continue;
		strbuf_addf(out, "%s%zu,%u", first ? "" : ",", i, c->cell[i]);
		first = false;
	}
	strbuf_adds(out, "]");
}

static void number(struct strbuf *out, double x)
{
	if (isfinite(x))
		strbuf_addf(out, "%.9g", x);
	else
		strbuf_adds(out, "null");
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* A limit that stands upright is no function of x: it is drawn apart. */
static bool upright(const struct chart_line *l)
{
	return l->limit && l->n == 2 && l->x[0] == l->x[1];
}

/* uPlot wants one x array: the union of all, with gaps as null. */
static void line_data(struct strbuf *out, const struct chart *c)
{
	size_t total = 0, n = 0;
	double *x;

	for (size_t i = 0; i < c->nlines; i++)
		total += c->lines[i].n;
	x = mem_array(total, sizeof(*x));
	for (size_t i = 0; i < c->nlines; i++)
		for (size_t k = 0; k < c->lines[i].n && !upright(&c->lines[i]); k++)
			x[n++] = c->lines[i].x[k];
	total = n;
	qsort(x, n, sizeof(*x), by_value);
	n = 0;
	for (size_t i = 0; i < total; i++)
		if (!n || x[i] != x[n - 1])
			x[n++] = x[i];
	strbuf_adds(out, ",\"data\":[[");
	for (size_t i = 0; i < n; i++) {
		strbuf_adds(out, i ? "," : "");
		number(out, x[i]);
	}
	strbuf_adds(out, "]");
	for (size_t i = 0; i < c->nlines; i++) {
		const struct chart_line *l = &c->lines[i];
		size_t k = 0;

		if (upright(l))
			continue;
		strbuf_adds(out, ",[");
		for (size_t j = 0; j < n; j++) {
			strbuf_adds(out, j ? "," : "");
			while (k < l->n && l->x[k] < x[j])
				k++;
			if (k < l->n && l->x[k] == x[j])
				number(out, l->y[k]);
			else if (k && k < l->n && isfinite(l->y[k - 1]) && isfinite(l->y[k]))	/* between two of its points */
				number(out, l->y[k - 1] + (l->y[k] - l->y[k - 1]) * (x[j] - l->x[k - 1]) / (l->x[k] - l->x[k - 1]));
			else
				strbuf_adds(out, "null");
		}
		strbuf_adds(out, "]");
	}
	strbuf_adds(out, "]");
	free(x);
}

static void data(struct strbuf *out, const struct chart *c)
{
	static const char *const kind[] = { "lines", "heat", "dots" };

	strbuf_addf(out, "<script type=\"application/json\">{\"kind\":\"%s\",\"group\":", kind[c->kind]);
	if (c->group)
		html_add_json(out, c->group);
	else
		strbuf_adds(out, "null");
	strbuf_adds(out, ",\"xlabel\":");
	html_add_json(out, c->x.label ? c->x.label : "");
	strbuf_addf(out, ",\"x0\":%.9g,\"x1\":%.9g,\"ux\":\"%s\",\"uy\":\"%s\",\"xlog\":%s,\"ylog\":%s,\"bands\":[", c->x.min, c->x.max,
		    unit_word(c->x.unit), unit_word(c->y.unit), c->x.log ? "true" : "false", c->y.log ? "true" : "false");
	for (size_t i = 0; i < c->nbands; i++)
		strbuf_addf(out, "%s{\"x0\":%.9g,\"x1\":%.9g,\"shade\":%u}", i ? "," : "", c->bands[i].x0, c->bands[i].x1, c->bands[i].shade);
	strbuf_adds(out, "],\"lines\":[");
	for (size_t i = 0, colour = 0, n = 0; i < c->nlines; i++) {
		if (upright(&c->lines[i]))
			continue;
		strbuf_adds(out, n++ ? ",{\"label\":" : "{\"label\":");
		html_add_json(out, c->lines[i].label ? c->lines[i].label : "");
		strbuf_addf(out, ",\"limit\":%s,\"colour\":%zu,\"n\":%zu}", c->lines[i].limit ? "true" : "false", colour, c->lines[i].n);
		colour += !c->lines[i].limit;
	}
	strbuf_adds(out, "],\"upright\":[");
	for (size_t i = 0, n = 0; i < c->nlines; i++)
		if (upright(&c->lines[i]))
			strbuf_addf(out, "%s%.9g", n++ ? "," : "", c->lines[i].x[0]);
	strbuf_adds(out, "]");
	if (c->kind == CHART_LINES)
		line_data(out, c);
	if (c->kind == CHART_HEAT)
		heat_data(out, c);
	strbuf_adds(out, "}</script>");
}

/* An axis must have two different ends before anything can be placed on it. */
static struct chart_axis usable(struct chart_axis a)
{
	if (a.log && a.min <= 0)
		a.min = a.max > 0 ? a.max / 1e6 : 1;
	if (!(a.max > a.min))
		a.max = a.log ? a.min * 10 : a.min + 1;
	return a;
}

void svg_chart(struct strbuf *out, const struct chart *given)
{
	struct chart c = *given;
	double height = c.kind == CHART_HEAT ? 300 : 260;
	size_t colour = 0, named = 0;

	c.x = usable(c.x);
	c.y = usable(c.y);
	for (size_t i = 0; i < c.nlines; i++)
		named += c.lines[i].label != NULL;
	if (named > 1 || (named && c.lines[0].limit)) {
		strbuf_adds(out, "<p class=\"legend\">");
		for (size_t i = 0; i < c.nlines; i++) {
			if (!c.lines[i].label)
				continue;
			if (c.lines[i].limit)
				strbuf_adds(out, "<span>- - ");
			else
				strbuf_addf(out, "<span><i class=\"sw s%zu\"></i>", colour++ % 6);
			html_add(out, c.lines[i].label);
			strbuf_adds(out, "</span>");
		}
		strbuf_adds(out, "</p>");
	}
	strbuf_addf(out, "<div class=\"wide\"><svg class=\"pic\" viewBox=\"0 0 %.0f %.0f\" role=\"img\"><title>", W, height);
	html_add(out, c.y.label ? c.y.label : "");
	strbuf_adds(out, "</title>");
	frame(out, &c, height);
	strbuf_addf(out, "<svg x=\"%.0f\" y=\"%.0f\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 1000 1000\" preserveAspectRatio=\"none\" overflow=\"hidden\">",
		    LEFT, TOP, PLOT, height - TOP - BOTTOM);
	bands(out, &c);
	if (c.kind == CHART_HEAT)
		heat(out, &c);
	colour = 0;
	for (size_t i = 0; i < c.nlines; i++) {
		if (c.kind == CHART_DOTS && !c.lines[i].limit)
			dots(out, &c, &c.lines[i], (unsigned)colour);
		else
			polyline(out, &c, &c.lines[i], (unsigned)colour);
		colour += !c.lines[i].limit;
	}
	marks(out, &c);
	strbuf_addf(out, "</svg><rect class=\"frame\" x=\"%.0f\" y=\"%.0f\" width=\"%.0f\" height=\"%.0f\"/></svg></div>", LEFT, TOP, PLOT,
		    height - TOP - BOTTOM);
	data(out, &c);
}

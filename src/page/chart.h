/* SPDX-License-Identifier: MIT */
/*
 * A picture as data: lines over time, a heat map, dots. Only the HTML writer
 * draws it; the numbers that matter are in tables and series as well, so other
 * writers lose nothing. All text and arrays are copied; the page owns all.
 *
 * Charts with the same `group` share their x axis: zooming one zooms all.
 */
#ifndef PAGE_CHART_H
#define PAGE_CHART_H

#include "page/page.h"

enum chart_kind { CHART_LINES, CHART_HEAT, CHART_DOTS };

struct chart_axis {
	char *label;
	enum unit unit;
	double min, max;		/* min == max: from the data */
	bool log;			/* values <= 0 are drawn at the lower edge */
};

struct chart_line {
	char *label;
	double *x, *y;			/* y NAN: a gap */
	size_t n;
	bool limit;			/* a threshold: dashed, no legend colour of its own */
};

struct chart_band {			/* part of the x axis: idle, load, recovery */
	double x0, x1;
	char *label;
	unsigned shade;			/* 0..3 */
};

struct chart_mark {			/* one point worth pointing at */
	double x, y;
	char *label, *anchor;		/* anchor: id of an element of the page, NULL: none */
};

struct chart {
	enum chart_kind kind;
	struct chart_axis x, y;
	char *group;
	struct chart_line *lines;
	size_t nlines;
	struct chart_band *bands;
	size_t nbands;
	struct chart_mark *marks;
	size_t nmarks;
	/* HEAT: cols x rows cells over the axes, counts; row 0 is the lowest */
	size_t cols, rows;
	unsigned *cell;
};

struct chart *page_chart(struct node *parent, const char *label, enum chart_kind kind, const char *group);
void chart_axis_x(struct chart *c, const char *label, enum unit unit, double min, double max, bool log);
void chart_axis_y(struct chart *c, const char *label, enum unit unit, double min, double max, bool log);
void chart_line(struct chart *c, const char *label, const double *x, const double *y, size_t n, bool limit);
void chart_band(struct chart *c, double x0, double x1, const char *label, unsigned shade);
void chart_mark(struct chart *c, double x, double y, const char *label, const char *anchor);
void chart_heat(struct chart *c, size_t cols, size_t rows);
/* Counts a point in its cell; outside the axes: the nearest edge cell. */
void chart_heat_add(struct chart *c, double x, double y);
void chart_free(struct chart *c);

/* Where v lies on the axis, 0..1, clipped. */
double chart_place(const struct chart_axis *a, double v);

#endif

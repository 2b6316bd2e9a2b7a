/* SPDX-License-Identifier: MIT */
#include "page/chart.h"
#include "base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define GROW(array, n) ((array) = mem_realloc((array), ((n) + 1) * sizeof(*(array))), &(array)[(n)++])

static void axis(struct chart_axis *a, const char *label, enum unit unit, double min, double max, bool log)
{
	free(a->label);
	*a = (struct chart_axis){ mem_dup(label), unit, min, max, log };
}

void chart_axis_x(struct chart *c, const char *label, enum unit unit, double min, double max, bool log)
{
	axis(&c->x, label, unit, min, max, log);
}

void chart_axis_y(struct chart *c, const char *label, enum unit unit, double min, double max, bool log)
{
	axis(&c->y, label, unit, min, max, log);
}

static double *copy(const double *p, size_t n)
{
	double *q = mem_array(n, sizeof(*q));

	if (n)
		memcpy(q, p, n * sizeof(*q));
	return q;
}

static void widen(struct chart_axis *a, const double *v, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (!isfinite(v[i]) || (a->log && v[i] <= 0))
			continue;
		if (a->min == a->max && a->min == 0) {
			a->min = a->log ? v[i] : fmin(0, v[i]);
			a->max = v[i];
		}
		a->min = fmin(a->min, v[i]);
		a->max = fmax(a->max, v[i]);
	}
}

void chart_line(struct chart *c, const char *label, const double *x, const double *y, size_t n, bool limit)
{
	struct chart_line *l = GROW(c->lines, c->nlines);

	*l = (struct chart_line){ mem_dup(label), copy(x, n), copy(y, n), n, limit };
	widen(&c->x, x, n);
	widen(&c->y, y, n);
}

void chart_band(struct chart *c, double x0, double x1, const char *label, unsigned shade)
{
	*GROW(c->bands, c->nbands) = (struct chart_band){ x0, x1, mem_dup(label), shade };
}

void chart_mark(struct chart *c, double x, double y, const char *label, const char *anchor)
{
	*GROW(c->marks, c->nmarks) = (struct chart_mark){ x, y, mem_dup(label), mem_dup(anchor) };
}

void chart_heat(struct chart *c, size_t cols, size_t rows)
{
	free(c->cell);
	c->cols = cols;
	c->rows = rows;
	c->cell = mem_array(cols * rows, sizeof(*c->cell));
}

double chart_place(const struct chart_axis *a, double v)
{
	double p;

	if (a->log)
		p = v <= 0 ? 0 : log(v / a->min) / log(a->max / a->min);
	else
		p = (v - a->min) / (a->max - a->min);
	return isnan(p) ? 0 : fmin(1, fmax(0, p));
}

void chart_heat_add(struct chart *c, double x, double y)
{
	size_t i = (size_t)(chart_place(&c->x, x) * (double)c->cols);
	size_t j = (size_t)(chart_place(&c->y, y) * (double)c->rows);

	i = i < c->cols ? i : c->cols - 1;
	j = j < c->rows ? j : c->rows - 1;
	c->cell[j * c->cols + i]++;
}

void chart_free(struct chart *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->nlines; i++) {
		free(c->lines[i].label);
		free(c->lines[i].x);
		free(c->lines[i].y);
	}
	for (size_t i = 0; i < c->nbands; i++)
		free(c->bands[i].label);
	for (size_t i = 0; i < c->nmarks; i++) {
		free(c->marks[i].label);
		free(c->marks[i].anchor);
	}
	free(c->lines);
	free(c->bands);
	free(c->marks);
	free(c->cell);
	free(c->group);
	free(c->x.label);
	free(c->y.label);
	free(c);
}

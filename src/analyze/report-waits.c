/* SPDX-License-Identifier: MIT */
/* Pictures made of waits: S(w) curves and the strips of the runs. */
#include "analyze/probes.h"
#include "analyze/report.h"
#include "base/mem.h"
#include "page/chart.h"
#include "stats/stuck.h"
#include "stats/summary.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define POINTS 121		/* 1 us to 24 h in 121 steps: eleven a decade */
#define LOG_LO 1e-6
#define LOG_HI 86400.0

static const struct probe_data *find(const struct probes *p, const char *name)
{
	for (size_t i = 0; i < p->n; i++)
		if (!strcmp(p->p[i].name, name))
			return &p->p[i];
	return NULL;
}

static size_t count(const struct probe_data *p)
{
	size_t n = 0;

	for (size_t i = 0; i < p->nruns; i++)
		n += p->measured[i].n;
	return n;
}

/* The curve between the shortest and the longest wait that occurred; outside it is flat. */
static void curve(struct chart *c, const struct probe_data *p, const char *label)
{
	double x[POINTS], y[POINTS];
	size_t n = 0;

	for (int i = 0; i < POINTS; i++) {
		double w = LOG_LO * pow(LOG_HI / LOG_LO, (double)i / (POINTS - 1));
		struct stuck s = { 0 };

		stuck_share_all(p->waits, p->nruns, nsec_from_seconds(w), &s);
		if (!s.known)
			continue;
		if (n && y[n - 1] == 0)
			break;
		x[n] = w;
		y[n] = s.share;
		if (n == 1 && y[0] == y[1]) {	/* still before the shortest wait: only the last such point matters */
			x[0] = x[1];
			continue;
		}
		n++;
	}
	chart_line(c, label, x, y, n, false);
}

int report_stuck(struct node *parent, const struct report_side *sides, size_t n, struct err *e)
{
	struct probes *p = mem_array(n, sizeof(*p));
	int err = 0;

	for (size_t s = 0; s < n && !err; s++)
		err = probes_load(sides[s].rec, &p[s], e);
	for (size_t i = 0; !err && i < p[0].n; i++) {
		const struct probe_data *a = &p[0].p[i];
		char title[160];
		struct chart *c;

		if (!count(a))
			continue;
		snprintf(title, sizeof(title), "%.60s: how likely a request at a random moment waits longer than w", a->name);
		c = page_chart(parent, title, CHART_LINES, NULL);
		chart_axis_x(c, "w", UNIT_SECONDS, 0, 0, true);
		chart_axis_y(c, "share of the time", UNIT_SHARE, 0, 1, false);
		for (size_t s = 0; s < n; s++) {
			const struct probe_data *q = find(&p[s], a->name);

			if (q && count(q))
				curve(c, q, n > 1 ? sides[s].name : q->name);
		}
		if (a->limit) {
			double x[2] = { nsec_seconds(a->limit), nsec_seconds(a->limit) }, y[2] = { 0, 1 };

			chart_line(c, "its limit", x, y, 2, true);
		}
	}
	for (size_t s = 0; s < n; s++)
		probes_done(&p[s]);
	free(p);
	return err;
}

int report_strips(struct node *parent, const struct report_side *sides, size_t n, struct err *e)
{
	int err = 0;

	for (size_t s = 0; s < n && !err; s++) {
		struct probes p = { 0 };

		err = probes_load(sides[s].rec, &p, e);
		for (size_t i = 0; !err && i < p.n; i++) {
			size_t runs = p.p[i].nruns, k = 0;
			double *x = mem_array(runs, sizeof(*x)), *usual = mem_array(runs, sizeof(*x)), *worst = mem_array(runs, sizeof(*x));

			for (size_t r = 0; r < runs; r++) {
				struct summary sum;

				if (!p.p[i].measured[r].n)
					continue;
				summary_of(&p.p[i].waits[r], 1, p.p[i].limit, &sum);
				x[k] = p.p[i].measured[r].run;
				usual[k] = sum.usual.known ? nsec_seconds(sum.usual.value) : NAN;
				worst[k++] = nsec_seconds(sum.worst);
			}
			if (k > 1) {
				char title[160];
				struct chart *c;

				snprintf(title, sizeof(title), "%s%s%.60s, run by run", sides[s].name, *sides[s].name ? ": " : "", p.p[i].name);
				c = page_chart(parent, title, CHART_DOTS, NULL);
				chart_axis_x(c, "run, in the order they were made", UNIT_COUNT, 0.5, (double)p.p[i].measured[runs - 1].run + 0.5, false);
				chart_axis_y(c, "wait", UNIT_SECONDS, 0, 0, true);
				chart_line(c, "usual", x, usual, k, false);
				chart_line(c, "worst", x, worst, k, false);
			}
			free(x);
			free(usual);
			free(worst);
		}
		probes_done(&p);
	}
	return err;
}

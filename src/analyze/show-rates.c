/* SPDX-License-Identifier: MIT */
/* How much a second: of probes whose series says what one action makes and how many are an iteration. */
#include "analyze/show.h"
#include "base/cleanup.h"
#include "stats/fsmark.h"

#include <stdlib.h>

struct stretch {			/* samples without a gap */
	VEC(nsec_t) start;
	VEC(nsec_t) end;
	uint64_t first, per_iteration;
	int run;
	nsec_t pause;
	struct fsmark sum;		/* files_per_s: added up, not yet the mean */
	double busy_s;			/* in all actions */
	size_t n;
};

static void flush(struct stretch *s)
{
	struct fsmark f = fsmark_rate(s->start.p, s->end.p, s->start.n, s->first, s->per_iteration, s->pause);

	s->start.n = s->end.n = 0;
	if (!f.iterations)
		return;
	if (!s->sum.iterations || f.slowest < s->sum.slowest)
		s->sum.slowest = f.slowest;
	if (!s->sum.iterations || f.quickest > s->sum.quickest)
		s->sum.quickest = f.quickest;
	s->sum.files_per_s += f.files_per_s * (double)f.iterations;
	s->sum.iterations += f.iterations;
}

static int take_rows(void *ctx, int run, const struct sample *rows, uint32_t n)
{
	struct stretch *s = ctx;

	for (uint32_t i = 0; i < n; i++) {
		const struct sample *r = &rows[i];

		if (r->phase != PHASE_MEASURE || r->status != SAMPLE_OK) {
			flush(s);
			continue;
		}
		if (run != s->run || r->id != s->first + s->start.n)
			flush(s);
		if (!s->start.n)
			s->first = r->id;
		s->run = run;
		vec_push(&s->start, r->start);
		vec_push(&s->end, r->end);
		s->busy_s += nsec_seconds(r->end - r->start);
		s->n++;
	}
	return 0;
}

static void say(struct node *parent, const struct probe_data *p, const struct stretch *s, const char *makes)
{
	cleanup_strbuf struct strbuf each = STRBUF_INIT;
	char t[NSEC_TEXT];

	for (int i = 0; i < p->nsteps; i++)
		strbuf_addf(&each, "%s%s %s", i ? ", " : "", p->steps[i], nsec_text(nsec_from_seconds(p->step_mean[i]), t));
	if (s->sum.iterations)
		page_text(parent, "%s: %.1f %s/s as fs_mark counts (%zu iteration%s of %llu, %.1f to %.1f); each: %s", p->name,
			  s->sum.files_per_s / (double)s->sum.iterations, makes, s->sum.iterations, s->sum.iterations == 1 ? "" : "s",
			  (unsigned long long)s->per_iteration, s->sum.slowest, s->sum.quickest, strbuf_str(&each));
	else
		page_text(parent, "%s: %.1f %s/s while at it (no iteration of %llu was complete, so not as fs_mark counts); each: %s",
			  p->name, (double)s->n / s->busy_s, makes, (unsigned long long)s->per_iteration, strbuf_str(&each));
}

void show_rates(struct show *s, struct node *parent)
{
	struct node *t = NULL, *words = NULL;

	for (size_t i = 0; i < s->probes.n; i++) {
		const struct probe_data *p = &s->probes.p[i];
		const char *text = rec_series_attr_get(s->rec, p->series, "iteration");
		const char *makes = rec_series_attr_get(s->rec, p->series, "makes");
		struct stretch st = { .per_iteration = text ? strtoull(text, NULL, 10) : 0, .pause = p->interval };
		struct node *row;

		if (!st.per_iteration || !makes)
			continue;
		rec_samples_each(s->rec, 0, p->series, take_rows, &st, NULL);
		flush(&st);
		if (!t) {
			t = page_flag(page_table(parent, "rates", NULL), NODE_JSON_ONLY);
			page_column(t, "probe", NULL, 0);
			page_column(t, "makes", NULL, 0);
			page_column(t, "iterations", NULL, 0);
			page_column(t, "per_s", NULL, 0);
			page_column(t, "slowest_per_s", NULL, 0);
			page_column(t, "quickest_per_s", NULL, 0);
			words = page_flag(page_group(parent, NULL, NULL), NODE_SCREEN_ONLY);
		}
		row = page_row(t);
		page_cell(row, "probe", NULL, val_text(p->name));
		page_cell(row, "makes", NULL, val_text(makes));
		page_cell(row, "iterations", NULL, val((double)st.sum.iterations, UNIT_COUNT));
		page_cell(row, "per_s", NULL, st.sum.iterations ? val(st.sum.files_per_s / (double)st.sum.iterations, UNIT_PER_S)
								: val_null(UNIT_PER_S));
		page_cell(row, "slowest_per_s", NULL, st.sum.iterations ? val(st.sum.slowest, UNIT_PER_S) : val_null(UNIT_PER_S));
		page_cell(row, "quickest_per_s", NULL, st.sum.iterations ? val(st.sum.quickest, UNIT_PER_S) : val_null(UNIT_PER_S));
		if (st.n)
			say(words, p, &st, makes);
		vec_done(&st.start);
		vec_done(&st.end);
	}
}

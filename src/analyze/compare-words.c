/* SPDX-License-Identifier: MIT */
/* The sentences of a comparison: headline, notes under the table, what would settle it. */
#include "analyze/compare-parts.h"
#include "base/cleanup.h"
#include "base/units.h"
#include "stats/looks.h"
#include "stats/plan.h"

#include <math.h>
#include <string.h>

#define SETUP_SECONDS	30.0	/* between two runs: fresh state, load up, recovery */
#define SHORTEST_RUN	(20 * NSEC_PER_SEC)
#define LONGEST_RUN	(600 * NSEC_PER_SEC)
#define USUAL_RUN	(60 * NSEC_PER_SEC)
#define FEW_WAITS	8

char side_letter(size_t i)
{
	return (char)('A' + i);
}

static const char *percent(double x, char buf[16])
{
	snprintf(buf, 16, fabs(x) < 0.0995 && x != 0 ? "%.1f %%" : "%.0f %%", x * 100);
	return buf;
}

static void stuck_words(const struct row *r, struct strbuf *out)
{
	char a[16], b[16];

	strbuf_addf(out, "stuck %s -> %s of the time (%+.0f points, 95 %% CI %+.0f..%+.0f)", percent(r->c.a.stuck.share, a),
		    percent(r->c.b.stuck.share, b), r->c.stuck.est * 100, r->c.stuck.lo * 100, r->c.stuck.hi * 100);
}

static void ratio_words(const struct effect *e, const char *what, struct strbuf *out)
{
	strbuf_addf(out, "%s x%.3g", what, e->est);
	if (e->lo > 0 && isfinite(e->hi))
		strbuf_addf(out, " (95 %% CI x%.3g..x%.3g)", e->lo, e->hi);
}

static void pairs_words(const struct row *r, struct strbuf *out)
{
	double q = 1 - r->c.theta.est;

	strbuf_addf(out, "%c quicker in %.0f of 100 pairs, ", side_letter(r->side), q * 100);
	ratio_words(&r->c.typical, "typical wait", out);
}

static void tail_words(const struct row *r, struct strbuf *out)
{
	if (r->c.tail_p > 0) {
		char what[48];

		snprintf(what, sizeof(what), "the wait of 1 in %.0f", 1 / (1 - r->c.tail_p));
		ratio_words(&r->c.tail, what, out);
	} else {
		ratio_words(&r->c.tail, "typical wait", out);
	}
}

static void rate_words(const struct row *r, struct strbuf *out)
{
	char a[UNITS_TEXT], b[UNITS_TEXT];

	if (!strcmp(r->unit, "bytes/s"))
		strbuf_addf(out, "%s -> %s", units_rate_text(r->rate.a, a), units_rate_text(r->rate.b, b));
	else
		strbuf_addf(out, "%.6g -> %.6g%s%s", r->rate.a, r->rate.b, *r->unit == '/' || !*r->unit ? "" : " ", r->unit);
	if (r->rate.ratio.known)
		strbuf_addf(out, " (%+.1f %%, 95 %% CI %+.1f..%+.1f)", (r->rate.ratio.est - 1) * 100, (r->rate.ratio.lo - 1) * 100,
			    (r->rate.ratio.hi - 1) * 100);
	else if (r->rate.a > 0)
		strbuf_addf(out, " (%+.1f %%)", (r->rate.b / r->rate.a - 1) * 100);
}

/* The row that says most: a shown one with the smallest p; the stuck share first, because people feel it. */
static const struct row *telling(const struct compared *k, enum verdict v)
{
	const struct row *best = NULL;
	double best_p = INFINITY;

	for (size_t i = 0; i < k->rows.n; i++) {
		struct row *r = &k->rows.p[i];
		const struct decision *d = row_decision(r);
		double p = INFINITY;

		if (d->verdict != v && !(v == VERDICT_MIXED && d->verdict > VERDICT_SAME))
			continue;
		for (int t = 0; t < TESTS_A_ROW; t++)
			if (!isnan(d->p[t]))
				p = MIN(p, d->p[t] * (r->kind == ROW_PROBE ? 1 : 2));
		if (r->kind == ROW_PROBE && d->shown[TEST_STUCK])
			p /= 1e6;
		if (!best || p < best_p) {
			best = r;
			best_p = p;
		}
	}
	return best;
}

static void effect_words(const struct row *r, struct strbuf *out)
{
	const struct decision *d = &r->c.decision;

	strbuf_addf(out, "%s: ", r->name);
	if (r->kind != ROW_PROBE)
		rate_words(r, out);
	else if (d->shown[TEST_STUCK] || (d->strength == STRENGTH_SUGGESTIVE && r->felt))
		stuck_words(r, out);
	else if (d->shown[TEST_TAIL] && !d->shown[TEST_THETA])
		tail_words(r, out);
	else
		pairs_words(r, out);
}

static const struct row *first_probe(const struct compared *k)
{
	for (size_t i = 0; i < k->rows.n; i++)
		if (k->rows.p[i].kind == ROW_PROBE)
			return &k->rows.p[i];
	return NULL;
}

static bool ruled_out(const struct row *r, struct strbuf *out)
{
	char letter = side_letter(r->side);
	bool slower = !isnan(r->c.shift_rules_out_slower), quicker = !isnan(r->c.shift_rules_out_quicker);

	if (!r->c.typical.known || (!slower && !quicker))
		return false;
	strbuf_addf(out, "%c more than ", letter);
	if (slower)
		strbuf_addf(out, "%.2g %% slower", r->c.shift_rules_out_slower * 100);
	if (slower && quicker)
		strbuf_addf(out, ", or more than %.2g %% quicker,", r->c.shift_rules_out_quicker * 100);
	else if (quicker)
		strbuf_addf(out, "%.2g %% quicker", r->c.shift_rules_out_quicker * 100);
	strbuf_addf(out, " is ruled out (95 %%)");
	return true;
}

void words_headline(const struct compared *k, enum verdict v, enum strength s, bool felt, struct strbuf *out)
{
	const struct row *r = telling(k, v), *probe = first_probe(k);

	if (!k->rows.n) {
		strbuf_adds(out, "No verdict: nothing was measured on both sides.");
		return;
	}
	if (s == STRENGTH_NONE) {
		strbuf_adds(out, "No verdict: with one number a side nobody knows how much two equal runs differ.");
		return;
	}
	switch (v) {
	case VERDICT_SAME:
		strbuf_addf(out, "SAME: every difference is shown to lie within %.3g %% and %.3g point%s.", k->conf->margin * 100,
			    k->conf->share_margin * 100, k->conf->share_margin == 0.01 ? "" : "s");
		return;
	case VERDICT_UNCLEAR:
		strbuf_adds(out, "UNCLEAR: no difference shown");
		if (probe && k->n == 2 && probe->c.typical.known) {
			strbuf_adds(out, "; ");
			if (!ruled_out(probe, out))
				strbuf_addf(out, "anything from x%.2g to x%.2g of %s's waits fits", probe->c.typical.lo, probe->c.typical.hi, "A");
		}
		strbuf_addc(out, '.');
		return;
	default:
		break;
	}
	if (s == STRENGTH_SUGGESTIVE)
		strbuf_addf(out, "Only SUGGESTIVE: probably %s. ", verdict_name(v));
	else if (s == STRENGTH_ONE_RUN)
		strbuf_addf(out, "%s: these %s runs differ. ", verdict_name(v), k->n == 2 ? "two" : "single");
	else
		strbuf_addf(out, "%s. ", verdict_name(v));
	if (r)
		effect_words(r, out);
	strbuf_adds(out, felt ? "." : ". Real, but nobody would feel it.");
	if (v == VERDICT_MIXED)
		for (size_t i = 0; i < k->rows.n; i++)
			if (k->rows.p[i].kind == ROW_LOAD && row_decision(&k->rows.p[i])->verdict == VERDICT_WORSE) {
				strbuf_adds(out, " But it takes from the load: ");
				effect_words(&k->rows.p[i], out);
				strbuf_addc(out, '.');
			}
}

static void add_sentence(struct strbuf *out)
{
	if (out->len)
		strbuf_adds(out, "; ");
}

static void modes_words(const struct row *r, struct strbuf *out)
{
	const struct modes *m[2] = { &r->c.a.modes, &r->c.b.modes };
	char lo[NSEC_TEXT], hi[NSEC_TEXT];

	if (!m[0]->two && !m[1]->two)
		return;
	add_sentence(out);
	strbuf_adds(out, "two kinds of wait:");
	for (int i = 0; i < 2; i++)
		if (m[i]->two)
			strbuf_addf(out, "%s %c ~%s (%.0f %%) and ~%s (%.0f %%)", i && m[0]->two ? "," : "", side_letter(i ? r->side : 0),
				    nsec_text(m[i]->low, lo), (1 - m[i]->share_high) * 100, nsec_text(m[i]->high, hi),
				    m[i]->share_high * 100);
	strbuf_adds(out, "; the median of such waits is a coin toss");
}

static void drift_words(const struct compared *k, const struct row *r, struct strbuf *out)
{
	for (int i = 0; i < 2; i++) {
		const struct row_drift *d = &r->drift[i];
		const struct side *s = k->sides[i ? r->side : 0];

		if (!d->noticed)
			continue;
		add_sentence(out);
		strbuf_addf(out, "%c", side_letter(i ? r->side : 0));
		if (s->runs.n > 1)
			strbuf_addf(out, "'s run %zu", d->run + 1);
		strbuf_addf(out, " changed half-way, after wait %zu", d->at);
		if (d->t != NSEC_NEVER)
			strbuf_addf(out, " (%lld:%02lld)", (long long)(d->t / NSEC_PER_SEC / 60), (long long)(d->t / NSEC_PER_SEC % 60));
		strbuf_addf(out, " (p = %.2g; did the load end, or a cache fill)", d->p);
	}
}

static void probe_words(const struct compared *k, const struct row *r, struct strbuf *out)
{
	const struct decision *d = &r->c.decision;

	if (d->verdict == VERDICT_UNCLEAR && r->c.typical.known)
		ruled_out(r, out);
	if (!r->c.theta.known) {
		add_sentence(out);
		strbuf_addf(out, "%zu and %zu waits are too few to compare", r->c.a.n, r->c.b.n);
		if (r->c.a.n == 1 && r->c.b.n == 1) {
			double cv = effect_single_cv(nsec_seconds(r->c.a.worst), nsec_seconds(r->c.b.worst));

			if (cv > 0)
				strbuf_addf(out, ": the difference would be outside chance only if runs vary by less than %.2g %%", cv * 100);
		}
	}
	modes_words(r, out);
	drift_words(k, r, out);
	if (!r->c.by_runs && r->c.theta.known)
		for (int i = 0; i < 2; i++) {
			double n_eff = i ? r->c.theta.n_b : r->c.theta.n_a;
			size_t n = i ? r->c.b.n : r->c.a.n;

			if (n_eff < FEW_WAITS && n_eff < 0.8 * (double)n) {
				add_sentence(out);
				strbuf_addf(out, "%c's %zu waits follow each other and say no more than %.0f independent ones",
					    side_letter(i ? r->side : 0), n, floor(n_eff + 0.5));
			}
		}
	for (int i = 0; i < 2; i++) {
		const struct summary *s = i ? &r->c.b : &r->c.a;

		if (s->censored) {
			add_sentence(out);
			strbuf_addf(out, "%zu waits of %c are lower bounds (%zu of them ticks that were never performed)", s->censored,
				    side_letter(i ? r->side : 0), s->missed);
		}
		if (r->errors[i]) {
			add_sentence(out);
			strbuf_addf(out, "%zu actions of %c failed and are not waits", r->errors[i], side_letter(i ? r->side : 0));
		}
	}
	if (r->clipped) {
		add_sentence(out);
		strbuf_adds(out, "the longest waits were clipped by the tool that wrote the file");
	}
}

static void rate_row_words(const struct compared *k, const struct row *r, struct strbuf *out)
{
	const struct decision *d = &r->rate.decision;

	rate_words(r, out);
	if (r->rate.ratio.known && r->rate.ratio.p < k->conf->alpha && !d->sign[0] && d->verdict != VERDICT_SAME)
		strbuf_addf(out, ": real, but under the margin of %.3g %%", k->conf->margin * 100);
}

void words_number(const struct row *r, struct strbuf *out)
{
	const struct decision *d = &r->rate.decision;

	if (r->rate.ratio.known && r->better)
		strbuf_addf(out, "%s (95 %% CI %+.1f..%+.1f %%)", verdict_name(d->verdict), (r->rate.ratio.lo - 1) * 100,
			    (r->rate.ratio.hi - 1) * 100);
	else if (r->better && r->rate.single_cv > 0)
		strbuf_addf(out, "no verdict; outside chance only if runs vary by less than %.2g %%", r->rate.single_cv * 100);
}

void words_row(const struct compared *k, const struct row *r, struct strbuf *out)
{
	if (r->kind == ROW_PROBE)
		probe_words(k, r, out);
	else
		rate_row_words(k, r, out);
}

/* ---- what would settle it ---- */

/* Run-to-run variation of the typical wait, from whatever there is. */
static double variation(const struct row *r, bool *ret_least)
{
	const struct effect *e = &r->c.typical;
	double s;

	if (!e->known)
		return NAN;
	if (r->c.by_runs) {
		double na = e->n_a, nb = e->n_b;

		s = e->se * sqrt(na * nb / (na + nb));
	} else {
		if (!(e->lo > 0) || !isfinite(e->hi))
			return NAN;
		s = log(e->hi / e->lo) / (2 * 1.96) / sqrt(2);
		*ret_least = true;
	}
	return sqrt(expm1(s * s));
}

/* Kalibera & Jones: how long a run should be, from the variance inside and between the runs at hand. */
static nsec_t best_length(const struct compared *k, const struct row *r, nsec_t present)
{
	size_t most = k->sides[0]->runs.n, n = 0, waits = 0;
	cleanup_free double *y = mem_array(most, sizeof(*y)), *se2 = mem_array(most, sizeof(*se2));
	struct plan_variance v;
	double cycle, best;

	for (size_t i = 0; i < most; i++) {
		const struct side_series *x = side_series_find(&k->sides[0]->runs.p[i], r->name);
		cleanup_free double *l = NULL;
		struct longrun lr;

		if (!x || x->w.n < FEW_WAITS)
			continue;
		l = mem_array(x->w.n, sizeof(*l));
		for (size_t j = 0; j < x->w.n; j++)
			l[j] = wait_log(x->w.x[j]);
		longrun(l, x->w.n, &lr);
		y[n] = lr.mean;
		se2[n++] = lr.v / (double)x->w.n;
		waits += x->w.n;
	}
	if (n < RUNS_NEEDED || present <= 0)
		return present;
	cycle = nsec_seconds(present) * (double)n / (double)waits;
	plan_variance(y, se2, n, (double)waits / (double)n, &v);
	best = plan_waits(&v, cycle, SETUP_SECONDS) * cycle;
	return best > nsec_seconds(LONGEST_RUN) ? LONGEST_RUN : MAX(SHORTEST_RUN, (nsec_t)best / 10 * 10 * NSEC_PER_SEC);
}

void hint_make(const struct compared *k, struct hint *ret)
{
	static const double changes[] = { 0.10, 0.25, 0.50, 1.0, 2.0, 4.0, 9.0 };
	const struct row *r = NULL;
	struct hint h = { .rounds = look_runs[0], .change = NAN, .cv = NAN };

	for (size_t i = 0; i < k->rows.n && !r; i++)
		if (k->rows.p[i].kind == ROW_PROBE && k->rows.p[i].c.theta.known &&
		    (k->rows.p[i].c.decision.verdict == VERDICT_UNCLEAR ||
		     k->rows.p[i].c.decision.strength == STRENGTH_SUGGESTIVE))
			r = &k->rows.p[i];
	for (size_t i = 0; i < k->sides[0]->runs.n && !h.length; i++)
		h.length = k->sides[0]->runs.p[i].length;
	if (r) {
		h.cv = variation(r, &h.cv_is_least);
		if (r->c.by_runs)
			h.length = best_length(k, r, h.length);
	}
	for (size_t i = 0; h.cv >= 0 && i < ARRAY_SIZE(changes); i++) {
		unsigned n = plan_runs(h.cv, changes[i], k->conf->alpha, 0.8);

		if (!n || n > look_runs[LOOKS - 1])
			continue;
		h.change = changes[i];
		h.rounds = MAX(n, look_runs[0]);
		break;
	}
	if (!h.length)
		h.length = USUAL_RUN;
	h.in_all = 2 * (nsec_t)h.rounds * (h.length + (nsec_t)(SETUP_SECONDS * 1e9));
	h.known = true;
	*ret = h;
}

/* SPDX-License-Identifier: MIT */
#include "stats/comparison.h"
#include "base/cleanup.h"
#include "base/mem.h"
#include "stats/placement.h"
#include "stats/shift.h"
#include "stats/sort.h"

#include <math.h>
#include <string.h>

#define ENOUGH_WAITS	8	/* independent ones, for a claim from single runs */
#define BEYOND_TAIL	2	/* waits that must lie beyond a quantile in every run */
#define RULED_OUT_UPTO	2.0	/* "more than twice" says nothing worth printing */
#define NOTHING_SEEN	3.0	/* 95 % upper limit of a share of which nothing was seen: 3/n */

static const double tails[] = { 0.99, 0.9, 0.75 };

/* One side: its runs that have waits, sorted run by run and pooled, or joined in order. */
struct side {
	const struct waits **run;
	size_t runs, n;
	nsec_t *pool;		/* ascending */
	nsec_t **sorted;	/* of each run */
	nsec_t *joined;		/* in order */
	bool unordered;
};

static void side_init(struct side *s, const struct waits *w, size_t runs)
{
	size_t k = 0;

	*s = (struct side){ .run = mem_array(runs, sizeof(*s->run)) };
	for (size_t r = 0; r < runs; r++)
		if (w[r].n) {
			s->run[s->runs++] = &w[r];
			s->n += w[r].n;
			s->unordered |= w[r].unordered;
		}
	s->joined = mem_array(s->n, sizeof(*s->joined));
	for (size_t r = 0; r < s->runs; r++) {
		memcpy(s->joined + k, s->run[r]->x, s->run[r]->n * sizeof(nsec_t));
		k += s->run[r]->n;
	}
	s->pool = sort_copy(s->joined, s->n);
}

static void side_sort_runs(struct side *s)
{
	s->sorted = mem_array(s->runs, sizeof(*s->sorted));
	for (size_t r = 0; r < s->runs; r++)
		s->sorted[r] = sort_copy(s->run[r]->x, s->run[r]->n);
}

static void side_done(struct side *s)
{
	for (size_t r = 0; s->sorted && r < s->runs; r++)
		free(s->sorted[r]);
	free(s->sorted);
	free(s->run);
	free(s->pool);
	free(s->joined);
}

static double mean_log(const struct waits *w)
{
	double sum = 0;

	for (size_t i = 0; i < w->n; i++)
		sum += wait_log(w->x[i]);
	return sum / (double)w->n;
}

static const struct quantile *quantile_at(const struct summary *s, double p)
{
	return p == 0.99 ? &s->p99 : p == 0.9 ? &s->p90 : &s->p75;
}

/* The highest quantile that both sides can bound, with waits beyond it in every run. */
static double tail_of(const struct comparison *c, const struct side *a, const struct side *b)
{
	for (size_t i = 0; i < ARRAY_SIZE(tails); i++) {
		bool fine = !quantile_at(&c->a, tails[i])->at_least && !quantile_at(&c->b, tails[i])->at_least;

		for (int k = 0; k < 2; k++) {
			const struct side *s = k ? b : a;

			for (size_t r = 0; r < s->runs; r++)
				fine &= (double)s->run[r]->n * (1 - tails[i]) >= BEYOND_TAIL - 1e-9;
		}
		if (fine)
			return tails[i];
	}
	return 0;
}

enum per_run { RUN_PLACEMENT, RUN_TYPICAL, RUN_STUCK, RUN_QUANTILE };

static void per_run(enum per_run what, const struct side *a, const struct side *b, double p, nsec_t limit,
		    struct effect *ret)
{
	cleanup_free double *y = mem_array(a->runs + b->runs, sizeof(*y));
	double *y_b = y + a->runs;

	for (size_t k = 0; k < a->runs + b->runs; k++) {
		const struct side *mine = k < a->runs ? a : b, *other = k < a->runs ? b : a;
		size_t r = k < a->runs ? k : k - a->runs, n = mine->run[r]->n;
		struct stuck s;

		switch (what) {
		case RUN_PLACEMENT:
			y[k] = placement_mean(mine->sorted[r], n, other->pool, other->n);
			break;
		case RUN_TYPICAL:
			y[k] = mean_log(mine->run[r]);
			break;
		case RUN_STUCK:
			stuck_share(mine->run[r], limit, &s);
			y[k] = s.known ? s.share : NAN;
			break;
		case RUN_QUANTILE:
			y[k] = wait_log(mine->sorted[r][quantile_rank(n, p) - 1]);
			break;
		}
	}
	if (what == RUN_PLACEMENT)
		effect_theta_runs(y, a->runs, y_b, b->runs, ret);
	else
		effect_runs(y, a->runs, y_b, b->runs, ret);
	if (what == RUN_TYPICAL || what == RUN_QUANTILE)
		effect_exp(ret);
}

static void compare_runs(struct side *a, struct side *b, nsec_t limit, struct comparison *c)
{
	side_sort_runs(a);
	side_sort_runs(b);
	per_run(RUN_PLACEMENT, a, b, 0, 0, &c->theta);
	per_run(RUN_TYPICAL, a, b, 0, 0, &c->typical);
	per_run(RUN_QUANTILE, a, b, 0.5, 0, &c->usual);
	per_run(RUN_STUCK, a, b, 0, limit, &c->stuck);
	c->tail_p = tail_of(c, a, b);
	if (c->tail_p > 0)
		per_run(RUN_QUANTILE, a, b, c->tail_p, 0, &c->tail);
	else
		c->tail = c->typical;
}

/* The quantile ratio of two single runs: its p from the shares beyond the pooled quantile, its limits from those of
 * both sides, which is wider than needed. */
static void tail_series(const struct side *a, const struct side *b, struct comparison *c)
{
	const struct quantile *qa = quantile_at(&c->a, c->tail_p), *qb = quantile_at(&c->b, c->tail_p);
	size_t n = a->n + b->n;
	cleanup_free nsec_t *all = mem_array(n, sizeof(*all));
	cleanup_free double *s = mem_array(n, sizeof(*s));
	struct effect e;
	nsec_t q;

	memcpy(all, a->pool, a->n * sizeof(*all));
	memcpy(all + a->n, b->pool, b->n * sizeof(*all));
	sort_nsec(all, n);
	q = all[quantile_rank(n, c->tail_p) - 1];
	for (size_t i = 0; i < a->n; i++)
		s[i] = a->joined[i] > q;
	for (size_t i = 0; i < b->n; i++)
		s[a->n + i] = b->joined[i] > q;
	effect_series(s, a->n, s + a->n, b->n, &e);
	e.est = exp(wait_log(qb->value) - wait_log(qa->value));
	e.lo = e.lo90 = qb->has_lo && qa->has_hi ? exp(wait_log(qb->lo) - wait_log(qa->hi)) : 0;
	e.hi = e.hi90 = qb->has_hi && qa->has_lo ? exp(wait_log(qb->hi) - wait_log(qa->lo)) : INFINITY;
	c->tail = e;
}

static void compare_series(const struct side *a, const struct side *b, struct comparison *c)
{
	cleanup_free double *sa = mem_array(a->n, sizeof(*sa)), *sb = mem_array(b->n, sizeof(*sb));
	cleanup_free uint32_t *order = mem_array(MAX(a->n, b->n), sizeof(*order));
	struct shift h;

	sort_order(a->joined, a->n, order);
	placement_scores(a->joined, order, a->n, b->pool, b->n, sa);
	sort_order(b->joined, b->n, order);
	placement_scores(b->joined, order, b->n, a->pool, a->n, sb);
	effect_theta_series(sa, a->n, sb, b->n, &c->theta);
	shift_of(a->joined, a->n, b->joined, b->n, &h);
	c->typical = (struct effect){ .known = h.known, .est = h.ratio, .lo = h.lo, .hi = h.hi, .lo90 = h.lo90,
				      .hi90 = h.hi90, .p = c->theta.p, .n_a = c->theta.n_a, .n_b = c->theta.n_b };
	c->usual = (struct effect){ .known = true, .lo = 0, .hi = INFINITY,
				    .est = exp(wait_log(c->b.usual.value) - wait_log(c->a.usual.value)) };
	if (c->a.stuck.known && c->b.stuck.known) {
		double qa = c->a.stuck.se * c->a.stuck.se, qb = c->b.stuck.se * c->b.stuck.se;

		effect_make(c->b.stuck.share - c->a.stuck.share, 0, qa + qb, welch_df(qa, c->a.stuck.df, qb, c->b.stuck.df),
			    1, &c->stuck);
	}
	c->tail_p = tail_of(c, a, b);
	if (c->tail_p > 0)
		tail_series(a, b, c);
}

static void over_limit(const struct side *a, const struct side *b, nsec_t limit, struct comparison *c)
{
	struct share s[2];

	for (int k = 0; k < 2; k++) {
		const struct side *side = k ? b : a;
		struct indicator ind;
		struct longrun l;

		indicator_begin(&ind, side->n);
		for (size_t i = 0; i < side->n; i++)
			indicator_add(&ind, side->joined[i] > limit);
		indicator_end(&ind, &l);
		s[k] = share_wilson(l.mean, l.n_eff);
	}
	c->over_a = s[0].p;
	c->over_b = s[1].p;
	c->over = share_newcombe(s[0], s[1]);
}

static int ratio_sign(double est, double margin)
{
	return est >= 1 + margin ? 1 : est <= 1 / (1 + margin) ? -1 : 0;
}

/* S(limit) = 0 on both sides: how large it might still be without having been seen. */
static bool stuck_within(const struct comparison *c, double margin)
{
	if (!c->stuck.known)
		return true;
	if (c->a.stuck.share > 0 || c->b.stuck.share > 0)
		return !c->stuck.no_spread && effect_within(&c->stuck, margin);
	return NOTHING_SEEN / c->a.n_eff <= margin && NOTHING_SEEN / c->b.n_eff <= margin;
}

static void prepare_decision(struct comparison *c, const struct side *a, const struct side *b, const struct cmp_conf *conf)
{
	struct decision *d = &c->decision;
	int typical = ratio_sign(c->typical.est, conf->margin), direction = c->theta.est > 0.5 ? 1 : -1;
	bool separated = c->theta.no_spread && c->theta.est != 0.5;

	d->best = c->by_runs ? STRENGTH_RUNS : a->unordered || b->unordered ? STRENGTH_SUGGESTIVE : STRENGTH_ONE_RUN;
	d->enough = c->by_runs || (c->theta.n_a >= ENOUGH_WAITS && c->theta.n_b >= ENOUGH_WAITS);
	/* runs that separate completely have no variance to test theta with: the quantile ratio decides */
	d->p[TEST_THETA] = !c->theta.known || (c->by_runs && separated) ? NAN : c->theta.p;
	d->sign[TEST_THETA] = typical == direction ? typical : 0;
	d->p[TEST_STUCK] = c->stuck.known && !(c->a.stuck.share == 0 && c->b.stuck.share == 0) ? c->stuck.p : NAN;
	d->sign[TEST_STUCK] = fabs(c->stuck.est) < conf->share_margin ? 0 : c->stuck.est > 0 ? 1 : -1;
	d->p[TEST_TAIL] = c->tail.known ? c->tail.p : NAN;
	d->sign[TEST_TAIL] = ratio_sign(c->tail.est, conf->margin);
	d->inside = effect_ratio_within(&c->typical, conf->margin) && stuck_within(c, conf->share_margin) &&
		    (!c->tail.known || effect_ratio_within(&c->tail, conf->margin));
	c->shift_rules_out_slower = c->typical.known && c->typical.hi > 1 && c->typical.hi < RULED_OUT_UPTO ?
				    c->typical.hi - 1 : NAN;
	c->shift_rules_out_quicker = c->typical.known && c->typical.lo < 1 && c->typical.lo > 1 / RULED_OUT_UPTO ?
				     1 - c->typical.lo : NAN;
}

void comparison_of(const struct waits *a, size_t runs_a, const struct waits *b, size_t runs_b,
		   const struct cmp_conf *conf, struct comparison *ret)
{
	nsec_t limit = conf->limit > 0 ? conf->limit : NSEC_PER_SEC;
	struct side s[2];
	struct comparison c = { 0 };

	side_init(&s[0], a, runs_a);
	side_init(&s[1], b, runs_b);
	c.runs_a = s[0].runs;
	c.runs_b = s[1].runs;
	summary_of_sorted(a, runs_a, limit, s[0].pool, &c.a);
	summary_of_sorted(b, runs_b, limit, s[1].pool, &c.b);
	for (int k = 0; k < TESTS_A_ROW; k++)
		c.decision.p[k] = NAN;
	if (s[0].n && s[1].n) {
		c.by_runs = s[0].runs >= RUNS_NEEDED && s[1].runs >= RUNS_NEEDED;
		if (c.by_runs)
			compare_runs(&s[0], &s[1], limit, &c);
		else if (s[0].n > 1 && s[1].n > 1)
			compare_series(&s[0], &s[1], &c);
		over_limit(&s[0], &s[1], limit, &c);
		if (c.theta.known)
			prepare_decision(&c, &s[0], &s[1], conf);
	}
	side_done(&s[0]);
	side_done(&s[1]);
	*ret = c;
}

static int band_of(nsec_t x)
{
	int b = 0;

	while (b < BANDS && x > band_limit[b])
		b++;
	return b;
}

void felt_of(struct comparison *c, double alpha)
{
	const struct decision *d = &c->decision;
	const struct quantile *a = &c->a.usual, *b = &c->b.usual;
	bool decided = d->verdict != VERDICT_UNCLEAR && d->verdict != VERDICT_SAME;
	bool stuck = d->shown[TEST_STUCK] ||
		     (d->strength == STRENGTH_SUGGESTIVE && d->p[TEST_STUCK] < alpha && d->sign[TEST_STUCK]);
	bool apart = a->has_lo && a->has_hi && b->has_lo && b->has_hi && (a->hi < b->lo || b->hi < a->lo);

	c->felt = decided && (stuck || (apart && band_of(a->value) != band_of(b->value)));
}

static void rate_decision(struct rate_comparison *r, enum strength best, bool enough, int better, double margin)
{
	for (int k = 0; k < TESTS_A_ROW; k++)
		r->decision.p[k] = NAN;
	if (!better || !r->ratio.known)
		return;
	r->decision.best = best;
	r->decision.enough = enough;
	r->decision.p[0] = r->ratio.p;
	r->decision.sign[0] = -better * ratio_sign(r->ratio.est, margin);
	r->decision.inside = effect_ratio_within(&r->ratio, margin);
}

static double mean_of(const double *y, size_t n)
{
	double s = 0;

	for (size_t i = 0; i < n; i++)
		s += y[i];
	return n ? s / (double)n : NAN;
}

void rates_of(const double *a, size_t n_a, const double *b, size_t n_b, int better, double margin,
	      struct rate_comparison *ret)
{
	struct rate_comparison r = { .a = mean_of(a, n_a), .b = mean_of(b, n_b), .n_a = n_a, .n_b = n_b, .single_cv = NAN };
	cleanup_free double *y = mem_array(n_a + n_b + 1, sizeof(*y));

	for (size_t i = 0; i < n_a; i++)
		y[i] = a[i] > 0 ? log(a[i]) : NAN;
	for (size_t i = 0; i < n_b; i++)
		y[n_a + i] = b[i] > 0 ? log(b[i]) : NAN;
	if (n_a >= RUNS_NEEDED && n_b >= RUNS_NEEDED) {
		effect_runs(y, n_a, y + n_a, n_b, &r.ratio);
		effect_exp(&r.ratio);
	} else {
		r.single_cv = effect_single_cv(r.a, r.b);
	}
	rate_decision(&r, STRENGTH_RUNS, true, better, margin);
	*ret = r;
}

void rate_series_of(const double *a, size_t n_a, const double *b, size_t n_b, int better, double margin,
		    struct rate_comparison *ret)
{
	struct rate_comparison r = { .a = mean_of(a, n_a), .b = mean_of(b, n_b), .n_a = n_a, .n_b = n_b, .single_cv = NAN };

	effect_series(a, n_a, b, n_b, &r.ratio);
	if (r.ratio.known && r.a > 0) {
		struct effect *e = &r.ratio;

		/* a difference of means, told as a ratio to A */
		e->est = 1 + e->est / r.a;
		e->lo = 1 + e->lo / r.a;
		e->hi = 1 + e->hi / r.a;
		e->lo90 = 1 + e->lo90 / r.a;
		e->hi90 = 1 + e->hi90 / r.a;
	} else {
		r.ratio.known = false;
	}
	rate_decision(&r, STRENGTH_ONE_RUN, r.ratio.n_a >= ENOUGH_WAITS && r.ratio.n_b >= ENOUGH_WAITS, better, margin);
	*ret = r;
}

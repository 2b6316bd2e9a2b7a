/* SPDX-License-Identifier: MIT */
#include "stats/shift.h"
#include "base/cleanup.h"
#include "base/mem.h"
#include "stats/effect.h"
#include "stats/sort.h"
#include "stats/waits.h"

#include <math.h>

#define FARTHEST	64.0	/* no shift of logarithms of waits is larger: ln(24 h / 1 us) is 25 */
#define GAPS_UPTO	10000	/* pairs that are tried one by one */
#define BISECT_TO	1e-4	/* of a logarithm: 0.01 % of the ratio */

/* The logarithms of one side, in time order and ascending, and scores to be filled. */
struct logs {
	size_t n;
	double *x, *sorted, *score;
	uint32_t *order;
};

static void logs_init(struct logs *l, const nsec_t *x, size_t n)
{
	l->n = n;
	l->x = mem_array(n, sizeof(double));
	l->sorted = mem_array(n, sizeof(double));
	l->score = mem_array(n, sizeof(double));
	l->order = mem_array(n, sizeof(uint32_t));
	sort_order(x, n, l->order);
	for (size_t i = 0; i < n; i++)
		l->x[i] = wait_log(x[i]);
	for (size_t i = 0; i < n; i++)
		l->sorted[i] = l->x[l->order[i]];
}

static void logs_done(struct logs *l)
{
	free(l->x);
	free(l->sorted);
	free(l->score);
	free(l->order);
}

/* How many pairs have b - a <= d. */
static double pairs_upto(const struct logs *a, const struct logs *b, double d)
{
	double count = 0;
	size_t j = 0;

	for (size_t i = 0; i < a->n; i++) {
		while (j < b->n && b->sorted[j] - a->sorted[i] <= d)
			j++;
		count += (double)j;
	}
	return count;
}

/* The k-th smallest difference (1-based), to the last bits. */
static double kth_pair(const struct logs *a, const struct logs *b, double k)
{
	double lo = b->sorted[0] - a->sorted[a->n - 1], hi = b->sorted[b->n - 1] - a->sorted[0];

	lo -= 1e-9;
	for (int i = 0; i < 100 && hi - lo > 1e-14 * (1 + fabs(hi)); i++) {
		double mid = lo + (hi - lo) / 2;

		if (pairs_upto(a, b, mid) >= k)
			hi = mid;
		else
			lo = mid;
	}
	return hi;
}

static void score(const struct logs *mine, double shift, const struct logs *other)
{
	size_t below = 0, upto = 0;

	for (size_t k = 0; k < mine->n; k++) {
		double v = mine->sorted[k] + shift;

		while (below < other->n && other->sorted[below] < v)
			below++;
		if (upto < below)
			upto = below;
		while (upto < other->n && other->sorted[upto] <= v)
			upto++;
		mine->score[mine->order[k]] = (double)(below + upto) / 2 / (double)other->n;
	}
}

static bool rejects(const struct logs *a, const struct logs *b, double shift, double alpha)
{
	struct effect e;

	score(a, shift, b);
	score(b, -shift, a);
	effect_theta_series(a->score, a->n, b->score, b->n, &e);
	return e.known && e.p < alpha;
}

static int by_value(const void *x, const void *y)
{
	double a = *(const double *)x, b = *(const double *)y;

	return (a > b) - (a < b);
}

/*
 * The test only changes where A * r passes a wait of B, so one shift in the
 * middle of each such gap is tried, from outside inwards: small samples may
 * reject again nearer to the estimate, and the interval holds all that is not
 * rejected.
 */
struct gaps {
	double *middle;
	size_t n;
};

static void gaps_init(struct gaps *g, const struct logs *a, const struct logs *b)
{
	size_t pairs = a->n * b->n, k = 0, distinct = 0;
	cleanup_free double *d = mem_array(pairs, sizeof(*d));

	for (size_t i = 0; i < a->n; i++)
		for (size_t j = 0; j < b->n; j++)
			d[k++] = b->sorted[j] - a->sorted[i];
	qsort(d, pairs, sizeof(*d), by_value);
	for (size_t i = 0; i < pairs; i++)
		if (!distinct || d[i] - d[distinct - 1] > 1e-9)
			d[distinct++] = d[i];
	g->n = distinct - 1;
	g->middle = mem_array(distinct, sizeof(*d));
	for (size_t i = 0; i < g->n; i++)
		g->middle[i] = (d[i] + d[i + 1]) / 2;
}

static double edge_by_gaps(const struct logs *a, const struct logs *b, const struct gaps *g, double from, int side,
			   double alpha)
{
	/* not even complete separation is outside chance: unbounded */
	if (!rejects(a, b, side * FARTHEST, alpha))
		return side * INFINITY;
	for (size_t i = 0; i < g->n; i++) {
		double shift = g->middle[side < 0 ? i : g->n - 1 - i];

		if ((shift - from) * side <= 0)
			break;
		if (!rejects(a, b, shift, alpha))
			return shift;
	}
	return from;
}

/* Larger samples: the last shift in direction of `step` that is not rejected, by bisection. */
static double edge_by_bisection(const struct logs *a, const struct logs *b, double from, double step, double alpha)
{
	double in = from, out = from + step;

	while (!rejects(a, b, out, alpha)) {
		in = out;
		step *= 2;
		out = from + step;
		if (fabs(step) > FARTHEST)
			return step > 0 ? INFINITY : -INFINITY;
	}
	while (fabs(out - in) > BISECT_TO) {
		double mid = (in + out) / 2;

		if (rejects(a, b, mid, alpha))
			out = mid;
		else
			in = mid;
	}
	return in;
}

void shift_of(const nsec_t *a, size_t n_a, const nsec_t *b, size_t n_b, struct shift *ret)
{
	struct logs la, lb;
	double pairs = (double)n_a * (double)n_b, d;

	*ret = (struct shift){ 0 };
	if (!n_a || !n_b)
		return;
	logs_init(&la, a, n_a);
	logs_init(&lb, b, n_b);
	d = kth_pair(&la, &lb, floor((pairs + 1) / 2));
	if (fmod(pairs, 2) == 0)
		d = (d + kth_pair(&la, &lb, pairs / 2 + 1)) / 2;
	ret->known = true;
	ret->ratio = exp(d);
	if (pairs <= GAPS_UPTO) {
		struct gaps g;

		gaps_init(&g, &la, &lb);
		ret->lo = exp(edge_by_gaps(&la, &lb, &g, d, -1, 0.05));
		ret->hi = exp(edge_by_gaps(&la, &lb, &g, d, 1, 0.05));
		ret->lo90 = exp(edge_by_gaps(&la, &lb, &g, d, -1, 0.10));
		ret->hi90 = exp(edge_by_gaps(&la, &lb, &g, d, 1, 0.10));
		free(g.middle);
	} else {
		ret->lo = exp(edge_by_bisection(&la, &lb, d, -0.01, 0.05));
		ret->hi = exp(edge_by_bisection(&la, &lb, d, 0.01, 0.05));
		ret->lo90 = exp(edge_by_bisection(&la, &lb, d, -0.01, 0.10));
		ret->hi90 = exp(edge_by_bisection(&la, &lb, d, 0.01, 0.10));
	}
	logs_done(&la);
	logs_done(&lb);
}

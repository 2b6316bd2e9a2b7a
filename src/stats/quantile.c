/* SPDX-License-Identifier: MIT */
#include "stats/quantile.h"
#include "stats/longrun.h"
#include "stats/special.h"

#include <math.h>

/* A few waits in flight at the end move a rank by a few places: below this the two readings are the same number. */
#define CENSORED_SLACK	1.05

size_t quantile_rank(size_t n, double p)
{
	double r = ceil((double)n * p - 1e-9);

	if (!n)
		return 0;
	return r < 1 ? 1 : r > (double)n ? n : (size_t)r;
}

size_t quantile_need(double p)
{
	return (size_t)ceil(log(0.025) / log(p) - 1e-9);
}

static double indicator_tau(const struct waits *runs, size_t nruns, size_t n, nsec_t q)
{
	struct indicator ind;
	struct longrun l;

	indicator_begin(&ind, n);
	for (size_t r = 0; r < nruns; r++)
		for (size_t i = 0; i < runs[r].n; i++)
			indicator_add(&ind, runs[r].x[i] > q);
	indicator_end(&ind, &l);
	return l.tau;
}

/* Does the rank rest on lower bounds? Read them once as they are, once as endless. */
static bool rests_on_bounds(const nsec_t *exact, size_t nexact, size_t rank, nsec_t value)
{
	if (rank > nexact)
		return true;
	return (double)exact[rank - 1] > (double)value * CENSORED_SLACK;
}

void quantile_of(const struct waits *runs, size_t nruns, const nsec_t *sorted, const nsec_t *exact, size_t nexact,
		 double p, struct quantile *ret)
{
	struct quantile q = { .p = p, .tau = 1 };
	size_t n = 0, rank;
	double h, lo, hi;

	for (size_t r = 0; r < nruns; r++)
		n += runs[r].n;
	if (!n) {
		*ret = q;
		return;
	}
	rank = quantile_rank(n, p);
	q.known = true;
	q.value = sorted[rank - 1];
	q.tau = indicator_tau(runs, nruns, n, q.value);
	h = normal_quantile(0.975) * sqrt(p * (1 - p) * q.tau / (double)n);
	lo = floor((double)n * (p - h));
	hi = ceil((double)n * (p + h)) + 1;
	if (lo >= 1) {
		q.has_lo = true;
		q.lo = sorted[(size_t)lo - 1];
	}
	if (hi <= (double)n && (!exact || (size_t)hi <= nexact)) {
		q.has_hi = true;
		q.hi = exact ? exact[(size_t)hi - 1] : sorted[(size_t)hi - 1];
	}
	q.censored = exact && rests_on_bounds(exact, nexact, rank, q.value);
	q.at_least = q.censored || (double)n / q.tau < (double)quantile_need(p);
	*ret = q;
}

/* SPDX-License-Identifier: MIT */
#include "stats/summary.h"
#include "base/cleanup.h"
#include "base/mem.h"
#include "stats/longrun.h"
#include "stats/sort.h"

#include <math.h>
#include <string.h>

const nsec_t band_limit[BANDS] = { 100 * NSEC_PER_MSEC, NSEC_PER_SEC, 10 * NSEC_PER_SEC };

static double joined_n_eff(const struct waits *runs, size_t nruns, size_t n)
{
	cleanup_free double *s = mem_array(n, sizeof(*s));
	struct longrun l;
	size_t k = 0;

	for (size_t r = 0; r < nruns; r++)
		for (size_t i = 0; i < runs[r].n; i++)
			s[k++] = wait_log(runs[r].x[i]);
	longrun(s, n, &l);
	return l.n_eff;
}

static void count(const struct waits *runs, size_t nruns, struct summary *s)
{
	double sum = 0;
	bool first = true;

	for (size_t r = 0; r < nruns; r++)
		for (size_t i = 0; i < runs[r].n; i++) {
			nsec_t x = runs[r].x[i];
			enum wait_kind kind = wait_kind_of(&runs[r], i);

			s->n++;
			s->censored += kind != WAIT_EXACT;
			s->missed += kind == WAIT_MISSED;
			sum += (double)x / 1e9;
			if (first || x > s->worst) {
				s->worst = x;
				s->worst_at_least = kind != WAIT_EXACT;
				s->worst_run = r;
				s->worst_index = i;
			} else if (x == s->worst) {
				s->worst_at_least |= kind != WAIT_EXACT;
			}
			if (first || x < s->best)
				s->best = x;
			first = false;
		}
	s->mean_s = s->n ? sum / (double)s->n : 0;
}

void summary_of_sorted(const struct waits *runs, size_t nruns, nsec_t limit, const nsec_t *sorted, struct summary *ret)
{
	struct summary s = { .runs = nruns, .limit = limit, .open_loop = nruns && runs[0].open_loop };
	struct { double p; struct quantile *q; } want[] = {
		{ 0.5, &s.usual }, { 0.75, &s.p75 }, { 0.9, &s.p90 }, { 0.99, &s.p99 }, { 0.999, &s.p999 },
	};
	cleanup_free nsec_t *exact = NULL;
	size_t e = 0;

	count(runs, nruns, &s);
	if (s.n)
		s.n_eff = joined_n_eff(runs, nruns, s.n);
	if (s.censored) {
		exact = mem_array(s.n, sizeof(*exact));
		for (size_t r = 0; r < nruns; r++)
			for (size_t i = 0; i < runs[r].n; i++)
				if (wait_kind_of(&runs[r], i) == WAIT_EXACT)
					exact[e++] = runs[r].x[i];
		sort_nsec(exact, e);
	}
	for (size_t i = 0; i < ARRAY_SIZE(want); i++)
		quantile_of(runs, nruns, sorted, exact, e, want[i].p, want[i].q);
	if (limit > 0)
		stuck_share_all(runs, nruns, limit, &s.stuck);
	for (int b = 0; b < BANDS; b++) {
		if (band_limit[b] == limit)
			s.band[b] = s.stuck;
		else
			stuck_share_all(runs, nruns, band_limit[b], &s.band[b]);
	}
	modes_of(sorted, s.n, &s.modes);
	*ret = s;
}

void summary_of(const struct waits *runs, size_t nruns, nsec_t limit, struct summary *ret)
{
	cleanup_free nsec_t *sorted = NULL;
	size_t n = 0, k = 0;

	for (size_t r = 0; r < nruns; r++)
		n += runs[r].n;
	if (n) {
		sorted = mem_array(n, sizeof(*sorted));
		for (size_t r = 0; r < nruns; r++) {
			memcpy(sorted + k, runs[r].x, runs[r].n * sizeof(*sorted));
			k += runs[r].n;
		}
		sort_nsec(sorted, n);
	}
	summary_of_sorted(runs, nruns, limit, sorted, ret);
}

char grade_of(const double share[BANDS])
{
	if (share[0] < 0.01)
		return 'A';
	if (share[0] < 0.05 && share[1] < 0.001)
		return 'B';
	if (share[1] < 0.01)
		return 'C';
	if (share[1] < 0.10)
		return 'D';
	if (share[1] < 0.50 && share[2] < 0.10)
		return 'E';
	return 'F';
}

const char *grade_word(char grade)
{
	static const char *const words[] = { "you would not notice", "noticeable", "annoying", "slow", "barely usable", "stuck" };

	return grade >= 'A' && grade <= 'F' ? words[grade - 'A'] : "";
}

char grade_of_summary(const struct summary *s)
{
	double share[BANDS];

	for (int b = 0; b < BANDS; b++) {
		if (!s->band[b].known)
			return 0;
		share[b] = s->band[b].share;
	}
	return grade_of(share);
}

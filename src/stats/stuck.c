/* SPDX-License-Identifier: MIT */
#include "stats/stuck.h"
#include "base/cleanup.h"
#include "base/mem.h"
#include "stats/longrun.h"

#include <math.h>

static double over(const struct waits *w, size_t i, nsec_t limit)
{
	if (w->x[i] <= limit)
		return 0;
	return w->open_loop ? 1 : (double)(w->x[i] - limit) / 1e9;
}

void stuck_share_all(const struct waits *runs, size_t nruns, nsec_t limit, struct stuck *ret)
{
	struct stuck s = { 0 };
	cleanup_free double *z = NULL;
	double sum = 0, total = 0;
	struct longrun l;
	size_t n = 0, k = 0;
	bool known = true;

	for (size_t r = 0; r < nruns; r++) {
		known &= runs[r].open_loop || !runs[r].no_cycle;
		for (size_t i = 0; i < runs[r].n; i++) {
			sum += over(&runs[r], i, limit);
			total += runs[r].open_loop ? 1 : (double)wait_cycle(&runs[r], i) / 1e9;
		}
		n += runs[r].n;
	}
	if (!n || !known || !(total > 0)) {
		*ret = s;
		return;
	}
	s.known = true;
	s.share = sum / total;
	s.covered_s = nruns && !runs[0].open_loop ? total : 0;
	s.df = MAX(2.0, (double)n - 1);
	if (!(sum > 0)) {		/* nothing over the limit: no variance either */
		*ret = s;
		return;
	}
	if (runs[0].open_loop) {
		struct indicator ind;

		indicator_begin(&ind, n);
		for (size_t r = 0; r < nruns; r++)
			for (size_t i = 0; i < runs[r].n; i++)
				indicator_add(&ind, runs[r].x[i] > limit);
		indicator_end(&ind, &l);
		s.se = sqrt(l.v / (double)n);
		s.df = l.df;
		*ret = s;
		return;
	}
	z = mem_array(n, sizeof(*z));
	for (size_t r = 0; r < nruns; r++)
		for (size_t i = 0; i < runs[r].n; i++) {
			double c = (double)wait_cycle(&runs[r], i) / 1e9;

			z[k++] = over(&runs[r], i, limit) - s.share * c;
		}
	longrun(z, n, &l);
	s.se = sqrt(l.v / (double)n) / (total / (double)n);
	s.df = l.df;
	*ret = s;
}

void stuck_share(const struct waits *w, nsec_t limit, struct stuck *ret)
{
	stuck_share_all(w, 1, limit, ret);
}

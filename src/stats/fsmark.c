/* SPDX-License-Identifier: MIT */
#include "stats/fsmark.h"

struct fsmark fsmark_rate(const nsec_t *start, const nsec_t *end, size_t n, uint64_t first, uint64_t files, nsec_t pause)
{
	struct fsmark out = { 0 };
	size_t i;

	if (!files)
		return out;
	for (i = (size_t)((files - first % files) % files); i + files <= n; i += files) {
		nsec_t loop = end[i + files - 1] - start[i] - (nsec_t)(files - 1) * pause;
		double rate = loop > 0 ? (double)files / nsec_seconds(loop) : 0;

		if (loop <= 0)
			continue;
		out.files_per_s += rate;
		if (!out.iterations || rate < out.slowest)
			out.slowest = rate;
		if (!out.iterations || rate > out.quickest)
			out.quickest = rate;
		out.iterations++;
	}
	if (out.iterations)
		out.files_per_s /= (double)out.iterations;
	return out;
}

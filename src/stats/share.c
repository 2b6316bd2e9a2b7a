/* SPDX-License-Identifier: MIT */
#include "stats/share.h"
#include "base/cleanup.h"
#include "stats/special.h"

#include <math.h>

struct share share_wilson(double p, double n)
{
	double z = normal_quantile(0.975), z2 = z * z, mid, half;

	if (!(n > 0))
		return (struct share){ p, 0, 1 };
	mid = (p + z2 / (2 * n)) / (1 + z2 / n);
	half = z * sqrt(p * (1 - p) / n + z2 / (4 * n * n)) / (1 + z2 / n);
	return (struct share){ p, MAX(0.0, mid - half), MIN(1.0, mid + half) };
}

struct share_diff share_newcombe(struct share a, struct share b)
{
	double d = b.p - a.p;

	return (struct share_diff){
		.diff = d,
		.lo = d - hypot(b.p - b.lo, a.hi - a.p),
		.hi = d + hypot(b.hi - b.p, a.p - a.lo),
	};
}

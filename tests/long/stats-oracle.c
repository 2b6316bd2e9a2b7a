/* SPDX-License-Identifier: MIT */
/* Our special functions against GSL's, over a grid; prints the largest differences, fails above 1e-9. */
#include "stats/share.h"
#include "stats/special.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sf_gamma.h>
#include <math.h>
#include <stdio.h>

int main(void)
{
	double worst_p = 0, worst_q = 0, worst_b = 0, worst_z = 0, worst_perm = 0;
	int n = 0;

	for (double df = 1; df < 5000; df *= 1.13) {
		for (double t = 0.01; t < 60; t *= 1.3, n++)
			worst_p = fmax(worst_p, fabs(t_two_sided(t, df) - 2 * gsl_cdf_tdist_Q(t, df)));
		for (double p = 0.0005; p < 1; p += 0.0231, n++) {
			double want = gsl_cdf_tdist_Pinv(p, df);

			worst_q = fmax(worst_q, fabs(t_quantile(p, df) - want) / fmax(1, fabs(want)));
		}
	}
	for (double a = 0.5; a < 300; a *= 1.9)
		for (double b = 0.5; b < 300; b *= 1.9)
			for (double x = 0.001; x < 1; x += 0.0333, n++)
				worst_b = fmax(worst_b, fabs(beta_inc(a, b, x) - gsl_cdf_beta_P(x, a, b)));
	for (double p = 0.0001; p < 1; p += 0.0101, n++)
		worst_z = fmax(worst_z, fabs(normal_quantile(p) - gsl_cdf_ugaussian_Pinv(p)));
	for (unsigned a = 1; a < 25; a++)
		for (unsigned b = 1; b < 25; b++, n++)
			worst_perm = fmax(worst_perm, fabs(permutation_floor(a, b) - fmin(1, 2 / gsl_sf_choose(a + b, a))));
	printf("%d points against GSL; largest differences: t p %.1e, t quantile %.1e (relative), beta %.1e, normal quantile %.1e, "
	       "permutations %.1e\n", n, worst_p, worst_q, worst_b, worst_z, worst_perm);
	return worst_p > 1e-9 || worst_q > 1e-9 || worst_b > 1e-9 || worst_z > 1e-9 || worst_perm > 1e-9;
}

/* SPDX-License-Identifier: MIT */
/* The null model is the text books' queue: Pollaczek-Khinchine for M/D/1 and M/M/1, mean wait within its interval. */
#include "law.h"

#include "base/mem.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Open arrivals at `rho` of the capacity; mean wait in units of the service time, with its standard error over batches. */
static double mean_wait(const char *law, double rho, double *ret_error)
{
	enum { BATCHES = 60, EACH = 40000, WARM = 4000, IN = DISK_DEPTH_MAX };
	char text[200];
	struct bench_disk d;
	double sum = 0, sum2 = 0, t = 0;
	struct rq *rq = mem_array(IN, sizeof(*rq)), *free_list = NULL, *got;
	nsec_t service = NSEC_PER_MSEC;

	snprintf(text, sizeof(text), "model = null\nservice = 1ms\nlaw = %s\ndepth = %d\n", law, IN);
	disk_open_text(&d, text, GIB, 11);
	for (int i = 0; i < IN; i++) {
		rq[i].link = free_list;
		free_list = &rq[i];
	}
	for (int b = -1; b < BATCHES; b++) {
		double wait = 0;
		int n = b < 0 ? WARM : EACH;

		for (int i = 0; i < n; i++) {
			t += rng_exp(&d.rng, (double)service / rho);
			while (d.p->ops->reap(d.st, (nsec_t)t, &got, 1)) {
				got->link = free_list;
				free_list = got;
			}
			got = free_list;
			assert_non_null(got);
			free_list = got->link;
			*got = (struct rq){ .op = RQ_READ, .bytes = 4096, .id = d.next_id++ };
			d.p->ops->submit(d.st, got, (nsec_t)t);
			wait += (double)(got->started - got->submitted) / (double)service;
		}
		if (b >= 0) {
			sum += wait / n;
			sum2 += wait / n * wait / n;
		}
	}
	disk_close(&d);
	free(rq);
	*ret_error = sqrt((sum2 / BATCHES - sum / BATCHES * sum / BATCHES) / (BATCHES - 1));
	return sum / BATCHES;
}

static void hold(const char *law, double rho, double want)
{
	double error, w = mean_wait(law, rho, &error);

	printf("%s rho %.2f: wait %.4f +- %.4f, expected %.4f\n", law, rho, w, error, want);
	assert_true(fabs(w - want) < 3.5 * error);
	assert_true(error < 0.05 * want);		/* the interval is narrow enough to mean something */
}

static void m_d_1(void **state)
{
	for (double rho = 0.3; rho < 0.95; rho += 0.2)
		hold("fixed", rho, rho / (2 * (1 - rho)));
}

static void m_m_1(void **state)
{
	for (double rho = 0.3; rho < 0.9; rho += 0.2)
		hold("exponential", rho, rho / (1 - rho));
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(m_d_1), cmocka_unit_test(m_m_1) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}

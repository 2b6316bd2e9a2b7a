/* SPDX-License-Identifier: MIT */
#include "unit.h"

#include "../blk/gen.h"
#include "analyze/blk.h"
#include "base/cleanup.h"

#include <math.h>
#include <unistd.h>

static const double shares[BLK_QUANTILES] = { 0.5, 0.9, 0.99, 0.999 };

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static void same_distribution(struct blk_dist *d, uint64_t *x, size_t n)
{
	double sum = 0;

	assert_int_equal(d->n, n);
	if (!n)
		return;
	qsort(x, n, sizeof(*x), by_value);
	for (size_t i = 0; i < n; i++)
		sum += (double)x[i];
	assert_int_equal(d->min, x[0]);
	assert_int_equal(d->max, x[n - 1]);
	assert_true(fabs(blk_dist_mean(d) - sum / (double)n) <= 1e-6 * sum / (double)n);
	for (unsigned q = 0; q < BLK_QUANTILES; q++) {
		size_t rank = (size_t)ceil(shares[q] * (double)n);

		assert_int_equal(blk_dist_quantile(d, q), x[rank ? rank - 1 : 0]);
	}
}

/* What the generator did to each bio is what the analysis finds, to the nanosecond and to each quantile. */
static void check(const struct gen_conf *c, uint64_t seed, uint8_t version, bool swapped)
{
	char dir[] = "/tmp/test-blk.XXXXXX", out[64], path[96];
	struct gen_truth truth = { 0 };
	static struct gen g;
	struct blk_trace *t;
	struct blk_device *d;
	struct err e = { 0 };

	assert_non_null(mkdtemp(dir));
	snprintf(out, sizeof(out), "%s/t", dir);
	gen_open(&g, out, seed);
	g.version = version;
	g.swapped = swapped;
	gen_requests(&g, c, &truth);
	gen_close(&g);
	assert_int_equal(blk_load_path(out, &t, &e), 0);
	assert_int_equal(t->seen.records, g.written);
	assert_int_equal(t->seen.lost, 0);
	assert_int_equal(t->ndevs, 1);
	assert_int_equal(t->open[0], 0);
	assert_true(t->exact);
	d = &t->devs[0];
	same_distribution(&d->phase[BLK_Q2C], truth.q2c.p, truth.q2c.n);
	same_distribution(&d->phase[BLK_D2C], truth.d2c.p, truth.d2c.n);
	same_distribution(&d->phase[BLK_Q2G], truth.q2g.p, truth.q2g.n);
	same_distribution(&d->phase[BLK_Q2M], truth.q2m.p, truth.q2m.n);
	same_distribution(&d->phase[BLK_G2I], truth.g2i.p, truth.g2i.n);
	same_distribution(&d->flush, truth.flush.p, truth.flush.n);
	/* every bio went somewhere */
	assert_int_equal(d->splits, truth.splits);
	assert_int_equal(d->queued[0].n + d->queued[1].n + d->queued[2].n + d->flush_queued, truth.queued);
	assert_int_equal(d->merged[0].n + d->merged[1].n + d->merged[2].n, truth.merged);
	assert_int_equal(d->queued[0].n + d->queued[1].n + d->queued[2].n + d->splits, truth.merged + d->got_request);
	assert_int_equal(d->issued[0].n + d->issued[1].n + d->issued[2].n + d->reissued + d->flush_issued,
			 truth.dispatched - truth.flushes_requeued);
	assert_int_equal(d->completed[0].n + d->completed[1].n + d->completed[2].n + d->flush_done, truth.completed);
	assert_int_equal(d->unmatched_done, 0);
	assert_int_equal(d->queued[0].bytes, truth.queued_bytes[0]);
	assert_int_equal(d->queued[1].bytes + d->queued[2].bytes, truth.queued_bytes[1]);
	assert_int_equal(d->depth[0] + d->depth[1], 0);
	blk_free(t);
	vec_done(&truth.q2c);
	vec_done(&truth.d2c);
	vec_done(&truth.q2g);
	vec_done(&truth.q2m);
	vec_done(&truth.g2i);
	vec_done(&truth.i2d);
	vec_done(&truth.m2d);
	vec_done(&truth.flush);
	for (unsigned cpu = 0; cpu < c->cpus; cpu++) {
		snprintf(path, sizeof(path), "%s.blktrace.%u", out, cpu);
		unlink(path);
	}
	rmdir(dir);
}

static void latencies_are_those_of_the_generator(void **state)
{
	for (uint64_t seed = 1; seed < 12; seed++) {
		struct gen_conf c = GEN_CONF_DEFAULT;

		c.cpus = (unsigned)seed;
		c.requeue = seed % 3 ? 0 : 0.05;
		c.split = seed % 2 ? 0.1 : 0;
		c.cgroup = seed % 4 ? 0 : 0.3;
		check(&c, seed, seed % 2 ? 8 : 7, seed % 5 == 0);
	}
}

static void long_traces_have_exact_quantiles_too(void **state)
{
	struct gen_conf c = GEN_CONF_DEFAULT;

	c.events = 1600000;	/* more bios than BLK_DIST_EXACT: the second pass */
	c.requeue = 0;
	check(&c, 77, 7, false);
}

static void a_distribution_is_exact_at_every_size(void **state)
{
	struct rng rng;

	rng_seed(&rng, 9);
	for (unsigned round = 0; round < 60; round++) {
		struct blk_dist d = { .exact_max = 64 };
		size_t n = 1 + rng_below(&rng, 4000);
		cleanup_free uint64_t *x = mem_array(n, sizeof(*x));
		unsigned bits = 1 + (unsigned)rng_below(&rng, 64);

		for (size_t i = 0; i < n; i++)
			x[i] = round % 7 == 0 ? 123456789012 : rng_next(&rng) >> (64 - bits) >> rng_below(&rng, 8);
		for (size_t i = 0; i < n; i++)
			blk_dist_add(&d, x[i]);
		if (blk_dist_counted(&d)) {
			for (unsigned q = 0; q < BLK_QUANTILES; q++) {	/* one pass: close */
				uint64_t once = blk_dist_quantile(&d, q);

				assert_true(once >= d.min && once <= d.max);
			}
			blk_dist_again(&d);
			for (size_t i = 0; i < n; i++)
				blk_dist_add(&d, x[i]);
		}
		same_distribution(&d, x, n);
		blk_dist_done(&d);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_distribution_is_exact_at_every_size),
		cmocka_unit_test(latencies_are_those_of_the_generator),
		cmocka_unit_test(long_traces_have_exact_quantiles_too),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

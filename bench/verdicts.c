/* SPDX-License-Identifier: MIT */
/*
 * How often do verdicts lie? Simulated waits that behave as waits do
 * (correlated, two kinds, heavy tails), many trials, three questions:
 *
 *	false alarms	both sides from the same source: how often "different"?
 *	coverage	how often does a 95 % interval hold the truth?
 *	power		B takes 0.6 of A: how often BETTER?
 *
 * beside what naive tests on pooled waits say about the same data: Welch's t,
 * Mann-Whitney, Kolmogorov-Smirnov. Ends with 1 when a promise is broken.
 * Links src/stats with libm and nothing else.
 */
#include "base/cleanup.h"
#include "base/mem.h"
#include "base/rng.h"
#include "stats/comparison.h"
#include "stats/looks.h"
#include "stats/sort.h"
#include "stats/special.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define MOST_RUNS	20
#define MOST_WAITS	2000

enum shape { SHAPE_AR, SHAPE_MARKOV, SHAPE_PERIODIC, SHAPE_PARETO };

static const struct source {
	const char *name;
	enum shape shape;
	double param;			/* correlation of the logarithms, or the mean stay in a kind */
	bool heavy;			/* no finite variance: intervals of S(1 s) are not promised */
} sources[] = {
	{ "correlated .5", SHAPE_AR, 0.5, false },
	{ "correlated .85", SHAPE_AR, 0.85, false },
	{ "two kinds, stay 5", SHAPE_MARKOV, 5, false },
	{ "two kinds, stay 20", SHAPE_MARKOV, 20, false },
	{ "two slow, two fast", SHAPE_PERIODIC, 0, false },
	{ "Pareto 1.2", SHAPE_PARETO, 1.2, true },
};

struct run_data {
	nsec_t x[MOST_WAITS];
};

/* One run of n waits around `scale` seconds; runs differ by a factor with sd `between` in logarithms. */
static void generate(const struct source *s, struct rng *r, double scale, double between, size_t n, nsec_t *x)
{
	double level = scale * exp(between * rng_normal(r)), ar = rng_normal(r);
	size_t phase = rng_below(r, 4);
	bool slow = rng_unit(r) < 0.5;

	for (size_t i = 0; i < n; i++) {
		double y = 0;

		switch (s->shape) {
		case SHAPE_AR:
			ar = s->param * ar + sqrt(1 - s->param * s->param) * rng_normal(r);
			y = exp(ar);
			break;
		case SHAPE_MARKOV:
			if (rng_unit(r) < 1 / s->param)
				slow = !slow;
			y = (slow ? 5 : 0.1) * exp(0.3 * rng_normal(r));
			break;
		case SHAPE_PERIODIC:
			y = ((i + phase) / 2 % 2 ? 5 : 0.1) * exp(0.3 * rng_normal(r));
			break;
		case SHAPE_PARETO:
			y = 0.3 * pow(1 - rng_unit(r), -1 / s->param);
			break;
		}
		x[i] = nsec_from_seconds(MIN(level * y, 86400.0));
	}
}

static double naive_welch(const nsec_t *a, const nsec_t *b, size_t n)
{
	double m[2] = { 0 }, v[2] = { 0 };

	for (int k = 0; k < 2; k++) {
		const nsec_t *x = k ? b : a;

		for (size_t i = 0; i < n; i++)
			m[k] += nsec_seconds(x[i]) / (double)n;
		for (size_t i = 0; i < n; i++)
			v[k] += pow(nsec_seconds(x[i]) - m[k], 2) / ((double)n - 1) / (double)n;
	}
	return t_two_sided((m[1] - m[0]) / sqrt(v[0] + v[1]), welch_df(v[0], (double)n - 1, v[1], (double)n - 1));
}

/* sorted sides; Mann-Whitney by the normal approximation, Kolmogorov-Smirnov by its series */
static void naive_ranks(const nsec_t *a, const nsec_t *b, size_t n, double *ret_mw, double *ret_ks)
{
	double u = 0, d = 0, nn = (double)n, z, lambda, sum = 0;
	size_t j = 0, e = 0;

	for (size_t i = 0; i < n; i++) {
		while (j < n && b[j] < a[i])
			j++;
		e = MAX(e, j);
		while (e < n && b[e] <= a[i])
			e++;
		u += (double)(j + e) / 2;
		d = fmax(d, fmax(fabs((double)(i + 1) - (double)e), fabs((double)i - (double)j)) / nn);
	}
	z = (u - nn * nn / 2) / sqrt(nn * nn * (2 * nn + 1) / 12);
	*ret_mw = erfc(fabs(z) / sqrt(2));
	lambda = (sqrt(nn / 2) + 0.12 + 0.11 / sqrt(nn / 2)) * d;
	for (int k = 1; k < 100; k++)
		sum += 2 * (k % 2 ? 1 : -1) * exp(-2.0 * k * k * lambda * lambda);
	*ret_ks = d > 0 ? fmin(1, fmax(0, sum)) : 1;
}

static const struct cmp_conf conf = { .limit = NSEC_PER_SEC, .margin = 0.10, .share_margin = 0.01 };

static void compare(struct run_data *a, struct run_data *b, size_t runs, size_t n, double alpha, struct comparison *c)
{
	struct waits wa[MOST_RUNS], wb[MOST_RUNS];

	for (size_t r = 0; r < runs; r++) {
		wa[r] = (struct waits){ .x = a[r].x, .n = n, .pause = NSEC_PER_SEC };
		wb[r] = (struct waits){ .x = b[r].x, .n = n, .pause = NSEC_PER_SEC };
	}
	comparison_of(wa, runs, wb, runs, &conf, c);
	decide(&c->decision, 1, alpha);
}

static bool different(enum verdict v)
{
	return v != VERDICT_UNCLEAR && v != VERDICT_SAME;
}

/* S(1 s) of a source, from very much of it. */
static double true_stuck(const struct source *s, double scale, double between)
{
	static struct run_data d;
	double sum = 0;
	struct rng r;
	int runs = 4000;

	rng_seed(&r, 99);
	for (int i = 0; i < runs; i++) {
		struct stuck st;

		generate(s, &r, scale, between, 200, d.x);
		stuck_share(&(struct waits){ .x = d.x, .n = 200, .pause = NSEC_PER_SEC }, NSEC_PER_SEC, &st);
		sum += st.share / runs;
	}
	return sum;
}

struct tally {
	double verdict, looks, mw, welch, ks, typical, tail, tail_n, stuck, power, same;
};

static void trial_same(const struct source *s, struct rng *r, size_t runs, size_t n, double between, struct tally *t)
{
	static struct run_data a[MOST_RUNS], b[MOST_RUNS];
	static nsec_t pa[MOST_RUNS * MOST_WAITS], pb[MOST_RUNS * MOST_WAITS];
	struct comparison c;
	double mw, ks;

	for (size_t i = 0; i < MOST_RUNS; i++) {
		generate(s, r, 1, between, n, a[i].x);
		generate(s, r, 1, between, n, b[i].x);
	}
	compare(a, b, runs, n, 0.05, &c);
	t->verdict += different(c.decision.verdict);
	t->same += c.decision.verdict == VERDICT_SAME;
	for (size_t k = 0; k < runs; k++) {
		memcpy(pa + k * n, a[k].x, n * sizeof(nsec_t));
		memcpy(pb + k * n, b[k].x, n * sizeof(nsec_t));
	}
	t->welch += naive_welch(pa, pb, runs * n) < 0.05;
	sort_nsec(pa, runs * n);
	sort_nsec(pb, runs * n);
	naive_ranks(pa, pb, runs * n, &mw, &ks);
	t->mw += mw < 0.05;
	t->ks += ks < 0.05;
	if (runs != 5)
		return;
	for (int i = 0; i < LOOKS; i++) {
		compare(a, b, look_runs[i], n, look_alpha(0.05), &c);
		if (different(c.decision.verdict)) {
			t->looks++;
			break;
		}
	}
}

static void trial_drop(const struct source *s, struct rng *r, size_t runs, size_t n, double between, double stuck,
		       struct tally *t)
{
	static struct run_data a[MOST_RUNS], b[MOST_RUNS];
	struct comparison c;

	for (size_t i = 0; i < runs; i++) {
		generate(s, r, 1, between, n, a[i].x);
		generate(s, r, 0.6, between, n, b[i].x);
	}
	compare(a, b, runs, n, 0.05, &c);
	t->power += c.decision.verdict == VERDICT_BETTER;
	t->typical += c.typical.lo <= 0.6 && 0.6 <= c.typical.hi;
	t->stuck += c.stuck.lo <= stuck && stuck <= c.stuck.hi;
	if (c.tail.known) {
		t->tail_n++;
		t->tail += c.tail.lo <= 0.6 && 0.6 <= c.tail.hi;
	}
}

int main(int argc, char **argv)
{
	static const struct { size_t runs, n; } plan[] = { { 3, 200 }, { 5, 60 }, { 5, 200 }, { 8, 200 }, { 5, 2000 } };
	int trials = argc > 1 ? atoi(argv[1]) : 1000, broken = 0;
	double between = 0.2;

	printf("%d trials a line; runs differ by 20 %%; nominal 5 %%\n\n", trials);
	printf("%-19s %-8s | %-31s | %-6s | %-20s | %s\n", "", "", "called different (same source)", "looks", "95 % intervals hold", "B = 0.6 A");
	printf("%-19s %-8s | %7s %7s %7s %7s | %-6s | %6s %6s %6s | %s\n", "waits", "runs x n", "verdict", "Welch", "M-W", "K-S",
	       "5,10,20", "typic.", "tail", "S(1 s)", "BETTER");
	for (size_t i = 0; i < ARRAY_SIZE(sources); i++)
		for (size_t k = 0; k < ARRAY_SIZE(plan); k++) {
			const struct source *s = &sources[i];
			int count = plan[k].n > 1000 ? trials / 5 : trials;
			double stuck = true_stuck(s, 0.6, between) - true_stuck(s, 1, between), m = 100.0 / count;
			struct tally t = { 0 };
			struct rng r;
			char runs[16];

			rng_seed(&r, 1000 * i + k + 1);
			for (int j = 0; j < count; j++)
				trial_same(s, &r, plan[k].runs, plan[k].n, between, &t);
			for (int j = 0; j < count; j++)
				trial_drop(s, &r, plan[k].runs, plan[k].n, between, stuck, &t);
			snprintf(runs, sizeof(runs), "%zu x %zu", plan[k].runs, plan[k].n);
			printf("%-19s %-8s | %6.1f%% %6.0f%% %6.0f%% %6.0f%% | ", s->name, runs, t.verdict * m, t.welch * m, t.mw * m,
			       t.ks * m);
			if (plan[k].runs == 5)
				printf("%5.1f%% | ", t.looks * m);
			else
				printf("%6s | ", "");
			printf("%5.1f%% %5.1f%% %5.1f%% | %5.1f%%\n", t.typical * m, t.tail_n ? 100 * t.tail / t.tail_n : NAN, t.stuck * m,
			       t.power * m);
			fflush(stdout);
			if (plan[k].runs == 5 && (t.verdict * m > 7 || t.looks * m > 7))
				broken++, printf("  ^ more than 7 %% false alarms\n");
			if (plan[k].runs == 5 && plan[k].n == 200 &&
			    (t.typical * m < 92 || 100 * t.tail / t.tail_n < 92 || (!s->heavy && t.stuck * m < 92)))
				broken++, printf("  ^ an interval holds the truth in less than 92 %%\n");
			if (i == 0 && plan[k].runs == 5 && plan[k].n == 200 && t.power * m < 80)
				broken++, printf("  ^ less than 80 %% power\n");
		}
	printf("\n%s\n", broken ? "PROMISES BROKEN" : "all promises kept: at most 7 % false alarms at 5 runs (also with looks), "
	       "intervals hold in 92 % or more, 80 % power");
	return broken ? 1 : 0;
}

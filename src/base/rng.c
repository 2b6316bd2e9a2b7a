/* SPDX-License-Identifier: MIT */
#include "base/rng.h"

#include <math.h>
#include <string.h>

static uint64_t rotl(uint64_t x, int k)
{
	return (x << k) | (x >> (64 - k));
}

static uint64_t splitmix(uint64_t *x)
{
	uint64_t z = (*x += UINT64_C(0x9e3779b97f4a7c15));

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

void rng_seed(struct rng *r, uint64_t seed)
{
	for (int i = 0; i < 4; i++)
		r->s[i] = splitmix(&seed);
}

void rng_split(const struct rng *r, const char *name, struct rng *ret_child)
{
	uint64_t h = UINT64_C(0xcbf29ce484222325);

	for (const char *c = name; *c; c++)
		h = (h ^ (unsigned char)*c) * UINT64_C(0x100000001b3);
	rng_seed(ret_child, h ^ r->s[0] ^ rotl(r->s[2], 17));
}

uint64_t rng_next(struct rng *r)
{
	uint64_t *s = r->s, out = rotl(s[1] * 5, 7) * 9, t = s[1] << 17;

	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= t;
	s[3] = rotl(s[3], 45);
	return out;
}

uint64_t rng_below(struct rng *r, uint64_t n)
{
	uint64_t limit = -n % n, x;	/* 2^64 mod n: below it the low part would be favoured */

	do
		x = rng_next(r);
	while (x < limit);
	return x % n;
}

double rng_unit(struct rng *r)
{
	return (double)(rng_next(r) >> 11) * 0x1.0p-53;
}

double rng_exp(struct rng *r, double mean)
{
	return -mean * log1p(-rng_unit(r));
}

double rng_normal(struct rng *r)
{
	double u = 1.0 - rng_unit(r), v = rng_unit(r);

	return sqrt(-2.0 * log(u)) * cos(2.0 * M_PI * v);
}

void rng_fill(struct rng *r, void *buf, size_t n)
{
	unsigned char *p = buf;

	while (n) {
		uint64_t x = rng_next(r);
		size_t k = n < sizeof(x) ? n : sizeof(x);

		memcpy(p, &x, k);
		p += k;
		n -= k;
	}
}

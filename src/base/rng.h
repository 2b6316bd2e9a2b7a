/* SPDX-License-Identifier: MIT */
/*
 * Seeded random numbers, the same on every machine: xoshiro256** started by
 * splitmix64 (Blackman & Vigna 2018, public domain algorithms). Not for secrets.
 */
#ifndef BASE_RNG_H
#define BASE_RNG_H

#include <stddef.h>
#include <stdint.h>

struct rng {
	uint64_t s[4];
};

void rng_seed(struct rng *r, uint64_t seed);
/* A stream of its own for the part called `name`; adding a part does not move the others. */
void rng_split(const struct rng *r, const char *name, struct rng *ret_child);
uint64_t rng_next(struct rng *r);
uint64_t rng_below(struct rng *r, uint64_t n);		/* 0..n-1 without bias; n > 0 */
double rng_unit(struct rng *r);				/* [0, 1) */
double rng_exp(struct rng *r, double mean);
double rng_normal(struct rng *r);
void rng_fill(struct rng *r, void *buf, size_t n);	/* incompressible bytes */

#endif

/* SPDX-License-Identifier: MIT */
#include "perform/data.h"
#include "base/rng.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

int data_open(struct data *d, size_t bytes, uint64_t seed, struct err *e)
{
	struct rng rng;
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	if (p == MAP_FAILED)
		return err_sys(e, -errno, "no memory for a data buffer of %zu bytes", bytes);
	rng_seed(&rng, seed);
	rng_fill(&rng, p, bytes);
	*d = (struct data){ .buf = p, .bytes = bytes, .key = rng_next(&rng) };
	return 0;
}

void data_close(struct data *d)
{
	if (d->buf)
		munmap(d->buf, d->bytes);
	*d = (struct data){ 0 };
}

void *data_stamp(struct data *d, size_t offset, size_t n)
{
	unsigned char *p = d->buf + offset;

	/* Weyl sequence times an odd constant: 2^64 different stamps before one returns. */
	for (size_t i = 0; i + sizeof(d->key) <= n; i += DATA_PAGE) {
		uint64_t x = (d->key += UINT64_C(0x9e3779b97f4a7c15)) * UINT64_C(0xbf58476d1ce4e5b9);

		memcpy(p + i, &x, sizeof(x));
	}
	return p;
}

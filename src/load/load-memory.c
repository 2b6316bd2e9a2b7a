/* SPDX-License-Identifier: MIT */
/*
 * A program that needs more and more memory: pages are taken at `rate`, filled
 * with random bytes, up to `share` of the machine's memory, then used again
 * and again. The page cache shrinks, and beyond the memory there is, programs
 * are swapped or read back from the disk. It is the first to be killed when
 * memory runs out (oom_score_adj 1000); that ends the load, not the run.
 */
#include "base/cleanup.h"
#include "load/load.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#define CHUNK	(UINT64_C(1) << 20)
#define PAGE	4096

struct conf {
	double share;
	uint64_t rate;
};

static const struct param params[] = {
	{ .name = "share", .type = PARAM_SHARE, .offset = offsetof(struct conf, share), .def = "60%",
	  .help = "of the machine's memory; above 100% it swaps or is killed", .min = 0.01, .max = 4 },
	{ .name = "rate", .type = PARAM_SIZE, .offset = offsetof(struct conf, rate), .def = "1G",
	  .help = "bytes a second while it grows", .min = 1 << 20, .max = 1e12 },
	{ 0 },
};

static void scale(void *conf, double share)
{
	struct conf *c = conf;

	c->share = MAX(c->share * share, 0.01);
}

/* Random bytes cannot be shared, compressed away or recognised as zero pages. */
static void fill(unsigned char *p, const unsigned char *random, uint64_t *key)
{
	memcpy(p, random, CHUNK);
	for (uint64_t i = 0; i < CHUNK; i += PAGE) {
		(*key) += UINT64_C(0x9e3779b97f4a7c15);
		memcpy(p + i, key, sizeof(*key));
	}
}

static void use_again(unsigned char *p, uint64_t used, struct rng *rng, struct load_step *s)
{
	while (!*s->stop) {
		for (int i = 0; i < 256; i++) {
			uint64_t at = rng_below(rng, used / PAGE) * PAGE;

			p[at + 64]++;
		}
		s->tally->units++;
		nsec_sleep_until(nsec_now() + NSEC_PER_MSEC, s->stop);
	}
}

static int step(void *st, const void *conf, struct load_step *s, struct err *e)
{
	const struct conf *c = conf;
	uint64_t ram = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE), used = 0, key = rng_next(s->rng);
	uint64_t want = MAX((uint64_t)((double)ram * c->share) / CHUNK * CHUNK, CHUNK);
	unsigned char *random, *p = mmap(NULL, want + CHUNK, PROT_READ | PROT_WRITE,
					 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	nsec_t begin = nsec_now();

	if (p == MAP_FAILED)
		return err_sys(e, -errno, "no address space for %.0f MiB", (double)want / CHUNK);
	random = p + want;
	rng_fill(s->rng, random, CHUNK);
	s->tally->state = 1;
	while (used < want && !*s->stop) {
		fill(p + used, random, &key);
		used += CHUNK;
		s->tally->units++;
		nsec_sleep_until(begin + (nsec_t)((double)used / (double)c->rate * 1e9), s->stop);
	}
	if (used)
		use_again(p, used, s->rng, s);
	munmap(p, want + CHUNK);
	return 0;
}

const struct load_ops load_memory = {
	.plug = { .name = "memory", .about = "takes memory and keeps using it, so that the page cache shrinks",
		  .conf_size = sizeof(struct conf), .params = params },
	.touches = LOAD_MEMORY | LOAD_CPU,
	.unit_name = "MiB used",
	.scale = scale,
	.step = step,
	.why_no_sim = "the simulator has no memory pressure",
};

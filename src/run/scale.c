/* SPDX-License-Identifier: MIT */
/* Published workloads were made for other machines: loads shrink to the space, memory and time at hand. */
#include "base/cleanup.h"
#include "base/mem.h"
#include "base/units.h"
#include "run/plan.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Preparing may take as long as measuring, a minute at least, on a disk that writes so fast. */
#define LAYOUT_BYTES_S	(100u * 1000 * 1000)

static uint64_t mem_available(void)
{
	cleanup_file FILE *f = fopen("/proc/meminfo", "re");
	unsigned long long kib = 0;
	char line[128];

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "MemAvailable: %llu kB", &kib) == 1)
			break;
	return kib * 1024;
}

/* Calls the load's scale() and writes down each parameter that it changed. */
static void shrink(struct plan *p, struct plan_load *l, double share, const char *why)
{
	const struct param *params = l->ops->plug.params;
	char before[64][64], after[64];
	size_t i = 0;

	if (!l->ops->scale || share >= 1)
		return;
	for (const struct param *q = params; q && q->name && i < ARRAY_SIZE(before); q++, i++)
		param_get_text(q, l->conf, before[i], sizeof(before[i]));
	l->ops->scale(l->conf, share);
	i = 0;
	for (const struct param *q = params; q && q->name && i < ARRAY_SIZE(before); q++, i++) {
		param_get_text(q, l->conf, after, sizeof(after));
		if (strcmp(before[i], after))
			vec_push(&p->scaled, mem_printf("load %s: %s %s -> %s (%s)", l->name, q->name, before[i], after, why));
	}
	l->workers = l->ops->workers ? l->ops->workers(l->conf) : 1;
	l->space = l->ops->space ? l->ops->space(l->conf) : 0;
}

/* All directories on one filesystem share its free space: the need of `dev`. */
static uint64_t need_of(const struct plan *p, dev_t dev, bool loads)
{
	uint64_t need = 0;

	for (size_t i = 0; loads && i < p->loads.n; i++)
		if (p->dirs.p[p->loads.p[i].dir].dev == dev)
			need += p->loads.p[i].space;
	for (size_t i = 0; !loads && i < p->probes.n; i++)
		if (p->dirs.p[p->probes.p[i].dir].dev == dev)
			need += p->probes.p[i].space;
	return need;
}

static void by_time_and_memory(struct plan *p)
{
	uint64_t layout = 0, budget = (uint64_t)(nsec_seconds(MAX(p->time, 60 * NSEC_PER_SEC)) * LAYOUT_BYTES_S);
	uint64_t memory = 0, room = mem_available() / 2;

	for (size_t i = 0; i < p->loads.n; i++) {
		struct plan_load *l = &p->loads.p[i];

		if (l->ops->prepare)
			layout += l->space;
		if (l->ops->touches & LOAD_MEMORY)
			memory += l->space;
	}
	for (size_t i = 0; i < p->loads.n; i++) {
		struct plan_load *l = &p->loads.p[i];

		if (l->ops->prepare && layout > budget)
			shrink(p, l, (double)budget / (double)layout, "time to lay it out");
		if ((l->ops->touches & LOAD_MEMORY) && room && memory > room)
			shrink(p, l, (double)room / (double)memory, "memory at hand");
	}
}

static int by_space(struct plan *p, const struct plan_dir *d, struct err *e)
{
	char need[UNITS_TEXT], have[UNITS_TEXT];
	uint64_t probes = need_of(p, d->dev, false), loads = need_of(p, d->dev, true);

	/* A second time: what could not shrink further the first time leaves less for the others. */
	for (int round = 0; round < 3 && probes + loads > d->free_bytes && probes < d->free_bytes; round++) {
		double share = (double)(d->free_bytes - probes) / (double)loads * (round ? 0.7 : 1);

		for (size_t i = 0; i < p->loads.n; i++)
			if (p->dirs.p[p->loads.p[i].dir].dev == d->dev)
				shrink(p, &p->loads.p[i], share, "free space");
		loads = need_of(p, d->dev, true);
	}
	if (probes + loads <= d->free_bytes)
		return 0;
	units_size_text(probes + loads, need);
	units_size_text(d->free_bytes, have);
	return err_set(e, -ENOSPC, "too little space in %s: %s are needed (probes and the smallest useful loads), %s may be "
				   "used (5 %% of the filesystem stay free); make room, or make it smaller with -D section.key=value",
		       d->path, need, have);
}

int plan_scale(struct plan *p, struct err *e)
{
	int r = 0;

	if (p->scale > 0) {
		for (size_t i = 0; i < p->loads.n; i++)
			shrink(p, &p->loads.p[i], p->scale, "--scale");
	} else {
		by_time_and_memory(p);
	}
	for (size_t i = 0; i < p->dirs.n && !r; i++)
		r = by_space(p, &p->dirs.p[i], e);
	for (size_t i = 0; i < p->dirs.n; i++)
		p->dirs.p[i].need_bytes = need_of(p, p->dirs.p[i].dev, false) + need_of(p, p->dirs.p[i].dev, true);
	return r;
}

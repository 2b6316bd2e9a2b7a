/* SPDX-License-Identifier: MIT */
/* Published workloads were made for other machines: loads shrink to the space and time at hand (memory: load memory takes a share of what there is). */
#include "base/cleanup.h"
#include "base/mem.h"
#include "base/units.h"
#include "run/plan.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Preparing may take as long as measuring, a minute at least, on a disk that writes so fast. */
#define LAYOUT_BYTES_S	(100u * 1000 * 1000)

/* Calls scale() and writes down each parameter that it changed. */
static void shrink_conf(struct plan *p, const char *kind, const char *name, const struct plug *plug, void *conf,
			void (*scale)(void *conf, double share), double share, const char *why)
{
	char before[64][64], after[64];
	size_t i = 0;

	for (const struct param *q = plug->params; q && q->name && i < ARRAY_SIZE(before); q++, i++)
		param_get_text(q, conf, before[i], sizeof(before[i]));
	scale(conf, share);
	i = 0;
	for (const struct param *q = plug->params; q && q->name && i < ARRAY_SIZE(before); q++, i++) {
		param_get_text(q, conf, after, sizeof(after));
		if (strcmp(before[i], after))
			vec_push(&p->scaled, mem_printf("%s %s: %s %s -> %s (%s)", kind, name, q->name, before[i], after, why));
	}
}

static void shrink(struct plan *p, struct plan_load *l, double share, const char *why)
{
	if (!l->ops->scale || share >= 1)
		return;
	shrink_conf(p, "load", l->name, &l->ops->plug, l->conf, l->ops->scale, share, why);
	l->workers = l->ops->workers ? l->ops->workers(l->conf) : 1;
	l->space = l->ops->space ? l->ops->space(l->conf) : 0;
}

static void shrink_probe(struct plan *p, struct plan_probe *pp, double share, const char *why)
{
	if (!pp->ops->scale || share >= 1)
		return;
	shrink_conf(p, "probe", pp->name, &pp->ops->plug, pp->conf, pp->ops->scale, share, why);
	pp->space = pp->ops->space ? pp->ops->space(pp->conf) : 0;
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

static void by_time(struct plan *p)
{
	uint64_t layout = 0, budget = (uint64_t)(nsec_seconds(MAX(p->time, 60 * NSEC_PER_SEC)) * LAYOUT_BYTES_S);

	for (size_t i = 0; i < p->loads.n; i++)
		if (p->loads.p[i].ops->prepare)
			layout += p->loads.p[i].space;
	for (size_t i = 0; i < p->loads.n && layout > budget; i++)
		if (p->loads.p[i].ops->prepare)
			shrink(p, &p->loads.p[i], (double)budget / (double)layout, "time to lay it out");
}

static int by_space(struct plan *p, const struct plan_dir *d, struct err *e)
{
	char need[UNITS_TEXT], have[UNITS_TEXT];
	uint64_t probes = need_of(p, d->dev, false), loads = need_of(p, d->dev, true);

	/* Probes shrink only when they would leave no room for loads: their files are what the published numbers mean. */
	if (probes > d->free_bytes / 2) {
		for (size_t i = 0; i < p->probes.n; i++)
			if (p->dirs.p[p->probes.p[i].dir].dev == d->dev)
				shrink_probe(p, &p->probes.p[i], (double)(d->free_bytes / 2) / (double)probes, "free space");
		probes = need_of(p, d->dev, false);
	}
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
		by_time(p);
	}
	for (size_t i = 0; i < p->dirs.n && !r; i++)
		r = by_space(p, &p->dirs.p[i], e);
	for (size_t i = 0; i < p->dirs.n; i++)
		p->dirs.p[i].need_bytes = need_of(p, p->dirs.p[i].dev, false) + need_of(p, p->dirs.p[i].dev, true);
	return r;
}

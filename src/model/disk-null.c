/* SPDX-License-Identifier: MIT */
/*
 * A device without mechanics: `servers` that each take exactly (or, with
 * law = exponential, on average) `service` a request, first come first served.
 * With service = 0 it shows what the lab itself costs; with one server it is
 * the M/D/1 and M/M/1 queue of the text books, which tests hold it to.
 */
#include "base/cleanup.h"
#include "model/disk.h"

#define SERVERS_MAX 64

static const char *const laws[] = { "fixed", "exponential", NULL };

struct null_conf {
	struct disk_conf disk;
	nsec_t service;
	int law;
	uint64_t servers;
};

static const struct param null_params[] = {
	DISK_PARAMS(struct null_conf, "128", "no"),
	PARAM(struct null_conf, service, PARAM_NSEC, "0", "time of one request"),
	{ .name = "law", .type = PARAM_WORD, .offset = offsetof(struct null_conf, law), .def = "fixed",
	  .help = "fixed: each takes that long; exponential: on average", .words = laws },
	{ .name = "servers", .type = PARAM_COUNT, .offset = offsetof(struct null_conf, servers), .def = "1",
	  .help = "requests served at the same time", .min = 1, .max = SERVERS_MAX },
	{ 0 }
};

struct null_disk {
	const struct null_conf *conf;
	struct rng rng;
	nsec_t free_at[SERVERS_MAX];
	struct rq *finished;
	unsigned inside;
};

static int null_init(void *st, const void *conf, uint64_t capacity_bytes, const struct rng *rng, struct err *e)
{
	struct null_disk *d = st;

	d->conf = conf;
	rng_split(rng, "null", &d->rng);
	return 0;
}

static void null_done(void *st)
{
}

static unsigned null_room(const void *st)
{
	const struct null_disk *d = st;

	return (unsigned)d->conf->disk.depth - d->inside;
}

static void null_submit(void *st, struct rq *rq, nsec_t now)
{
	struct null_disk *d = st;
	const struct null_conf *c = d->conf;
	nsec_t service = c->law ? (nsec_t)rng_exp(&d->rng, (double)c->service) : c->service;
	unsigned best = 0;

	for (unsigned i = 1; i < c->servers; i++)
		if (d->free_at[i] < d->free_at[best])
			best = i;
	rq->submitted = now;
	rq->started = MAX(now, d->free_at[best]);
	d->free_at[best] = rq->started + service;
	d->inside++;
	rq_finish(&d->finished, rq, d->free_at[best]);
}

static nsec_t null_next(void *st)
{
	struct null_disk *d = st;

	return d->finished ? d->finished->done : NSEC_NEVER;
}

static unsigned null_reap(void *st, nsec_t now, struct rq **done, unsigned max)
{
	struct null_disk *d = st;
	unsigned n = rq_take_finished(&d->finished, now, done, max);

	d->inside -= n;
	return n;
}

static nsec_t null_random_read(const void *conf, uint64_t capacity_bytes)
{
	return ((const struct null_conf *)conf)->service;
}

static uint64_t null_sequential(const void *conf, uint64_t capacity_bytes)
{
	const struct null_conf *c = conf;

	return c->service ? (uint64_t)((double)c->servers * 1048576e9 / (double)c->service) : 0;
}

const struct disk_ops disk_null = {
	.plug = { .name = "null", .about = "no mechanics: a fixed or exponential service time, or none at all",
		  .conf_size = sizeof(struct null_conf), .state_size = sizeof(struct null_disk), .params = null_params },
	.init = null_init,
	.done = null_done,
	.room = null_room,
	.submit = null_submit,
	.next = null_next,
	.reap = null_reap,
	.expect_random_read = null_random_read,
	.expect_sequential = null_sequential,
};

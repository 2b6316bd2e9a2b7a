/* SPDX-License-Identifier: MIT */
/*
 * A cloud volume: no mechanics, but a budget. Operations and bytes each pass
 * limiters (token buckets as virtual scheduling: a request starts when every
 * limiter would have had a token for it), first come first served; then the
 * service takes a fixed time plus an exponential one.
 *
 *	base_iops with `credits` saved up (gp2: 5.4 M), never above peak_iops
 *	throughput in bytes/s, with a second of burst
 *
 * An operation larger than io_size counts as several.
 */
#include "base/cleanup.h"
#include "model/disk.h"

struct cloud_conf {
	struct disk_conf disk;
	uint64_t base_iops, peak_iops, credits, throughput, io_size;
	double credits_at_start;
	nsec_t service, jitter;
};

#define P(field_, type_, def_, help_, min_, max_) \
	{ .name = #field_, .type = (type_), .offset = offsetof(struct cloud_conf, field_), .def = (def_), .help = (help_), \
	  .min = (min_), .max = (max_) }

static const struct param cloud_params[] = {
	DISK_PARAMS(struct cloud_conf, "64", "no"),
	P(base_iops, PARAM_COUNT, "300", "operations/s that never end", 1, 1e7),
	P(peak_iops, PARAM_COUNT, "3000", "operations/s while credits last", 1, 1e7),
	P(credits, PARAM_COUNT, "5400000", "operations that can be saved up", 0, 1e10),
	P(credits_at_start, PARAM_SHARE, "1", "how full the savings are at the start", 0, 1),
	P(throughput, PARAM_COUNT, "128M", "bytes/s", 1e5, 1e11),
	P(io_size, PARAM_SIZE, "256k", "a larger operation counts as several", 512, 1 << 30),
	P(service, PARAM_NSEC, "500us", "shortest service time", 0, 1e10),
	P(jitter, PARAM_NSEC, "200us", "mean of what is added to it", 0, 1e10),
	{ 0 }
};

struct limiter {
	nsec_t each;		/* time of one token */
	nsec_t burst;		/* time that can be saved up */
	nsec_t tat;		/* theoretical arrival time of the next token */
};

struct cloud {
	const struct cloud_conf *conf;
	struct rng rng;
	struct limiter base, peak, bytes;	/* bytes: a token is 512 of them */
	nsec_t last_start;
	struct rq *finished;
	unsigned inside;
};

static int cloud_init(void *st, const void *conf, uint64_t capacity_bytes, const struct rng *rng, struct err *e)
{
	const struct cloud_conf *c = conf;
	struct cloud *d = st;

	d->conf = c;
	rng_split(rng, "cloud", &d->rng);
	d->base.each = NSEC_PER_SEC / (nsec_t)c->base_iops;
	d->base.burst = d->base.each * (nsec_t)c->credits;
	d->base.tat = (nsec_t)((1 - c->credits_at_start) * (double)d->base.burst);
	d->peak.each = NSEC_PER_SEC / (nsec_t)c->peak_iops;
	d->peak.burst = d->peak.each * 16;
	d->bytes.each = (nsec_t)(512 * (uint64_t)NSEC_PER_SEC / c->throughput);
	d->bytes.burst = NSEC_PER_SEC;
	return 0;
}

static void cloud_done(void *st)
{
}

static unsigned cloud_room(const void *st)
{
	const struct cloud *d = st;

	return d->inside < d->conf->disk.depth ? (unsigned)d->conf->disk.depth - d->inside : 0;
}

/* The first moment at or after t at which it lets something pass. */
static nsec_t earliest(const struct limiter *l, nsec_t t)
{
	return MAX(t, l->tat - l->burst);
}

static void spend(struct limiter *l, nsec_t t, uint64_t tokens)
{
	l->tat = MAX(l->tat, t) + l->each * (nsec_t)tokens;
}

static void cloud_submit(void *st, struct rq *rq, nsec_t now)
{
	struct cloud *d = st;
	const struct cloud_conf *c = d->conf;
	nsec_t t = MAX(now, d->last_start);

	rq->submitted = now;
	if (rq->op == RQ_READ || rq->op == RQ_WRITE) {
		uint64_t ops = (rq->bytes + c->io_size - 1) / c->io_size;

		t = MAX(earliest(&d->base, t), MAX(earliest(&d->peak, t), earliest(&d->bytes, t)));
		spend(&d->base, t, ops);
		spend(&d->peak, t, ops);
		spend(&d->bytes, t, (rq->bytes + 511) / 512);
	}
	d->last_start = t;
	rq->started = t;
	d->inside++;
	rq_finish(&d->finished, rq, t + c->service + (c->jitter ? (nsec_t)rng_exp(&d->rng, (double)c->jitter) : 0));
}

static nsec_t cloud_next(void *st)
{
	const struct cloud *d = st;

	return d->finished ? d->finished->done : NSEC_NEVER;
}

static unsigned cloud_reap(void *st, nsec_t now, struct rq **done, unsigned max)
{
	struct cloud *d = st;
	unsigned n = rq_take_finished(&d->finished, now, done, max);

	d->inside -= n;
	return n;
}

static nsec_t cloud_random_read(const void *conf, uint64_t capacity_bytes)
{
	const struct cloud_conf *c = conf;

	return c->service + c->jitter;
}

static uint64_t cloud_sequential(const void *conf, uint64_t capacity_bytes)
{
	const struct cloud_conf *c = conf;

	return MIN(c->throughput, (c->credits && c->credits_at_start > 0 ? c->peak_iops : c->base_iops) * c->io_size);
}

const struct disk_ops disk_cloud = {
	.plug = { .name = "cloud", .about = "token buckets with burst credits", .conf_size = sizeof(struct cloud_conf),
		  .state_size = sizeof(struct cloud), .params = cloud_params },
	.init = cloud_init,
	.done = cloud_done,
	.room = cloud_room,
	.submit = cloud_submit,
	.next = cloud_next,
	.reap = cloud_reap,
	.expect_random_read = cloud_random_read,
	.expect_sequential = cloud_sequential,
};

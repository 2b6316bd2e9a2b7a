/* SPDX-License-Identifier: MIT */
/*
 * A flash SSD: `dies` behind `channels` behind one link.
 *
 * Every die, channel and the link are busy until some time, first come first
 * served, so each request's end is known when it arrives. Reads: command, tR on
 * the die of each page (striped by address), channel, link. Writes are done
 * when the buffer has them; pages are programmed on die after die. A write that
 * does not continue an earlier one costs (waf - 1) extra pages of garbage
 * collection, paid in bursts by one die: reads of that die wait for it.
 * FLUSH waits for the programs (flush_drains) and lets nothing pass meanwhile
 * (flush_queued = no).
 *
 * Left out: mapping and wear, program suspension, a cache of reads.
 */
#include "base/cleanup.h"
#include "base/mem.h"
#include "event/event.h"
#include "model/disk.h"

#include <errno.h>

#define DIES_MAX	256
#define CHANNELS_MAX	64
#define STREAMS		8
#define GC_PAGES	8	/* pages one burst of collection moves before it erases: a few ms of one die */

struct ssd_conf {
	struct disk_conf disk;
	uint64_t channels, dies, page, channel_rate, link, buffer;
	nsec_t command, read, program, erase, flush;
	double waf;
	bool gc, flush_drains, flush_queued;
};

#define P(field_, type_, def_, help_, min_, max_) \
	{ .name = #field_, .type = (type_), .offset = offsetof(struct ssd_conf, field_), .def = (def_), .help = (help_), \
	  .min = (min_), .max = (max_) }

static const struct param ssd_params[] = {
	DISK_PARAMS(struct ssd_conf, "32", "yes"),
	P(channels, PARAM_COUNT, "8", "channels", 1, CHANNELS_MAX),
	P(dies, PARAM_COUNT, "16", "dies, over all channels", 1, DIES_MAX),
	P(page, PARAM_SIZE, "16k", "flash page", 512, 1 << 20),
	P(channel_rate, PARAM_COUNT, "400M", "bytes/s of one channel", 1e6, 1e11),
	P(link, PARAM_COUNT, "560M", "bytes/s between drive and host", 1e6, 1e11),
	P(command, PARAM_NSEC, "3us", "command overhead", 0, 1e9),
	P(read, PARAM_NSEC, "46us", "tR: array to page register", 0, 1e9),
	P(program, PARAM_NSEC, "390us", "tPROG of a page", 0, 1e9),
	P(erase, PARAM_NSEC, "3ms", "erase of a block", 0, 1e10),
	P(buffer, PARAM_SIZE, "32M", "write buffer", 4096, 1ull << 34),
	P(flush, PARAM_NSEC, "3.2ms", "fixed cost of a FLUSH", 0, 1e11),
	{ .name = "flush_drains", .type = PARAM_BOOL, .offset = offsetof(struct ssd_conf, flush_drains), .def = "yes",
	  .help = "FLUSH waits for the programs; no with capacitors (power-loss protection)" },
	{ .name = "flush_queued", .type = PARAM_BOOL, .offset = offsetof(struct ssd_conf, flush_queued), .def = "no",
	  .help = "other requests go on during a FLUSH" },
	P(waf, PARAM_NUMBER, "4", "write amplification of random writes", 1, 100),
	{ .name = "gc", .type = PARAM_BOOL, .offset = offsetof(struct ssd_conf, gc), .def = "yes",
	  .help = "garbage collection on: off is a fresh drive" },
	{ 0 }
};

struct program {		/* bytes that leave the buffer at `end` */
	nsec_t end;
	uint64_t bytes;
};

struct ssd {
	const struct ssd_conf *conf;
	nsec_t die_free[DIES_MAX], channel_free[CHANNELS_MAX], link_free, barrier;
	unsigned next_die;
	uint64_t partial;			/* bytes that do not fill a page yet */
	double debt;				/* pages of garbage collection owed */
	uint64_t stream_end[STREAMS];
	unsigned next_stream;
	struct program *fifo;			/* ring */
	unsigned head, n, cap;
	uint64_t buffered;
	nsec_t last_program;
	struct rq *finished;
	unsigned inside;
};

static int ssd_init(void *st, const void *conf, uint64_t capacity_bytes, const struct rng *rng, struct err *e)
{
	struct ssd *s = st;

	s->conf = conf;
	s->cap = (unsigned)(s->conf->buffer / s->conf->page) + 2 * DISK_DEPTH_MAX;
	s->fifo = mem_array(s->cap, sizeof(*s->fifo));
	return 0;
}

static void ssd_done(void *st)
{
	free(((struct ssd *)st)->fifo);
}

static unsigned ssd_room(const void *st)
{
	const struct ssd *s = st;

	return s->inside < s->conf->disk.depth ? (unsigned)s->conf->disk.depth - s->inside : 0;
}

static nsec_t time_of(uint64_t bytes, uint64_t rate)
{
	return (nsec_t)(bytes * (uint64_t)NSEC_PER_SEC / rate);
}

static nsec_t ssd_read(struct ssd *s, const struct rq *rq, nsec_t t)
{
	const struct ssd_conf *c = s->conf;
	uint64_t at = rq->sector * 512, end = at + rq->bytes;
	nsec_t last = t;

	while (at < end) {
		uint64_t n = MIN(end - at, c->page - at % c->page);
		unsigned die = (unsigned)(at / c->page % c->dies), ch = die % (unsigned)c->channels;

		s->die_free[die] = MAX(s->die_free[die], t) + c->read;
		s->channel_free[ch] = MAX(s->channel_free[ch], s->die_free[die]) + time_of(n, c->channel_rate);
		s->link_free = MAX(s->link_free, s->channel_free[ch]) + time_of(n, c->link);
		last = MAX(last, s->link_free);
		at += n;
	}
	return last;
}

static void pop_programs(struct ssd *s, nsec_t t)
{
	while (s->n && s->fifo[s->head].end <= t) {
		s->buffered -= s->fifo[s->head].bytes;
		s->head = (s->head + 1) % s->cap;
		s->n--;
	}
}

static void program_page(struct ssd *s, uint64_t bytes, nsec_t t)
{
	const struct ssd_conf *c = s->conf;
	unsigned die = s->next_die, ch = die % (unsigned)c->channels;
	nsec_t end;

	s->next_die = (die + 1) % (unsigned)c->dies;
	while (c->gc && s->debt >= GC_PAGES) {
		s->debt -= GC_PAGES;
		s->die_free[die] = MAX(s->die_free[die], t) + GC_PAGES * (c->read + c->program) + c->erase;
	}
	s->channel_free[ch] = MAX(s->channel_free[ch], t) + time_of(c->page, c->channel_rate);
	s->die_free[die] = MAX(s->die_free[die], s->channel_free[ch]) + c->program;
	end = MAX(s->die_free[die], s->last_program);	/* room becomes free in order */
	s->last_program = end;
	if (s->n < s->cap) {
		s->fifo[(s->head + s->n++) % s->cap] = (struct program){ end, bytes };
		s->buffered += bytes;
	}
}

static bool continues(struct ssd *s, const struct rq *rq)
{
	uint64_t end = rq->sector + rq->bytes / 512;

	for (unsigned i = 0; i < STREAMS; i++)
		if (s->stream_end[i] == rq->sector) {
			s->stream_end[i] = end;
			return true;
		}
	s->stream_end[s->next_stream++ % STREAMS] = end;
	return false;
}

static nsec_t ssd_write(struct ssd *s, const struct rq *rq, nsec_t t)
{
	const struct ssd_conf *c = s->conf;
	bool straight = !c->disk.write_cache || (rq->flags & EVF_FUA);
	nsec_t in;

	if (!continues(s, rq))
		s->debt += (c->waf - 1) * (double)rq->bytes / (double)c->page;
	s->link_free = MAX(s->link_free, t) + time_of(rq->bytes, c->link);
	in = s->link_free;
	pop_programs(s, in);
	while (s->n && s->buffered + rq->bytes > c->buffer) {	/* waits for room */
		in = MAX(in, s->fifo[s->head].end);
		pop_programs(s, in);
	}
	for (s->partial += rq->bytes; s->partial >= c->page; s->partial -= c->page)
		program_page(s, c->page, in);
	if (straight && s->partial) {
		program_page(s, s->partial, in);
		s->partial = 0;
	}
	return straight ? MAX(in, s->last_program) : in;
}

static nsec_t ssd_flush(struct ssd *s, nsec_t t)
{
	const struct ssd_conf *c = s->conf;

	if (c->flush_drains && c->disk.write_cache) {
		if (s->partial)
			program_page(s, s->partial, t);
		s->partial = 0;
		t = MAX(t, s->last_program);
	}
	if (!c->flush_queued) {
		for (const struct rq *rq = s->finished; rq; rq = rq->link)
			t = MAX(t, rq->done);
	}
	t += c->flush;
	if (!c->flush_queued)
		s->barrier = t;
	return t;
}

static void ssd_submit(void *st, struct rq *rq, nsec_t now)
{
	struct ssd *s = st;
	nsec_t t = MAX(now, s->barrier), end = t;

	rq->submitted = now;
	rq->started = t;
	t += s->conf->command;
	switch (rq->op) {
	case RQ_READ:
		end = ssd_read(s, rq, t);
		break;
	case RQ_WRITE:
		end = ssd_write(s, rq, t);
		break;
	case RQ_FLUSH:
		end = ssd_flush(s, t);
		break;
	case RQ_DISCARD:
		end = t;
		break;
	}
	s->inside++;
	rq_finish(&s->finished, rq, end);
}

static nsec_t ssd_next(void *st)
{
	const struct ssd *s = st;

	return s->finished ? s->finished->done : NSEC_NEVER;
}

static unsigned ssd_reap(void *st, nsec_t now, struct rq **done, unsigned max)
{
	struct ssd *s = st;
	unsigned n = rq_take_finished(&s->finished, now, done, max);

	s->inside -= n;
	return n;
}

static nsec_t ssd_random_read(const void *conf, uint64_t capacity_bytes)
{
	const struct ssd_conf *c = conf;

	return c->command + c->read + time_of(4096, c->channel_rate) + time_of(4096, c->link);
}

static uint64_t ssd_sequential(const void *conf, uint64_t capacity_bytes)
{
	const struct ssd_conf *c = conf;
	uint64_t dies = c->read ? c->dies * c->page * (uint64_t)NSEC_PER_SEC / (uint64_t)c->read : UINT64_MAX;

	return MIN(MIN(c->link, c->channels * c->channel_rate), dies);
}

const struct disk_ops disk_ssd = {
	.plug = { .name = "ssd", .about = "channels, dies, write buffer, garbage collection", .conf_size = sizeof(struct ssd_conf),
		  .state_size = sizeof(struct ssd), .params = ssd_params },
	.init = ssd_init,
	.done = ssd_done,
	.room = ssd_room,
	.submit = ssd_submit,
	.next = ssd_next,
	.reap = ssd_reap,
	.expect_random_read = ssd_random_read,
	.expect_sequential = ssd_sequential,
};

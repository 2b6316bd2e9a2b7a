/* SPDX-License-Identifier: MIT */
/*
 * A USB stick or SD card: one request at a time over cheap flash, where writes
 * are quick only inside a few open erase blocks ("allocation units").
 *
 * A write into a block that is not open first closes the least recently used
 * one: what was not written of it is copied from its old place, and the old
 * place is erased. With linear_only an open block takes writes in rising order
 * only; a write elsewhere in it closes and reopens it.
 *
 * After flashbench's README (Arnd Bergmann) and LWN 428584.
 */
#include "base/cleanup.h"
#include "base/mem.h"
#include "event/event.h"
#include "model/disk.h"

#define OPEN_MAX 64

struct flash_conf {
	struct disk_conf disk;
	uint64_t unit, open, page, read_rate, write_rate, copy_rate;
	nsec_t command, erase, flush;
	bool linear_only, flush_closes;
};

#define P(field_, type_, def_, help_, min_, max_) \
	{ .name = #field_, .type = (type_), .offset = offsetof(struct flash_conf, field_), .def = (def_), .help = (help_), \
	  .min = (min_), .max = (max_) }

static const struct param flash_params[] = {
	DISK_PARAMS(struct flash_conf, "1", "no"),
	P(unit, PARAM_SIZE, "4M", "erase block (allocation unit)", 4096, 1 << 30),
	P(open, PARAM_COUNT, "5", "erase blocks open at once", 1, OPEN_MAX),
	P(page, PARAM_SIZE, "8k", "smallest write; less is read, changed and written", 512, 1 << 20),
	P(read_rate, PARAM_COUNT, "20M", "bytes/s of reads", 1e4, 1e10),
	P(write_rate, PARAM_COUNT, "8M", "bytes/s of writes into an open block", 1e4, 1e10),
	P(copy_rate, PARAM_COUNT, "16M", "bytes/s of copying inside, when a block is closed", 1e4, 1e10),
	P(command, PARAM_NSEC, "700us", "overhead of a request", 0, 1e10),
	P(erase, PARAM_NSEC, "2ms", "erase of a block", 0, 1e10),
	P(flush, PARAM_NSEC, "0", "cost of a FLUSH", 0, 1e11),
	{ .name = "linear_only", .type = PARAM_BOOL, .offset = offsetof(struct flash_conf, linear_only), .def = "no",
	  .help = "an open block takes writes in rising order only" },
	{ .name = "flush_closes", .type = PARAM_BOOL, .offset = offsetof(struct flash_conf, flush_closes), .def = "no",
	  .help = "FLUSH closes every open block" },
	{ 0 }
};

struct open_unit {
	uint64_t unit;		/* its number + 1; 0: free */
	uint64_t next;		/* byte after the last write in it */
	uint64_t written;	/* bytes, at most the unit */
};

struct flash {
	const struct flash_conf *conf;
	struct open_unit open[OPEN_MAX];	/* most recently used first */
	nsec_t free_at;
	struct rq *finished;
	unsigned inside;
};

static int flash_init(void *st, const void *conf, uint64_t capacity_bytes, const struct rng *rng, struct err *e)
{
	((struct flash *)st)->conf = conf;
	return 0;
}

static void flash_done(void *st)
{
}

static unsigned flash_room(const void *st)
{
	const struct flash *f = st;

	return f->inside < f->conf->disk.depth ? (unsigned)f->conf->disk.depth - f->inside : 0;
}

static nsec_t time_of(uint64_t bytes, uint64_t rate)
{
	return (nsec_t)(bytes * (uint64_t)NSEC_PER_SEC / rate);
}

static nsec_t close_unit(const struct flash_conf *c, struct open_unit *u)
{
	nsec_t t = u->unit ? c->erase + time_of(c->unit - u->written, c->copy_rate) : 0;

	*u = (struct open_unit){ 0 };
	return t;
}

/* Makes the unit the first of the list; what that costs. */
static nsec_t open_unit(struct flash *f, uint64_t unit, uint64_t in_unit)
{
	const struct flash_conf *c = f->conf;
	unsigned i, n = (unsigned)c->open;
	struct open_unit u;
	nsec_t t = 0;

	for (i = 0; i < n - 1; i++)
		if (f->open[i].unit == unit + 1 || !f->open[i].unit)
			break;
	u = f->open[i];
	if (u.unit != unit + 1 || (c->linear_only && in_unit < u.next)) {
		t = close_unit(c, &u);
		u.unit = unit + 1;
	}
	for (; i > 0; i--)
		f->open[i] = f->open[i - 1];
	f->open[0] = u;
	return t;
}

static nsec_t flash_write(struct flash *f, const struct rq *rq)
{
	const struct flash_conf *c = f->conf;
	uint64_t at = rq->sector * 512, end = at + rq->bytes;
	nsec_t t = 0;

	while (at < end) {
		uint64_t in = at % c->unit, n = MIN(end - at, c->unit - in), first = at / c->page * c->page;
		uint64_t pages = ((at + n + c->page - 1) / c->page * c->page - first);

		t += open_unit(f, at / c->unit, in) + time_of(pages, c->write_rate);
		if (pages != n)
			t += time_of(pages - n, c->read_rate);
		f->open[0].next = in + n;
		f->open[0].written = MIN(f->open[0].written + n, c->unit);
		at += n;
	}
	return t;
}

static void flash_submit(void *st, struct rq *rq, nsec_t now)
{
	struct flash *f = st;
	const struct flash_conf *c = f->conf;
	nsec_t t = MAX(now, f->free_at);

	rq->submitted = now;
	rq->started = t;
	t += c->command;
	if (rq->op == RQ_READ) {
		t += time_of(rq->bytes, c->read_rate);
	} else if (rq->op == RQ_WRITE) {
		t += flash_write(f, rq);
	} else if (rq->op == RQ_FLUSH) {
		t += c->flush;
		for (unsigned i = 0; c->flush_closes && i < c->open; i++)
			t += close_unit(c, &f->open[i]);
	}
	f->free_at = t;
	f->inside++;
	rq_finish(&f->finished, rq, t);
}

static nsec_t flash_next(void *st)
{
	const struct flash *f = st;

	return f->finished ? f->finished->done : NSEC_NEVER;
}

static unsigned flash_reap(void *st, nsec_t now, struct rq **done, unsigned max)
{
	struct flash *f = st;
	unsigned n = rq_take_finished(&f->finished, now, done, max);

	f->inside -= n;
	return n;
}

static nsec_t flash_random_read(const void *conf, uint64_t capacity_bytes)
{
	const struct flash_conf *c = conf;

	return c->command + time_of(4096, c->read_rate);
}

static uint64_t flash_sequential(const void *conf, uint64_t capacity_bytes)
{
	const struct flash_conf *c = conf;

	return (UINT64_C(1) << 20) * (uint64_t)NSEC_PER_SEC / (uint64_t)(c->command + time_of(1 << 20, c->read_rate));
}

const struct disk_ops disk_flash = {
	.plug = { .name = "flash", .about = "USB stick, SD card: a few open erase blocks", .conf_size = sizeof(struct flash_conf),
		  .state_size = sizeof(struct flash), .params = flash_params },
	.init = flash_init,
	.done = flash_done,
	.room = flash_room,
	.submit = flash_submit,
	.next = flash_next,
	.reap = flash_reap,
	.expect_random_read = flash_random_read,
	.expect_sequential = flash_sequential,
};

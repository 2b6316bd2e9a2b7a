/* SPDX-License-Identifier: MIT */
/*
 * Made-up block traces for tests and benchmarks: whole requests with known
 * latencies (gen_requests), arbitrary but well-formed records (gen_chaos), and
 * hand-made edge cases (cases.h). Everything repeats from its seed.
 */
#ifndef TESTS_BLK_GEN_H
#define TESTS_BLK_GEN_H

#include "base/rng.h"
#include "base/vec.h"
#include "event/blktrace.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GEN_CPUS 4096

struct gen {
	const char *out;		/* OUT.blktrace.CPU */
	FILE *f[GEN_CPUS];
	uint32_t seq[GEN_CPUS];
	struct rng rng;
	uint8_t version;
	bool swapped, no_seq;
	uint64_t written;
	uint8_t buf[BLK_V8_BYTES + BLK_PDU_MAX];
};

static inline void gen_open(struct gen *g, const char *out, uint64_t seed)
{
	memset(g, 0, sizeof(*g));
	g->out = out;
	g->version = 7;
	rng_seed(&g->rng, seed);
}

static inline FILE *gen_file(struct gen *g, uint32_t cpu)
{
	if (!g->f[cpu]) {
		char path[4096];

		snprintf(path, sizeof(path), "%s.blktrace.%u", g->out, cpu);
		g->f[cpu] = fopen(path, "we");
		if (!g->f[cpu]) {
			perror(path);
			exit(2);
		}
		setvbuf(g->f[cpu], NULL, _IOFBF, 1 << 16);
	}
	return g->f[cpu];
}

static inline void gen_close(struct gen *g)
{
	for (uint32_t c = 0; c < GEN_CPUS; c++)
		if (g->f[c] && fclose(g->f[c])) {
			perror("close");
			exit(2);
		}
}

/* Writes r into the file of `file_cpu`; a sequence number of 0 takes the CPU's next one. */
static inline void gen_put(struct gen *g, uint32_t file_cpu, struct blk_rec r)
{
	size_t n;

	r.version = r.version ? r.version : g->version;
	r.swapped = g->swapped;
	if (!r.seq && !(r.tc & BLK_TC_NOTIFY) && !g->no_seq)
		r.seq = ++g->seq[file_cpu];
	n = blk_encode(&r, g->buf);
	if (fwrite(g->buf, 1, n, gen_file(g, file_cpu)) != n) {
		perror("write");
		exit(2);
	}
	g->written++;
}

static inline void gen_name(struct gen *g, uint32_t cpu, uint64_t time, uint32_t pid, const char *name)
{
	uint8_t comm[16] = { 0 };

	memcpy(comm, name, strlen(name) < 15 ? strlen(name) : 15);
	gen_put(g, cpu, (struct blk_rec){ .time = time, .act = BLK_TN_PROCESS, .tc = BLK_TC_NOTIFY, .pid = pid, .cpu = cpu,
					  .pdu = comm, .pdu_len = 16 });
}

/* ---- whole requests ---- */

struct gen_conf {
	uint64_t events;
	unsigned cpus, devs, pids, depth;
	double merge, requeue, split, flush, discard, remap, meta, message, sub_kib, cgroup;	/* shares */
	bool no_names;
};

#define GEN_CONF_DEFAULT { .events = 10000, .cpus = 2, .devs = 1, .pids = 5, .depth = 32, .merge = 0.5, .requeue = 0.002, \
			   .split = 0.02, .flush = 0.02, .discard = 0.01, .meta = 0.1, .message = 0.001 }

struct gen_bio {
	uint64_t q, sector;
	uint32_t bytes;
};

struct gen_rq {
	uint64_t sector, g, i, d;
	uint32_t bytes, tc, pid, cpu, dev;
	unsigned nbios;
	struct gen_bio bio[16];
	bool flush, rest;	/* rest: of a split; nothing fits in front of it */
};

/* What is known about each bio that completed; NULL: not wanted. */
struct gen_truth {
	VEC(uint64_t) q2c, q2g, g2i, q2m, i2d, m2d, d2c, flush;
	uint64_t queued, merged, dispatched, completed, requeued, flushes_requeued, splits;
	uint64_t queued_bytes[2];	/* read, write */
};

static inline bool gen_chance(struct gen *g, double share)
{
	return share > 0 && rng_unit(&g->rng) < share;
}

static inline void gen_event(struct gen *g, const struct gen_conf *c, const struct gen_rq *rq, uint64_t t, uint32_t act,
			     uint32_t cat, uint64_t sector, uint32_t bytes, uint32_t cpu, uint32_t pid, uint64_t pdu, bool has_pdu)
{
	uint8_t p[16] = { 0 };
	struct blk_rec r = { .time = t, .sector = sector, .bytes = bytes, .act = act, .tc = rq->tc | cat, .pid = pid,
			     .dev = rq->dev, .cpu = cpu, .pdu = p };
	unsigned off = 0;

	if (gen_chance(g, c->cgroup)) {
		r.act |= BLK_CGROUP;
		p[0] = 42;
		off = 8;
	}
	for (unsigned i = 0; has_pdu && i < 8; i++)
		p[off + i] = (uint8_t)(pdu >> (56 - 8 * i));
	r.pdu_len = (uint16_t)(off + (has_pdu ? 8 : 0));
	gen_put(g, cpu, r);
}

#define GEN_PLUG 16

/*
 * Tasks queue bios, merge some into the request they hold plugged, unplug, and
 * the device completes them in any order. Sectors in flight never overlap.
 */
static inline void gen_requests(struct gen *g, const struct gen_conf *c, struct gen_truth *truth)
{
	struct gen_rq *fly = calloc(c->depth + GEN_PLUG, sizeof(*fly)), plug[GEN_PLUG];
	unsigned nfly = 0, nplug = 0;
	uint64_t t = 1000000, next_sector = 2048;
	uint32_t pid = 100, cpu = 0;

	for (unsigned i = 0; !c->no_names && i < c->pids; i++) {
		char name[16];

		snprintf(name, sizeof(name), i % 3 ? "worker/%u" : "fio%u", i);
		gen_name(g, i % c->cpus, t++, 100 + i, name);
	}
	while (g->written < c->events || nfly || nplug) {
		bool more = g->written < c->events;

		t += 200 + (uint64_t)rng_exp(&g->rng, 3000);
		if (gen_chance(g, c->message))
			gen_put(g, cpu, (struct blk_rec){ .time = t++, .act = BLK_TN_MESSAGE, .tc = BLK_TC_NOTIFY, .cpu = cpu,
				.dev = blk_dev(8, 0), .pdu = (const uint8_t *)"bfq hello", .pdu_len = 9 });
		if (more && nplug < GEN_PLUG && nfly + nplug < c->depth && (nfly == 0 || rng_below(&g->rng, 3))) {
			struct gen_rq *last = nplug ? &plug[nplug - 1] : NULL, rq = { 0 };
			uint32_t bytes = 4096u << rng_below(&g->rng, 4);

			if (!nplug) {
				pid = 100 + (uint32_t)rng_below(&g->rng, c->pids);
				cpu = (uint32_t)rng_below(&g->rng, c->cpus);
				rq.dev = blk_dev(8, 16 * (uint32_t)rng_below(&g->rng, c->devs));
				gen_event(g, c, &(struct gen_rq){ .tc = BLK_TC_READ, .dev = rq.dev }, t++, BLK_P, 0, 0, 0, cpu, pid, 0, false);
			} else {
				rq.dev = last->dev;
			}
			if (last && !last->flush && last->nbios < 16 && last->bytes < (512u << 10) && gen_chance(g, c->merge)) {
				bool front = !rng_below(&g->rng, 8) && !last->rest;
				struct gen_bio b = { t, front ? last->sector - bytes / 512 : last->sector + last->bytes / 512, bytes };

				gen_event(g, c, last, t, BLK_Q, BLK_TC_QUEUE, b.sector, bytes, cpu, pid, 0, false);
				t += 300;
				gen_event(g, c, last, t, front ? BLK_F : BLK_M, BLK_TC_QUEUE, b.sector, bytes, cpu, pid, 0, false);
				if (truth) {
					truth->queued++;
					truth->merged++;
					truth->queued_bytes[last->tc >> 1 & 1] += bytes;
					vec_push(&truth->q2m, t - b.q);
				}
				last->bio[last->nbios++] = b;
				last->bytes += bytes;
				last->sector = front ? b.sector : last->sector;
				continue;
			}
			if (gen_chance(g, c->sub_kib))
				bytes = 512;
			rq.flush = gen_chance(g, c->flush);
			rq.tc = rq.flush ? BLK_TC_WRITE | BLK_TC_SYNC | BLK_TC_FLUSH :
				rng_below(&g->rng, 3) ? BLK_TC_WRITE | (rng_below(&g->rng, 2) ? BLK_TC_SYNC : 0) :
				BLK_TC_READ | BLK_TC_SYNC | (rng_below(&g->rng, 4) ? 0 : BLK_TC_AHEAD);
			if (!rq.flush && gen_chance(g, c->discard))
				rq.tc = BLK_TC_WRITE | BLK_TC_DISCARD;
			if (gen_chance(g, c->meta))
				rq.tc |= BLK_TC_META;
			rq.pid = pid;
			rq.cpu = cpu;
			rq.bytes = rq.flush ? 0 : bytes;
			rq.sector = rq.flush ? 0 : next_sector + 8192;	/* room for front merges */
			if (!rq.flush)
				next_sector = rq.sector + 8192 + (rng_below(&g->rng, 4) ? 0 : rng_below(&g->rng, 1u << 24));
			rq.nbios = 1;
			rq.bio[0] = (struct gen_bio){ t, rq.sector, rq.bytes };
			if (gen_chance(g, c->remap)) {
				uint8_t p[16] = { 0, 0x80, 0, 1, 0, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 8, 0 };

				gen_put(g, cpu, (struct blk_rec){ .time = t++, .sector = rq.sector, .bytes = rq.bytes, .act = BLK_A,
					.tc = rq.tc | BLK_TC_QUEUE, .pid = pid, .dev = rq.dev, .cpu = cpu, .pdu = p, .pdu_len = 16 });
				rq.bio[0].q = t;
			}
			gen_event(g, c, &rq, t, BLK_Q, BLK_TC_QUEUE, rq.sector, rq.bytes, cpu, pid, 0, false);
			if (truth) {
				truth->queued++;
				truth->queued_bytes[rq.tc >> 1 & 1] += rq.bytes;
			}
			if (rq.bytes >= 8192 && nplug + 2 <= GEN_PLUG && gen_chance(g, c->split)) {
				/* the front half becomes this request, the rest the next one; both were queued at t */
				uint32_t half = rq.bytes / 2;

				t += 100;
				gen_event(g, c, &rq, t, BLK_X, 0, rq.sector, half, cpu, pid, rq.sector + half / 512, true);
				if (truth)
					truth->splits++;
				rq.bytes = rq.bio[0].bytes = half;
				rq.g = t += 200 + rng_below(&g->rng, 500);
				gen_event(g, c, &rq, t, BLK_G, BLK_TC_QUEUE, rq.sector, half, cpu, pid, 0, false);
				if (truth)
					vec_push(&truth->q2g, rq.g - rq.bio[0].q);
				plug[nplug++] = rq;
				rq.sector = rq.bio[0].sector = rq.sector + half / 512;
				rq.rest = true;
			}
			rq.g = t += 200 + rng_below(&g->rng, 500);
			gen_event(g, c, &rq, t, BLK_G, BLK_TC_QUEUE, rq.sector, rq.bytes, cpu, pid, 0, false);
			if (truth && !rq.flush)
				vec_push(&truth->q2g, rq.g - rq.bio[0].q);
			plug[nplug++] = rq;
		} else if (nplug && (!nfly || !more || rng_below(&g->rng, 3) == 0)) {
			gen_event(g, c, &(struct gen_rq){ .tc = BLK_TC_READ, .dev = plug[0].dev }, t, rng_below(&g->rng, 4) ? BLK_U : BLK_UT,
				  0, 0, 0, cpu, pid, nplug, true);
			for (unsigned i = 0; i < nplug; i++) {
				struct gen_rq *rq = &plug[i];
				struct gen_rq d = *rq;

				t += 150;
				if (!rq->flush) {
					rq->i = t;
					gen_event(g, c, rq, t, BLK_I, BLK_TC_QUEUE, rq->sector, rq->bytes, rq->cpu, rq->pid, 0, false);
				}
				t += 100 + rng_below(&g->rng, 2000);
				rq->d = t;
				if (rq->flush)
					d.tc = BLK_TC_READ | BLK_TC_FLUSH;
				gen_event(g, c, &d, t, BLK_D, BLK_TC_ISSUE | BLK_TC_FS, rq->sector, rq->bytes, rq->cpu, rq->pid, 0, false);
				if (truth)
					truth->dispatched++;
				if (gen_chance(g, c->requeue)) {
					t += 500;
					gen_event(g, c, &d, t, BLK_R, BLK_TC_REQUEUE | BLK_TC_FS, rq->sector, rq->bytes, rq->cpu, rq->pid, 0, false);
					t += 700;
					rq->d = t;
					gen_event(g, c, &d, t, BLK_D, BLK_TC_ISSUE | BLK_TC_FS, rq->sector, rq->bytes, rq->cpu, rq->pid, 0, false);
					if (truth) {
						truth->dispatched++;
						truth->requeued++;
						truth->flushes_requeued += rq->flush;
					}
				}
				fly[nfly++] = *rq;
			}
			nplug = 0;
		} else if (nfly) {
			unsigned k = (unsigned)rng_below(&g->rng, nfly);
			struct gen_rq rq = fly[k], d = rq;
			uint32_t done_cpu = (uint32_t)rng_below(&g->rng, c->cpus);

			if (rq.flush)
				d.tc = BLK_TC_READ | BLK_TC_FLUSH;
			t += (uint64_t)rng_exp(&g->rng, 20000);
			for (unsigned j = 0; rq.flush && j < k; j++)	/* flushes complete in the order they were issued */
				if (fly[j].flush && fly[j].dev == rq.dev) {
					k = j;
					rq = fly[j];
					break;
				}
			gen_event(g, c, &d, t, BLK_C, BLK_TC_COMPLETE | BLK_TC_FS, rq.sector, rq.bytes, done_cpu, 0, 0, false);
			if (truth) {
				truth->completed++;
				if (rq.flush)
					vec_push(&truth->flush, t - rq.d);
				for (unsigned b = 0; !rq.flush && b < rq.nbios; b++) {
					vec_push(&truth->q2c, t - rq.bio[b].q);
					vec_push(&truth->d2c, t - rq.d);
				}
				if (!rq.flush) {
					vec_push(&truth->g2i, rq.i - rq.g);
					vec_push(&truth->i2d, rq.d - rq.i);
				}
			}
			memmove(&fly[k], &fly[k + 1], (--nfly - k) * sizeof(*fly));
		}
	}
	free(fly);
}

/* ---- arbitrary records ---- */

/* `strange`: also wrong CPUs, times that run back, unknown acts and categories. */
static inline void gen_chaos(struct gen *g, uint64_t events, unsigned cpus, unsigned devs, bool strange)
{
	uint64_t t[GEN_CPUS] = { 0 };

	for (uint64_t i = 0; i < events; i++) {
		uint32_t cpu = (uint32_t)rng_below(&g->rng, cpus);
		uint8_t pdu[32];
		struct blk_rec r = {
			.sector = rng_below(&g->rng, 1u << 20), .bytes = (uint32_t)rng_below(&g->rng, 1u << 14),
			.act = 1 + (uint32_t)rng_below(&g->rng, 17), .pid = (uint32_t)rng_below(&g->rng, 9),
			.dev = blk_dev(8, (uint32_t)rng_below(&g->rng, devs)), .cpu = cpu, .pdu = pdu,
			.pdu_len = (uint16_t)(rng_below(&g->rng, 3) ? 0 : rng_below(&g->rng, 32)),
		};

		rng_fill(&g->rng, pdu, sizeof(pdu));
		t[cpu] += rng_below(&g->rng, 4) ? 0 : rng_below(&g->rng, 40000);	/* many ties */
		r.time = t[cpu];
		r.tc = (uint32_t)(rng_next(&g->rng) & (strange ? 0xfbff : 0xf9ff)) | (rng_below(&g->rng, 2) ? BLK_TC_WRITE : BLK_TC_READ);
		if (!rng_below(&g->rng, 20))
			r.tc |= BLK_TC_PC;
		if (!rng_below(&g->rng, 30)) {
			char name[16];

			snprintf(name, sizeof(name), "p%u", (unsigned)rng_below(&g->rng, 4));
			gen_name(g, cpu, r.time, r.pid, name);
			continue;
		}
		if (!rng_below(&g->rng, 40)) {
			r.tc = BLK_TC_NOTIFY;
			r.act = 1 + (uint32_t)rng_below(&g->rng, 3);
			memset(pdu, 'x', sizeof(pdu));
		}
		if (strange) {
			if (!rng_below(&g->rng, 25))
				r.cpu = (uint32_t)rng_below(&g->rng, 6);
			if (!rng_below(&g->rng, 50))
				r.act = r.tc == BLK_TC_NOTIFY ? 3 : (uint32_t)rng_below(&g->rng, 65536);
			if (!rng_below(&g->rng, 50))
				r.tc = 0;
			if (!rng_below(&g->rng, 60))
				r.time -= rng_below(&g->rng, 100000);
			if (!rng_below(&g->rng, 40))
				r.act |= BLK_CGROUP;
			if (!rng_below(&g->rng, 40))
				r.bytes = (uint32_t)rng_next(&g->rng);
		}
		if (!rng_below(&g->rng, 200))
			g->seq[cpu] += (uint32_t)rng_below(&g->rng, 5);
		gen_put(g, cpu, r);
	}
}

#endif

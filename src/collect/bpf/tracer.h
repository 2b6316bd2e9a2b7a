/* SPDX-License-Identifier: MIT */
/*
 * The BPF object as a thing that can be opened, attached, read and closed.
 * Nothing stays attached when the process ends, however it ends: programs
 * hang on descriptors and are never pinned.
 */
#ifndef COLLECT_BPF_TRACER_H
#define COLLECT_BPF_TRACER_H

#include "base/err.h"
#include "base/nsec.h"
#include "base/strbuf.h"

#include <stdbool.h>
#include <stdint.h>

struct tracer;

struct tracer_conf {
	nsec_t threshold;		/* of programs' waits; links of a chain are kept from a quarter of it on */
	nsec_t probe_threshold;		/* of watched processes */
	bool requests;			/* follow block requests */
};

/* 0, or -ENOTSUP with the reason in one sentence: build, lockdown, BTF, capability. Loads a tiny program to be sure. */
int tracer_supported(struct err *why);

/* Programs the kernel refuses or has no tracepoint for are left out; ret_missing names them ("" none). */
int tracer_open(const struct tracer_conf *c, struct tracer **ret, struct strbuf *ret_missing, struct err *e);
int tracer_watch(struct tracer *t, uint32_t tgid);	/* a probe: shorter waits, interruptible ones too */
int tracer_attach(struct tracer *t, struct err *e);
/* Hands every row that waits to fn (a wire_* struct and its size). Returns how many, or -errno. */
int tracer_read(struct tracer *t, int (*fn)(void *ctx, void *row, size_t n), void *ctx, struct err *e);
/* The tasks that are asleep right now for longer than the threshold, as wire_wait with WIRE_OPEN. */
int tracer_open_waits(struct tracer *t, int (*fn)(void *ctx, void *row, size_t n), void *ctx, struct err *e);
uint64_t tracer_lost(const struct tracer *t);

struct tracer_cost {
	const char *program;
	uint64_t ns, runs;
};
/* Measured by the kernel while tracer_cost_begin() is in force (about 30 ns more an event). */
int tracer_cost_begin(struct tracer *t);
void tracer_cost_end(struct tracer *t);
/* Fills at most max; returns how many programs there are. */
int tracer_cost(struct tracer *t, struct tracer_cost *ret, int max);
void tracer_close(struct tracer *t);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Who does an op for real: `posix` with plain system calls, `uring` with
 * io_uring where there is room to win. The performer owns the open files (the
 * slots) and the data buffers; it never allocates after open().
 */
#ifndef PERFORM_PERFORM_H
#define PERFORM_PERFORM_H

#include "base/plug.h"
#include "base/nsec.h"
#include "op/op.h"

struct perform_conf {
	int dirfd;			/* ops are relative to it; borrowed */
	uint64_t buffer_bytes;		/* largest single read or write, 0: 1 MiB; a larger op takes several calls */
	uint64_t seed;			/* of the data */
	unsigned depth;			/* uring: how many at once */
	volatile int *stop;		/* loads: polled at least every MiB; may be NULL */
};

struct op_result {
	int error;			/* 0 or -errno; -EINTR: *stop was set meanwhile. Reading at the end of a file is no error */
	uint64_t bytes;			/* moved; OP_READDIR: entries; OP_RESIDENT: pages cached now */
	uint64_t total;			/* OP_RESIDENT: pages asked about (0: could not be asked) */
	nsec_t start, end;
};

struct perform_ops {
	struct plug plug;		/* state_size: allocated by the caller */
	int (*open)(void *st, const struct perform_conf *conf, struct err *e);
	/* One op, start to end. The sentence for an error is made by perform_explain(), off the measured path. */
	void (*perform)(void *st, const struct op *op, struct op_result *ret);
	/*
	 * Many independent reads and writes at once, up to conf->depth in flight. next fills one op (0: no more);
	 * done is told of each as it completes, in any order. A read or write has an offset: those at
	 * OP_AT_POSITION, and all other kinds of ops, wait for what is in flight and are performed alone, in their
	 * place. res->start is when the op was handed to the kernel, res->end when its completion was seen; ops
	 * handed over or seen together share the stamp. NULL: performed one after another.
	 */
	int (*stream)(void *st, int (*next)(void *ctx, struct op *ret_op),
		      void (*done)(void *ctx, const struct op *op, const struct op_result *res), void *ctx, struct err *e);
	void (*close)(void *st);
};

extern const void *const perform_table[];

/* "fsync of 'f' failed: Input/output error". Returns res->error. */
int perform_explain(const struct op *op, const struct op_result *res, const char *dir, struct err *e);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Reads and writes by io_uring, many in flight. One thread submits and reaps
 * (SINGLE_ISSUER), completions are run when it asks for them (DEFER_TASKRUN),
 * files and buffers are registered, and one system call hands over all that
 * was free and takes back all that is done. What the kernel or a limit does
 * not allow (older kernels, RLIMIT_MEMLOCK) is done without.
 *
 * Everything that is not a read or a write at an offset is posix' work.
 */
#include "base/cleanup.h"
#include "perform/data.h"
#include "perform/posix.h"

#include <errno.h>
#include <liburing.h>
#include <string.h>
#include <sys/uio.h>

#define DEPTH_MAX	1024
#define BUFFER_BYTES	(UINT64_C(64) << 10)	/* of one op, when conf does not say */

struct flight {			/* one op on its way */
	struct op op;
	nsec_t start;
	unsigned char *buf;
};

struct uring {
	struct io_uring ring;
	bool up, fixed_files, fixed_buffers;
	bool blocks[OP_SLOTS];	/* the file cannot be asked without waiting */
	struct data data;
	uint64_t buffer_bytes;
	unsigned depth;
	struct flight *flights;
	uint32_t *idle;		/* stack of flights that are free */
	unsigned nidle;
	void *posix;
	struct io_uring_cqe **cqes;
	struct op alone;	/* waits for those in flight */
};

/* The ring with the best flags this kernel knows. */
static int set_up(struct uring *u, struct err *e)
{
	static const unsigned flags[] = { IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN, 0 };
	int r = -EINVAL;

	for (size_t i = 0; i < ARRAY_SIZE(flags) && r == -EINVAL; i++)
		r = io_uring_queue_init(u->depth, &u->ring, flags[i]);
	if (r < 0)
		return err_sys(e, r, "io_uring cannot be used here");
	u->up = true;
	io_uring_register_ring_fd(&u->ring);
	u->fixed_files = !io_uring_register_files_sparse(&u->ring, OP_SLOTS);
	u->fixed_buffers = !io_uring_register_buffers(&u->ring, &(struct iovec){ u->data.buf, u->data.bytes }, 1);
	return 0;
}

static void uring_close(void *st)
{
	struct uring *u = st;

	if (u->up)
		io_uring_queue_exit(&u->ring);
	u->up = false;
	if (u->posix)
		perform_posix.close(u->posix);
	free(u->posix);
	free(u->flights);
	free(u->idle);
	free(u->cqes);
	data_close(&u->data);
	u->posix = u->flights = NULL;
	u->idle = NULL;
	u->cqes = NULL;
}

static int uring_open(void *st, const struct perform_conf *conf, struct err *e)
{
	struct uring *u = st;
	int r;

	memset(u, 0, sizeof(*u));
	u->depth = MIN(MAX(conf->depth, 1u), (unsigned)DEPTH_MAX);
	u->buffer_bytes = conf->buffer_bytes ? (conf->buffer_bytes + DATA_PAGE - 1) / DATA_PAGE * DATA_PAGE : BUFFER_BYTES;
	u->posix = calloc(1, perform_posix.plug.state_size);
	u->flights = calloc(u->depth, sizeof(*u->flights));
	u->idle = calloc(u->depth, sizeof(*u->idle));
	u->cqes = calloc(u->depth, sizeof(*u->cqes));
	if (!u->posix || !u->flights || !u->idle || !u->cqes) {
		free(u->posix);
		u->posix = NULL;	/* was never opened */
		r = err_set(e, -ENOMEM, "no memory for %u operations in flight", u->depth);
	} else {
		r = perform_posix.open(u->posix, conf, e);
	}
	if (!r)
		r = data_open(&u->data, u->buffer_bytes * u->depth, conf->seed + 1, e);
	if (!r)
		r = set_up(u, e);
	if (r < 0) {
		uring_close(u);
		return r;
	}
	for (u->nidle = 0; u->nidle < u->depth; u->nidle++) {
		u->idle[u->nidle] = u->depth - 1 - u->nidle;
		u->flights[u->nidle].buf = u->data.buf + u->nidle * u->buffer_bytes;
	}
	return 0;
}

/*
 * Whether the kernel can try a read of this file without waiting (FMODE_NOWAIT). Where it cannot, as on zram and some
 * filesystems, io_uring tries in vain and then gives each request to a worker; saying so beforehand (IOSQE_ASYNC) saves
 * a third of the CPU. Asked behind the end of any file, so that nothing is read.
 */
static bool must_block(struct uring *u, int fd)
{
	struct iovec one = { u->data.buf, DATA_PAGE };

	return fd >= 0 && preadv2(fd, &one, 1, INT64_C(1) << 60, RWF_NOWAIT) < 0 && errno == EOPNOTSUPP;
}

/* Posix does it; a registered file must not outlive its close, nor be missing after its open. */
static void uring_perform(void *st, const struct op *op, struct op_result *ret)
{
	struct uring *u = st;
	int fd = -1;

	if (u->fixed_files && op->kind == OP_CLOSE && op->slot < OP_SLOTS)
		io_uring_register_files_update(&u->ring, op->slot, &fd, 1);
	perform_posix.perform(u->posix, op, ret);
	if (op->kind == OP_OPEN && op->slot < OP_SLOTS) {
		fd = posix_fd(u->posix, op->slot);
		u->blocks[op->slot] = must_block(u, fd);
		if (u->fixed_files)
			io_uring_register_files_update(&u->ring, op->slot, &fd, 1);
	}
}

static bool flies(const struct uring *u, const struct op *op)
{
	return (op->kind == OP_READ || op->kind == OP_WRITE) && op->offset != OP_AT_POSITION && op->slot < OP_SLOTS &&
	       op->bytes <= u->buffer_bytes;
}

static void prepare(struct uring *u, uint32_t i)
{
	struct flight *f = &u->flights[i];
	struct io_uring_sqe *sqe = io_uring_get_sqe(&u->ring);
	int fd = u->fixed_files ? f->op.slot : posix_fd(u->posix, f->op.slot);
	unsigned bytes = (unsigned)f->op.bytes;

	if (f->op.kind == OP_WRITE) {
		data_stamp(&u->data, (size_t)(f->buf - u->data.buf), bytes);
		if (u->fixed_buffers)
			io_uring_prep_write_fixed(sqe, fd, f->buf, bytes, f->op.offset, 0);
		else
			io_uring_prep_write(sqe, fd, f->buf, bytes, f->op.offset);
	} else if (u->fixed_buffers) {
		io_uring_prep_read_fixed(sqe, fd, f->buf, bytes, f->op.offset, 0);
	} else {
		io_uring_prep_read(sqe, fd, f->buf, bytes, f->op.offset);
	}
	if (u->fixed_files)
		sqe->flags |= IOSQE_FIXED_FILE;
	if (u->blocks[f->op.slot])
		sqe->flags |= IOSQE_ASYNC;
	io_uring_sqe_set_data64(sqe, i);
}

enum more { MORE, ALONE, END };

/* Takes ops until nothing is idle, one must go alone, or there are no more. */
static enum more take_ops(struct uring *u, int (*next)(void *ctx, struct op *op), void *ctx)
{
	unsigned first = u->nidle;
	enum more more = MORE;
	nsec_t now;

	while (u->nidle && more == MORE) {
		uint32_t i = u->idle[u->nidle - 1];

		if (!next(ctx, &u->flights[i].op)) {
			more = END;
		} else if (!flies(u, &u->flights[i].op)) {
			u->alone = u->flights[i].op;
			more = ALONE;
		} else {
			prepare(u, i);
			u->nidle--;
		}
	}
	now = nsec_now();
	for (unsigned k = u->nidle; k < first; k++)	/* what was taken stays above the stack's top until it is reaped */
		u->flights[u->idle[k]].start = now;
	return more;
}

static void reap(struct uring *u, void (*done)(void *ctx, const struct op *op, const struct op_result *res), void *ctx)
{
	unsigned n = io_uring_peek_batch_cqe(&u->ring, u->cqes, u->depth);
	nsec_t now = nsec_now();

	for (unsigned k = 0; k < n; k++) {
		uint32_t i = (uint32_t)u->cqes[k]->user_data;
		int got = u->cqes[k]->res;
		struct flight *f = &u->flights[i];
		struct op_result res = { .error = got < 0 ? got : 0, .bytes = got < 0 ? 0 : (uint64_t)got,
					 .start = f->start, .end = now };

		done(ctx, &f->op, &res);
		u->idle[u->nidle++] = i;
	}
	io_uring_cq_advance(&u->ring, n);
}

static int uring_stream(void *st, int (*next)(void *ctx, struct op *op),
			void (*done)(void *ctx, const struct op *op, const struct op_result *res), void *ctx, struct err *e)
{
	enum more more = MORE;
	struct uring *u = st;

	for (;;) {
		struct op_result res;
		int r;

		if (more == MORE)
			more = take_ops(u, next, ctx);
		if (u->nidle == u->depth && more == ALONE) {
			uring_perform(u, &u->alone, &res);
			done(ctx, &u->alone, &res);
			more = MORE;
			continue;
		}
		if (u->nidle == u->depth && more == END)
			return 0;
		r = io_uring_submit_and_wait(&u->ring, 1);
		if (r < 0 && r != -EINTR && r != -EAGAIN && r != -EBUSY)
			return err_sys(e, r, "io_uring stopped working");
		reap(u, done, ctx);
	}
}

const struct perform_ops perform_uring = {
	.plug = { .name = "uring", .about = "reads and writes by io_uring, many in flight", .state_size = sizeof(struct uring) },
	.open = uring_open,
	.perform = uring_perform,
	.stream = uring_stream,
	.close = uring_close,
};

/* SPDX-License-Identifier: MIT */
/* Streams by io_uring do the same as one op after another, and nothing overtakes an op that must go alone. */
#include "play.h"

#include "base/cleanup.h"
#include "malloc-count.h"

#include <errno.h>

#define BLOCKS 64
#define BLOCK 4096

struct tape {
	struct op ops[512];
	int n, at;
	unsigned in_flight, most_in_flight;
	int done[OP_MAX];
	uint64_t bytes;
	int order[512], norder;
	int first_error;
	bool times_fit;
};

static int next(void *ctx, struct op *op)
{
	struct tape *t = ctx;

	if (t->at == t->n)
		return 0;
	*op = t->ops[t->at++];
	t->in_flight++;
	t->most_in_flight = MAX(t->most_in_flight, t->in_flight);
	return 1;
}

static void done(void *ctx, const struct op *op, const struct op_result *res)
{
	struct tape *t = ctx;

	t->in_flight--;
	t->done[op->kind]++;
	t->bytes += res->bytes;
	t->order[t->norder++] = op->kind;
	if (res->error && !t->first_error)
		t->first_error = res->error;
	t->times_fit &= res->start > 0 && res->end >= res->start && res->end <= nsec_now();
}

static void add(struct tape *t, struct op op)
{
	t->ops[t->n++] = op;
}

static const struct perform_ops *uring(void)
{
	return plug_find(perform_table, "uring");
}

static void *open_uring(struct play *p, unsigned depth)
{
	struct perform_conf conf = { .dirfd = p->dirfd, .depth = depth, .seed = 3 };
	const struct perform_ops *u = uring();
	struct err e = { 0 };
	void *st;

	if (!u)
		skip();		/* built without liburing */
	st = mem_alloc(u->plug.state_size);
	if (u->open(st, &conf, &e)) {
		print_message("%s\n", e.msg);
		free(st);
		play_close(p);
		skip();		/* forbidden here, as in many containers */
	}
	return st;
}

static void a_stream_writes_and_reads_what_it_was_told(void **state)
{
	for (int parent = 0; parent < 2; parent++) {
		unsigned char buf[BLOCK], first[BLOCK];
		struct tape *t = mem_alloc(sizeof(*t));
		struct err e = { 0 };
		unsigned long before;
		struct play p;
		void *st;
		int fd;

		play_open(&p, play_parents[parent], NULL);
		st = open_uring(&p, 8);
		t->times_fit = true;
		add(t, (struct op){ .kind = OP_OPEN, .slot = 5, .flags = OPF_READ | OPF_WRITE | OPF_CREATE, .path = "f" });
		for (int i = 0; i < BLOCKS; i++)
			add(t, (struct op){ .kind = OP_WRITE, .slot = 5, .offset = (uint64_t)i * BLOCK, .bytes = BLOCK });
		add(t, (struct op){ .kind = OP_FSYNC, .slot = 5 });
		add(t, (struct op){ .kind = OP_READ, .slot = 5, .offset = OP_AT_POSITION, .bytes = BLOCK });
		for (int i = 0; i < BLOCKS; i++)
			add(t, (struct op){ .kind = OP_READ, .slot = 5, .offset = (uint64_t)i * BLOCK, .bytes = BLOCK });
		add(t, (struct op){ .kind = OP_READ, .slot = 5, .offset = (uint64_t)BLOCKS * BLOCK, .bytes = BLOCK });
		add(t, (struct op){ .kind = OP_CLOSE, .slot = 5 });
		before = malloc_calls;
		assert_int_equal(uring()->stream(st, next, done, t, &e), 0);
		assert_int_equal(malloc_calls, before);
		assert_int_equal(t->first_error, 0);
		assert_true(t->times_fit);
		assert_int_equal(t->norder, t->n);
		assert_int_equal(t->in_flight, 0);
		assert_in_range(t->most_in_flight, 2, 9);	/* 8, and the one that waits to go alone */
		assert_int_equal(t->bytes, (uint64_t)(2 * BLOCKS + 1) * BLOCK);
		assert_int_equal(t->order[0], OP_OPEN);
		assert_int_equal(t->order[1 + BLOCKS], OP_FSYNC);	/* after all writes, before all reads */
		assert_int_equal(t->order[t->n - 1], OP_CLOSE);
		fd = openat(p.dirfd, "f", O_RDONLY);
		for (int i = 0; i < BLOCKS; i++) {
			assert_int_equal(read(fd, buf, BLOCK), BLOCK);
			if (i)
				assert_memory_not_equal(buf, first, BLOCK);
			memcpy(first, buf, BLOCK);
		}
		close(fd);
		uring()->close(st);
		free(st);
		free(t);
		play_close(&p);
	}
}

static void errors_and_large_ops_come_back_too(void **state)
{
	struct tape *t = mem_alloc(sizeof(*t));
	struct err e = { 0 };
	struct play p;
	void *st;

	play_open(&p, "/dev/shm", NULL);
	st = open_uring(&p, 4);
	add(t, (struct op){ .kind = OP_READ, .slot = 9, .bytes = BLOCK });		/* never opened */
	add(t, (struct op){ .kind = OP_OPEN, .slot = 9, .flags = OPF_WRITE | OPF_CREATE, .path = "f" });
	add(t, (struct op){ .kind = OP_WRITE, .slot = 9, .bytes = 3 << 20 });	/* more than a buffer */
	assert_int_equal(uring()->stream(st, next, done, t, &e), 0);
	assert_int_equal(t->first_error, -EBADF);
	assert_int_equal(t->bytes, 3 << 20);
	/* a closed file is gone: its registered twin does not keep it open */
	uring()->perform(st, &(struct op){ .kind = OP_CLOSE, .slot = 9 }, &(struct op_result){ 0 });
	t->n = t->at = t->norder = t->first_error = 0;
	add(t, (struct op){ .kind = OP_WRITE, .slot = 9, .bytes = BLOCK });
	assert_int_equal(uring()->stream(st, next, done, t, &e), 0);
	assert_int_equal(t->first_error, -EBADF);
	uring()->close(st);
	free(st);
	free(t);
	play_close(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_stream_writes_and_reads_what_it_was_told),
		cmocka_unit_test(errors_and_large_ops_come_back_too),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

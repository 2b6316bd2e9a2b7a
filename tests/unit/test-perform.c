/* SPDX-License-Identifier: MIT */
#include "play.h"

#include "malloc-count.h"

#include "base/err.h"
#include "base/cleanup.h"

#include <errno.h>
#include <sys/resource.h>

#define FILE_BYTES (3 * 4096 + 100)

static void file_bytes(struct play *p, const char *name, unsigned char *buf, size_t n)
{
	int fd = openat(p->dirfd, name, O_RDONLY);

	assert_int_equal(read(fd, buf, n), n);
	close(fd);
}

static off_t size_of(struct play *p, const char *name)
{
	struct stat sb;

	return fstatat(p->dirfd, name, &sb, AT_SYMLINK_NOFOLLOW) < 0 ? -1 : sb.st_size;
}

/* Every op once, in an order in which each can be seen to have happened. */
static void every_op_does_what_it_says(struct play *p)
{
	unsigned char a[FILE_BYTES], b[FILE_BYTES];
	struct op_result r;
	nsec_t t;

	assert_int_equal(play_op(p, (struct op){ .kind = OP_MKDIR, .path = "d" }).error, 0);
	assert_int_equal(play_op(p, (struct op){ .kind = OP_MKDIR, .path = "d" }).error, -EEXIST);
	assert_int_equal(play_op(p, (struct op){ .kind = OP_MKDIR, .path = "d", .flags = OPF_MAY_FAIL }).error, 0);
	r = play_op(p, (struct op){ .kind = OP_OPEN, .slot = 3, .flags = OPF_READ | OPF_WRITE | OPF_CREATE | OPF_EXCL,
				    .path = "d/f" });
	assert_int_equal(r.error, 0);
	assert_true(r.end >= r.start && r.start > 0);
	r = play_op(p, (struct op){ .kind = OP_WRITE, .slot = 3, .bytes = FILE_BYTES });
	assert_int_equal(r.bytes, FILE_BYTES);
	file_bytes(p, "d/f", a, sizeof(a));
	r = play_op(p, (struct op){ .kind = OP_WRITE, .slot = 3, .bytes = FILE_BYTES });
	file_bytes(p, "d/f", b, sizeof(b));
	for (int page = 0; page < 3; page++)		/* random, and never the same block twice */
		assert_memory_not_equal(a + page * 4096, b + page * 4096, 4096);
	assert_memory_not_equal(a, a + 4096, 4096);

	assert_int_equal(play_op(p, (struct op){ .kind = OP_READ, .slot = 3, .offset = 100, .bytes = 1 << 20 }).bytes,
			 FILE_BYTES - 100);
	assert_int_equal(play_op(p, (struct op){ .kind = OP_READ, .slot = 3, .offset = OP_AT_POSITION, .bytes = 4096 }).bytes,
			 4096);
	r = play_op(p, (struct op){ .kind = OP_READ, .slot = 3, .offset = OP_AT_POSITION, .bytes = 1 << 20 });
	assert_int_equal(r.bytes, FILE_BYTES - 4096);
	assert_int_equal(play_op(p, (struct op){ .kind = OP_FSYNC, .slot = 3 }).error, 0);
	assert_int_equal(play_op(p, (struct op){ .kind = OP_FDATASYNC, .slot = 3 }).error, 0);
	assert_int_equal(play_op(p, (struct op){ .kind = OP_SYNC_RANGE, .slot = 3, .bytes = 4096, .flags = 7 }).error, 0);
	assert_int_equal(play_op(p, (struct op){ .kind = OP_FALLOCATE, .slot = 3, .bytes = 1 << 20,
						 .flags = OPF_KEEP_SIZE }).error, 0);
	assert_int_equal(size_of(p, "d/f"), FILE_BYTES);
	assert_int_equal(play_op(p, (struct op){ .kind = OP_FALLOCATE, .slot = 3, .bytes = 1 << 20 }).error, 0);
	assert_int_equal(size_of(p, "d/f"), 1 << 20);
	assert_int_equal(play_op(p, (struct op){ .kind = OP_TRUNCATE, .slot = 3, .bytes = 5 * 4096 }).error, 0);
	assert_int_equal(size_of(p, "d/f"), 5 * 4096);
	assert_int_equal(play_op(p, (struct op){ .kind = OP_CLOSE, .slot = 3 }).error, 0);
	assert_int_equal(play_op(p, (struct op){ .kind = OP_CLOSE, .slot = 3 }).error, -EBADF);
	assert_int_equal(play_op(p, (struct op){ .kind = OP_READ, .slot = 3, .bytes = 1 }).error, -EBADF);

	assert_int_equal(play_op(p, (struct op){ .kind = OP_LINK, .path = "d/f", .path2 = "d/g" }).error, 0);
	assert_int_equal(play_op(p, (struct op){ .kind = OP_RENAME, .path = "d/g", .path2 = "h" }).error, 0);
	assert_int_equal(size_of(p, "d/g"), -1);
	assert_int_equal(play_op(p, (struct op){ .kind = OP_STAT, .path = "h" }).error, 0);
	assert_int_equal(play_op(p, (struct op){ .kind = OP_STAT, .path = "i" }).error, -ENOENT);
	assert_int_equal(play_op(p, (struct op){ .kind = OP_READDIR, .path = "" }).bytes, 2);
	assert_int_equal(play_op(p, (struct op){ .kind = OP_READDIR, .path = "d" }).bytes, 1);
	assert_int_equal(play_op(p, (struct op){ .kind = OP_READDIR, .path = "h" }).error, -ENOTDIR);
	assert_int_equal(play_op(p, (struct op){ .kind = OP_FSYNC_DIR, .path = "d" }).error, 0);
	assert_int_equal(play_op(p, (struct op){ .kind = OP_SYNCFS }).error, 0);

	assert_int_equal(play_op(p, (struct op){ .kind = OP_OPEN, .slot = 63, .flags = OPF_READ, .path = "h" }).error, 0);
	assert_int_equal(play_op(p, (struct op){ .kind = OP_MMAP, .slot = 63 }).error, 0);
	assert_int_equal(play_op(p, (struct op){ .kind = OP_TOUCH, .slot = 63, .offset = 4096, .bytes = 8192 }).bytes, 8192);
	assert_int_equal(play_op(p, (struct op){ .kind = OP_TOUCH, .slot = 63, .offset = 5 * 4096 }).error, -EFAULT);
	r = play_op(p, (struct op){ .kind = OP_RESIDENT, .slot = 63 });
	assert_int_equal(r.total, 5);
	assert_in_range(r.bytes, 2, 5);
	assert_int_equal(play_op(p, (struct op){ .kind = OP_MUNMAP, .slot = 63 }).error, 0);
	assert_int_equal(play_op(p, (struct op){ .kind = OP_TOUCH, .slot = 63 }).error, -EFAULT);
	assert_int_equal(play_op(p, (struct op){ .kind = OP_DONTNEED, .slot = 63 }).error, 0);

	assert_int_equal(play_op(p, (struct op){ .kind = OP_UNLINK, .path = "h" }).error, 0);
	assert_int_equal(play_op(p, (struct op){ .kind = OP_UNLINK, .path = "h" }).error, -ENOENT);
	assert_int_equal(play_op(p, (struct op){ .kind = OP_RMDIR, .path = "d" }).error, -ENOTEMPTY);
	assert_int_equal(play_op(p, (struct op){ .kind = OP_UNLINK, .path = "d/f" }).error, 0);
	assert_int_equal(play_op(p, (struct op){ .kind = OP_RMDIR, .path = "d" }).error, 0);

	t = nsec_thread_cpu();
	assert_int_equal(play_op(p, (struct op){ .kind = OP_BURN, .bytes = 2 * NSEC_PER_MSEC }).error, 0);
	assert_true(nsec_thread_cpu() - t >= 2 * NSEC_PER_MSEC);
	r = play_op(p, (struct op){ .kind = OP_SLEEP, .bytes = 3 * NSEC_PER_MSEC });
	assert_true(r.end - r.start >= 3 * NSEC_PER_MSEC);
	assert_int_equal(play_op(p, (struct op){ .kind = 200 }).error, -EINVAL);
	assert_int_equal(play_op(p, (struct op){ .kind = OP_FSYNC, .slot = 64 }).error, -EINVAL);
}

static void every_op_works_on_tmpfs_and_on_disk(void **state)
{
	for (int i = 0; i < 2; i++) {
		struct play p;

		play_open(&p, play_parents[i], NULL);
		every_op_does_what_it_says(&p);
		assert_int_equal(play_close(&p), 0);
	}
}

static void nothing_outside_the_directory_is_reached(void **state)
{
	static const char *const bad[] = { "/etc/passwd", "..", "../x", "a/../../x", "a/.." };
	struct play p;

	play_open(&p, "/dev/shm", NULL);
	for (size_t i = 0; i < 5; i++) {
		for (int kind = OP_OPEN; kind < OP_MAX; kind++) {
			struct op op = { .kind = (uint8_t)kind };

			if (kind != OP_OPEN && !(kind >= OP_RENAME && kind <= OP_FSYNC_DIR))
				continue;
			snprintf(op.path, sizeof(op.path), "%s", bad[i]);
			assert_int_equal(play_op(&p, op).error, -EXDEV);
			snprintf(op.path2, sizeof(op.path2), "%s", bad[i]);
			snprintf(op.path, sizeof(op.path), "x");
			if (kind == OP_RENAME || kind == OP_LINK)
				assert_int_equal(play_op(&p, op).error, -EXDEV);
		}
	}
	assert_int_equal(symlinkat("/etc/passwd", p.dirfd, "s"), 0);
	assert_int_equal(play_op(&p, (struct op){ .kind = OP_OPEN, .flags = OPF_READ, .path = "s" }).error, -ELOOP);
	assert_int_equal(play_op(&p, (struct op){ .kind = OP_OPEN, .flags = OPF_READ, .path = "..x" }).error, -ENOENT);
	play_close(&p);
}

/* The proof of coldness must see both: pages that are there and pages that were dropped. */
static void dropped_pages_are_seen_to_be_gone(void **state)
{
	struct op_result r;
	struct play p;

	play_open(&p, "/var/tmp", NULL);
	play_op(&p, (struct op){ .kind = OP_OPEN, .flags = OPF_READ | OPF_WRITE | OPF_CREATE, .path = "f" });
	play_op(&p, (struct op){ .kind = OP_WRITE, .bytes = 4 << 20 });
	r = play_op(&p, (struct op){ .kind = OP_RESIDENT });
	assert_int_equal(r.bytes, 1024);
	assert_int_equal(r.total, 1024);
	play_op(&p, (struct op){ .kind = OP_FSYNC });
	play_op(&p, (struct op){ .kind = OP_DONTNEED });
	r = play_op(&p, (struct op){ .kind = OP_RESIDENT });
	if (r.bytes)
		skip();			/* /var/tmp is on something that has no other place for them */
	assert_int_equal(r.total, 1024);
	r = play_op(&p, (struct op){ .kind = OP_RESIDENT, .offset = 8192, .bytes = 4096 });
	assert_int_equal(r.total, 1);
	play_op(&p, (struct op){ .kind = OP_READ, .offset = 8192, .bytes = 4096 });
	r = play_op(&p, (struct op){ .kind = OP_RESIDENT, .offset = 8192, .bytes = 4096 });
	assert_int_equal(r.bytes, 1);
	play_close(&p);
}

static void a_stopped_writer_ends_within_a_mebibyte(void **state)
{
	volatile int stop = 1;
	struct op_result r;
	struct play p;

	play_open(&p, "/dev/shm", &stop);
	play_op(&p, (struct op){ .kind = OP_OPEN, .flags = OPF_WRITE | OPF_CREATE, .path = "f" });
	r = play_op(&p, (struct op){ .kind = OP_WRITE, .bytes = 64 << 20 });
	assert_int_equal(r.error, -EINTR);
	assert_true(r.bytes <= 1 << 20);
	r = play_op(&p, (struct op){ .kind = OP_SLEEP, .bytes = 10 * NSEC_PER_SEC });
	assert_int_equal(r.error, -EINTR);
	assert_true(r.end - r.start < NSEC_PER_SEC);
	assert_int_equal(play_op(&p, (struct op){ .kind = OP_BURN, .bytes = 10 * NSEC_PER_SEC }).error, -EINTR);
	play_close(&p);
}

static void a_mapped_page_that_cannot_be_read_is_an_error_not_a_death(void **state)
{
	struct play p;

	play_open(&p, "/dev/shm", NULL);
	play_op(&p, (struct op){ .kind = OP_OPEN, .flags = OPF_READ | OPF_WRITE | OPF_CREATE, .path = "f" });
	play_op(&p, (struct op){ .kind = OP_TRUNCATE, .bytes = 8192 });
	play_op(&p, (struct op){ .kind = OP_MMAP, .flags = OPF_WRITE });
	assert_int_equal(play_op(&p, (struct op){ .kind = OP_TOUCH, .offset = 4096, .flags = OPF_WRITE }).error, 0);
	play_op(&p, (struct op){ .kind = OP_TRUNCATE, .bytes = 0 });
	assert_int_equal(play_op(&p, (struct op){ .kind = OP_TOUCH, .offset = 4096 }).error, -EIO);
	assert_int_equal(play_op(&p, (struct op){ .kind = OP_TOUCH }).error, -EIO);
	play_close(&p);
}

static void errors_say_what_failed_and_where(void **state)
{
	struct op_result res = { .error = -ENOSPC };
	struct err e = { 0 };

	assert_int_equal(perform_explain(&(struct op){ .kind = OP_WRITE, .bytes = 1 << 20 }, &res, "/mnt", &e), -ENOSPC);
	assert_string_equal(e.msg, "write of 1.0 MiB in /mnt failed: No space left on device; free some space there or "
				   "use a smaller --scale");
	res.error = -EIO;
	perform_explain(&(struct op){ .kind = OP_RENAME, .path = "a", .path2 = "b" }, &res, "/mnt", &e);
	assert_non_null(strstr(e.msg, "rename of 'a' to 'b' in /mnt failed: Input/output error"));
	res.error = 0;
	assert_int_equal(perform_explain(&(struct op){ .kind = OP_SYNC }, &res, "/mnt", &e), 0);
}

/* An action: outside ops are not measured, steps are, OP_MORE goes on in the same sample. */
struct tape {
	const struct op *ops;
	int n, at, batch;
	unsigned begun[8];
	int nbegun;
};

static int tape_script(void *ctx, struct op *ops, int max)
{
	struct tape *t = ctx;
	int n = 0;

	while (t->at < t->n && n < t->batch - 1)
		ops[n++] = t->ops[t->at++];
	if (t->at < t->n)
		ops[n++] = (struct op){ .kind = OP_MORE };
	return n;
}

static void tape_step(void *ctx, unsigned step, nsec_t now)
{
	struct tape *t = ctx;

	if (t->nbegun < 8)
		t->begun[t->nbegun++] = step;
}

static const struct op tape_ops[] = {
	{ .kind = OP_OPEN, .step = OP_OUTSIDE, .flags = OPF_READ | OPF_WRITE | OPF_CREATE, .path = "f" },
	{ .kind = OP_SLEEP, .step = OP_OUTSIDE, .bytes = 20 * NSEC_PER_MSEC },
	{ .kind = OP_WRITE, .step = 0, .bytes = 4096 },
	{ .kind = OP_WRITE, .step = 0, .offset = 4096, .bytes = 4096 },
	{ .kind = OP_SLEEP, .step = 1, .bytes = 5 * NSEC_PER_MSEC },
	{ .kind = OP_READ, .step = 2, .bytes = 8192 },
	{ .kind = OP_SLEEP, .step = OP_OUTSIDE, .bytes = 20 * NSEC_PER_MSEC },
	{ .kind = OP_RESIDENT, .step = OP_OUTSIDE },
	{ .kind = OP_UNLINK, .step = OP_OUTSIDE, .path = "f" },
};

static void an_action_is_timed_without_what_lies_outside(void **state)
{
	for (int batch = 2; batch <= 64; batch *= 2) {
		struct tape t = { .ops = tape_ops, .n = ARRAY_SIZE(tape_ops), .batch = batch };
		struct actor a = { .perform = &perform_posix, .script = tape_script, .ctx = &t, .on_step = tape_step, .on_ctx = &t };
		struct action r;
		struct play p;

		play_open(&p, "/dev/shm", NULL);
		a.st = p.st;
		assert_int_equal(action_run(&a, &r), 0);
		assert_true(r.step[1] >= 5 * NSEC_PER_MSEC);
		assert_true(r.end - r.start >= r.step[0] + r.step[1] + r.step[2]);
		assert_true(r.end - r.start - r.step[0] - r.step[1] - r.step[2] < 15 * NSEC_PER_MSEC);
		assert_int_equal(r.nsteps, 3);
		assert_int_equal(r.bytes_written, 8192);
		assert_int_equal(r.bytes_read, 8192);
		assert_int_equal(r.proof.asked, 2);
		assert_int_equal(r.proof.resident, 2);
		assert_int_equal(t.nbegun, 3);
		assert_int_equal(t.begun[2], 2);
		assert_int_equal(play_close(&p), 0);
	}
}

static void an_action_ends_at_the_first_error(void **state)
{
	static const struct op ops[] = {
		{ .kind = OP_MKDIR, .path = "d" }, { .kind = OP_RMDIR, .path = "nope" }, { .kind = OP_MKDIR, .path = "e" },
	};
	struct tape t = { .ops = ops, .n = 3, .batch = 64 };
	struct actor a = { .perform = &perform_posix, .script = tape_script, .ctx = &t };
	struct action r;
	struct play p;

	play_open(&p, "/dev/shm", NULL);
	a.st = p.st;
	assert_int_equal(action_run(&a, &r), -ENOENT);
	assert_string_equal(r.failed.path, "nope");
	assert_int_equal(r.failed_res.error, -ENOENT);
	assert_int_equal(play_close(&p), 1);
}

static void no_op_and_no_action_allocates(void **state)
{
	struct tape t = { .ops = tape_ops, .n = ARRAY_SIZE(tape_ops), .batch = 4 };
	struct actor a = { .perform = &perform_posix, .script = tape_script, .ctx = &t, .on_step = tape_step, .on_ctx = &t };
	unsigned long before;
	struct action r;
	struct play p;

	if (!malloc_counted)
		skip();
	free(malloc(1));
	assert_true(malloc_calls > 0);		/* the count can count */
	play_open(&p, "/var/tmp", NULL);
	a.st = p.st;
	before = malloc_calls;
	action_run(&a, &r);
	play_op(&p, (struct op){ .kind = OP_MKDIR, .path = "d" });
	play_op(&p, (struct op){ .kind = OP_READDIR });
	play_op(&p, (struct op){ .kind = OP_FSYNC_DIR, .path = "d" });
	play_op(&p, (struct op){ .kind = OP_RMDIR, .path = "d" });
	assert_int_equal(malloc_calls, before);
	play_close(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_op_works_on_tmpfs_and_on_disk),
		cmocka_unit_test(nothing_outside_the_directory_is_reached),
		cmocka_unit_test(dropped_pages_are_seen_to_be_gone),
		cmocka_unit_test(a_stopped_writer_ends_within_a_mebibyte),
		cmocka_unit_test(a_mapped_page_that_cannot_be_read_is_an_error_not_a_death),
		cmocka_unit_test(errors_say_what_failed_and_where),
		cmocka_unit_test(an_action_is_timed_without_what_lies_outside),
		cmocka_unit_test(an_action_ends_at_the_first_error),
		cmocka_unit_test(no_op_and_no_action_allocates),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

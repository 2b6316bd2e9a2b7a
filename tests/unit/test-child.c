/* SPDX-License-Identifier: MIT */
#include "unit.h"

#include "base/argv.h"
#include "base/child.h"
#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static void words_are_split_without_a_shell(void **state)
{
	static const struct { const char *text; int n; const char *v[6]; } good[] = {
		{ "make -j32 bzImage", 3, { "make", "-j32", "bzImage" } },
		{ "  a\t'b c'  ", 2, { "a", "b c" } },
		{ "a \"b 'c'\" d\\ e", 3, { "a", "b 'c'", "d e" } },
		{ "echo $HOME `id` *;x ; y", 6, { "echo", "$HOME", "`id`", "*;x", ";", "y" } },
		{ "a '' \"\"", 3, { "a", "", "" } },
		{ "a'b'\"c\"\\\\", 1, { "abc\\" } },
		{ "'it'\\''s'", 1, { "it's" } },
		{ "a\\", 1, { "a\\" } },
	};
	static const char *const bad[] = { "", "   ", "a 'b", "\"", "a \\\"b\" c" };
	struct err e = { 0 };
	struct argv a;
	char *many;

	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
		assert_int_equal(argv_split(good[i].text, &a, &e), 0);
		assert_int_equal(a.n, good[i].n);
		for (int k = 0; k < a.n; k++)
			assert_string_equal(a.v[k], good[i].v[k]);
		assert_null(a.v[a.n]);
		argv_done(&a);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_int_equal(argv_split(bad[i], &a, &e), -EINVAL);
	many = mem_alloc(ARGV_MAX * 2 + 4);
	for (int i = 0; i <= ARGV_MAX; i++)
		memcpy(many + i * 2, "a ", 2);
	assert_int_equal(argv_split(many, &a, &e), -EINVAL);
	free(many);
}

static void the_end_of_a_child_is_told(void **state)
{
	char *argv[] = { "sh", "-c", "exit 5", NULL };
	struct child_end end;
	struct err e = { 0 };
	pid_t pid;

	assert_int_equal(child_start(argv, AT_FDCWD, -1, &pid, &e), -EBADF);	/* a directory is needed */
	assert_int_equal(child_start(argv, open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC), -1, &pid, &e), 0);
	assert_int_equal(child_wait(pid, NULL, 0, NULL, NULL, &end, &e), 0);
	assert_int_equal(WEXITSTATUS(end.status), 5);
}

/* What a child's children did is counted while they live and after they were waited for. */
static void bytes_of_all_descendants_are_counted(void **state)
{
	char *argv[] = { "sh", "-c", "head -c 300000 /dev/zero >f; (head -c 200000 /dev/zero >g; echo x >ready; exec sleep 60); true", NULL };
	char dir[] = "/var/tmp/stallmark-child.XXXXXX", path[64];
	uint64_t r = 0, w = 0;
	struct err e = { 0 };
	volatile int stop = 1;
	struct child_end end;
	pid_t pid;
	int fd;

	assert_non_null(mkdtemp(dir));
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(child_start(argv, fd, -1, &pid, &e), 0);
	for (int i = 0; i < 5000 && faccessat(fd, "ready", F_OK, 0); i++)
		usleep(1000);
	assert_true(child_io(pid, &r, &w));
	assert_true(w >= 500000);
	assert_int_equal(child_wait(pid, &stop, NSEC_PER_SEC, NULL, NULL, &end, &e), -EINTR);
	assert_false(child_io(pid, &r, &w));
	for (const char *const *f = (const char *const[]){ "f", "g", "ready", NULL }; *f; f++) {
		snprintf(path, sizeof(path), "%s/%s", dir, *f);
		unlink(path);
	}
	close(fd);
	assert_int_equal(rmdir(dir), 0);
}

/* kill -9 of whoever started it must not leave a program behind. */
static void a_child_dies_with_its_parent(void **state)
{
	int alive[2];
	pid_t parent;
	struct pollfd pfd;

	assert_int_equal(pipe(alive), 0);
	parent = fork();
	if (parent == 0) {
		char *argv[] = { "sleep", "60", NULL };
		struct err e = { 0 };
		pid_t pid;

		/* the pipe's write end is the child's standard error: it closes when the last holder is gone */
		close(alive[0]);
		if (child_start(argv, open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC), alive[1], &pid, &e))
			_exit(1);
		close(alive[1]);
		raise(SIGKILL);
	}
	close(alive[1]);
	waitpid(parent, NULL, 0);
	pfd = (struct pollfd){ .fd = alive[0], .events = POLLIN };
	assert_int_equal(poll(&pfd, 1, 5000), 1);
	assert_true(pfd.revents & POLLHUP);
	close(alive[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_are_split_without_a_shell),
		cmocka_unit_test(the_end_of_a_child_is_told),
		cmocka_unit_test(bytes_of_all_descendants_are_counted),
		cmocka_unit_test(a_child_dies_with_its_parent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

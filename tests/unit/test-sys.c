/* SPDX-License-Identifier: MIT */
#include "unit.h"

#include "base/cleanup.h"
#include "base/mem.h"
#include "sys/environ.h"
#include "sys/folder.h"
#include "sys/kfile.h"
#include "sys/proc.h"
#include "sys/spawn.h"
#include "sys/topology.h"
#include "sys/undo.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char dir[64];		/* everything of these tests is below it */

#define OK(call) do {									\
	int ok_ = (call);								\
	if (ok_)									\
		fail_msg("%s: %d %s", #call, ok_, e.msg);				\
} while (0)

static const char *at(const char *name)
{
	static char buf[4][128];
	static int i;

	i = (i + 1) % 4;
	snprintf(buf[i], sizeof(buf[i]), "%s/%s", dir, name);
	return buf[i];
}

static void put(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

static void assert_holds(const char *path, const char *text)
{
	cleanup_strbuf struct strbuf b = STRBUF_INIT;
	struct err e = { 0 };

	OK(file_read(path, &b, &e));
	assert_string_equal(strbuf_str(&b), text);
}

static int setup(void **state)
{
	snprintf(dir, sizeof(dir), "/tmp/test-sys-XXXXXX");
	if (!mkdtemp(dir))
		return -1;
	setenv("STALLMARK_RUNTIME_DIR", at("run"), 1);
	setenv("STALLMARK_STATE_DIR", at("state"), 1);
	return 0;
}

static int teardown(void **state)
{
	const char *argv[] = { "rm", "-r", "--", dir, NULL };
	struct spawn s = { .argv = argv };
	int status;

	return spawn_run(&s, NULL, NULL, &status, NULL) || status ? -1 : 0;
}

/* ---- spawn ---- */

static void a_program_gets_its_arguments_as_they_are(void **state)
{
	const char *argv[] = { "printf", "%s|", "a b", "$HOME;`id`", "", NULL };
	cleanup_strbuf struct strbuf out = STRBUF_INIT, err = STRBUF_INIT;
	struct spawn s = { .argv = argv };
	struct err e = { 0 };
	int status;

	OK(spawn_run(&s, &out, &err, &status, &e));
	assert_int_equal(status, 0);
	assert_string_equal(strbuf_str(&out), "a b|$HOME;`id`||");
	assert_string_equal(strbuf_str(&err), "");
}

static void a_program_that_fails_or_is_missing_is_named(void **state)
{
	const char *fails[] = { "ls", "/nonexistent-path", NULL }, *none[] = { "no-such-program-x", NULL };
	const char *kills[] = { "sh", "-c", "kill -9 $$", NULL };
	struct spawn s = { .argv = fails };
	struct err e = { 0 };
	int status;

	assert_int_equal(spawn_must(&s, NULL, &e), -EIO);
	assert_non_null(strstr(e.msg, "ls failed (exit code 2): "));
	assert_non_null(strstr(e.msg, "nonexistent-path"));
	s.argv = none;
	assert_int_equal(spawn_run(&s, NULL, NULL, &status, &e), -ENOENT);
	assert_string_equal(e.msg, "there is no program 'no-such-program-x'");
	s.argv = kills;
	OK(spawn_run(&s, NULL, NULL, &status, &e));
	assert_int_equal(status, 128 + SIGKILL);
}

static void a_program_over_its_limit_ends_with_its_whole_group(void **state)
{
	const char *argv[] = { "sh", "-c", "trap '' TERM; sleep 60 & echo $!; sleep 60", NULL };
	cleanup_strbuf struct strbuf out = STRBUF_INIT;
	struct spawn s = { .argv = argv, .limit = 300 * NSEC_PER_MSEC };
	struct err e = { 0 };
	nsec_t t = nsec_now();
	int status, child;

	assert_int_equal(spawn_run(&s, &out, NULL, &status, &e), -ETIMEDOUT);
	assert_true(nsec_now() - t < 20 * NSEC_PER_SEC);
	assert_non_null(strstr(e.msg, "was killed"));
	child = atoi(strbuf_str(&out));
	assert_true(child > 1);
	for (int i = 0; i < 500 && !kill(child, 0); i++) {
		struct proc_stat st;

		if (!proc_stat(child, 0, &st) && st.state == 'Z')
			break;		/* nobody here reaps orphans */
		nsec_sleep_until(nsec_now() + 10 * NSEC_PER_MSEC, NULL);
		assert_true(i < 499);
	}
}

static void much_output_does_not_block_and_is_bounded(void **state)
{
	const char *argv[] = { "head", "-c", "3000000", "/dev/zero", NULL };
	cleanup_strbuf struct strbuf out = STRBUF_INIT;
	struct spawn s = { .argv = argv, .most = 100000 };
	struct err e = { 0 };
	int status;

	OK(spawn_run(&s, &out, NULL, &status, &e));
	assert_int_equal(status, 0);
	assert_int_equal(out.len, 100000);
}

/* ---- undo ---- */

static void settings_come_back_in_reverse_order(void **state)
{
	cleanup_strbuf struct strbuf now = STRBUF_INIT, said = STRBUF_INIT;
	struct err e = { 0 };
	struct undo *u;
	int id;

	put(at("a"), "20\n");
	put(at("b"), "mq-deadline kyber [none]\n");
	assert_int_equal(mkdir(at("d"), 0700), 0);
	OK(undo_open(&u, &e));
	OK(undo_set(u, at("a"), "5", &now, &e));
	assert_string_equal(strbuf_str(&now), "5");
	OK(undo_set(u, at("a"), "7", NULL, &e));		/* the first old value is the one that counts */
	OK(undo_set(u, at("b"), "kyber", NULL, &e));
	OK(undo_note(u, UNDO_RMDIR, at("d"), NULL, &id, &e));
	OK(undo_note(u, UNDO_UNLINK, at("d/file with ~ and %"), NULL, NULL, &e));
	put(at("d/file with ~ and %"), "x");
	assert_holds(at("a"), "7");
	OK(undo_all(u, &said, &e));				/* the folder can go only after its file */
	assert_string_equal(strbuf_str(&said), "");
	assert_holds(at("a"), "20");
	assert_holds(at("b"), "none");
	assert_int_equal(access(at("d"), F_OK), -1);
	undo_close(u);
	OK(undo_list(&said, false, &e));
	assert_string_equal(strbuf_str(&said), "");
}

static void what_somebody_else_changed_is_left_alone_and_said(void **state)
{
	cleanup_strbuf struct strbuf said = STRBUF_INIT;
	struct err e = { 0 };
	struct undo *u;

	put(at("a"), "20");
	OK(undo_open(&u, &e));
	OK(undo_set(u, at("a"), "5", NULL, &e));
	put(at("a"), "33");
	OK(undo_all(u, &said, &e));
	assert_holds(at("a"), "33");
	assert_non_null(strstr(strbuf_str(&said), "is 33 now, neither what we set (5) nor what it was (20)"));
	undo_close(u);
	put(at("lines"), "1\n2\n");
	OK(undo_open(&u, &e));
	assert_int_equal(undo_set(u, at("lines"), "3", NULL, &e), -ENOTSUP);
	assert_int_equal(undo_set(u, at("not there"), "1", NULL, &e), -ENOENT);
	undo_close(u);
}

/* A process that changes settings and dies without a word; what = the point where. */
static void die_at(int what)
{
	pid_t pid = fork();

	if (!pid) {
		struct undo *u;
		int bad = undo_open(&u, NULL);

		if (what == 0) {	/* noted, not written: as if killed between the two */
			bad |= undo_note(u, UNDO_FILE, at("a"), "20", NULL, NULL);
		} else if (what == 1) {	/* written, its result not noted */
			bad |= undo_note(u, UNDO_FILE, at("a"), "20", NULL, NULL);
			put(at("a"), "5");
		} else {
			bad |= undo_set(u, at("a"), "5", NULL, NULL);
		}
		kill(getpid(), bad ? SIGTERM : SIGKILL);
	}
	int status;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(WTERMSIG(status), SIGKILL);
}

static void the_log_of_a_killed_process_is_undone_by_the_next(void **state)
{
	for (int what = 0; what < 3; what++) {
		cleanup_strbuf struct strbuf said = STRBUF_INIT, list = STRBUF_INIT;
		struct err e = { 0 };

		put(at("a"), "20");
		die_at(what);
		OK(undo_list(&list, true, &e));
		assert_non_null(strstr(strbuf_str(&list), "/a back to 20"));
		assert_non_null(strstr(strbuf_str(&list), "gone)"));
		assert_int_equal(undo_stale(&said, &e), 1);
		assert_string_equal(strbuf_str(&said), "");
		assert_holds(at("a"), "20");
		assert_int_equal(undo_stale(&said, &e), 0);
	}
}

static void a_living_process_keeps_its_log_and_may_hand_it_over(void **state)
{
	cleanup_strbuf struct strbuf said = STRBUF_INIT;
	int p[2], q[2], status;
	struct err e = { 0 };
	struct undo *u;
	pid_t pid;
	char c;

	put(at("a"), "20");
	OK(undo_open(&u, &e));
	OK(undo_set(u, at("a"), "5", NULL, &e));
	assert_int_equal(undo_stale(&said, &e), 0);
	assert_holds(at("a"), "5");
	assert_int_equal(pipe(p) | pipe(q), 0);
	pid = fork();
	if (!pid) {
		struct undo *mine;

		if (read(p[0], &c, 1) != 1 || undo_open(&mine, NULL) || undo_all(mine, NULL, NULL))
			_exit(1);
		undo_close(mine);
		_exit(0);
	}
	OK(undo_hand_over(u, pid, &e));
	assert_int_equal(undo_stale(&said, &e), 0);
	assert_holds(at("a"), "5");
	assert_int_equal(write(p[1], "x", 1), 1);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_holds(at("a"), "20");
	close(p[0]), close(p[1]), close(q[0]), close(q[1]);
}

static void a_torn_line_and_a_foreign_log_do_no_harm(void **state)
{
	cleanup_strbuf struct strbuf said = STRBUF_INIT;
	struct err e = { 0 };

	put(at("a"), "20");
	put(at("b"), "30");
	assert_non_null(undo_dir());
	/* pid 1 does not have that start time, so the owner is gone; the second entry was torn in its value */
	put(at("run/1.18446744073709551615.undo"), "stallmark-undo 1 -\n");
	FILE *f = fopen(at("run/1.18446744073709551615.undo"), "a");

	fprintf(f, "+ 1 file %s 21 ~\n= 1 20 ~\n+ 2 nonsense x y ~\n+ 3 file %s 2", at("a"), at("b"));
	fclose(f);
	assert_int_equal(undo_stale(&said, &e), 1);
	assert_holds(at("a"), "21");
	assert_holds(at("b"), "30");
	put(at("run/1.18446744073709551614.undo"), "something else\n");
	assert_int_equal(undo_stale(&said, &e), 0);
	assert_non_null(strstr(strbuf_str(&said), "not an undo log"));
	unlink(at("run/1.18446744073709551614.undo"));
	assert_int_equal(chmod(at("run"), 0755), 0);
	assert_null(undo_dir());				/* others could plant logs there */
	assert_int_equal(chmod(at("run"), 0700), 0);
}

static void processes_are_ended_and_only_the_right_ones(void **state)
{
	struct err e = { 0 };
	struct undo *u;
	char pid_text[16];
	pid_t pid = fork();

	if (!pid) {
		signal(SIGTERM, SIG_DFL);
		for (;;)
			pause();
	}
	snprintf(pid_text, sizeof(pid_text), "%d", (int)pid);
	OK(undo_open(&u, &e));
	OK(undo_note(u, UNDO_PROCESS, pid_text, "1", NULL, &e));	/* another start time: not this one */
	OK(undo_all(u, NULL, &e));
	assert_int_equal(waitpid(pid, NULL, WNOHANG), 0);
	OK(undo_note(u, UNDO_PROCESS, pid_text, NULL, NULL, &e));
	OK(undo_all(u, NULL, &e));
	assert_int_equal(kill(pid, 0), -1);
	undo_close(u);
}

/* ---- folder ---- */

static int count_folders(void *ctx, const struct folder_info *f)
{
	++*(int *)ctx;
	return f->alive && f->there ? 0 : -1;
}

static void a_work_folder_goes_with_all_it_holds_and_nothing_else(void **state)
{
	cleanup_free char *p1 = NULL, *p2 = NULL, *p3 = NULL;
	struct err e = { 0 };
	struct folder f;
	int n = 0;

	put(at("precious"), "keep");
	OK(folder_make(dir, &f, &e));
	assert_int_equal(folder_each(count_folders, &n), 0);
	assert_int_equal(n, 1);
	p1 = mem_printf("%s/sub", f.path);
	p2 = mem_printf("%s/sub/deep", f.path);
	p3 = mem_printf("%s/link", f.path);
	assert_int_equal(mkdir(p1, 0700) | mkdir(p2, 0000), 0);
	assert_int_equal(chmod(p2, 0700), 0);
	assert_int_equal(symlink(dir, p3), 0);			/* would lead out */
	for (int i = 0; i < 300; i++) {
		cleanup_free char *file = mem_printf("%s/f%d", i % 2 ? p1 : p2, i);

		put(file, "x");
	}
	assert_int_equal(folder_remove(f.path, "0123456789abcdef0123456789abcdef", &e), -EPERM);
	OK(folder_remove(f.path, f.token, &e));
	assert_int_equal(access(f.path, F_OK), -1);
	assert_holds(at("precious"), "keep");
	OK(folder_remove(f.path, f.token, &e));			/* gone already is fine */
	folder_done(&f);
	n = 0;
	assert_int_equal(folder_each(count_folders, &n), 0);
	assert_int_equal(n, 0);
}

static void a_folder_that_is_not_ours_any_more_stays(void **state)
{
	cleanup_free char *mark = NULL, *moved = NULL, *file = NULL;
	struct err e = { 0 };
	struct folder f;

	/* another token in it */
	OK(folder_make(dir, &f, &e));
	mark = mem_printf("%s/.stallmark", f.path);
	put(mark, "00000000000000000000000000000000");
	assert_int_equal(folder_remove(f.path, f.token, &e), -EPERM);
	assert_int_equal(access(f.path, F_OK), 0);
	unlink(mark);
	rmdir(f.path);
	folder_done(&f);

	/* replaced by a link to somebody's directory, which even carries the token */
	OK(folder_make(dir, &f, &e));
	moved = mem_printf("%s-moved", f.path);
	assert_int_equal(rename(f.path, moved), 0);
	assert_int_equal(symlink(moved, f.path), 0);
	assert_int_equal(folder_remove(f.path, f.token, &e), -EPERM);
	file = mem_printf("%s/.stallmark", moved);
	assert_int_equal(access(file, F_OK), 0);
	unlink(file);
	unlink(f.path);
	rmdir(moved);
	folder_done(&f);
	assert_int_equal(folder_make("/nonexistent-x", &f, &e), -ENOENT);
	assert_int_equal(folder_make("/proc", &f, &e) < 0, 1);
}

static void folders_of_killed_runs_are_found_and_removed(void **state)
{
	cleanup_strbuf struct strbuf said = STRBUF_INIT;
	struct err e = { 0 };
	struct folder mine;
	int n = 0;
	pid_t pid;

	OK(folder_make(dir, &mine, &e));
	pid = fork();
	if (!pid) {
		struct folder f;

		(void)folder_make(dir, &f, NULL);
		if (openat(f.fd, "big", O_CREAT | O_WRONLY, 0600) < 0)
			_exit(1);
		kill(getpid(), SIGKILL);
	}
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(folder_stale(&said), 1);
	assert_string_equal(strbuf_str(&said), "");
	assert_int_equal(access(mine.path, F_OK), 0);		/* its owner lives */
	assert_int_equal(folder_each(count_folders, &n), 0);
	assert_int_equal(n, 1);
	OK(folder_remove(mine.path, mine.token, &e));
	folder_done(&mine);
}

/* ---- proc, mounts ---- */

static void stat_lines_with_strange_names_are_read(void **state)
{
	struct proc_stat s;

	assert_true(proc_stat_parse("42 (a) b (c) D 7 8 8 0 -1 4194560 11 12 13 14 100 200 15 16 20 0 1 0 987654 5000 321 "
				    "18446744073709551615\n", &s));
	assert_string_equal(s.comm, "a) b (c");
	assert_int_equal(s.state, 'D');
	assert_int_equal(s.ppid, 7);
	assert_int_equal(s.minflt, 11);
	assert_int_equal(s.majflt, 13);
	assert_int_equal(s.utime, 100);
	assert_int_equal(s.start, 987654);
	assert_int_equal(s.rss_pages, 321);
	assert_false(proc_stat_parse("42 (x", &s));
	assert_false(proc_stat_parse("", &s));
	assert_int_equal(proc_stat(getpid(), 0, &s), 0);
	assert_int_equal(s.ppid, getppid());
	assert_true(proc_is(getpid(), s.start));
	assert_false(proc_is(getpid(), s.start + 1));
}

static void stacks_and_system_calls_are_put_in_words(void **state)
{
	char text[] = "[<0>] jbd2_log_wait_commit+0xd9/0x130 [jbd2]\n[<0>] ext4_fsync+0x1/0x2\n[<ffffffff81>] 0xffff\n", buf[32];
	const char *f[8];

	assert_int_equal(proc_stack_frames(text, f, 8), 2);
	assert_string_equal(f[0], "jbd2_log_wait_commit");
	assert_string_equal(f[1], "ext4_fsync");
	assert_string_equal(proc_syscall_name("running", buf, sizeof(buf)), "");
	assert_string_equal(proc_syscall_name("-1 0x0 0x0", buf, sizeof(buf)), "");
	assert_string_equal(proc_syscall_name("99999 0x0", buf, sizeof(buf)), "syscall 99999");
#ifdef __x86_64__
	assert_string_equal(proc_syscall_name("74 0x3 0x0", buf, sizeof(buf)), "fsync");
#endif
}

static void mount_lines_are_read(void **state)
{
	struct mount_entry m;
	struct topology t;
	struct err e = { 0 };

	assert_true(mount_parse("36 35 98:0 /mnt1 /mnt\\0402\\134 rw,noatime master:1 shared:2 - ext3 /dev/root rw,errors=continue\n", &m));
	assert_int_equal(m.id, 36);
	assert_int_equal(major(m.dev), 98);
	assert_string_equal(m.point, "/mnt 2\\");
	assert_string_equal(m.options, "rw,noatime");
	assert_string_equal(m.type, "ext3");
	assert_string_equal(m.super, "rw,errors=continue");
	mount_entry_done(&m);
	assert_true(mount_parse("36 35 98:0 / / rw - ext3 /dev/root rw", &m));	/* no optional fields */
	assert_string_equal(m.source, "/dev/root");
	mount_entry_done(&m);
	assert_false(mount_parse("36 35 98:0 / / rw", &m));
	assert_false(mount_parse("", &m));
	OK(topology_of("/proc", &t, &e));
	assert_int_equal(t.fs, FS_OTHER);
	assert_int_equal(t.devs.n, 0);
	assert_string_equal(t.mount.type, "proc");
	topology_done(&t);
	assert_int_equal(topology_of("/nonexistent-y", &t, &e), -ENOENT);
}

static void fields_and_chosen_words_are_found(void **state)
{
	cleanup_strbuf struct strbuf b = STRBUF_INIT;
	uint64_t x = 0;

	assert_true(file_field("nr_dirty_x 5\nnr_dirty 12\n", "nr_dirty", &x));
	assert_int_equal(x, 12);
	assert_true(file_field("Dirty:            88 kB\nWriteback:   7 kB", "Writeback:", &x));
	assert_int_equal(x, 7);
	assert_false(file_field("a 1\n", "b", &x));
	file_chosen("mq-deadline [none]", &b);
	assert_string_equal(strbuf_str(&b), "none");
	file_chosen("write back", &b);
	assert_string_equal(strbuf_str(&b), "write back");
}

static void the_build_id_is_found_among_notes(void **state)
{
	static const unsigned char notes[] = {
		6, 0, 0, 0, 4, 0, 0, 0, 1, 0, 0, 0, 'L', 'i', 'n', 'u', 'x', 0, 0, 0, 9, 9, 9, 9,
		4, 0, 0, 0, 3, 0, 0, 0, 3, 0, 0, 0, 'G', 'N', 'U', 0, 0xde, 0xad, 0x01, 0,
	};
	char id[64];

	assert_true(environ_build_id_parse(notes, sizeof(notes), id, sizeof(id)));
	assert_string_equal(id, "dead01");
	for (size_t cut = 0; cut < sizeof(notes); cut++)
		assert_false(environ_build_id_parse(notes, cut, id, sizeof(id)));
	assert_false(environ_build_id_parse((const unsigned char *)"\xff\xff\xff\xff\xff\xff\xff\xff\x03\0\0\0GNU", 16, id,
					    sizeof(id)));
}

struct facts {
	int n, counting;
	bool kernel, type;
	char seen[4096];
};

static int see_fact(void *ctx, const char *key, const char *value, bool counts)
{
	struct facts *f = ctx;
	char mark[128];

	/* each key once */
	snprintf(mark, sizeof(mark), "|%s|", key);
	if (strstr(f->seen, mark))
		fail_msg("%s comes twice", key);
	snprintf(f->seen + strlen(f->seen), sizeof(f->seen) - strlen(f->seen), "%s", mark);
	f->n++;
	f->counting += counts;
	f->kernel |= !strcmp(key, "kernel.build_id") || (!strcmp(key, "kernel.release") && counts);
	f->type |= !strcmp(key, "fs2.type") && !strcmp(value, "proc");
	assert_true(*value);
	return 0;
}

static void the_facts_of_this_machine_are_named_once(void **state)
{
	const char *const dirs[] = { dir, "/proc" };
	struct facts f = { 0 };

	assert_int_equal(environ_facts(dirs, 2, see_fact, &f), 0);
	assert_true(f.kernel && f.type);
	assert_true(f.counting >= 5 && f.n > f.counting);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_program_gets_its_arguments_as_they_are),
		cmocka_unit_test(a_program_that_fails_or_is_missing_is_named),
		cmocka_unit_test(a_program_over_its_limit_ends_with_its_whole_group),
		cmocka_unit_test(much_output_does_not_block_and_is_bounded),
		cmocka_unit_test(settings_come_back_in_reverse_order),
		cmocka_unit_test(what_somebody_else_changed_is_left_alone_and_said),
		cmocka_unit_test(the_log_of_a_killed_process_is_undone_by_the_next),
		cmocka_unit_test(a_living_process_keeps_its_log_and_may_hand_it_over),
		cmocka_unit_test(a_torn_line_and_a_foreign_log_do_no_harm),
		cmocka_unit_test(processes_are_ended_and_only_the_right_ones),
		cmocka_unit_test(a_work_folder_goes_with_all_it_holds_and_nothing_else),
		cmocka_unit_test(a_folder_that_is_not_ours_any_more_stays),
		cmocka_unit_test(folders_of_killed_runs_are_found_and_removed),
		cmocka_unit_test(stat_lines_with_strange_names_are_read),
		cmocka_unit_test(stacks_and_system_calls_are_put_in_words),
		cmocka_unit_test(mount_lines_are_read),
		cmocka_unit_test(fields_and_chosen_words_are_found),
		cmocka_unit_test(the_build_id_is_found_among_notes),
		cmocka_unit_test(the_facts_of_this_machine_are_named_once),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}

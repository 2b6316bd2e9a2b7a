/* SPDX-License-Identifier: MIT */
#include "unit.h"

#include "analyze/cause.h"
#include "analyze/stack.h"
#include "analyze/stack-parse.h"
#include "base/cleanup.h"
#include "base/strbuf.h"
#include "event/waitclass.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static void symbols_lose_what_compilers_and_printers_add(void **state)
{
	static const char *const in[][2] = {
		{ "[<ffffffff8034790a>] log_wait_commit+0xbd/0x110", "log_wait_commit" },
		{ "[<0>] jbd2_log_wait_commit+0xb9/0x130 [jbd2]", "jbd2_log_wait_commit" },
		{ "balance_dirty_pages.isra.0+0x3b6/0xda0", "balance_dirty_pages" },
		{ "foo.constprop.0.isra.3", "foo" },
		{ "shrink_lruvec.part.12+0x1", "shrink_lruvec" },
		{ "\tffffffff9ab0a1c2 __schedule+0x2e2 ([kernel.kallsyms])", "__schedule" },
		{ "b'submit_bio_wait+0x1'", "submit_bio_wait" },
		{ "[<0>] 0xffffffffc0a1b2c3", "" },
		{ "", "" },
	};
	char buf[STACK_SYMBOL];

	for (size_t i = 0; i < ARRAY_SIZE(in); i++)
		assert_string_equal(stack_symbol(in[i][0], buf), in[i][1]);
}

/* Stacks as this and older kernels show them; the innermost frame that says something decides. */
static void classes(void **state)
{
	static const struct {
		enum wait_class class;
		const char *frames;
	} c[] = {
		{ WAIT_TAGS, "blk_mq_get_tag __blk_mq_alloc_requests blk_mq_submit_bio ext4_writepages wb_workfn kthread" },
		{ WAIT_WBT, "rq_qos_wait wbt_wait __rq_qos_throttle blk_mq_submit_bio jbd2_journal_commit_transaction kjournald2" },
		{ WAIT_JBD2_THREAD, "folio_wait_bit_common folio_wait_writeback __filemap_fdatawait_range "
				    "jbd2_journal_finish_inode_data_buffers jbd2_journal_commit_transaction kjournald2 kthread" },
		{ WAIT_JBD2_THREAD, "jbd2_journal_commit_transaction kjournald2 kthread" },
		{ WAIT_IDLE, "kjournald2 kthread ret_from_fork" },
		{ WAIT_WRITEBACK, "folio_wait_bit_common folio_wait_writeback __filemap_fdatawait_range "
				  "file_write_and_wait_range ext4_sync_file do_fsync __x64_sys_fsync" },
		{ WAIT_WRITEBACK, "io_schedule sync_page __wait_on_bit wait_on_page_bit wait_on_page_writeback_range vfs_fsync sys_fsync" },
		{ WAIT_JBD2_COMMIT_WAIT, "jbd2_log_wait_commit jbd2_complete_transaction ext4_sync_file __x64_sys_fsync" },
		{ WAIT_JBD2_SPACE, "jbd2_log_wait_commit __jbd2_log_wait_for_space add_transaction_credits start_this_handle" },
		{ WAIT_JBD2_SPACE, "__jbd2_log_wait_for_space add_transaction_credits start_this_handle ext4_create" },
		{ WAIT_JBD2_HANDLE, "wait_transaction_locked add_transaction_credits start_this_handle ext4_create path_openat" },
		{ WAIT_JBD2_SHADOW, "do_get_write_access jbd2_journal_get_write_access __ext4_journal_get_write_access" },
		{ WAIT_BUFFER_LOCK, "__lock_buffer do_get_write_access jbd2_journal_get_write_access" },
		{ WAIT_LOCK, "path_openat do_filp_open do_sys_openat2 __x64_sys_openat" },
		{ WAIT_LOCK, "__schedule schedule rwsem_down_write_slowpath down_write ext4_buffered_write_iter vfs_write" },
		{ WAIT_JBD2_SPACE, "schedule mutex_lock_io __jbd2_log_wait_for_space start_this_handle" },
		{ WAIT_DEVICE_FLUSH, "submit_bio_wait blkdev_issue_flush ext4_sync_file" },
		{ WAIT_SYNC_BIO, "submit_bio_wait swap_writepage" },
		{ WAIT_DIRTY_THROTTLE, "balance_dirty_pages balance_dirty_pages_ratelimited_flags generic_perform_write" },
		{ WAIT_RECLAIM, "reclaim_throttle shrink_lruvec shrink_node do_try_to_free_pages try_charge_memcg filemap_fault" },
		{ WAIT_PAGE_READ, "folio_wait_bit_common filemap_get_pages filemap_read vfs_read __x64_sys_read" },
		{ WAIT_PAGE_READ, "folio_wait_bit_common filemap_fault __do_fault handle_mm_fault exc_page_fault" },
		{ WAIT_DIRECT_IO, "__iomap_dio_rw iomap_dio_rw ext4_file_read_iter vfs_read" },
		{ WAIT_META_READ, "__wait_on_buffer ext4_read_bh ext4_bread __ext4_read_dirblock htree_dirblock_to_tree" },
		{ WAIT_XFS_LOG, "xlog_wait_on_iclog xfs_log_force_seq xfs_file_fsync do_fsync" },
		{ WAIT_XFS_LOG, "xlog_grant_head_wait xlog_grant_head_check xfs_log_reserve xfs_trans_reserve" },
		{ WAIT_XFS_BUFFER, "xfs_buf_lock xfs_buf_find_lock xfs_buf_get_map" },
		{ WAIT_BTRFS_LOG, "btrfs_sync_log btrfs_sync_file do_fsync" },
		{ WAIT_BTRFS_COMMIT, "folio_wait_bit_common folio_wait_writeback btrfs_wait_extents btrfs_commit_transaction" },
		{ WAIT_BTRFS_SPACE, "__reserve_bytes btrfs_reserve_metadata_bytes start_transaction" },
		{ WAIT_STOPPED, "do_signal_stop get_signal arch_do_signal_or_restart" },
		{ WAIT_FUSE, "request_wait_answer fuse_simple_request fuse_lookup" },
		{ WAIT_SLEEP, "hrtimer_nanosleep common_nsleep __x64_sys_clock_nanosleep" },
		{ WAIT_UNKNOWN, "hovercraft_wait_for_eels __x64_sys_ioctl do_syscall_64" },
		{ WAIT_DEVICE, "io_schedule something_new" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(c); i++) {
		cleanup_free char *s = mem_dup(c[i].frames);
		const char *f[32];
		char *save = NULL;
		int n = 0;

		for (char *p = strtok_r(s, " ", &save); p; p = strtok_r(NULL, " ", &save))
			f[n++] = p;
		if (stack_classify(f, n) != c[i].class)
			fail_msg("%s: got %s, not %s", c[i].frames, wait_name(stack_classify(f, n)), wait_name(c[i].class));
	}
	assert_int_equal(stack_classify(NULL, 0), WAIT_UNKNOWN);
}

static char *read_data(const char *name, size_t *ret_len)
{
	cleanup_strbuf struct strbuf path = STRBUF_INIT, b = STRBUF_INIT;
	char buf[4096];
	size_t n;

	strbuf_addf(&path, "%s/tests/data/%s", getenv("SOURCE_DIR"), name);
	cleanup_file FILE *f = fopen(strbuf_str(&path), "r");

	assert_non_null(f);
	while ((n = fread(buf, 1, sizeof(buf), f)) > 0)
		strbuf_add(&b, buf, n);
	*ret_len = b.len;
	return strbuf_detach(&b);
}

static struct stack_text parse(const char *name)
{
	struct stack_text t = { 0 };
	struct err e = { 0 };
	size_t n;
	cleanup_free char *s = read_data(name, &n);

	if (stack_parse(s, n, &t, &e) < 0)
		fail_msg("%s: %s", name, e.msg);
	return t;
}

#define CLASS(t, i) stack_classify((const char *const *)(t).task.p[i].frame, (t).task.p[i].nframes)

static void the_stack_of_2009_says_journal_commit(void **state)
{
	struct stack_text t = parse("stack_fsync_wait_2.6.29.txt");
	char op[STACK_SYMBOL];

	assert_int_equal(t.task.n, 1);
	assert_int_equal(t.task.p[0].nframes, 14);
	assert_int_equal(CLASS(t, 0), WAIT_JBD2_COMMIT_WAIT);
	assert_string_equal(stack_operation((const char *const *)t.task.p[0].frame, 14, op), "fsync");
	stack_text_done(&t);
}

static void hung_task_messages_name_task_and_lock_owner(void **state)
{
	struct stack_text t = parse("stacks/hung-task-6.18.txt");

	assert_int_equal(t.task.n, 1);
	assert_string_equal(t.task.p[0].comm, "cp");
	assert_int_equal(t.task.p[0].pid, 2311);
	assert_int_equal(t.task.p[0].blocked_s, 122);
	assert_string_equal(t.task.p[0].owner, "ls");
	assert_int_equal(t.task.p[0].owner_pid, 2290);
	assert_int_equal(CLASS(t, 0), WAIT_LOCK);
	stack_text_done(&t);
	t = parse("stacks/syslog-5.10.txt");
	assert_int_equal(t.task.n, 1);
	assert_string_equal(t.task.p[0].comm, "kworker/u8:2");
	assert_int_equal(t.task.p[0].pid, 163);
	assert_int_equal(CLASS(t, 0), WAIT_TAGS);
	stack_text_done(&t);
	t = parse("stacks/sysrq-2.6.32.txt");
	assert_int_equal(t.task.n, 1);
	assert_string_equal(t.task.p[0].comm, "firefox");
	assert_int_equal(t.task.p[0].pid, 3012);
	assert_int_equal(CLASS(t, 0), WAIT_WRITEBACK);
	stack_text_done(&t);
}

static void a_dump_of_many_tasks(void **state)
{
	static const struct { uint32_t pid; enum wait_class class; } want[] = {
		{ 1, WAIT_INPUT }, { 310, WAIT_JBD2_THREAD }, { 311, WAIT_DIRTY_THROTTLE }, { 312, WAIT_JBD2_COMMIT_WAIT },
		{ 313, WAIT_JBD2_COMMIT_WAIT }, { 400, WAIT_LOCK }, { 401, WAIT_UNKNOWN }, { 77, WAIT_IDLE },
	};
	struct stack_text t = parse("stacks/proc-dump.txt");
	struct page *p = NULL;
	size_t n;
	cleanup_free char *s = read_data("stacks/proc-dump.txt", &n);

	assert_int_equal(t.task.n, ARRAY_SIZE(want));
	for (size_t i = 0; i < ARRAY_SIZE(want); i++) {
		assert_int_equal(t.task.p[i].pid, want[i].pid);
		assert_int_equal(CLASS(t, i), want[i].class);
	}
	stack_text_done(&t);
	assert_int_equal(analyze_stack(s, n, false, &p, NULL), 0);
	assert_int_equal(page_find(p, "waits")->nkids, 5);	/* 312 and 313 are told together, 1 and 77 counted */
	assert_string_equal(page_child(page_find(p, "waits")->kids[0], "class")->v.text, "jbd2-commit-wait");
	page_free(p);
}

static void perf_and_folded_stacks(void **state)
{
	struct stack_text t = parse("stacks/perf-script.txt");

	assert_int_equal(t.task.n, 1);
	assert_string_equal(t.task.p[0].comm, "postgres");
	assert_int_equal(t.task.p[0].pid, 4021);
	assert_int_equal(CLASS(t, 0), WAIT_PAGE_READ);
	stack_text_done(&t);
	t = parse("stacks/folded.txt");
	assert_int_equal(t.task.n, 2);
	assert_string_equal(t.task.p[0].comm, "dd");
	assert_int_equal(t.task.p[0].count, 5100200);
	assert_int_equal(CLASS(t, 0), WAIT_DIRTY_THROTTLE);
	assert_int_equal(CLASS(t, 1), WAIT_DEVICE_FLUSH);
	stack_text_done(&t);
}

static void text_without_a_stack_is_refused_in_words(void **state)
{
	struct stack_text t = { 0 };
	struct err e = { 0 };

	assert_int_equal(stack_parse("hello\nworld\n", 12, &t, &e), -ENODATA);
	assert_non_null(strstr(e.msg, "no kernel stack"));
	assert_int_equal(stack_parse("", 0, &t, &e), -ENODATA);
}

static void every_class_but_unknown_has_a_cause(void **state)
{
	for (uint32_t c = WAIT_UNKNOWN + 1; c < WAIT_MAX; c++) {
		const struct cause_ops *o = cause_of(c);
		bool found = false;

		for (size_t i = 0; i < ARRAY_SIZE(o->classes); i++)
			found |= o->classes[i] == c;
		if (!found)
			fail_msg("no cause lists %s", wait_name(c));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(symbols_lose_what_compilers_and_printers_add),
		cmocka_unit_test(classes),
		cmocka_unit_test(the_stack_of_2009_says_journal_commit),
		cmocka_unit_test(hung_task_messages_name_task_and_lock_owner),
		cmocka_unit_test(a_dump_of_many_tasks),
		cmocka_unit_test(perf_and_folded_stacks),
		cmocka_unit_test(text_without_a_stack_is_refused_in_words),
		cmocka_unit_test(every_class_but_unknown_has_a_cause),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

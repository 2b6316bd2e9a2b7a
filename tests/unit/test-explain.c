/* SPDX-License-Identifier: MIT */
/* Explanations of records made by hand: known stories, and laws that hold for any trace. */
#include "unit.h"

#include "analyze/explain.h"
#include "base/cleanup.h"
#include "base/rng.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define MS NSEC_PER_MSEC
#define FS  (7u << 20 | 1)	/* the filesystem's device; here the disk itself */
enum { EDITOR = 12, JBD2 = 20, DD = 311, DECOY = 312, KWORKER = 30 };

struct story {
	char path[64];
	struct rec *rec;
	int run, series;
};

static void begin(struct story *s)
{
	static int number;
	struct rec_run run = { .scenario = "t", .scenario_text = "", .command = "", .producer = "trace", .cell = "", .version = "0",
			       .t0 = 0, .t1 = 100000 * MS };
	struct rec_series series = { .kind = SERIES_EVENTS, .name = "trace", .unit = "", .meaning = "", .group = "trace" };
	struct err e = { 0 };

	snprintf(s->path, sizeof(s->path), "/dev/shm/test-explain-%d-%d.smk", (int)getpid(), number++);
	unlink(s->path);
	assert_int_equal(rec_create(s->path, &s->rec, &e), 0);
	assert_int_equal(rec_run_begin(s->rec, &run, &s->run, &e), 0);
	assert_int_equal(rec_series(s->rec, &series, &s->series, &e), 0);
}

static void put(struct story *s, struct event ev)
{
	struct err e = { 0 };

	if (rec_events(s->rec, s->run, s->series, 0, &ev, 1, &e))
		fail_msg("%s", e.msg);
}

static void task(struct story *s, uint32_t pid, const char *comm, bool kthread)
{
	put(s, (struct event){ .kind = EV_TASK, .pid = pid, .tid = pid, .comm = rec_string(s->rec, comm),
			       .flags = kthread ? EVF_KTHREAD : 0 });
}

static void everybody(struct story *s)
{
	task(s, EDITOR, "editor", false);
	task(s, JBD2, "jbd2/loop1-8", true);
	task(s, DD, "dd", false);
	task(s, DECOY, "cp", false);
	task(s, KWORKER, "kworker/0:1H", true);
	put(s, (struct event){ .kind = EV_FS, .dev = FS, .a = FS, .name = rec_string(s->rec, "ext4 /mnt") });
	put(s, (struct event){ .kind = EV_DISK, .dev = FS, .name = rec_string(s->rec, "loop1") });
}

static struct event sleep_of(uint32_t tid, nsec_t t, nsec_t dur, enum wait_class class)
{
	return (struct event){ .kind = EV_WAIT, .t = t, .dur = dur, .pid = tid, .tid = tid, .class = class, .flags = EVF_UNINTR };
}

static struct event request(uint32_t tid, nsec_t t, nsec_t issue, nsec_t dur, uint64_t ino, uint32_t flags)
{
	return (struct event){ .kind = EV_BLK_RQ, .t = t, .dur = dur, .pid = tid, .tid = tid, .dev = FS, .other = ino ? FS : 0,
			       .ino = ino, .b = 4096, .e = (uint64_t)issue, .flags = flags };
}

static struct event dirtied(struct story *s, uint32_t pid, nsec_t t, uint64_t ino, uint64_t pages, const char *name)
{
	return (struct event){ .kind = EV_DIRTY, .t = t, .dur = MS, .pid = pid, .tid = pid, .dev = FS, .ino = ino, .a = pages,
			       .name = rec_string(s->rec, name) };
}

static struct rec *finish(struct story *s)
{
	struct rec *r = NULL;
	struct err e = { 0 };

	assert_int_equal(rec_run_end(s->rec, s->run, 100000 * MS, false, NULL, &e), 0);
	assert_int_equal(rec_commit(s->rec, &e), 0);
	rec_close(s->rec);
	if (rec_open(s->path, &r, &e))
		fail_msg("%s", e.msg);
	unlink(s->path);
	return r;
}

static double leaves_of(const struct walk_node *n)
{
	double sum = n->kind == WALK_LEAF ? n->ns : 0;

	if (n->kind == WALK_LEAF && bill_sum(&n->bill) > n->ns + 1)
		fail_msg("a leaf of %f ns charges %f", n->ns, bill_sum(&n->bill));
	for (size_t i = 0; i < n->nkids; i++)
		sum += leaves_of(n->kid[i]);
	return sum;
}

/* The laws of every explanation. */
static void holds(const struct trace *t, const struct stall *s)
{
	double total = (double)(s->b - s->a);

	if (fabs(leaves_of(s->tree) - total) > MS)
		fail_msg("leaves sum to %f, the stall is %f", leaves_of(s->tree), total);
	if (bill_sum(&s->bill) > total + 1000)
		fail_msg("charged %f of %f", bill_sum(&s->bill), total);
	for (size_t i = 0; i < s->bill.c.n; i++)
		assert_false(trace_is_kthread(t, s->bill.c.p[i].pid));
	assert_false(s->own > total + 1000);
}

static struct stalls explain(struct rec *r, struct trace *t)
{
	struct explain_conf c = { 0 };
	struct stalls s;
	struct err e = { 0 };

	if (trace_load(r, 0, t, &e))
		fail_msg("%s", e.msg);
	stalls_find(t, &c, &s);
	for (size_t i = 0; i < s.v.n; i++)
		holds(t, &s.v.p[i]);
	return s;
}

static void done(struct rec *r, struct trace *t, struct stalls *s)
{
	stalls_done(s);
	trace_done(t);
	rec_close(r);
}

/* The story of the issue: an fsync waits for a commit, which waits for the ordered data of another program. */
static void ordered_data_of_another_program(struct story *s)
{
	struct event w;

	everybody(s);
	put(s, dirtied(s, DD, 100 * MS, 13, 30000, "big"));
	put(s, dirtied(s, DECOY, 100 * MS, 14, 30000, "other"));
	w = sleep_of(EDITOR, 1000 * MS, 6000 * MS, WAIT_JBD2_COMMIT_WAIT);
	w.dev = FS;
	w.b = JBD2;
	put(s, w);
	put(s, (struct event){ .kind = EV_JBD2_COMMIT, .t = 1000 * MS, .dur = 6000 * MS, .dev = FS, .pid = JBD2, .tid = JBD2, .a = 812,
			       .b = 1, .c = (uint64_t)MS, .d = (uint64_t)(2 * MS) });
	w = sleep_of(JBD2, 1002 * MS, 5690 * MS, WAIT_JBD2_THREAD);
	w.dev = FS;
	w.ino = 13;
	put(s, w);
	put(s, sleep_of(JBD2, 6700 * MS, 290 * MS, WAIT_JBD2_THREAD));
	for (int i = 0; i < 57; i++)
		put(s, request(KWORKER, 990 * MS + i * 100 * MS, MS, 110 * MS, 13, EVF_WRITE));
	put(s, request(JBD2, 6700 * MS, MS, 290 * MS, 0, EVF_WRITE | EVF_BDEV | EVF_META));
	put(s, (struct event){ .kind = EV_JBD2_HANDLE, .t = 900 * MS, .dev = FS, .pid = EDITOR, .tid = EDITOR, .a = 812, .b = 4 });
}

static void the_commit_is_followed_to_the_dirtier(void **state)
{
	struct story s;
	struct trace t;
	struct stalls v;
	struct rec *r;
	cleanup_strbuf struct strbuf b = STRBUF_INIT;

	begin(&s);
	ordered_data_of_another_program(&s);
	r = finish(&s);
	v = explain(r, &t);
	assert_int_equal(v.v.n, 1);
	assert_int_equal(v.v.p[0].class, WAIT_JBD2_COMMIT_WAIT);
	assert_string_equal(v.v.p[0].cause, "journal-commit");
	assert_int_equal(v.v.p[0].leaf, LEAF_ORDERED);
	assert_int_equal(v.v.p[0].culprit, DD);
	assert_true(v.v.p[0].culprit_ns > 5.5e9 && v.v.p[0].culprit_ns < 5.8e9);
	assert_true(v.v.p[0].leaf_ns[LEAF_JOURNAL] > 0.28e9);
	assert_true(v.v.p[0].own > 0.28e9);		/* its own metadata: the journal write */
	for (size_t i = 0; i < v.v.p[0].bill.c.n; i++)
		assert_int_not_equal(v.v.p[0].bill.c.p[i].pid, DECOY);
	stall_sentence(&t, &v.v.p[0], &b);
	assert_non_null(strstr(b.s, "editor (pid 12) was stuck for 6.00 s"));
	assert_non_null(strstr(b.s, "a journal commit (jbd2/loop1-8, transaction 812)"));
	assert_non_null(strstr(b.s, "file 'big'"));
	assert_non_null(strstr(b.s, "dd (pid 311)"));
	done(r, &t, &v);
}

static void a_silent_disk_is_nobodys_fault(void **state)
{
	struct story s;
	struct trace t;
	struct stalls v;
	struct rec *r;

	begin(&s);
	everybody(&s);
	for (int i = 0; i < 20; i++)
		put(&s, request(DECOY, i * 50 * MS, MS, 10 * MS, 0, 0));
	put(&s, request(EDITOR, 2000 * MS, MS, 3000 * MS, 0, 0));
	put(&s, sleep_of(EDITOR, 2000 * MS, 3000 * MS, WAIT_PAGE_READ));
	r = finish(&s);
	v = explain(r, &t);
	assert_int_equal(v.v.n, 1);
	assert_int_equal(v.v.p[0].leaf, LEAF_SILENT);
	assert_int_equal(v.v.p[0].culprit, 0);
	assert_true(v.v.p[0].nobody > 2.9e9);
	done(r, &t, &v);
}

static void a_read_behind_a_writer(void **state)
{
	struct story s;
	struct trace t;
	struct stalls v;
	struct rec *r;

	begin(&s);
	everybody(&s);
	put(&s, dirtied(&s, DD, 0, 13, 30000, "big"));
	for (int i = 0; i < 64; i++)	/* the flusher's writes, 32 in flight at any time, each takes 320 ms */
		put(&s, request(KWORKER, i * 10 * MS, MS, 320 * MS, 13, EVF_WRITE));
	put(&s, request(EDITOR, 300 * MS, 250 * MS, 300 * MS, 0, 0));	/* held back for 250 ms, then served in 50 */
	put(&s, sleep_of(EDITOR, 300 * MS, 300 * MS, WAIT_PAGE_READ));
	r = finish(&s);
	v = explain(r, &t);
	assert_int_equal(v.v.n, 1);
	assert_int_equal(v.v.p[0].leaf, LEAF_DISK);
	assert_int_equal(v.v.p[0].culprit, DD);
	assert_true(v.v.p[0].culprit_ns > 0.28e9);
	done(r, &t, &v);
}

static void ones_own_data_is_ones_own(void **state)
{
	struct story s;
	struct trace t;
	struct stalls v;
	struct rec *r;
	struct event w;

	begin(&s);
	everybody(&s);
	put(&s, dirtied(&s, EDITOR, 0, 15, 30000, "huge"));
	for (int i = 0; i < 30; i++)
		put(&s, request(EDITOR, 1000 * MS, i * 100 * MS, (i + 1) * 100 * MS, 15, EVF_WRITE | EVF_SYNC));
	w = sleep_of(EDITOR, 1000 * MS, 3000 * MS, WAIT_WRITEBACK);
	w.dev = FS;
	w.ino = 15;
	put(&s, w);
	r = finish(&s);
	v = explain(r, &t);
	assert_int_equal(v.v.n, 1);
	assert_int_equal(v.v.p[0].culprit, 0);
	assert_true(v.v.p[0].own > 2.9e9);
	done(r, &t, &v);
}

static void a_flush_and_a_lock_and_a_stop(void **state)
{
	struct story s;
	struct trace t;
	struct stalls v;
	struct rec *r;
	struct event w;

	begin(&s);
	everybody(&s);
	put(&s, request(0, 1000 * MS, MS, 2000 * MS, 0, EVF_FLUSH));
	w = sleep_of(EDITOR, 1000 * MS, 2000 * MS, WAIT_DEVICE_FLUSH);
	w.dev = FS;
	put(&s, w);
	w = sleep_of(EDITOR, 10000 * MS, 1500 * MS, WAIT_LOCK);	/* the holder was reading meanwhile */
	w.other = DECOY;
	put(&s, w);
	put(&s, request(DECOY, 10000 * MS, MS, 1400 * MS, 0, 0));
	put(&s, request(DECOY, 9990 * MS, MS, 5 * MS, 0, 0));
	put(&s, sleep_of(DECOY, 10000 * MS, 1400 * MS, WAIT_META_READ));
	put(&s, (struct event){ .kind = EV_SIGNAL, .t = 20000 * MS, .pid = DD, .tid = DD, .other = EDITOR, .a = 19 });
	put(&s, sleep_of(EDITOR, 20001 * MS, 1000 * MS, WAIT_STOPPED));
	r = finish(&s);
	v = explain(r, &t);
	assert_int_equal(v.v.n, 4);	/* the holder of the lock was stuck as well: the third */
	assert_int_equal(v.v.p[0].leaf, LEAF_FLUSH);
	assert_int_equal(v.v.p[0].culprit, 0);
	assert_string_equal(v.v.p[1].cause, "lock");
	assert_int_equal(v.v.p[1].tree->kid[0]->kid[0]->tid, DECOY);
	assert_int_equal(v.v.p[3].leaf, LEAF_STOPPED);
	assert_int_equal(v.v.p[3].culprit, DD);
	done(r, &t, &v);
}

static void a_cycle_of_locks_ends(void **state)
{
	struct story s;
	struct trace t;
	struct stalls v;
	struct rec *r;
	struct event w;

	begin(&s);
	everybody(&s);
	w = sleep_of(EDITOR, 0, 1000 * MS, WAIT_LOCK);
	w.other = DD;
	put(&s, w);
	w = sleep_of(DD, 0, 1000 * MS, WAIT_LOCK);
	w.other = EDITOR;
	w.flags |= EVF_OPEN;
	put(&s, w);
	r = finish(&s);
	v = explain(r, &t);
	assert_int_equal(v.v.n, 2);
	assert_true(v.v.p[0].leaf_ns[LEAF_UNKNOWN] > 0.99e9);
	assert_true(v.v.p[0].open || v.v.p[1].open);
	done(r, &t, &v);
}

/* Whatever the events say: the seconds sum, nobody is charged more than there is, no kernel thread is blamed. */
static void laws_hold_for_random_traces(void **state)
{
	struct rng rng;

	rng_seed(&rng, 7);
	for (int round = 0; round < 60; round++) {
		struct story s;
		struct trace t;
		struct stalls v;
		struct rec *r;

		begin(&s);
		everybody(&s);
		for (int i = 0; i < 300; i++) {
			static const uint32_t who[] = { EDITOR, JBD2, DD, DECOY, KWORKER, 0, 999 };
			uint32_t tid = who[rng_below(&rng, ARRAY_SIZE(who))];
			nsec_t at = (nsec_t)rng_below(&rng, 20000) * MS, dur = (nsec_t)rng_below(&rng, 3000) * MS;
			struct event ev = { .kind = 1 + (uint32_t)rng_below(&rng, EV_MAX - 1), .t = at, .dur = dur, .pid = tid,
					    .tid = tid, .class = (uint32_t)rng_below(&rng, WAIT_MAX), .dev = rng_below(&rng, 3) ? FS : 0,
					    .other = rng_below(&rng, 2) ? FS : who[rng_below(&rng, 6)], .ino = rng_below(&rng, 4),
					    .a = rng_below(&rng, 5), .b = who[rng_below(&rng, 6)], .c = rng_below(&rng, 1000000000),
					    .d = rng_below(&rng, 1000000000), .e = rng_below(&rng, (uint64_t)dur + 2),
					    .flags = (uint32_t)rng_below(&rng, 1u << 12) };

			if (ev.kind == EV_TASK || ev.kind == EV_FS || ev.kind == EV_DISK)
				ev.kind = EV_BLK_RQ;
			if (ev.kind == EV_WAIT)
				ev.a = rng_below(&rng, 1000) * (uint64_t)MS;
			put(&s, ev);
		}
		r = finish(&s);
		v = explain(r, &t);
		assert_true(v.v.n > 0);
		done(r, &t, &v);
	}
}

static void a_number_used_twice_is_said(void **state)
{
	struct story s;
	struct trace t;
	struct rec *r;
	struct err e = { 0 };
	char who[96];

	begin(&s);
	everybody(&s);
	put(&s, (struct event){ .kind = EV_TASK, .t = MS, .pid = 500, .tid = 500, .a = 10, .comm = rec_string(s.rec, "cp") });
	put(&s, (struct event){ .kind = EV_TASK, .t = 9 * MS, .pid = 500, .tid = 500, .a = 20, .comm = rec_string(s.rec, "tar") });
	put(&s, (struct event){ .kind = EV_TASK, .t = MS, .pid = 501, .tid = 501, .a = 10, .comm = rec_string(s.rec, "bash") });
	put(&s, (struct event){ .kind = EV_TASK, .t = 2 * MS, .pid = 501, .tid = 501, .a = 10, .comm = rec_string(s.rec, "dd") });
	put(&s, sleep_of(500, 0, 50 * MS, WAIT_LOCK));
	r = finish(&s);
	assert_int_equal(trace_load(r, 0, &t, &e), 0);
	assert_string_equal(trace_who(&t, 500, who, sizeof(who)), "tar (pid 500, before it cp)");
	assert_string_equal(trace_who(&t, 501, who, sizeof(who)), "dd (pid 501)");	/* exec: the same process */
	trace_done(&t);
	rec_close(r);
}

/* Without a tracer: pictures of stacks, the victim's with its length, the journal thread's without. */
static void sampled_stacks_explain_roughly_and_say_so(void **state)
{
	static const char *const commit_wait[] = { "jbd2_log_wait_commit", "ext4_sync_file", "__x64_sys_fsync" };
	static const char *const thread[] = { "folio_wait_writeback", "jbd2_journal_commit_transaction", "kjournald2", "kthread" };
	struct explain_conf c = { 0 };
	struct rec *r = NULL;
	struct story s;
	struct trace t;
	struct stalls v;
	struct page *p = NULL;
	struct err e = { 0 };

	begin(&s);
	for (int i = 0; i < 4; i++) {
		struct rec_stall row = { .run = s.run, .t = (1250 + 1000 * i) * MS, .waited = (250 + 1000 * i) * MS, .pid = EDITOR,
					 .tid = EDITOR, .comm = "editor", .state = "D", .wchan = "", .syscall = "fsync",
					 .stack = rec_stack(s.rec, commit_wait, 3) };

		assert_int_equal(rec_stall(s.rec, &row, &e), 0);
		row.waited = 0;
		row.pid = row.tid = JBD2;
		row.comm = "jbd2/loop1-8";
		row.stack = rec_stack(s.rec, thread, 4);
		assert_int_equal(rec_stall(s.rec, &row, &e), 0);
	}
	r = finish(&s);
	v = explain(r, &t);
	assert_true(t.sampled);
	assert_int_equal(v.v.n, 1);
	assert_int_equal(v.v.p[0].class, WAIT_JBD2_COMMIT_WAIT);
	assert_true(v.v.p[0].b - v.v.p[0].a == 3250 * MS);
	assert_int_equal(v.v.p[0].culprit, 0);		/* nothing says who: so nobody is named */
	assert_int_equal(v.v.p[0].tree->kid[0]->kid[0]->tid, JBD2);
	stalls_done(&v);
	trace_done(&t);
	assert_int_equal(analyze_explain(r, &c, &p, &e), 0);
	assert_true(page_find(p, "summary/sampled")->v.b);
	page_free(p);
	rec_close(r);
}

static void ten_thousand_tasks_and_what_was_lost(void **state)
{
	struct story s;
	struct trace t;
	struct stalls v;
	struct rec *r;
	nsec_t began = nsec_now();

	begin(&s);
	everybody(&s);
	for (uint32_t i = 0; i < 10000; i++) {
		struct event w = sleep_of(1000 + i, 1000 * MS, 30 * MS + i, WAIT_LOCK);

		w.other = DD;
		put(&s, w);
	}
	put(&s, sleep_of(DD, 1000 * MS, 30 * MS, WAIT_PAGE_READ));
	put(&s, request(DD, 1000 * MS, MS, 29 * MS, 0, 0));
	put(&s, (struct event){ .kind = EV_LOST, .t = 2000 * MS, .a = 17 });
	r = finish(&s);
	v = explain(r, &t);
	assert_int_equal(v.found, 10001);
	assert_int_equal(v.v.n, 2000);
	assert_int_equal(t.lost, 17);
	assert_int_equal(v.v.p[0].culprit, DD);
	done(r, &t, &v);
	assert_true(nsec_now() - began < 20 * NSEC_PER_SEC);	/* it ends; usually in half a second */
}

static void outputs_are_well_formed_also_with_hostile_names(void **state)
{
	struct explain_conf c = { 0 };
	cleanup_strbuf struct strbuf chrome = STRBUF_INIT, folded = STRBUF_INIT;
	struct story s;
	struct page *p = NULL;
	struct rec *r;
	struct err e = { 0 };
	json_t *j;

	begin(&s);
	ordered_data_of_another_program(&s);
	put(&s, dirtied(&s, DD, 100 * MS, 13, 1, "a\";\n\x1b[31m\\x\xff"));
	r = finish(&s);
	assert_int_equal(analyze_explain_chrome(r, &c, &chrome, &e), 0);
	j = json_loads(chrome.s, 0, NULL);
	assert_non_null(j);
	assert_true(json_array_size(j) > 10);
	json_decref(j);
	assert_int_equal(analyze_explain_folded(r, &c, &folded, &e), 0);
	assert_non_null(strstr(folded.s, "jbd2-commit-wait;jbd2/loop1-8, transaction 812;jbd2-thread;ordered-data;dd (pid 311)"));
	for (const char *q = folded.s; *q; q++)
		assert_true((unsigned char)*q >= 32 || *q == '\n');
	assert_int_equal(analyze_explain(r, &c, &p, &e), 0);
	assert_string_equal(page_child(page_find(p, "stalls")->kids[0], "leaf")->v.text, "ordered-data");
	page_free(p);
	c.stall = 9;
	assert_int_equal(analyze_explain(r, &c, &p, &e), -2);
	assert_non_null(strstr(e.msg, "there is no stall 9"));
	rec_close(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_commit_is_followed_to_the_dirtier),
		cmocka_unit_test(a_silent_disk_is_nobodys_fault),
		cmocka_unit_test(a_read_behind_a_writer),
		cmocka_unit_test(ones_own_data_is_ones_own),
		cmocka_unit_test(a_flush_and_a_lock_and_a_stop),
		cmocka_unit_test(a_cycle_of_locks_ends),
		cmocka_unit_test(laws_hold_for_random_traces),
		cmocka_unit_test(a_number_used_twice_is_said),
		cmocka_unit_test(sampled_stacks_explain_roughly_and_say_so),
		cmocka_unit_test(ten_thousand_tasks_and_what_was_lost),
		cmocka_unit_test(outputs_are_well_formed_also_with_hostile_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

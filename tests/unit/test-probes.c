/* SPDX-License-Identifier: MIT */
/* Each probe: its table is complete, its script has the right shape, and it runs once for real and leaves nothing. */
#include "play.h"

#include "base/cleanup.h"
#include "probe/probe.h"

#include <errno.h>


struct rig {
	struct play p;
	const struct probe_ops *probe;
	void *conf, *st;
	struct actor actor;
	struct action result;
	bool preparing;
	struct perform_ops watched;	/* posix, and writes down what it was asked: "open read*2 (dontneed)" */
	char tape[4096];
	char last[64];
	int times;
	bool timed, after;		/* where in the action we are: what lies outside may only be at its ends */
};

static struct rig *watching;

static void tape_flush(struct rig *r)
{
	size_t n = strlen(r->tape);

	if (r->times > 1)
		snprintf(r->tape + n, sizeof(r->tape) - n, "*%d", r->times);
	r->times = 0;
	r->last[0] = 0;
}

static void watched_perform(void *st, const struct op *op, struct op_result *ret)
{
	struct rig *r = watching;
	bool out = op->step == OP_OUTSIDE;
	char word[64];

	perform_posix.perform(st, op, ret);
	snprintf(word, sizeof(word), "%s%s%s", out ? "(" : "", op_name(op->kind), out ? ")" : "");
	if (strcmp(word, r->last)) {
		size_t n;

		tape_flush(r);
		n = strlen(r->tape);
		snprintf(r->tape + n, sizeof(r->tape) - n, "%s%s", n ? " " : "", word);
		snprintf(r->last, sizeof(r->last), "%s", word);
	}
	r->times++;
	if (r->preparing)
		return;
	assert_true(out || r->probe->steps[op->step] != NULL);
	assert_false(!out && r->after);
	r->timed |= !out;
	r->after |= out && r->timed;
}

static int rig_script(void *ctx, struct op *ops, int max)
{
	struct rig *r = ctx;
	int n;

	if (!op_goes_on(ops))
		r->timed = r->after = false;
	if (r->preparing)
		n = r->probe->prepare ? r->probe->prepare(r->st, r->conf, &r->p.rng, ops, max) : 0;
	else
		n = r->probe->script(r->st, r->conf, &r->p.rng, ops, max);
	assert_in_range(n, r->preparing ? 0 : 1, max);
	return n;
}

/* settings: "key", "value", ..., NULL */
static void rig_open(struct rig *r, const char *name, const char *parent, const char *const *settings)
{
	struct err e = { 0 };

	memset(r, 0, sizeof(*r));
	watching = r;
	r->probe = plug_find(probe_table, name);
	assert_non_null(r->probe);
	r->conf = mem_alloc(r->probe->plug.conf_size);
	r->st = mem_alloc(r->probe->plug.state_size);
	param_defaults(r->probe->plug.params, r->conf);
	if (!settings && r->probe->scale)
		r->probe->scale(r->conf, 0.001);
	for (; settings && settings[0]; settings += 2)
		assert_int_equal(param_set(r->probe->plug.params, r->conf, name, settings[0], settings[1], &e), 0);
	play_open(&r->p, parent, NULL);
	r->watched = perform_posix;
	r->watched.perform = watched_perform;
	r->actor = (struct actor){ .perform = &r->watched, .st = r->p.st, .script = rig_script, .ctx = r,
				    .wants_proof = true };
	r->preparing = true;
	action_prepare(&r->actor, &r->result, NULL);
	if (r->result.error)
		print_message("%s: %s of '%s': %s\n", name, op_name(r->result.failed.kind), r->result.failed.path,
			      strerror(-r->result.error));
	assert_int_equal(r->result.error, 0);
	r->preparing = false;
}

static void rig_close(struct rig *r)
{
	play_close(&r->p);
	param_done(r->probe->plug.params, r->conf);
	free(r->conf);
	free(r->st);
}

static struct action *rig_run(struct rig *r)
{
	r->tape[0] = r->last[0] = 0;
	r->times = 0;
	action_run(&r->actor, &r->result);
	if (r->result.error)
		print_message("%s: %s of '%s': %s\n", r->probe->plug.name, op_name(r->result.failed.kind),
			      r->result.failed.path, strerror(-r->result.error));
	assert_int_equal(r->result.error, 0);
	tape_flush(r);
	return &r->result;
}

static void every_probe_says_what_it_is(void **state)
{
	for (const void *const *t = probe_table; *t; t++) {
		const struct probe_ops *o = *t;
		int n = 0;

		assert_non_null(o->plug.name);
		assert_non_null(o->plug.about);
		assert_non_null(o->measures);
		assert_true(strlen(o->plug.about) <= 78);
		assert_true(o->limit > 0);
		assert_true(o->loop == LOOP_CLOSED || o->interval > 0);
		assert_non_null(o->steps);
		while (o->steps[n])
			n++;
		assert_in_range(n, 1, ACTION_STEPS);
		assert_true(o->script || o->once);
		assert_true(!(o->script && o->once) == !o->by_once);
		if (o->once)
			assert_non_null(o->why_no_sim);
		for (const struct param *p = o->plug.params; p && p->name; p++) {
			assert_non_null(p->help);
			assert_true(p->offset < o->plug.conf_size);
			assert_string_not_equal(p->name, "rate");	/* the run's own keys */
			assert_string_not_equal(p->name, "pause");
			assert_string_not_equal(p->name, "limit");
			assert_string_not_equal(p->name, "dir");
		}
	}
}

static void fsync_rewrites_its_file_and_syncs_it(void **state)
{
	static const char *const append[] = { "mode", "append", "size", "64k", "wrap", "128k", NULL };
	struct action *a;
	struct stat sb;
	struct rig r;

	rig_open(&r, "fsync", "/var/tmp", NULL);
	for (int i = 0; i < 3; i++) {
		a = rig_run(&r);
		assert_int_equal(a->bytes_written, 1 << 20);
		assert_int_equal(a->nsteps, 2);
		assert_true(a->step[0] > 0 && a->step[1] > 0);
	}
	assert_string_equal(r.tape, "write fsync");
	assert_int_equal(fstatat(r.p.dirfd, "fsync-tester", &sb, 0), 0);
	assert_int_equal(sb.st_size, 1 << 20);
	rig_close(&r);

	rig_open(&r, "fsync", "/dev/shm", append);
	for (int i = 1; i <= 5; i++) {
		rig_run(&r);
		assert_int_equal(fstatat(r.p.dirfd, "fsync-tester", &sb, 0), 0);
		assert_int_equal(sb.st_size, ((i - 1) % 2 + 1) << 16);
	}
	rig_close(&r);
}


/* name, settings, what the first and the second action must be, bytes of one action, cold on a disk */
static const struct shape {
	const char *name;
	const char *set[9];
	const char *first, *second;
	uint64_t written, read;
	int steps;
	bool cold;
} shapes[] = {
	{ "tick", { 0 }, "none", "none", 0, 0, 1, false },
	{ "keystroke", { 0 }, "write read", "write read", 100, 4096, 2, false },
	{ "cold-read", { "files", "20" }, "open read*2 (dontneed) (resident) (close)",
	  "open read*2 (dontneed) (resident) (close)", 0, 253560, 2, true },
	{ "editor-open", { "files", "5" },
	  "open*2 write read*4 write fsync close unlink (dontneed) (resident) (close)",
	  "open*2 write read*4 write fsync close unlink (dontneed) (resident) (close)", 16384, 253560, 6, true },
	{ "editor-save", { 0 }, "write fsync rename open write*8 fsync close unlink",
	  "write fsync rename open write*8 fsync close unlink", 69632, 0, 5, false },
	{ "editor-save", { "style", "replace" }, "write fsync open write*8 fsync close rename",
	  "write fsync open write*8 fsync close rename", 69632, 0, 5, false },
	{ "fsync", { "sync", "fdatasync" }, "write fdatasync", "write fdatasync", 1 << 20, 0, 2, false },
	{ "small-create", { "files", "2", "sync", "no" }, "open write*16 fsync close",
	  "open write*16 fsync close (unlink)*2", 65536, 0, 4, false },
	{ "small-create", { "files", "1", "size", "1M" }, "open write*256 fsync close (unlink) (sync)",
	  "open write*256 fsync close (unlink) (sync)", 1 << 20, 0, 4, false },
	{ "wal", { 0 }, "write fdatasync", "write fdatasync", 2300, 0, 2, false },
	{ "wal", { "segment", "4k" }, "write fdatasync", "(close) (open) (fallocate) (fsync) write fdatasync", 2300, 0, 2, false },
	{ "wal", { "layout", "postgres", "segment", "8k" }, "write fdatasync", "(close) (open) write fdatasync", 8192, 0, 2, false },
	{ "wal", { "layout", "append" }, "write fdatasync", "write fdatasync", 4096, 0, 2, false },
	{ "tree-read", { "files", "26", "size", "32k" },
	  "readdir open read close open read close open read close open read*2 close open read close open read close "
	  "open read close open read close open read close open read close open read close open read*2 close open read close "
	  "open read close open read close open read close open read close open read close open read close open read*2 "
	  "close open read close open read close open read close open read close open read close readdir open read close "
	  "(open) (dontneed) (resident) (close)", NULL, 0, 26 * 32768 / 8 * 8 - 26 % 8 * 32768 + 4096 + 32768, 4, true },
	{ "tree-stat", { "files", "100", "per_dir", "50" }, "readdir stat*50 readdir stat*50",
	  "readdir stat*50 readdir stat*50", 0, 0, 2, false },
	{ "metadata", { 0 }, "mkdir open close rename unlink rmdir", "mkdir open close rename unlink rmdir", 0, 0, 5, false },
	{ "mmap-fault", { "file", "1M" }, "(dontneed) (resident) (mmap) touch (munmap)",
	  "(dontneed) (resident) (mmap) touch (munmap)", 0, 4096, 1, true },
	{ "direct-read", { "file", "1M" }, "read", "read", 0, 4096, 1, true },
};

static uint64_t on_disk(int dirfd, const char *name);

/* All probes that have a script, also those added later: smallest size, a few actions, the rules of probe.h. */
static void every_script_keeps_the_rules(void **state)
{
	for (const void *const *t = probe_table; *t; t++) {
		const struct probe_ops *o = *t;
		struct rig r;

		if (!o->script)
			continue;
		rig_open(&r, o->plug.name, "/dev/shm", NULL);
		for (int i = 0; i < 3; i++) {
			struct action *a = rig_run(&r);

			assert_true(r.timed);
			assert_true(a->end >= a->start && a->nsteps >= 1);
			assert_true(!a->bytes_written == !o->writes);
		}
		if (o->space)
			assert_true(on_disk(r.p.dirfd, ".") <= o->space(r.conf));
		rig_close(&r);
	}
}

static uint64_t on_disk(int dirfd, const char *name)
{
	int fd = openat(dirfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *de;
	struct stat sb;
	uint64_t n = 0;

	while (d && (de = readdir(d))) {
		if (!strcmp(de->d_name, ".") || !strcmp(de->d_name, "..") || fstatat(fd, de->d_name, &sb, AT_SYMLINK_NOFOLLOW))
			continue;
		n += S_ISDIR(sb.st_mode) ? on_disk(fd, de->d_name) : (uint64_t)sb.st_size;
	}
	if (d)
		closedir(d);
	return n;
}

static void expect_tape(const struct rig *r, const char *want)
{
	const char *drop = want ? strstr(want, "(open) (dontneed)") : NULL;

	if (drop && strlen(want) == (size_t)(drop - want) + strlen("(open) (dontneed) (resident) (close)"))
		assert_memory_equal(r->tape, want, drop - want);	/* the drop repeats for each file */
	else if (want)
		assert_string_equal(r->tape, want);
}

static void each_script_is_what_its_top_says(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(shapes); i++) {
		const struct shape *s = &shapes[i];

		for (int parent = 0; parent < 2; parent++) {
			struct action *a;
			uint64_t most;
			struct rig r;

			rig_open(&r, s->name, play_parents[parent], s->set[0] ? s->set : NULL);
			a = rig_run(&r);
			expect_tape(&r, s->first);
			rig_run(&r);
			expect_tape(&r, s->second);
			assert_int_equal(a->bytes_written, s->written);
			assert_int_equal(a->bytes_read, s->read);
			assert_int_equal(a->nsteps, s->steps);
			for (int k = 0; k < s->steps; k++)
				assert_true(a->step[k] > 0);
			if (s->cold && parent == 0)	/* tmpfs has nowhere else to keep it: never said to be cold */
				assert_int_not_equal(op_proof_says(&a->proof, a->bytes_read),
						     strcmp(s->name, "direct-read") ? PROOF_COLD : PROOF_WARM);
			if (s->cold && parent == 1 && !getenv("STALLMARK_VAR_TMP_IS_MEMORY"))
				assert_int_equal(op_proof_says(&a->proof, a->bytes_read), PROOF_COLD);
			most = on_disk(r.p.dirfd, ".");
			if (r.probe->space)
				assert_true(most <= r.probe->space(r.conf));
			if (s->written)
				assert_int_equal(r.probe->writes(r.conf), s->written);
			rig_close(&r);
		}
	}
}

/* After a failure in the middle the next action begins at its beginning and is whole. */
static void an_action_after_a_broken_one_is_whole(void **state)
{
	static const char *const small[] = { "files", "200", NULL };
	static const char *const create[] = { "files", "3", "sync", "no", NULL };
	volatile int stop;
	struct rig r;
	uint64_t whole;

	rig_open(&r, "tree-read", "/dev/shm", small);
	whole = rig_run(&r)->bytes_read;
	r.actor.stop = &stop;
	stop = 1;
	assert_int_equal(action_run(&r.actor, &r.result), -EINTR);
	assert_int_equal(unlinkat(r.p.dirfd, "tree/d3/f80", 0), 0);
	stop = 0;
	assert_int_equal(action_run(&r.actor, &r.result), -ENOENT);
	assert_true(r.result.bytes_read < whole);
	close(openat(r.p.dirfd, "tree/d3/f80", O_WRONLY | O_CREAT, 0600));
	assert_true(rig_run(&r)->bytes_read > whole - 300000);
	rig_close(&r);

	rig_open(&r, "small-create", "/dev/shm", create);
	rig_run(&r);
	rig_run(&r);
	r.actor.stop = &stop;
	assert_int_equal(action_before(&r.actor, &r.result), 0);
	assert_int_equal(action_perform(&r.actor, &r.result), 0);
	stop = 1;
	assert_int_equal(action_after(&r.actor, &r.result), -EINTR);
	stop = 0;
	assert_int_equal(rig_run(&r)->bytes_written, 65536);
	assert_string_equal(r.tape, "open write*16 fsync close");
	rig_close(&r);
}

static void app_start_maps_faults_reads_and_syncs(void **state)
{
	static const char *const small[] = { "mapped", "3M", NULL };

	for (int parent = 0; parent < 2; parent++) {
		struct action *a;
		struct rig r;

		rig_open(&r, "app-start", play_parents[parent], small);
		for (int i = 0; i < 2; i++) {
			a = rig_run(&r);
			assert_int_equal(strncmp(r.tape, "open mmap open mmap", 19), 0);
			assert_non_null(strstr(r.tape, "touch*48 open read close"));
			assert_non_null(strstr(r.tape, "open write fsync close open write fsync close open write fsync close (munmap)"));
			assert_int_equal(a->nsteps, 5);
			assert_int_equal(a->bytes_written, 3 * 4096);
			assert_true(a->bytes_read > 3 << 20);
			if (parent)
				assert_int_equal(op_proof_says(&a->proof, a->bytes_read), PROOF_COLD);
		}
		assert_true(on_disk(r.p.dirfd, ".") <= r.probe->space(r.conf));
		rig_close(&r);
	}
}

struct stepped {
	int at[16], n;
};

static void note_step(void *ctx, int i)
{
	struct stepped *s = ctx;

	if (s->n < 16)
		s->at[s->n++] = i;
}

static void app_start_runs_a_real_command(void **state)
{
	static const struct { const char *command; int r; const char *says; } cases[] = {
		{ "true", 0, NULL },
		{ "sh -c 'exit 3'", -EIO, "exit code 3" },
		{ "sh -c 'kill -9 $$'", -EIO, "signal 9" },
		{ "no-such-program-here", -ENOENT, "there is no program" },
		{ "true 'open", -EINVAL, "not closed" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const char *set[] = { "command", cases[i].command, "files", "/no/such/lib", NULL };
		volatile int stop = 0;
		struct stepped s = { .n = 0 };
		struct err e = { 0 };
		struct probe_once once;
		struct rig r;
		int got;

		rig_open(&r, "app-start", "/dev/shm", set);
		once = (struct probe_once){ .dirfd = r.p.dirfd, .dir = r.p.dir, .rng = &r.p.rng, .stop = &stop,
					    .step = note_step, .ctx = &s };
		assert_true(probe_by_once(r.probe, r.conf));
		got = r.probe->open(r.st, r.conf, &once, &e);
		if (!got) {
			got = r.probe->once(r.st, r.conf, &once, &e);
			assert_int_equal(s.n, 2);
			assert_int_equal(s.at[1], -1);
		}
		assert_int_equal(got, cases[i].r);
		if (cases[i].says)
			assert_non_null(strstr(e.msg, cases[i].says));
		r.probe->close(r.st);
		rig_close(&r);
	}
}

static void a_command_that_does_not_end_is_stopped_with_its_group(void **state)
{
	const char *set[] = { "command", "sh -c 'sleep 97.25 & sleep 97.25'", NULL };
	volatile int stop = 1;
	struct stepped s = { .n = 0 };
	struct err e = { 0 };
	struct probe_once once;
	struct rig r;
	nsec_t t = nsec_now();

	rig_open(&r, "app-start", "/dev/shm", set);
	once = (struct probe_once){ .dirfd = r.p.dirfd, .dir = r.p.dir, .rng = &r.p.rng, .stop = &stop, .step = note_step, .ctx = &s };
	assert_int_equal(r.probe->open(r.st, r.conf, &once, &e), 0);
	assert_int_equal(r.probe->once(r.st, r.conf, &once, &e), -EINTR);
	assert_true(nsec_now() - t < 10 * NSEC_PER_SEC);
	r.probe->close(r.st);
	rig_close(&r);
}

static void sqlite_commits_in_both_journal_modes(void **state)
{
	static const char *const modes[] = { "delete", "wal" };

	for (int i = 0; i < 2; i++) {
		const char *set[] = { "journal", modes[i], "keep", "50", NULL };
		volatile int stop = 0;
		struct stepped s = { .n = 0 };
		struct err e = { 0 };
		struct probe_once once;
		struct rig r;

		rig_open(&r, "sqlite", "/var/tmp", set);
		once = (struct probe_once){ .dirfd = r.p.dirfd, .dir = r.p.dir, .rng = &r.p.rng, .stop = &stop,
					    .step = note_step, .ctx = &s };
		assert_int_equal(r.probe->open(r.st, r.conf, &once, &e), 0);
		for (int k = 0; k < 20; k++)
			assert_int_equal(r.probe->once(r.st, r.conf, &once, &e), 0);
		assert_int_equal(s.at[0], 0);
		assert_int_equal(s.at[1], 1);
		assert_int_equal(s.at[2], 2);
		assert_int_equal(s.at[3], -1);
		assert_true(once.bytes > 0);
		assert_int_equal(faccessat(r.p.dirfd, "test.sqlite-wal", F_OK, 0), i ? 0 : -1);
		assert_true(on_disk(r.p.dirfd, ".") <= r.probe->space(r.conf));
		r.probe->close(r.st);
		rig_close(&r);
	}
}

static void probes_shrink_when_scaled(void **state)
{
	for (const void *const *t = probe_table; *t; t++) {
		const struct probe_ops *o = *t;
		void *conf = mem_alloc(o->plug.conf_size);
		uint64_t before;

		param_defaults(o->plug.params, conf);
		if (o->scale) {
			before = o->space(conf);
			o->scale(conf, 1.0);
			assert_true(o->space(conf) <= before && o->space(conf) >= before - before / 50);
			o->scale(conf, 0.25);
			assert_true(o->space(conf) <= before / 2);
			o->scale(conf, 1e-9);
			assert_true(o->space(conf) > 0);
		}
		param_done(o->plug.params, conf);
		free(conf);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_probe_says_what_it_is),
		cmocka_unit_test(fsync_rewrites_its_file_and_syncs_it),
		cmocka_unit_test(every_script_keeps_the_rules),
		cmocka_unit_test(each_script_is_what_its_top_says),
		cmocka_unit_test(an_action_after_a_broken_one_is_whole),
		cmocka_unit_test(app_start_maps_faults_reads_and_syncs),
		cmocka_unit_test(app_start_runs_a_real_command),
		cmocka_unit_test(a_command_that_does_not_end_is_stopped_with_its_group),
		cmocka_unit_test(sqlite_commits_in_both_journal_modes),
		cmocka_unit_test(probes_shrink_when_scaled),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* Each load: its table is complete, it stays within the space it declared, ends when told, and shrinks when scaled. */
#include "play.h"

#include "base/cleanup.h"
#include "load/load.h"

#include <errno.h>
#include <signal.h>

struct rig {
	struct play p;
	const struct load_ops *load;
	void *conf;
	void **st, **perform;	/* one a worker */
	unsigned workers;
	uint64_t written, read, units, most;	/* most: bytes on disk at any time */
};

static void rig_open(struct rig *r, const char *name, const char *parent, const char *const *settings)
{
	struct err e = { 0 };

	memset(r, 0, sizeof(*r));
	r->load = plug_find(load_table, name);
	assert_non_null(r->load);
	r->conf = mem_alloc(r->load->plug.conf_size);
	param_defaults(r->load->plug.params, r->conf);
	for (; settings && settings[0]; settings += 2)
		assert_int_equal(param_set(r->load->plug.params, r->conf, name, settings[0], settings[1], &e), 0);
	r->workers = r->load->workers ? r->load->workers(r->conf) : 1;
	r->st = mem_array(r->workers, sizeof(*r->st));
	r->perform = mem_array(r->workers, sizeof(*r->perform));
	play_open(&r->p, parent, NULL);
	for (unsigned i = 0; i < r->workers; i++) {
		r->st[i] = mem_alloc(r->load->plug.state_size);
		r->perform[i] = mem_alloc(perform_posix.plug.state_size);
		assert_int_equal(perform_posix.open(r->perform[i], &(struct perform_conf){ .dirfd = r->p.dirfd, .seed = i }, &e), 0);
	}
}

static void rig_close(struct rig *r)
{
	play_close(&r->p);
	for (unsigned i = 0; i < r->workers; i++) {
		perform_posix.close(r->perform[i]);
		free(r->perform[i]);
		free(r->st[i]);
	}
	free(r->perform);
	free(r->st);
	param_done(r->load->plug.params, r->conf);
	free(r->conf);
}

static uint64_t on_disk(int dirfd, const char *name)
{
	int fd = openat(dirfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *de;
	struct stat sb;
	uint64_t n = 0;

	while (d && (de = readdir(d))) {
		if (!strcmp(de->d_name, ".") || !strcmp(de->d_name, ".."))
			continue;
		if (!fstatat(fd, de->d_name, &sb, AT_SYMLINK_NOFOLLOW))
			n += S_ISDIR(sb.st_mode) ? on_disk(fd, de->d_name) : (uint64_t)sb.st_size;
	}
	if (d)
		closedir(d);
	return n;
}

static void rig_ops(struct rig *r, unsigned worker, const struct op *ops, int n)
{
	for (int i = 0; i < n; i++) {
		struct op_result res;

		perform_posix.perform(r->perform[worker], &ops[i], &res);
		if (res.error)
			print_message("%s '%s': %s\n", op_name(ops[i].kind), ops[i].path, strerror(-res.error));
		assert_int_equal(res.error, 0);
		if (ops[i].kind == OP_WRITE)
			r->written += res.bytes;
		if (ops[i].kind == OP_READ)
			r->read += res.bytes;
		r->units += ops[i].flags & OPF_UNIT ? 1 : 0;
		if (ops[i].kind == OP_WRITE && ops[i].bytes >= 65536)
			r->most = MAX(r->most, on_disk(r->p.dirfd, "."));
	}
	r->most = MAX(r->most, on_disk(r->p.dirfd, "."));
}

static void rig_prepare(struct rig *r)
{
	struct op ops[64];
	int n;

	while (r->load->prepare && (n = r->load->prepare(r->st[0], r->conf, &r->p.rng, ops, 64)) > 0)
		rig_ops(r, 0, ops, n);
	r->written = r->read = 0;
}

/* One worker (they share the performer's slots here) until it made so many units or batches. */
static void rig_work(struct rig *r, unsigned worker, uint64_t units, int batches)
{
	struct op ops[64];

	for (uint64_t until = r->units + units; batches && r->units < until; batches--) {
		int n = r->load->next(r->st[worker], r->conf, (int)worker, &r->p.rng, ops, 64);

		assert_in_range(n, 1, 64);
		rig_ops(r, worker, ops, n);
	}
}

static void every_load_says_what_it_is(void **state)
{
	for (const void *const *t = load_table; *t; t++) {
		const struct load_ops *o = *t;

		assert_non_null(o->plug.name);
		assert_non_null(o->plug.about);
		assert_true(strlen(o->plug.about) <= 78);
		assert_true(o->touches);
		assert_true(o->next || o->step);
		assert_true(!(o->next && o->step) == !o->by_step);
		if (o->next)
			assert_non_null(o->performer);
		if (o->step)
			assert_non_null(o->why_no_sim);
		if (o->touches & LOAD_WRITES && !(o->touches & LOAD_PROGRAM))
			assert_non_null(o->space);
		for (const struct param *p = o->plug.params; p && p->name; p++) {
			assert_non_null(p->help);
			assert_true(p->offset < o->plug.conf_size);
			assert_string_not_equal(p->name, "dir");	/* the run's own key */
		}
	}
}

static void scaling_shrinks_and_keeps_within_space(void **state)
{
	for (const void *const *t = load_table; *t; t++) {
		const struct load_ops *o = *t;
		void *conf = mem_alloc(o->plug.conf_size);
		uint64_t before;

		param_defaults(o->plug.params, conf);
		if (o->scale && o->space) {
			before = o->space(conf);
			o->scale(conf, 1.0);
			assert_true(o->space(conf) <= before);
			assert_true(o->space(conf) >= before - before / 100);
			o->scale(conf, 0.25);
			assert_true(o->space(conf) <= before / 2);
			o->scale(conf, 1e-9);
			assert_true(o->space(conf) > 0);
		}
		param_done(o->plug.params, conf);
		free(conf);
	}
}

static void write_fills_removes_and_repeats(void **state)
{
	static const char *const set[] = { "n", "2", "bs", "64k", "size", "1000k", NULL };
	static const char *const agains[] = { "remove", "truncate", "overwrite" };
	struct err e = { 0 };

	for (int i = 0; i < 3; i++) {
		struct rig r;

		rig_open(&r, "write", "/dev/shm", set);
		assert_int_equal(param_set(r.load->plug.params, r.conf, "write", "again", agains[i], &e), 0);
		assert_int_equal(r.workers, 2);
		rig_work(&r, 0, 3, 1000);
		assert_int_equal(r.written, 3 * 1000 * 1024);
		assert_int_equal(on_disk(r.p.dirfd, "."), i ? 1000 * 1024 : 0);
		rig_work(&r, 1, 3, 1000);
		assert_true(r.most > 0 && r.most <= r.load->space(r.conf));
		rig_close(&r);
	}
}


/* name, settings, units to make, bytes written and read by them at least, and on disk afterwards at least */
static const struct shape {
	const char *name;
	const char *set[13];
	uint64_t units, written, read;
} shapes[] = {
	{ "overwrite", { "piece", "64k", "size", "1M" }, 3, 3 << 20, 0 },
	{ "overwrite", { "piece", "64k", "size", "1M", "sync_file_range", "yes" }, 2, 2 << 20, 0 },
	{ "overwrite", { "piece", "64k", "size", "1000k", "place", "in-place" }, 2, 2000 << 10, 0 },
	{ "read", { "size", "1M", "n", "2" }, 3, 0, 3 << 20 },
	{ "read", { "size", "1M", "direct", "yes", "bs", "4k" }, 2, 0, 2 << 20 },
	{ "copy", { "size", "1000k", "bs", "64k" }, 2, 2000 << 10, 2000 << 10 },
	{ "copy", { "size", "1000k", "fsync", "yes" }, 1, 1000 << 10, 1000 << 10 },
	{ "random-write", { "size", "1M", "burst", "256k", "pause", "1ms" }, 3, 768 << 10, 0 },
	{ "random-write", { "size", "1M", "burst", "256k", "direct", "yes" }, 1, 256 << 10, 0 },
	{ "small-files", { "files", "20" }, 45, 45 * 16384, 0 },
	{ "small-files", { "files", "20", "fsync", "yes", "size", "0" }, 45, 0, 0 },
	{ "unpack", { "files", "60", "size", "8k" }, 130, 120 * 8192 * 9 / 10, 120 * 8192 * 9 / 10 },
	{ "unpack", { "files", "60", "size", "8k", "style", "dpkg", "n", "2" }, 130, 120 * 8192 * 9 / 10, 120 * 8192 * 9 / 10 },
	{ "compile", { "jobs", "1", "sources", "16", "size", "4k", "headers", "40", "cpu", "1ms" }, 2,
	  2 * 16 * 4096 * 7, 2 * 16 * 4096 * 5 },
};

static void each_load_does_its_work_within_its_space(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(shapes); i++) {
		const struct shape *s = &shapes[i];

		for (int parent = 0; parent < 2; parent++) {
			struct rig r;

			rig_open(&r, s->name, play_parents[parent], s->set);
			rig_prepare(&r);
			for (unsigned w = 0; w < r.workers; w++)
				rig_work(&r, w, s->units, 5000);
			assert_true(r.units >= s->units * r.workers);
			assert_true(r.written >= s->written * r.workers);
			assert_true(r.read >= s->read * r.workers);
			if (r.most > r.load->space(r.conf))
				print_message("%s: %llu on disk, %llu declared\n", s->name, (unsigned long long)r.most,
					      (unsigned long long)r.load->space(r.conf));
			assert_true(r.most <= r.load->space(r.conf));
			rig_close(&r);
		}
	}
}

/* Four jobs take turns; the linked program holds what they made, and cleaning leaves the sources only. */
static void compile_jobs_share_the_sources(void **state)
{
	static const char *const set[] = { "jobs", "4", "sources", "30", "size", "4k", "headers", "40", "cpu", "0", NULL };
	uint64_t before;
	struct rig r;

	rig_open(&r, "compile", "/dev/shm", set);
	assert_int_equal(r.workers, 4);
	rig_prepare(&r);
	before = on_disk(r.p.dirfd, ".");
	for (int turn = 0; turn < 60; turn++)
		for (unsigned w = 0; w < 4; w++)
			rig_work(&r, w, UINT64_MAX / 2, 1);
	assert_true(r.units >= 1);
	assert_true(on_disk(r.p.dirfd, ".") > before);
	rig_close(&r);
}

struct stepping {
	struct load_tally tally;
	volatile int stop;
};

/* Runs a step load for so long and until `units` were counted, or it ended; the stop comes from a signal handler, as in a real worker. */
static struct stepping *stepped;
static uint64_t wanted;
static nsec_t given_up;

static void on_alarm(int sig)
{
	if (stepped->tally.units >= wanted || nsec_now() > given_up)
		stepped->stop = 1;
	else
		ualarm(50000, 0);	/* a busy machine takes longer */
}

static int run_step(const char *name, const char *const *set, unsigned stop_after_ms, uint64_t units, struct stepping *s,
		    struct err *e)
{
	struct load_step step;
	struct rig r;
	int got;

	*s = (struct stepping){ 0 };
	stepped = s;
	wanted = units;
	given_up = nsec_now() + 60 * NSEC_PER_SEC;
	rig_open(&r, name, "/var/tmp", set);
	step = (struct load_step){ .dirfd = r.p.dirfd, .dir = r.p.dir, .rng = &r.p.rng, .stop = &s->stop, .tally = &s->tally };
	assert_true(load_by_step(r.load, r.conf));
	signal(SIGALRM, on_alarm);
	ualarm(stop_after_ms * 1000, 0);
	got = r.load->step(r.st[0], r.conf, &step, e);
	ualarm(0, 0);
	rig_close(&r);
	return got;
}

static void commands_run_in_their_directory_over_and_over(void **state)
{
	static const char *const ok[] = { "command", "sh -c 'head -c 100000 /dev/urandom > a' ; cp a 'b c' ; rm a \"b c\"", NULL };
	static const char *const bad[] = { "command", "true ; sh -c 'echo nothing works >&2; exit 7'", NULL };
	static const char *const once[] = { "command", "true", "again", "no", NULL };
	static const char *const none[] = { "again", "no", NULL };
	static const char *const missing[] = { "command", "no-such-program-here", NULL };
	static const char *const endless[] = { "command", "sh -c 'sleep 98.25 & sleep 98.25'", NULL };
	struct err e = { 0 };
	struct stepping s;
	nsec_t t;

	assert_int_equal(run_step("command", ok, 900, 2, &s, &e), 0);
	assert_true(s.stop);
	assert_true(s.tally.units >= 2);
	assert_true(s.tally.bytes_written >= s.tally.units * 200000);
	assert_int_equal(run_step("command", bad, 900, 0, &s, &e), -EIO);
	assert_string_equal(e.msg, "'sh' failed with exit code 7: nothing works");
	assert_int_equal(run_step("command", once, 900, 1, &s, &e), 0);
	assert_int_equal(s.tally.units, 1);
	assert_int_equal(run_step("command", none, 900, 0, &s, &e), -EINVAL);
	assert_int_equal(run_step("command", missing, 900, 0, &s, &e), -ENOENT);
	t = nsec_now();
	assert_int_equal(run_step("command", endless, 200, 0, &s, &e), 0);
	assert_true(nsec_now() - t < 10 * NSEC_PER_SEC);
}

static void a_real_tree_is_built_where_it_is(void **state)
{
	char dir[] = "/var/tmp/stallmark-tree.XXXXXX", made[64];
	const char *set[] = { "tree", dir, "command", "cp /bin/true made ; rm made ; touch built", NULL };
	struct err e = { 0 };
	struct stepping s;

	assert_non_null(mkdtemp(dir));
	assert_int_equal(run_step("compile", set, 500, 1, &s, &e), 0);
	assert_true(s.tally.units >= 1);
	snprintf(made, sizeof(made), "%s/built", dir);
	assert_int_equal(unlink(made), 0);
	snprintf(made, sizeof(made), "%s/made", dir);
	unlink(made);
	assert_int_equal(rmdir(dir), 0);
}

static void memory_grows_at_its_rate_and_stops(void **state)
{
	static const char *const set[] = { "share", "1%", "rate", "64M", NULL };
	struct err e = { 0 };
	struct stepping s;
	nsec_t t = nsec_now();

	assert_int_equal(run_step("memory", set, 500, 4, &s, &e), 0);
	t = nsec_now() - t;
	assert_true(t < 60 * NSEC_PER_SEC);
	assert_in_range(s.tally.units, 4, 8 + 64 * t / NSEC_PER_SEC);	/* MiB; 64 a second, never faster */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_load_says_what_it_is),
		cmocka_unit_test(scaling_shrinks_and_keeps_within_space),
		cmocka_unit_test(write_fills_removes_and_repeats),
		cmocka_unit_test(each_load_does_its_work_within_its_space),
		cmocka_unit_test(compile_jobs_share_the_sources),
		cmocka_unit_test(commands_run_in_their_directory_over_and_over),
		cmocka_unit_test(a_real_tree_is_built_where_it_is),
		cmocka_unit_test(memory_grows_at_its_rate_and_stops),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

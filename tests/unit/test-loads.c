/* SPDX-License-Identifier: MIT */
/* Each load: its table is complete, it stays within the space it declared, ends when told, and shrinks when scaled. */
#include "play.h"

#include "base/cleanup.h"
#include "load/load.h"

#include <errno.h>

struct rig {
	struct play p;
	const struct load_ops *load;
	void *conf;
	void **st;		/* one a worker */
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
	for (unsigned i = 0; i < r->workers; i++)
		r->st[i] = mem_alloc(r->load->plug.state_size);
	play_open(&r->p, parent, NULL);
}

static void rig_close(struct rig *r)
{
	play_close(&r->p);
	for (unsigned i = 0; i < r->workers; i++)
		free(r->st[i]);
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

static void rig_ops(struct rig *r, const struct op *ops, int n)
{
	for (int i = 0; i < n; i++) {
		struct op_result res = play_op(&r->p, ops[i]);

		if (res.error)
			print_message("%s '%s': %s\n", op_name(ops[i].kind), ops[i].path, strerror(-res.error));
		assert_int_equal(res.error, 0);
		if (ops[i].kind == OP_WRITE)
			r->written += res.bytes;
		if (ops[i].kind == OP_READ)
			r->read += res.bytes;
		r->units += ops[i].flags & OPF_UNIT ? 1 : 0;
		if (ops[i].kind == OP_CLOSE || ops[i].kind == OP_UNLINK)
			r->most = MAX(r->most, on_disk(r->p.dirfd, "."));
	}
}

__attribute__((unused)) static void rig_prepare(struct rig *r)
{
	struct op ops[64];
	int n;

	while (r->load->prepare && (n = r->load->prepare(r->st[0], r->conf, &r->p.rng, ops, 64)) > 0)
		rig_ops(r, ops, n);
	r->written = r->read = 0;
}

/* One worker (they share the performer's slots here) until it made so many units or batches. */
static void rig_work(struct rig *r, unsigned worker, uint64_t units, int batches)
{
	struct op ops[64];

	for (uint64_t until = r->units + units; batches && r->units < until; batches--) {
		int n = r->load->next(r->st[worker], r->conf, (int)worker, &r->p.rng, ops, 64);

		assert_in_range(n, 1, 64);
		rig_ops(r, ops, n);
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
		assert_true(!o->next != !o->step);
		if (o->next)
			assert_non_null(o->performer);
		else
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
		assert_int_equal(r.most, 1000 * 1024);
		assert_int_equal(on_disk(r.p.dirfd, "."), i ? 1000 * 1024 : 0);
		rig_work(&r, 1, 3, 1000);
		assert_true(r.most <= r.load->space(r.conf));
		rig_close(&r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_load_says_what_it_is),
		cmocka_unit_test(scaling_shrinks_and_keeps_within_space),
		cmocka_unit_test(write_fills_removes_and_repeats),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

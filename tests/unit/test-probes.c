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
};

static int rig_script(void *ctx, struct op *ops, int max)
{
	struct rig *r = ctx;

	if (r->preparing)
		return r->probe->prepare ? r->probe->prepare(r->st, r->conf, &r->p.rng, ops, max) : 0;
	return r->probe->script(r->st, r->conf, &r->p.rng, ops, max);
}

/* settings: "key", "value", ..., NULL */
static void rig_open(struct rig *r, const char *name, const char *parent, const char *const *settings)
{
	struct err e = { 0 };

	memset(r, 0, sizeof(*r));
	r->probe = plug_find(probe_table, name);
	assert_non_null(r->probe);
	r->conf = mem_alloc(r->probe->plug.conf_size);
	r->st = mem_alloc(r->probe->plug.state_size);
	param_defaults(r->probe->plug.params, r->conf);
	for (; settings && settings[0]; settings += 2)
		assert_int_equal(param_set(r->probe->plug.params, r->conf, name, settings[0], settings[1], &e), 0);
	play_open(&r->p, parent, NULL);
	r->actor = (struct actor){ .perform = &perform_posix, .st = r->p.st, .script = rig_script, .ctx = r };
	r->preparing = true;
	assert_int_equal(action_prepare(&r->actor, &r->result, NULL), 0);
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
	assert_int_equal(action_run(&r->actor, &r->result), 0);
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
		assert_true(!o->script != !o->once);	/* one of the two */
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
	assert_int_equal(r.actor.ops[0].kind, OP_WRITE);
	assert_int_equal(r.actor.ops[1].kind, OP_FSYNC);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_probe_says_what_it_is),
		cmocka_unit_test(fsync_rewrites_its_file_and_syncs_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
#include "run/run.h"
#include "base/cleanup.h"
#include "base/mem.h"
#include "run/conduct.h"
#include "sys/environ.h"
#include "sys/kfile.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PREPARE_MAX	(30 * 60 * NSEC_PER_SEC)
#define STOP_GRACE	(10 * NSEC_PER_SEC)	/* a load ends after its current operation */
#define STOP_LAST	(20 * NSEC_PER_SEC)	/* killed, but perhaps in D state */

static int make_rings(struct conductor *c, struct err *e)
{
	const struct plan *p = c->plan;
	int r = 0;

	c->rings = mem_array(p->probes.n + 1, sizeof(*c->rings));
	c->ring_paths = mem_array(p->probes.n + 1, sizeof(*c->ring_paths));
	for (size_t i = 0; i < p->probes.n && !r; i++) {
		c->ring_paths[i] = mem_printf("%s/run-%d-%d-%zu.ring", c->conf->record_dir, (int)getpid(), c->res->run, i);
		unlink(c->ring_paths[i]);
		r = ring_create(c->ring_paths[i], p->probes.p[i].name, &c->rings[i], e);
		if (r)
			break;
		c->rings[i]->limit = p->probes.p[i].limit;
		c->rings[i]->interval = p->probes.p[i].ops->loop == LOOP_OPEN ? p->probes.p[i].interval : 0;
	}
	return r;
}

static void drop_rings(struct conductor *c)
{
	for (size_t i = 0; c->rings && i < c->plan->probes.n; i++) {
		ring_close(c->rings[i]);
		if (c->ring_paths[i])
			unlink(c->ring_paths[i]);
		free(c->ring_paths[i]);
	}
	free(c->rings);
	free(c->ring_paths);
	c->rings = NULL;
}

static int put_fact(void *ctx, const char *key, const char *value, bool counts)
{
	struct conductor *c = ctx;

	return rec_env(c->conf->rec, c->res->run, key, value, counts, NULL);
}

static int environment(struct conductor *c, struct err *e)
{
	const struct plan *p = c->plan;
	const char **dirs = mem_array(p->dirs.n + 1, sizeof(*dirs));
	int r;

	for (size_t i = 0; i < p->dirs.n; i++)
		dirs[i] = p->dirs.p[i].path;
	r = environ_facts(dirs, (int)p->dirs.n, put_fact, c);
	free(dirs);
	return r ? err_sys(e, r, "cannot write the facts of this machine into the record") : 0;
}

static int begin_record(struct conductor *c, struct err *e)
{
	const struct run_conf *conf = c->conf;
	const struct plan *p = c->plan;
	cleanup_strbuf struct strbuf text = STRBUF_INIT;
	char said[64];
	int r;

	scenario_text(p->scenario, &text);
	c->t0 = nsec_now();
	r = rec_run_begin(conf->rec, &(struct rec_run){ .scenario = p->scenario->name, .scenario_text = strbuf_str(&text),
			  .command = conf->command ?: "", .producer = conf->producer ?: "run", .cell = p->cell,
			  .version = conf->version ?: "", .wall_start = nsec_wall(), .t0 = c->t0, .partial = true },
			  &c->res->run, e);
	for (size_t i = 0; i < p->scaled.n && !r; i++)
		r = rec_note(conf->rec, c->res->run, NOTE_SCALED, c->t0, "scaled", p->scaled.p[i], e);
	for (size_t i = 0; i < p->notes.n && !r; i++)
		r = rec_note(conf->rec, c->res->run, NOTE_WARNING, c->t0, "filesystem", p->notes.p[i], e);
	for (size_t i = 0; i < p->limits.n && !r; i++) {
		cleanup_free char *key = mem_printf("limit:%s", p->limits.p[i].text);

		r = rec_note(conf->rec, c->res->run, NOTE_LIMIT, c->t0, key, p->limits.p[i].source, e);
	}
	snprintf(said, sizeof(said), "%.3f", nsec_seconds(p->time));
	r = r ?: rec_env(conf->rec, c->res->run, "run.time", said, false, e);
	r = r ?: environment(c, e);
	return r ?: rec_env(conf->rec, c->res->run, "run.trace", p->trace, true, e);
}

#define DEVICES_MAX 64

struct env_arrays {
	const char **dirs, **names, **series;
	const struct in_flight **in_flight;
	const struct slot **first;
	pid_t *pids;
	dev_t devices[DEVICES_MAX];
};

static void env_fill(struct conductor *c)
{
	const struct plan *p = c->plan;
	struct env_arrays *a = mem_alloc(sizeof(*a));
	int ndevices = 0;

	a->dirs = mem_array(p->dirs.n + 1, sizeof(*a->dirs));
	a->names = mem_array(c->kids.n + 1, sizeof(*a->names));
	a->pids = mem_array(c->kids.n + 1, sizeof(*a->pids));
	a->series = mem_array(p->probes.n + 1, sizeof(*a->series));
	a->in_flight = mem_array(p->probes.n + 1, sizeof(*a->in_flight));
	a->first = mem_array(p->loads.n + 1, sizeof(*a->first));
	a->pids[0] = getpid();
	a->names[0] = "controller";
	for (size_t i = 0; i < c->kids.n; i++) {
		a->pids[i + 1] = c->kids.p[i].pid;
		a->names[i + 1] = c->kids.p[i].name;
	}
	for (size_t i = 0; i < p->dirs.n; i++) {
		a->dirs[i] = p->dirs.p[i].path;
		topology_queues(&p->dirs.p[i].topo, a->devices, &ndevices, DEVICES_MAX);
	}
	for (size_t i = 0; i < p->probes.n; i++) {
		a->series[i] = p->probes.p[i].name;
		a->in_flight[i] = &c->rings[i]->now;
	}
	for (size_t i = 0, slot = p->probes.n; i < p->loads.n; slot += p->loads.p[i++].workers)
		a->first[i] = &c->board->slot[slot];
	c->env_arrays = a;
	c->env = (struct source_env){ .dirs = a->dirs, .ndirs = (int)p->dirs.n, .pids = a->pids, .pid_names = a->names,
				      .npids = (int)c->kids.n + 1, .rings = (const char *const *)c->ring_paths,
				      .nrings = (int)p->probes.n, .in_flight = a->in_flight, .in_flight_series = a->series,
				      .nin_flight = (int)p->probes.n, .devices = a->devices, .ndevices = ndevices };
}

static void env_done(struct conductor *c)
{
	struct env_arrays *a = c->env_arrays;

	if (!a)
		return;
	free(a->dirs);
	free(a->names);
	free(a->pids);
	free(a->series);
	free(a->in_flight);
	free(a->first);
	free(a);
	c->env_arrays = NULL;
}

static int start_recorder(struct conductor *c, struct err *e)
{
	struct recorder_conf conf = { .rec = c->conf->rec, .run = c->res->run, .plan = c->plan, .rings = c->rings,
				      .env = &c->env, .hooks = c->conf->hooks };

	env_fill(c);
	conf.first = c->env_arrays->first;
	return recorder_start(&conf, &c->recorder, e);
}

static void drop_caches_now(void *ctx)
{
	(void)ctx;
	_exit(file_write("/proc/sys/vm/drop_caches", "3", NULL) ? 1 : 0);
}

static bool recovered(struct conductor *c)
{
	return recorder_recovered(c->recorder);
}

/* Nothing that began in the measured window is still under way. */
static bool settled(struct conductor *c)
{
	for (size_t i = 0; i < c->plan->probes.n; i++) {
		struct in_flight fl = ring_now(c->rings[i]);

		if (fl.started && fl.intended < c->measure_t1)
			return false;
	}
	return true;
}

static void recovery(struct conductor *c)
{
	char text[NSEC_TEXT];
	nsec_t began = nsec_now();

	if (!c->plan->recovery_max || !c->plan->idle) {
		/* what began while measuring may still end: a wait of 120 s is a wait of 120 s */
		c->say = "waiting for actions that began while measuring";
		conduct_wait(c, began + 10 * NSEC_PER_SEC, settled);
		return;
	}
	conduct_phase(c, PHASE_RECOVERY, began + c->plan->recovery_max);
	c->say = "until all is as quick as before";
	switch (conduct_wait(c, began + c->plan->recovery_max, recovered)) {
	case WAIT_DONE:
		conduct_note(c, NOTE_INFO, "recovery", "all probes were back at their idle speed %s after the load ended",
			     nsec_text(nsec_now() - began, text));
		break;
	case WAIT_TIME:
		conduct_note(c, NOTE_WARNING, "recovery", "%s after the load ended not all probes were back at their idle speed",
			     nsec_text(nsec_now() - began, text));
		break;
	case WAIT_BROKEN:
		break;
	}
}

/* PREPARE to RECOVERY; leaves when something breaks. */
static void phases(struct conductor *c)
{
	const struct plan *p = c->plan;
	nsec_t now;

	if (p->drop_caches) {
		pid_t pid = helper_start(drop_caches_now, NULL, false);

		(void)pid;
		if (conduct_wait(c, nsec_now() + 2 * NSEC_PER_SEC, NULL) == WAIT_BROKEN)
			return;
	}
	now = nsec_now();
	conduct_phase(c, PHASE_IDLE, now + p->idle);
	children_go(c, false);
	if (conduct_wait(c, now + p->idle, NULL) == WAIT_BROKEN)
		return;
	if (p->loads.n) {
		now = nsec_now();
		conduct_phase(c, PHASE_LOAD_UP, now + p->load_up_max);
		children_go(c, true);
		barrier_wait(c);
		if (c->signal || c->why[0])
			return;
	}
	now = nsec_now();
	conduct_phase(c, PHASE_MEASURE, now + p->time);
	c->measure_t0 = c->phase_began;
	if (conduct_wait(c, c->measure_t0 + p->time, NULL) == WAIT_BROKEN)
		return;
	conduct_phase(c, PHASE_STOP, nsec_now() + STOP_GRACE + STOP_LAST);
	c->measure_t1 = c->phase_began;
	c->say = "ending the loads";
	children_stop(c, true, STOP_GRACE, STOP_LAST);
	if (!c->signal)
		recovery(c);
}

static void keep_leftovers(struct conductor *c)
{
	struct leftovers *left = mem_alloc(sizeof(*left));

	left->area = take(c->area);
	for (size_t i = 0; i < c->kids.n; i++)
		if (!c->kids.p[i].gone)
			vec_push(&left->still, c->kids.p[i]);
	c->res->left = left;
}

/* The record's end. t1: when the run broke or was over. */
static void end_record(struct conductor *c, nsec_t t1)
{
	struct rec *rec = c->conf->rec;
	int run = c->res->run;
	bool partial = c->signal || c->why[0];
	struct err e = { 0 };

	if (c->signal)
		snprintf(c->why, sizeof(c->why), "ended by %s", c->signal == SIGINT ? "Ctrl-C (SIGINT)" :
			 c->signal == SIGTERM ? "SIGTERM" : "SIGHUP (the terminal was closed)");
	if (c->measure_t0)
		rec_run_window(rec, run, c->measure_t0, c->measure_t1 ?: t1, &e);
	rec_run_wall_end(rec, run, nsec_wall(), &e);
	rec_run_end(rec, run, t1, partial, c->why, &e);
	rec_commit(rec, &e);
	c->res->how = c->signal ? RUN_SIGNAL : partial ? RUN_PARTIAL : RUN_WHOLE;
	c->res->signal = c->signal;
	snprintf(c->res->why, sizeof(c->res->why), "%s", c->why);
	if (e.code && c->res->how == RUN_WHOLE) {
		c->res->how = RUN_PARTIAL;
		snprintf(c->res->why, sizeof(c->res->why), "%.650s", e.msg);
	}
}

static void finish(struct conductor *c)
{
	nsec_t t1 = nsec_now();
	struct err e = { 0 };
	bool hurry = c->signal != 0;

	if (hurry) {		/* the answer first; who is in D state ends when its I/O does */
		children_kill(c);
	} else {
		conduct_phase(c, c->why[0] ? PHASE_STOP : PHASE_CLEAN, 0);
		c->say = "ending the probes";
		if (c->why[0])	/* waiting must not end at once because of the very reason */
			children_kill(c);
		else
			children_stop(c, false, STOP_GRACE, STOP_LAST);
		hurry = c->signal != 0;
	}
	if (c->recorder && recorder_stop(c->recorder, t1, hurry ? 600 * NSEC_PER_MSEC : 30 * NSEC_PER_SEC, &e)) {
		c->res->record_stuck = e.code == -ETIMEDOUT;
		if (!c->why[0])
			snprintf(c->why, sizeof(c->why), "%.650s", e.msg);
	}
	c->recorder = NULL;
	for (int i = 0; i < 20; i++) {
		children_reap(c);
		if (i && hurry && nsec_now() - t1 > 700 * NSEC_PER_MSEC)
			break;
		usleep(5000);
	}
	if (!c->res->record_stuck) {
		end_record(c, t1);
		if (c->conf->hooks && c->conf->hooks->end)
			c->conf->hooks->end(c->conf->hooks->ctx, c->conf->rec, c->res->run, c->res->how != RUN_WHOLE);
	} else {
		c->res->how = c->signal ? RUN_SIGNAL : RUN_PARTIAL;
		c->res->signal = c->signal;
		snprintf(c->res->why, sizeof(c->res->why), "%s", c->why);
	}
}

static int begin(struct conductor *c, struct err *e)
{
	const struct run_hooks *h = c->conf->hooks;
	size_t nslots = c->plan->probes.n;
	int r;

	for (size_t i = 0; i < c->plan->loads.n; i++)
		nslots += c->plan->loads.p[i].workers;
	c->board = board_new(nslots);
	if (!c->board)
		return err_sys(e, -ENOMEM, "cannot get memory for %zu processes", nslots);
	if (pipe2(c->alive, O_CLOEXEC) < 0)
		return err_sys(e, -errno, "cannot make a pipe");
	r = begin_record(c, e);
	if (!r && h && h->begin)
		r = h->begin(h->ctx, c->conf->rec, c->res->run, e);
	conduct_phase(c, PHASE_PREPARE, 0);
	r = r ?: make_rings(c, e);
	r = r ?: area_make(c, e);
	r = r ?: children_start(c, e);
	return r ?: start_recorder(c, e);
}

int run_do(const struct run_conf *conf, struct run_result *ret, struct err *e)
{
	struct conductor c = { .conf = conf, .plan = conf->plan, .res = ret, .alive = { -1, -1 } };
	struct err why = { 0 };
	int r;

	*ret = (struct run_result){ 0 };
	r = begin(&c, &why);
	if (r && !c.signal) {
		children_kill(&c);
		snprintf(c.why, sizeof(c.why), "%.650s", why.msg);
	} else if (!r) {
		recorder_phase(c.recorder, PHASE_PREPARE, c.phase_began);
		c.say = "laying out files";
		if (conduct_wait(&c, nsec_now() + PREPARE_MAX, children_ready) == WAIT_TIME)
			snprintf(c.why, sizeof(c.why), "laying out the files took more than half an hour");
		if (!c.signal && !c.why[0])
			phases(&c);
	}
	finish(&c);
	keep_leftovers(&c);
	close(c.alive[0]);
	close(c.alive[1]);
	if (!ret->record_stuck) {	/* else its thread may still look at them */
		drop_rings(&c);
		board_free(c.board);
		env_done(&c);
		vec_done(&c.kids);
	}
	if (r && !c.signal) {
		if (e)
			*e = why;
		return r;
	}
	return 0;
}

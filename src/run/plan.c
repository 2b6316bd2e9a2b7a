/* SPDX-License-Identifier: MIT */
#include "run/plan.h"
#include "base/cleanup.h"
#include "base/mem.h"
#include "base/units.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#define PROCESSES_MAX 512

static const char *const global_keys[] = { "time", "idle", "load-up", "recovery", "recovery-max", "scale", "write-budget",
					   "stacks", "period", "limit", "title", "drop-caches", NULL };
static const char *const probe_keys[] = { "rate", "pause", "limit", "backlog", "dir", NULL };
static const char *const load_keys[] = { "dir", NULL };

/* What a kind of filesystem cannot tell us; NULL: all of it. */
static const char *kind_note(enum fs_kind k)
{
	switch (k) {
	case FS_MEMORY:
		return "lives in memory: nothing reaches a disk, so these numbers say nothing about one; direct I/O and cold reads "
		       "cannot be measured";
	case FS_NETWORK:
		return "a network filesystem: waits include the network and the server; device counters, cold reads and requests "
		       "of the disk cannot be measured";
	case FS_FUSE:
		return "a FUSE filesystem: waits include its server process";
	case FS_OTHER:
		return "its block devices cannot be seen: device counters are missing";
	case FS_DISK:
	case FS_OVERLAY:
		break;
	}
	return NULL;
}

static bool in_list(const char *const *list, const char *word)
{
	for (; *list; list++)
		if (!strcmp(*list, word))
			return true;
	return false;
}

static bool has_param(const struct param *params, const char *name)
{
	for (const struct param *p = params; p && p->name; p++)
		if (!strcmp(p->name, name))
			return true;
	return false;
}

static int add_dir(struct plan *p, const char *path, size_t *ret, struct err *e)
{
	cleanup_free char *full = realpath(path, NULL);
	struct plan_dir d = { 0 };
	struct statvfs sv;
	struct stat st;
	const char *note;
	int r;

	if (!full)
		return err_sys(e, -errno, "cannot work in %s", path);
	for (size_t i = 0; i < p->dirs.n; i++) {
		if (!strcmp(p->dirs.p[i].path, full)) {
			*ret = i;
			return 0;
		}
	}
	if (stat(full, &st))
		return err_sys(e, -errno, "cannot work in %s", path);
	if (!S_ISDIR(st.st_mode))
		return err_set(e, -ENOTDIR, "%s is not a directory; name one on the disk to be tested", path);
	if (statvfs(full, &sv))
		return err_sys(e, -errno, "cannot ask the filesystem of %s", path);
	if (sv.f_flag & ST_RDONLY)
		return err_set(e, -EROFS, "%s is on a filesystem that is mounted read-only; name a directory that can be written",
			       path);
	if (access(full, W_OK | X_OK))
		return err_sys(e, -errno, "cannot write into %s", path);
	d.dev = st.st_dev;
	d.free_bytes = (uint64_t)sv.f_bavail * sv.f_frsize;
	/* 5 % stay free: a full filesystem is another experiment */
	d.free_bytes -= MIN(d.free_bytes, (uint64_t)sv.f_blocks * sv.f_frsize / 20);
	r = topology_of(full, &d.topo, e);
	if (r)
		return r;
	note = kind_note(d.topo.fs);
	if (note)
		vec_push(&p->notes, mem_printf("%s (%s): %s", full, d.topo.mount.type, note));
	d.path = take(full);
	vec_push(&p->dirs, d);
	*ret = p->dirs.n - 1;
	return 0;
}

static int unknown_key(const struct scn_section *sec, const struct scn_key *k, const struct param *params,
		       const char *const *common, struct err *e)
{
	VEC(const char *) words = { 0 };
	const char *near;

	for (const struct param *p = params; p && p->name; p++)
		vec_push(&words, p->name);
	for (; *common; common++)
		vec_push(&words, *common);
	near = units_nearest(k->key, words.p, words.n);
	vec_done(&words);
	if (near)
		return scenario_complain(k, e, "%s %s has no key '%s'; did you mean '%s'?", sec->kind, sec->name, k->key, near);
	return scenario_complain(k, e, "%s %s has no key '%s'; stallmark list %s shows them", sec->kind, sec->name, k->key,
				 sec->name);
}

/* The plug-in's own keys of a section into its conf. */
static int set_params(struct scn_section *sec, const struct plug *plug, void *conf, const char *const *common,
		      struct err *e)
{
	cleanup_free char *owner = mem_printf("%s %s", sec->kind, sec->name);
	int r = 0;

	param_defaults(plug->params, conf);
	for (size_t i = 0; i < sec->nkeys && !r; i++) {
		struct scn_key *k = &sec->keys[i];
		struct err why = { 0 };

		k->used = true;
		if (has_param(plug->params, k->key)) {
			r = param_set(plug->params, conf, owner, k->key, k->value, &why);
			if (r)
				r = scenario_complain(k, e, "%s", why.msg);
		} else if (!in_list(common, k->key)) {
			r = unknown_key(sec, k, plug->params, common, e);
		}
	}
	return r;
}

static struct scn_key *find_key(struct scn_section *sec, const char *key)
{
	for (size_t i = 0; sec && i < sec->nkeys; i++)
		if (!strcmp(sec->keys[i].key, key))
			return &sec->keys[i];
	return NULL;
}

static int get_time(struct scn_section *sec, const char *key, nsec_t *t, struct err *e)
{
	struct scn_key *k = find_key(sec, key);
	struct err why = { 0 };

	if (!k)
		return 0;
	k->used = true;
	if (units_nsec(k->value, t, &why))
		return scenario_complain(k, e, "%s: %s", key, why.msg);
	if (*t < 0 || *t > 7 * 24 * 3600 * NSEC_PER_SEC)
		return scenario_complain(k, e, "%s: from 0 to a week", key);
	return 0;
}

static int get_rate(struct scn_section *sec, nsec_t *interval, struct err *e)
{
	struct scn_key *k = find_key(sec, "rate");
	struct err why = { 0 };
	cleanup_free char *text = NULL;
	double rate;
	size_t n;

	if (!k)
		return 0;
	text = mem_dup(k->value);
	n = strlen(text);
	if (n > 2 && !strcmp(text + n - 2, "/s"))
		text[n - 2] = 0;
	if (units_number(text, &rate, &why))
		return scenario_complain(k, e, "rate: '%s' is not a rate; write for example 20/s", k->value);
	if (!(rate >= 0.001 && rate <= 1e6))
		return scenario_complain(k, e, "rate: from 0.001/s to 1000000/s");
	*interval = nsec_from_seconds(1 / rate);
	return 0;
}

static bool note_program(struct plan *p, const char *kind, const char *name, const struct param *params, const void *conf,
			 const char *command_param)
{
	for (const struct param *q = params; q && q->name && command_param; q++) {
		const char *text = q->type == PARAM_TEXT ? *(char *const *)((const char *)conf + q->offset) : NULL;

		if (!strcmp(q->name, command_param) && text && *text) {
			vec_push(&p->programs, mem_printf("%s %s runs: %s", kind, name, text));
			return true;
		}
	}
	return false;
}

static char *series_name(const struct scn_section *sec)
{
	return strcmp(sec->name, sec->label) ? mem_printf("%s@%s", sec->name, sec->label) : mem_dup(sec->name);
}

static int add_probe(struct plan *p, struct scn_section *sec, const char *dir, struct err *e)
{
	struct scn_key *pause = find_key(sec, "pause"), *rate = find_key(sec, "rate");
	struct plan_probe pp = { 0 };
	int r;

	pp.ops = plug_need(probe_table, "probe", sec->name, e);
	if (!pp.ops)
		return err_wrap(e, "%s:%d", sec->file, sec->line);
	pp.conf = mem_alloc(pp.ops->plug.conf_size + 1);
	pp.name = series_name(sec);
	pp.interval = pp.ops->interval;
	pp.limit = pp.ops->limit;
	pp.backlog = 10 * NSEC_PER_SEC;
	vec_push(&p->probes, pp);
	r = set_params(sec, &pp.ops->plug, pp.conf, probe_keys, e);
	if (!r && pause && pp.ops->loop == LOOP_OPEN)
		r = scenario_complain(pause, e, "probe %s is an open loop, which has a rate and no pause: write rate = 10/s",
				      sec->name);
	if (!r && rate && pp.ops->loop == LOOP_CLOSED)
		r = scenario_complain(rate, e, "probe %s is a closed loop, which has a pause and no rate: write pause = 1s",
				      sec->name);
	r = r ?: get_time(sec, "pause", &pp.interval, e) ?: get_rate(sec, &pp.interval, e);
	r = r ?: get_time(sec, "limit", &pp.limit, e) ?: get_time(sec, "backlog", &pp.backlog, e);
	r = r ?: add_dir(p, scenario_get(sec, "dir", dir), &pp.dir, e);
	if (r)
		return r;
	pp.space = pp.ops->space ? pp.ops->space(pp.conf) : 0;
	p->probes.p[p->probes.n - 1] = pp;
	note_program(p, "probe", pp.name, pp.ops->plug.params, pp.conf, pp.ops->command_param);
	return 0;
}

static int add_load(struct plan *p, struct scn_section *sec, const char *dir, struct err *e)
{
	struct plan_load pl = { 0 };
	int r;

	pl.ops = plug_need(load_table, "load", sec->name, e);
	if (!pl.ops)
		return err_wrap(e, "%s:%d", sec->file, sec->line);
	pl.conf = mem_alloc(pl.ops->plug.conf_size + 1);
	pl.name = mem_dup(sec->label);
	vec_push(&p->loads, pl);
	r = set_params(sec, &pl.ops->plug, pl.conf, load_keys, e);
	r = r ?: add_dir(p, scenario_get(sec, "dir", dir), &pl.dir, e);
	if (r)
		return r;
	pl.workers = pl.ops->workers ? pl.ops->workers(pl.conf) : 1;
	pl.space = pl.ops->space ? pl.ops->space(pl.conf) : 0;
	pl.program = note_program(p, "load", pl.name, pl.ops->plug.params, pl.conf, pl.ops->command_param);
	p->loads.p[p->loads.n - 1] = pl;
	return 0;
}

/* "wal.p99 < 10ms (etcd hardware guide)" */
static void add_limit(struct plan *p, const char *text)
{
	const char *open = strchr(text, '('), *close = open ? strrchr(open, ')') : NULL;
	size_t n = open ? (size_t)(open - text) : strlen(text);
	struct plan_limit l = { 0 };

	while (n && text[n - 1] == ' ')
		n--;
	l.text = mem_dupn(text, n);
	l.source = close ? mem_dupn(open + 1, (size_t)(close - open - 1)) : mem_dup("");
	vec_push(&p->limits, l);
}

static int globals(struct plan *p, const struct plan_conf *c, struct scn_section *g, struct err *e)
{
	const char *scale, *budget, *word;
	int r;

	for (size_t i = 0; g && i < g->nkeys; i++) {
		struct scn_key *k = &g->keys[i];

		k->used = in_list(global_keys, k->key);
		if (!strcmp(k->key, "limit"))
			add_limit(p, k->value);
	}
	p->time = 60 * NSEC_PER_SEC;
	r = get_time(g, "time", &p->time, e);
	if (!r && c->time)
		r = units_nsec(c->time, &p->time, e) ? err_wrap(e, "--time") : 0;
	if (!r && p->time < NSEC_PER_SEC / 10)
		r = err_set(e, -EINVAL, "time: a run measures for 0.1 s at least");
	p->idle = MIN(10 * NSEC_PER_SEC, p->time);
	p->load_up_max = 60 * NSEC_PER_SEC;
	p->recovery_max = 120 * NSEC_PER_SEC;
	p->period = NSEC_PER_SEC;
	p->stacks = 250 * NSEC_PER_MSEC;
	r = r ?: get_time(g, "idle", &p->idle, e) ?: get_time(g, "load-up", &p->load_up_max, e);
	r = r ?: get_time(g, "recovery-max", &p->recovery_max, e) ?: get_time(g, "period", &p->period, e);
	r = r ?: get_time(g, "stacks", &p->stacks, e);
	if (r)
		return r;
	p->period = MAX(p->period, 10 * NSEC_PER_MSEC);
	if (c->no_idle)
		p->idle = 0;
	word = scenario_get(g, "recovery", "yes");
	if (c->no_recovery || !strcmp(word, "no"))
		p->recovery_max = 0;
	scale = c->scale ?: scenario_get(g, "scale", "auto");
	if (strcmp(scale, "auto")) {
		r = units_share(scale, &p->scale, e);
		if (r || !(p->scale > 0 && p->scale <= 1))
			return err_set(e, -EINVAL, "scale: '%s' is neither 'auto' nor a share from 0 to 1 (0.1, 10%%)", scale);
	}
	budget = c->write_budget ?: scenario_get(g, "write-budget", "200G");
	if (units_size(budget, &p->write_budget, e))
		return err_wrap(e, "write-budget");
	p->drop_caches = c->drop_caches;
	return 0;
}

int plan_make(const struct plan_conf *c, struct plan **ret, struct err *e)
{
	/* the scenario is only marked: which keys were understood */
	struct scenario *s = (struct scenario *)c->scenario;
	struct scn_section *g = scenario_section(s, "global", "");
	struct plan *p = mem_alloc(sizeof(*p));
	unsigned processes = 0;
	int r;

	p->scenario = s;
	p->cell = mem_dup(c->cell ?: "");
	p->trace = mem_dup(c->trace ?: "stalls");	/* where the kernel lets us: else a note says why not */
	p->seed = 1;
	r = globals(p, c, g, e);
	for (size_t i = 0; i < s->nsections && !r; i++) {
		struct scn_section *sec = &s->sections[i];

		if (!strcmp(sec->kind, "probe"))
			r = add_probe(p, sec, c->dir, e);
		else if (!strcmp(sec->kind, "load"))
			r = add_load(p, sec, c->load_dir ?: c->dir, e);
		else if (strcmp(sec->kind, "global"))	/* for the lab, the simulator, the comparison */
			for (size_t j = 0; j < sec->nkeys; j++)
				sec->keys[j].used = true;
	}
	r = r ?: scenario_unused(s, global_keys, e);
	if (!r && !p->probes.n)
		r = err_set(e, -EINVAL, "scenario %s has no [probe NAME] section: nothing would be measured", s->name);
	if (!r && p->programs.n && !s->shipped && geteuid() == 0 && !c->allow_commands)
		r = err_set(e, -EPERM, "scenario %s is not a shipped one and names a program (%s); as root that needs "
				       "--allow-commands", s->path, p->programs.p[0]);
	for (size_t i = 0; i < p->loads.n; i++)
		processes += p->loads.p[i].workers;
	if (!r && processes > PROCESSES_MAX)
		r = err_set(e, -EINVAL, "the loads of this scenario are %u processes; at most %d are started, so that the machine can "
					"still be stopped", processes, PROCESSES_MAX);
	r = r ?: plan_scale(p, e);
	if (r) {
		plan_free(p);
		return r;
	}
	*ret = p;
	return 0;
}

#define free_texts(v) do {				\
	for (size_t i_ = 0; i_ < (v)->n; i_++)		\
		free((v)->p[i_]);			\
	vec_done(v);					\
} while (0)

void plan_free(struct plan *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->dirs.n; i++) {
		free(p->dirs.p[i].path);
		topology_done(&p->dirs.p[i].topo);
	}
	for (size_t i = 0; i < p->probes.n; i++) {
		param_done(p->probes.p[i].ops->plug.params, p->probes.p[i].conf);
		free(p->probes.p[i].conf);
		free(p->probes.p[i].name);
	}
	for (size_t i = 0; i < p->loads.n; i++) {
		param_done(p->loads.p[i].ops->plug.params, p->loads.p[i].conf);
		free(p->loads.p[i].conf);
		free(p->loads.p[i].name);
	}
	for (size_t i = 0; i < p->limits.n; i++) {
		free(p->limits.p[i].text);
		free(p->limits.p[i].source);
	}
	vec_done(&p->dirs);
	vec_done(&p->probes);
	vec_done(&p->loads);
	vec_done(&p->limits);
	free_texts(&p->scaled);
	free_texts(&p->notes);
	free_texts(&p->programs);
	free(p->cell);
	free(p->trace);
	free(p);
}

nsec_t plan_duration(const struct plan *p)
{
	return p->idle + (p->loads.n ? p->load_up_max : 0) + p->time + p->recovery_max;
}

/* SPDX-License-Identifier: MIT */
/* stallmark run: one scenario on a directory, once or several times, into one record. */
#include "analyze/analyze.h"
#include "base/cleanup.h"
#include "base/mem.h"
#include "base/units.h"
#include "cmd/cmd.h"
#include "config.h"
#include "live/live.h"
#include "run/consent.h"
#include "run/run.h"
#include "stats/gate.h"
#include "sys/undo.h"
#include "trial/labs.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const char *dir, *lab_text, *load_dir, *time_text, *scale, *repeat_text, *output, *record_dir, *trace, *budget;
static struct opt_list overrides, fail_if;
static bool json, yes, yes_system, quiet, plain, allow_commands, drop_caches, no_idle, no_recovery, verbose;

static const struct opt *options(void)
{
	static const struct opt o[] = {
		{ 0, "dir", OPT_TEXT, &dir, "DIR", "where probes and loads work: a directory on the disk to be tested" },
		{ 0, "lab", OPT_TEXT, &lab_text, "KEY=VALUE,...", "on a modelled disk instead of --dir (root): disk=hdd7200_2009,fs=ext4,sched=bfq; see stallmark lab" },
		{ 0, "load-dir", OPT_TEXT, &load_dir, "DIR", "loads work here instead" },
		{ 'D', "define", OPT_LIST, &overrides, "SECTION.KEY=VALUE", "override a key of the scenario, or define ${KEY}" },
		{ 0, "time", OPT_TEXT, &time_text, "TIME", "how long to measure (60s)" },
		{ 0, "repeat", OPT_TEXT, &repeat_text, "N", "so many runs into one record (1); comparing wants 5" },
		{ 0, "scale", OPT_TEXT, &scale, "auto|SHARE", "how large the loads are, of their published size" },
		{ 'o', "output", OPT_TEXT, &output, "FILE", "where the record goes (SCENARIO-TIME.smk)" },
		{ 0, "record-dir", OPT_TEXT, &record_dir, "DIR", "where it is while measuring; must be in memory (tmpfs)" },
		{ 0, "trace", OPT_TEXT, &trace, "off|stalls|full|proc", "what else to record: stalls (default) and full use BPF (root)" },
		{ 0, "fail-if", OPT_LIST, &fail_if, "PROBE.METRIC>VALUE", "exit 1 when true: 'fsync.p90 > 2s'" },
		{ 0, "write-budget", OPT_TEXT, &budget, "SIZE", "loads stop when they have written so much (200G)" },
		{ 0, "drop-caches", OPT_FLAG, &drop_caches, NULL, "drop the page cache of the whole machine before (root)" },
		{ 0, "no-idle", OPT_FLAG, &no_idle, NULL, "no idle baseline before the load, and no recovery after it" },
		{ 0, "no-recovery", OPT_FLAG, &no_recovery, NULL, "do not wait until all is quick again" },
		{ 0, "allow-commands", OPT_FLAG, &allow_commands, NULL, "as root: run programs named in a scenario of your own" },
		{ 'y', "yes", OPT_FLAG, &yes, NULL, "do not ask" },
		{ 0, "yes-system", OPT_FLAG, &yes_system, NULL, "agree to settings of the whole machine that a [lab] section wants" },
		{ 'q', "quiet", OPT_FLAG, &quiet, NULL, "no progress" },
		{ 0, "plain", OPT_FLAG, &plain, NULL, "progress as plain lines, no screen" },
		{ 0, "json", OPT_FLAG, &json, NULL, "the answer as one JSON document" },
		{ 'v', "verbose", OPT_FLAG, &verbose, NULL, "the answer with all details" },
		{ 0 },
	};

	dir = lab_text = load_dir = time_text = scale = repeat_text = output = record_dir = trace = budget = NULL;
	overrides = fail_if = (struct opt_list){ 0 };
	json = yes = yes_system = quiet = plain = allow_commands = drop_caches = no_idle = no_recovery = verbose = false;
	return o;
}

/* ---- before ---- */

static int load_cell(const char *name, struct scenario **ret_scn, struct scn_cell **ret_cells, size_t *ret_n, struct err *e)
{
	struct scn_override *over = mem_array(overrides.n + 1, sizeof(*over));
	int r;

	for (size_t i = 0; i < overrides.n; i++)
		over[i].text = overrides.v[i];
	r = scenario_load(name, cmd_scenario_dirs(), over, overrides.n, ret_scn, e);
	free(over);
	r = r ?: scenario_cells(*ret_scn, ret_cells, ret_n, e);
	if (!r && *ret_n > 1)
		r = err_set(e, -EINVAL, "scenario %s is a matrix of %zu cells; choose one with -D section.key=value, or run them "
					"all with stallmark matrix %s", name, *ret_n, name);
	return r;
}

static int make_plan(const struct scn_cell *cell, struct plan **ret, struct err *e)
{
	struct plan_conf conf = { .scenario = cell->s, .cell = cell->label, .dir = dir, .load_dir = load_dir, .time = time_text,
				  .scale = scale, .trace = trace, .write_budget = budget, .no_idle = no_idle,
				  .no_recovery = no_recovery || no_idle, .drop_caches = drop_caches,
				  .allow_commands = allow_commands };

	return plan_make(&conf, ret, e);
}

static int check_gates(const struct plan *p, struct gate *gates, struct err *e)
{
	VEC(const char *) names = { 0 };
	int r = 0;

	for (size_t i = 0; i < p->probes.n; i++)
		vec_push(&names, p->probes.p[i].name);
	for (size_t i = 0; i < fail_if.n + p->limits.n && !r; i++) {
		struct gate *g = &gates[i];
		const char *text = i < fail_if.n ? fail_if.v[i] : p->limits.p[i - fail_if.n].text, *near;
		bool known = false;

		r = gate_parse(text, g, e);
		if (!r && g->worse)
			r = err_set(e, -EINVAL, "'worse' needs two records; it belongs to stallmark compare");
		for (size_t k = 0; k < names.n && !r; k++)
			known |= !strcmp(names.p[k], g->probe);
		if (r || known)
			continue;
		near = units_nearest(g->probe, names.p, names.n);
		r = err_set(e, -ENOENT, "'%s': the scenario has no probe '%s'%s%s%s", text, g->probe,
			    near ? "; did you mean '" : "", near ?: "", near ? "'?" : "");
	}
	vec_done(&names);
	return r;
}

static bool agreed(void)
{
	char answer[16];

	fprintf(stderr, "Begin? [y/N] ");
	return fgets(answer, sizeof(answer), stdin) && (answer[0] == 'y' || answer[0] == 'Y');
}

/* Makes the labs of the scenario, after asking: the plan needs their directories. */
static int bring_up_labs(struct labs *labs, struct err *e)
{
	cleanup_strbuf struct strbuf text = STRBUF_INIT;
	sigset_t old;
	int r;

	if (labs_machine_wide(labs) && !yes_system)
		return err_set(e, -EPERM, "a lab of this run changes vm.dirty_bytes of the whole machine; --yes-system agrees to that");
	labs_consent(labs, &text);
	if (!quiet || !yes)
		fputs(strbuf_str(&text), stderr);
	if (!yes && !isatty(STDIN_FILENO))
		return err_set(e, -EPERM, "nobody can be asked (standard input is no terminal); say --yes to begin");
	if (!yes && !agreed())
		return err_set(e, -ECANCELED, "nothing was done");
	sigprocmask(SIG_BLOCK, NULL, &old);
	run_guard();		/* Ctrl-C waits, and labs_up looks for it */
	r = labs_up(labs, cmd_profile_dirs(), e);
	if (r == -EINTR)
		return r;
	sigprocmask(SIG_SETMASK, &old, NULL);
	strbuf_clear(&text);
	labs_refused(labs, &text);
	fputs(strbuf_str(&text), stderr);
	return r;
}

static void default_output(const char *scenario, char *ret, size_t size)
{
	time_t now = time(NULL);
	struct tm tm;
	char stamp[32];

	localtime_r(&now, &tm);
	strftime(stamp, sizeof(stamp), "%Y-%m-%dT%H-%M-%S", &tm);
	snprintf(ret, size, "%s-%s.smk", scenario, stamp);
}

/* ---- after ---- */

static int gate_exit(struct rec *rec, struct page *page, struct err *e)
{
	bool fails = false;
	int r = analyze_gates(rec, fail_if.v, fail_if.n, page, &fails, e);

	return r ? EXIT_TROUBLE : fails ? EXIT_GATE : EXIT_FINE;
}

/* Prints the answer of the record at `path`. */
static int answer(const char *path, struct err *e)
{
	struct rec *rec = NULL;
	struct page *page = NULL;
	int code = EXIT_TROUBLE, r = rec_open(path, &rec, e);

	if (!r)
		r = analyze_show(rec, &page, e);
	if (!r) {
		code = gate_exit(rec, page, e);
		if (code == EXIT_TROUBLE)
			cmd_fail(e);
		cmd_print_page(page, json ? "json" : NULL, verbose);
		fflush(stdout);
	} else {
		cmd_fail(e);
	}
	page_free(page);
	rec_close(rec);
	return code;
}

struct copying {
	const char *from, *to;
};

static void copy_now(void *ctx)
{
	struct copying *c = ctx;
	struct err e = { 0 };

	if (rec_copy(c->from, c->to, &e)) {
		fprintf(stderr, "stallmark: %s; the record is kept in %s until the next boot\n", e.msg, c->from);
		_exit(1);
	}
	unlink(c->from);
	_exit(0);
}

/* The copy may have to wait for the very disk that was tested: by a process of its own, so that Ctrl-C still works. */
static int bring_home(const char *from, const char *to)
{
	struct copying c = { from, to };
	int r = run_wait_helper(copy_now, &c);

	if (r == -EINTR) {
		fprintf(stderr, "stallmark: interrupted; the record is in %s, or already in %s\n", from, to);
		return -EINTR;
	}
	if (!r && !quiet)
		fprintf(stderr, "Saved %s\n", to);
	return r;
}

static int after_signal(struct run_result *res, const char *record, const char *target)
{
	cleanup_strbuf struct strbuf said = STRBUF_INIT;
	struct err e = { 0 };
	int code = 128 + res->signal;

	if (res->record_stuck)
		fprintf(stderr, "stallmark: the recorder is stuck; the record up to a second ago is in %s, stallmark recover\n", record);
	else
		answer(record, &e);
	run_leave(res, true, record, target, &said);
	fprintf(stderr, "%sstallmark: ended by a signal; partial record: %s (on its way to %s)\n", strbuf_str(&said), record,
		target);
	return code;
}

static int after(struct run_result *res, const char *record, const char *target)
{
	cleanup_strbuf struct strbuf said = STRBUF_INIT;
	struct err e = { 0 };
	int code, r;

	if (res->how == RUN_SIGNAL)
		return after_signal(res, record, target);
	run_leave(res, false, NULL, NULL, &said);
	fputs(strbuf_str(&said), stderr);
	if (res->record_stuck) {
		fprintf(stderr, "stallmark: %s; its record is in %s\n", res->why, record);
		return EXIT_TROUBLE;
	}
	code = answer(record, &e);
	if (res->how == RUN_PARTIAL) {
		fprintf(stderr, "stallmark: the run ended early: %s\n", res->why);
		code = EXIT_TROUBLE;
	}
	r = bring_home(record, target);
	return r == -EINTR ? 130 : r ? EXIT_TROUBLE : code;
}

/* ---- the run ---- */

struct around {
	struct live *live;
	struct labs *labs;
};

static void on_progress(void *ctx, const struct run_view *v)
{
	live_progress(((struct around *)ctx)->live, v);
}

static int on_begin(void *ctx, struct rec *rec, int run, struct err *e)
{
	return labs_begin(((struct around *)ctx)->labs, rec, run, e);
}

static void on_phase(void *ctx, enum sample_phase phase, nsec_t t)
{
	labs_phase(((struct around *)ctx)->labs, phase, t);
}

static void on_second(void *ctx, struct rec *rec, int run, nsec_t now)
{
	labs_second(((struct around *)ctx)->labs, rec, run, now);
}

static void on_end(void *ctx, struct rec *rec, int run, bool partial)
{
	labs_end(((struct around *)ctx)->labs, rec, run, partial);
}

static int do_runs(const struct plan *p, struct labs *labs, unsigned repeat, const char *where, const char *record,
		   const char *target, const char *command)
{
	struct around around = { .labs = labs };
	struct run_hooks hooks = { .ctx = &around, .progress = on_progress };
	char title[200];
	unsigned made = 0;
	struct run_conf conf = { .plan = p, .record_dir = where, .command = command, .version = STALLMARK_VERSION,
				 .producer = labs ? "lab" : "run", .hooks = &hooks };
	struct run_result res = { 0 };
	struct err e = { 0 };
	int r = rec_create(record, &conf.rec, &e);

	if (r)
		return cmd_fail(&e);
	if (labs) {
		hooks.begin = on_begin;
		hooks.phase = on_phase;
		hooks.second = on_second;
		hooks.end = on_end;
	}
	run_guard();
	for (unsigned i = 0; i < repeat; i++) {
		cleanup_strbuf struct strbuf said = STRBUF_INIT;

		if (i)
			run_leave(&res, false, NULL, NULL, &said);
		fputs(strbuf_str(&said), stderr);
		snprintf(title, sizeof(title), "stallmark: %s on %s, run %u of %u", p->scenario->name, dir, i + 1, repeat);
		around.live = live_begin(title, plain, quiet);
		made = i + 1;
		r = run_do(&conf, &res, &e);
		live_end(around.live);
		if (r || res.how != RUN_WHOLE)
			break;
	}
	labs_hurry(labs);
	if (r && made == 1) {	/* nothing was measured */
		run_leave(&res, false, NULL, NULL, NULL);
		rec_close(conf.rec);
		unlink(record);
		return cmd_fail(&e);
	}
	if (r) {
		res.how = RUN_PARTIAL;
		snprintf(res.why, sizeof(res.why), "%.650s", e.msg);
	}
	if (!res.record_stuck)
		rec_close(conf.rec);
	return after(&res, record, target);
}

static int run(int argc, char **argv)
{
	cleanup_strbuf struct strbuf consent = STRBUF_INIT, said = STRBUF_INIT, command = STRBUF_INIT;
	char where[REC_DIR_MAX], record[REC_DIR_MAX + 64], target[300];
	struct scenario *scn = NULL;
	struct scn_cell *cells = NULL;
	struct plan *plan = NULL;
	struct labs *labs = NULL;
	struct gate *gates = NULL;
	struct err e = { 0 };
	uint64_t repeat = 1;
	size_t ncells = 0;
	int code, r;

	(void)argc;
	if (!dir && !lab_text)
		return cmd_usage("run", "where? Give --dir DIR, a directory on the disk to be tested, or --lab disk=...");
	if (repeat_text && (units_count(repeat_text, &repeat, &e) || !repeat || repeat > 1000))
		return cmd_usage("run", "--repeat '%s' is not a number from 1 to 1000", repeat_text);
	if (trace && strcmp(trace, "off") && strcmp(trace, "stalls") && strcmp(trace, "full") && strcmp(trace, "proc"))
		return cmd_usage("run", "--trace '%s' is none of off, stalls, full, proc", trace);
	r = load_cell(argv[0], &scn, &cells, &ncells, &e);
	r = r ?: labs_make(cells[0].s, lab_text, &labs, &e);
	if (!r && labs) {
		undo_stale(&said, NULL);
		r = bring_up_labs(labs, &e);
		if (!dir)
			dir = labs_dir(labs);
		if (!r && !dir)
			r = err_set(&e, -EINVAL, "the lab has no filesystem (fs=none), so there is nowhere to work; give --dir too");
	}
	r = r ?: make_plan(&cells[0], &plan, &e);
	if (r) {
		code = cmd_fail(&e);
		if (r == -EINTR)
			code = 130;
		goto out;
	}
	gates = mem_array(fail_if.n + plan->limits.n + 1, sizeof(*gates));
	if (check_gates(plan, gates, &e) || rec_dir(record_dir, where, &e)) {
		code = cmd_fail(&e);
		goto out;
	}
	if (output)
		snprintf(target, sizeof(target), "%s", output);
	else
		default_output(scn->name, target, sizeof(target));
	snprintf(record, sizeof(record), "%s/%s-%d.smk", where, scn->name, (int)getpid());
	consent_text(plan, (unsigned)repeat, target, &consent);
	if (!quiet || !yes)
		fputs(strbuf_str(&consent), stderr);
	if (!yes && !isatty(STDIN_FILENO)) {
		fprintf(stderr, "stallmark: nobody can be asked (standard input is no terminal); say --yes to begin\n");
		code = EXIT_TROUBLE;
		goto out;
	}
	if (!yes && !agreed()) {
		fprintf(stderr, "Nothing was done.\n");
		code = EXIT_TROUBLE;
		goto out;
	}
	undo_stale(&said, NULL);
	fputs(strbuf_str(&said), stderr);
	strbuf_addf(&command, "stallmark run %s --dir %s", argv[0], dir);
	if (lab_text)
		strbuf_addf(&command, " --lab %s", lab_text);
	for (size_t i = 0; i < overrides.n; i++)
		strbuf_addf(&command, " -D %s", overrides.v[i]);
	code = do_runs(plan, labs, (unsigned)repeat, where, record, target, strbuf_str(&command));
out:
	free(gates);
	plan_free(plan);
	strbuf_clear(&said);
	labs_down(labs, &said);
	fputs(strbuf_str(&said), stderr);
	scenario_cells_free(cells, ncells);
	scenario_free(scn);
	free(overrides.v);
	free(fail_if.v);
	return code;
}

const struct cmd cmd_run = {
	.name = "run",
	.about = "run a scenario on a directory and say how long people wait",
	.usage = "[options] SCENARIO --dir DIR",
	.group = "Measure",
	.options = options,
	.details = "SCENARIO is a shipped one (stallmark scenarios) or a file (./my.scenario). Phases: preparing, 10 s idle, "
		   "the load comes up, 60 s measured, recovery, cleaning up. First Ctrl-C: the partial answer, within a second; "
		   "second Ctrl-C: gone at once.\n\n"
		   "stallmark run quick --dir /mnt/test\n"
		   "stallmark run torture-fsync --dir /mnt/test --time 5m --repeat 5 -o before.smk",
	.min_args = 1,
	.max_args = 1,
	.run = run,
};

/* SPDX-License-Identifier: MIT */
/* stallmark ab: two settings in turn, each run a record of its own; compare judges. */
#include "analyze/compare.h"
#include "base/cleanup.h"
#include "base/units.h"
#include "cmd/cmd.h"
#include "cmd/side-load.h"
#include "run/consent.h"
#include "scenario/scenario.h"
#include "stats/looks.h"
#include "sys/spawn.h"
#include "sys/topology.h"
#include "trial/order.h"
#include "trial/plan-file.h"
#include "trial/setting.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS_USUAL	5
#define QUEUES_MAX	16
#define PATIENCE	(120 * NSEC_PER_SEC)	/* for a run that was told to end: its copy may wait for the disk */

static const char *dir, *side_a, *side_b, *rounds_text, *until, *time_text, *output, *resume;
static struct opt_list overrides;
static bool json, yes, yes_system, strict, quiet;

static const struct opt *options(void)
{
	static const struct opt o[] = {
		{ 0, "dir", OPT_TEXT, &dir, "DIR", "where probes and loads work" },
		{ 0, "a", OPT_TEXT, &side_a, "K=V,...", "the settings of side A (empty: everything as it is)" },
		{ 0, "b", OPT_TEXT, &side_b, "K=V,...", "the settings of side B" },
		{ 0, "rounds", OPT_TEXT, &rounds_text, "N", "so many rounds, each one run of A and one of B (5)" },
		{ 0, "until", OPT_TEXT, &until, "decided", "look after 5, 10 and 20 rounds, and end at the first verdict" },
		{ 0, "time", OPT_TEXT, &time_text, "TIME", "how long to measure in each run" },
		{ 'D', "define", OPT_LIST, &overrides, "SECTION.KEY=VALUE", "override a key of the scenario for both sides" },
		{ 'o', "output", OPT_TEXT, &output, "DIR", "a new folder for the plan and the records (SCENARIO-ab-TIME)" },
		{ 0, "resume", OPT_TEXT, &resume, "DIR", "go on with the plan in that folder, after Ctrl-C or a reboot" },
		{ 'y', "yes", OPT_FLAG, &yes, NULL, "do not ask" },
		{ 0, "yes-system", OPT_FLAG, &yes_system, NULL, "agree to settings that touch the whole machine (vm.*)" },
		{ 'q', "quiet", OPT_FLAG, &quiet, NULL, "no progress" },
		{ 0, "strict", OPT_FLAG, &strict, NULL, "exit 3 when nothing was decided" },
		{ 0, "json", OPT_FLAG, &json, NULL, "the answer as one JSON document" },
		{ 0 },
	};

	dir = side_a = side_b = rounds_text = until = time_text = output = resume = NULL;
	overrides = (struct opt_list){ 0 };
	json = yes = yes_system = strict = quiet = false;
	return o;
}

struct ab {
	struct ab_plan plan;
	struct ab_settings side[2];
	char folder[400], file[420];
	char queue[QUEUES_MAX][300];
	const char *queues[QUEUES_MAX + 1];
	char kernel[80];
};

static volatile sig_atomic_t signalled;

static void on_signal(int sig)
{
	signalled = sig;
}

static void catch_signals(void)
{
	struct sigaction sa = { .sa_handler = on_signal };
	static const int sigs[] = { SIGINT, SIGTERM, SIGHUP };

	for (size_t i = 0; i < ARRAY_SIZE(sigs); i++)
		sigaction(sigs[i], &sa, NULL);
}

/* ---- before ---- */

static int find_queues(struct ab *ab, struct err *e)
{
	struct topology t = { 0 };
	dev_t devs[QUEUES_MAX];
	int n = 0, k = 0, r = topology_of(ab->plan.dir, &t, e);

	if (r)
		return r;
	topology_queues(&t, devs, &n, QUEUES_MAX);
	for (int i = 0; i < n && i < QUEUES_MAX; i++)
		if (topology_queue_dir(devs[i], ab->queue[k], sizeof(ab->queue[k]))) {
			ab->queues[k] = ab->queue[k];
			k++;
		}
	ab->queues[k] = NULL;
	topology_done(&t);
	return 0;
}

/* The -D of one run: those of both sides, then the side's own. */
static size_t defines(const struct ab *ab, int side, const char **ret)
{
	size_t n = 0;

	for (size_t i = 0; i < ab->plan.define.n; i++)
		ret[n++] = mem_dup(ab->plan.define.p[i]);
	for (size_t i = 0; i < ab->side[side].p.n; i++)
		if (ab->side[side].p.p[i].kind == SETTING_SCENARIO)
			ret[n++] = mem_printf("%s=%s", ab->side[side].p.p[i].key, ab->side[side].p.p[i].value);
	return n;
}

/* The whole run of a side is planned before anything is done: mistakes come first, and A's consent text is the run's. */
static int plan_side(const struct ab *ab, int side, struct strbuf *consent, struct err *e)
{
	const char **d = mem_array(ab->plan.define.n + ab->side[side].p.n + 1, sizeof(*d));
	size_t n = defines(ab, side, d), ncells = 0;
	cleanup_free struct scn_override *over = mem_array(n + 1, sizeof(*over));
	struct scenario *scn = NULL;
	struct scn_cell *cells = NULL;
	struct plan *plan = NULL;
	int r;

	for (size_t i = 0; i < n; i++)
		over[i].text = d[i];
	r = scenario_load(ab->plan.scenario, cmd_scenario_dirs(), over, n, &scn, e) ?: scenario_cells(scn, &cells, &ncells, e);
	if (!r && ncells > 1)
		r = err_set(e, -EINVAL, "scenario %s is a matrix of %zu cells; choose one with -D", ab->plan.scenario, ncells);
	if (!r) {
		struct plan_conf conf = { .scenario = cells[0].s, .cell = cells[0].label, .dir = ab->plan.dir,
					  .time = *ab->plan.time ? ab->plan.time : NULL };

		r = plan_make(&conf, &plan, e);
	}
	if (r)
		err_wrap(e, "side %c", 'A' + side);
	else if (consent)
		consent_text(plan, 2 * ab->plan.rounds, ab->folder, consent);
	plan_free(plan);
	scenario_cells_free(cells, ncells);
	scenario_free(scn);
	for (size_t i = 0; i < n; i++)
		free((char *)d[i]);
	free(d);
	return r;
}

static int prepare(struct ab *ab, struct strbuf *consent, struct err *e)
{
	struct utsname u;
	int r;

	uname(&u);
	snprintf(ab->kernel, sizeof(ab->kernel), "%s", u.release);
	r = ab_settings_parse(ab->plan.a, &ab->side[0], e) ?: ab_settings_parse(ab->plan.b, &ab->side[1], e) ?: find_queues(ab, e);
	for (int i = 0; i < 2 && !r; i++) {
		if (ab_settings_need_root(&ab->side[i]) && geteuid())
			r = err_set(e, -EPERM, "the settings of side %c are the machine's: run this as root", 'A' + i);
		else if (ab_settings_machine_wide(&ab->side[i]) && !yes_system)
			r = err_set(e, -EPERM, "vm settings act on the whole machine while a run lasts: agree with --yes-system");
		else
			r = ab_settings_check(&ab->side[i], ab->queues, e) ?: plan_side(ab, i, i ? NULL : consent, e);
	}
	return r;
}

static int new_plan(struct ab *ab, const char *scenario, struct err *e)
{
	struct ab_plan *p = &ab->plan;
	char stamp[32], real[4096];
	const char *base = strrchr(scenario, '/');
	uint64_t n = ROUNDS_USUAL;
	time_t now = time(NULL);
	struct tm tm;

	if (!dir || !side_a || !side_b)
		return err_set(e, -EINVAL, "ab needs --dir, --a and --b");
	if (strchr(side_a, '\n') || strchr(side_b, '\n') || strchr(scenario, '\n') || strchr(dir, '\n') ||
	    (time_text && strchr(time_text, '\n')))
		return err_set(e, -EINVAL, "a line break belongs in no option of ab");
	if (until && strcmp(until, "decided"))
		return err_set(e, -EINVAL, "--until '%s': only 'decided' is known", until);
	if (until && rounds_text)
		return err_set(e, -EINVAL, "--rounds and --until decided exclude each other: the looks are fixed in advance");
	if (rounds_text && (units_count(rounds_text, &n, e) || !n || n > AB_ROUNDS_MAX))
		return err_set(e, -EINVAL, "--rounds '%s' is not a number from 1 to %d", rounds_text, AB_ROUNDS_MAX);
	if (!realpath(dir, real))
		return err_sys(e, -errno, "--dir %s", dir);
	*p = (struct ab_plan){ .dir = mem_dup(real), .a = mem_dup(side_a), .b = mem_dup(side_b),
			       .time = mem_dup(time_text ? time_text : ""), .until_decided = until != NULL,
			       .rounds = until ? look_runs[LOOKS - 1] : (unsigned)n };
	p->scenario = strchr(scenario, '/') && realpath(scenario, real) ? mem_dup(real) : mem_dup(scenario);
	for (size_t i = 0; i < overrides.n; i++)
		vec_push(&p->define, mem_dup(overrides.v[i]));
	localtime_r(&now, &tm);
	strftime(stamp, sizeof(stamp), "%Y-%m-%dT%H-%M-%S", &tm);
	if (output)
		snprintf(ab->folder, sizeof(ab->folder), "%s", output);
	else
		snprintf(ab->folder, sizeof(ab->folder), "%s-ab-%s", base ? base + 1 : scenario, stamp);
	snprintf(ab->file, sizeof(ab->file), "%s/plan", ab->folder);
	return 0;
}

static void say_settings(const struct ab *ab)
{
	for (int i = 0; i < 2; i++)
		fprintf(stderr, "side %c     %s\n", 'A' + i, *(i ? ab->plan.b : ab->plan.a) ? (i ? ab->plan.b : ab->plan.a) : "as it is");
	for (const char *const *q = ab->queues; *q && (ab_settings_need_root(&ab->side[0]) || ab_settings_need_root(&ab->side[1])); q++)
		fprintf(stderr, "changes    %s, only while a run lasts; undone afterwards\n", *q);
	if (ab->plan.until_decided)
		fprintf(stderr, "rounds     up to %u; looks after 5, 10 and 20\n", ab->plan.rounds);
	else
		fprintf(stderr, "rounds     %u, in the order AB BA BA AB ...\n", ab->plan.rounds);
}

static bool agreed(void)
{
	char answer[16];

	if (yes)
		return true;
	if (!isatty(STDIN_FILENO)) {
		fprintf(stderr, "stallmark: nobody can be asked (standard input is no terminal); say --yes to begin\n");
		return false;
	}
	fprintf(stderr, "Begin? [y/N] ");
	return fgets(answer, sizeof(answer), stdin) && (answer[0] == 'y' || answer[0] == 'Y');
}

/* ---- one run ---- */

/* 0: whole; -EINTR: a signal to us; else the run failed. */
static int wait_for(pid_t pid, struct err *e)
{
	nsec_t told = 0;
	int status = 0, r;

	while ((r = spawn_wait(pid, NSEC_PER_SEC / 5, &status)) == -ETIMEDOUT || r == -EINTR) {
		if (signalled && !told) {
			kill(pid, signalled);
			told = nsec_now();
		}
		if (told && nsec_now() - told > PATIENCE)
			return err_set(e, -EINTR, "interrupted; the run (process %d) has not ended yet", (int)pid);
	}
	if (signalled)
		return err_set(e, -EINTR, "interrupted");
	if (r || status)
		return err_set(e, -EIO, "the run ended with exit code %d: see above", r ? r : status);
	return 0;
}

static int start(const struct ab *ab, int side, const char *record, pid_t *ret, struct err *e)
{
	const char **d = mem_array(ab->plan.define.n + ab->side[side].p.n + 1, sizeof(*d));
	size_t n = defines(ab, side, d), k = 0;
	const char **argv = mem_array(2 * n + 16, sizeof(*argv));
	char self[4096];
	ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);
	int r;

	self[len > 0 ? len : 0] = 0;
	argv[k++] = self;
	argv[k++] = "run";
	argv[k++] = ab->plan.scenario;
	argv[k++] = "--dir";
	argv[k++] = ab->plan.dir;
	argv[k++] = "--yes";
	argv[k++] = "--quiet";
	argv[k++] = "--output";
	argv[k++] = record;
	if (*ab->plan.time) {
		argv[k++] = "--time";
		argv[k++] = ab->plan.time;
	}
	for (size_t i = 0; i < n; i++) {
		argv[k++] = "-D";
		argv[k++] = d[i];
	}
	r = spawn_start(&(struct spawn){ .argv = argv, .err = STDERR_FILENO }, ret, e);
	for (size_t i = 0; i < n; i++)
		free((char *)d[i]);
	free(d);
	free(argv);
	return r;
}

static int one_run(struct ab *ab, unsigned i, struct err *e)
{
	int side = order_side(i), r;
	cleanup_free char *name = mem_printf("%c-%03u.smk", 'a' + side, i / 2 + 1), *record = mem_printf("%s/%s", ab->folder, name);
	cleanup_strbuf struct strbuf said = STRBUF_INIT;
	struct err undo_err = { 0 };
	struct undo *u = NULL;
	pid_t pid;

	if (!quiet)
		fprintf(stderr, "run %u of %u: side %c\n", i + 1, 2 * ab->plan.rounds, 'A' + side);
	unlink(record);		/* of a run that was cut off: it is not in the plan */
	r = undo_open(&u, e) ?: ab_settings_apply(&ab->side[side], ab->queues, u, e) ?: start(ab, side, record, &pid, e) ?: wait_for(pid, e);
	if (u && undo_all(u, &said, &undo_err))
		fprintf(stderr, "stallmark: %s\n", undo_err.msg);
	fputs(strbuf_str(&said), stderr);
	undo_close(u);
	return r ?: ab_plan_add_run(ab->file, &ab->plan, (char)('a' + side), name, ab->kernel, e);
}

/* ---- judging ---- */

static int load_side(const struct ab *ab, char which, struct side **ret, bool *broken, struct err *e)
{
	struct side_load_conf conf = { .pause = -1, .broken = broken };
	const char *text = which == 'a' ? ab->plan.a : ab->plan.b;
	VEC(char *) paths = { 0 };
	int r;

	for (size_t i = 0; i < ab->plan.done.n; i++)
		if (ab->plan.done.p[i].side == which)
			vec_push(&paths, mem_printf("%s/%s", ab->folder, ab->plan.done.p[i].record));
	r = side_load_files(*text ? text : "as it is", paths.p, paths.n, &conf, ret, e);
	for (size_t i = 0; i < paths.n; i++)
		free(paths.p[i]);
	vec_done(&paths);
	return r;
}

static int judge(const struct ab *ab, double alpha, struct page **ret, struct compare_outcome *out, struct err *e)
{
	struct compare_conf conf = { .alpha = alpha, .margin = 0.10, .share_margin = 0.01, .allow_different = true };
	struct side *s[2] = { NULL };
	bool broken = false;
	int r = load_side(ab, 'a', &s[0], &broken, e) ?: load_side(ab, 'b', &s[1], &broken, e) ?:
		analyze_compare(s, 2, &conf, ret, out, e);

	side_free(s[0]);
	side_free(s[1]);
	return r;
}

/* 1: decided; 0: go on */
static int look(struct ab *ab, unsigned rounds, struct err *e)
{
	struct compare_outcome out;
	struct page *p = NULL;
	bool last = rounds >= ab->plan.rounds, decided;
	int r = judge(ab, look_alpha(0.05), &p, &out, e);

	page_free(p);
	if (r)
		return r;
	decided = out.verdict != VERDICT_UNCLEAR;
	if (!quiet)
		fprintf(stderr, "look after %u rounds: %s\n", rounds, verdict_name(out.verdict));
	return ab_plan_add_look(ab->file, &ab->plan, rounds, verdict_name(out.verdict), decided || last, e) ?: decided;
}

static int answer(struct ab *ab, struct err *e)
{
	struct compare_outcome out = { 0 };
	struct page *p = NULL;
	int code, r = judge(ab, ab->plan.until_decided ? look_alpha(0.05) : 0.05, &p, &out, e);

	if (r)
		return cmd_fail(e);
	free(p->schema);
	p->schema = mem_dup("stallmark.ab/1");
	page_cell(p->root, "plan", NULL, val_text(ab->file));
	page_cell(p->root, "rounds", NULL, val((double)(ab->plan.done.n / 2), UNIT_COUNT));
	page_cell(p->root, "looks", NULL, val((double)ab->plan.looks, UNIT_COUNT));
	if (ab->plan.until_decided)
		page_text(p->root, "Looks after 5, 10 and 20 rounds, %u taken, each at p < .022: 5 %% in all.", ab->plan.looks);
	code = cmd_print_page(p, json ? "json" : NULL, false);
	page_free(p);
	if (code == EXIT_FINE && strict && out.undecided)
		code = EXIT_UNDECIDED;
	return code;
}

static int rounds(struct ab *ab, struct err *e)
{
	unsigned all = 2 * ab->plan.rounds;

	for (unsigned i = (unsigned)ab->plan.done.n; i < all && !ab->plan.ended; i++) {
		const char *kernel = ab_settings_kernel(&ab->side[order_side(i)]);
		int r;

		if (kernel && strcmp(kernel, ab->kernel)) {
			fprintf(stderr, "Next is side %c with kernel %s; running is %s. Boot it, then: stallmark ab --resume %s\n",
				'A' + order_side(i), kernel, ab->kernel, ab->folder);
			return 1;
		}
		r = one_run(ab, i, e);
		if (r == -EINTR) {
			fprintf(stderr, "stallmark: %s; %zu of %u runs are there; go on with: stallmark ab --resume %s\n", e->msg,
				ab->plan.done.n, all, ab->folder);
			return r;
		}
		if (r)
			return r;
		if (ab->plan.until_decided && i % 2 && look_is_due(i / 2 + 1)) {
			r = look(ab, i / 2 + 1, e);
			if (r < 0)
				return r;
		}
	}
	return 0;
}

static int begin(struct ab *ab, int argc, char **argv, struct err *e)
{
	cleanup_strbuf struct strbuf consent = STRBUF_INIT;
	int r;

	if (resume) {
		snprintf(ab->folder, sizeof(ab->folder), "%s", resume);
		snprintf(ab->file, sizeof(ab->file), "%s/plan", resume);
		r = argc ? err_set(e, -EINVAL, "--resume takes the scenario from the plan") : ab_plan_read(ab->file, &ab->plan, e);
	} else {
		r = argc ? new_plan(ab, argv[0], e) : err_set(e, -EINVAL, "which scenario? stallmark scenarios lists them");
	}
	r = r ?: prepare(ab, &consent, e);
	if (r)
		return r;
	if (!quiet || !yes) {
		fputs(strbuf_str(&consent), stderr);
		say_settings(ab);
	}
	if (!agreed())
		return err_set(e, -ECANCELED, "nothing was done");
	if (resume)
		return 0;
	if (mkdir(ab->folder, 0755))
		return err_sys(e, -errno, "cannot make the folder %s", ab->folder);
	return ab_plan_create(ab->file, &ab->plan, e);
}

static int run(int argc, char **argv)
{
	struct ab *ab = mem_alloc(sizeof(*ab));
	struct err e = { 0 };
	int code, r;

	r = begin(ab, argc, argv, &e);
	if (!r) {
		catch_signals();
		undo_stale(NULL, NULL);
		r = rounds(ab, &e);
	}
	if (r == -EINTR)
		code = 128 + (signalled ? signalled : SIGINT);
	else if (r < 0)
		code = cmd_fail(&e);
	else
		code = r ? EXIT_FINE : answer(ab, &e);
	for (int i = 0; i < 2; i++)
		ab_settings_done(&ab->side[i]);
	ab_plan_done(&ab->plan);
	free(ab);
	return code;
}

const struct cmd cmd_ab = {
	.name = "ab",
	.about = "two settings in turn on one scenario, fresh each time, and the verdict",
	.usage = "[options] SCENARIO --dir DIR --a K=V,... --b K=V,...",
	.group = "Measure",
	.options = options,
	.details = "Settings: scheduler=bfq, scheduler.TUNABLE=V, queue.ATTRIBUTE=V (of every disk under DIR), vm.dirty_*=V, "
		   "kernel=RELEASE (ab stops where a reboot is due), and any key of the scenario (write.n=16). Another filesystem, "
		   "mount options or disk only in a lab. What was changed is undone after each run, also after Ctrl-C.\n\n"
		   "stallmark ab --resume DIR goes on with the plan in that folder.\n\n"
		   "Each run is a record in the folder; stallmark compare 'FOLDER/a-*.smk' 'FOLDER/b-*.smk' judges them again.",
	.min_args = 0,
	.max_args = 1,
	.run = run,
};

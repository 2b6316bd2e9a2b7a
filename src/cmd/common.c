/* SPDX-License-Identifier: MIT */
#include "cmd/common.h"
#include "base/cleanup.h"
#include "base/strbuf.h"
#include "base/units.h"
#include "base/vec.h"
#include "cmd/cmd.h"
#include "config.h"
#include "report/report.h"

#include <errno.h>
#include <getopt.h>
#include <langinfo.h>
#include <locale.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define WIDTH 78

static const char *color_mode = "auto";	/* --color, accepted by every command */

static const struct cmd *find(const char *name)
{
	for (const struct cmd *const *c = cmd_table; *c; c++)
		if (!strcmp((*c)->name, name))
			return *c;
	return NULL;
}

/* Text wrapped at WIDTH, each line after the first indented by `indent`; the cursor is at column `col`. */
static void wrap(FILE *out, const char *text, int indent, int col)
{
	while (*text) {
		size_t word = strcspn(text, " \n");

		if (col > indent && col + 1 + (int)word > WIDTH) {
			fprintf(out, "\n%*s", indent, "");
			col = indent;
		} else if (col > indent) {
			fputc(' ', out);
			col++;
		}
		fwrite(text, 1, word, out);
		col += (int)word;
		text += word;
		while (*text == ' ')
			text++;
		if (*text == '\n') {
			fprintf(out, "\n%*s", text[1] ? indent : 0, "");
			col = indent;
			text++;
		}
	}
	fputc('\n', out);
}

void cmd_overview(FILE *out)
{
	static const char *const groups[] = { "Measure", "Read", "Machine" };

	fprintf(out, "stallmark: how long people wait when the disk is busy, what exactly they wait\n"
		     "for, and whether a change made it better or worse.\n\n"
		     "usage: stallmark COMMAND [options] [arguments]\n");
	for (size_t g = 0; g < ARRAY_SIZE(groups); g++) {
		bool first = true;

		for (const struct cmd *const *c = cmd_table; *c; c++) {
			if (strcmp((*c)->group, groups[g]))
				continue;
			if (first)
				fprintf(out, "\n%s\n", groups[g]);
			first = false;
			fprintf(out, "  %-11s ", (*c)->name);
			wrap(out, (*c)->about, 14, 14);
		}
	}
	fprintf(out, "\nstallmark COMMAND --help explains one; start with: stallmark run quick --dir DIR\n");
}

static void help_options(FILE *out, const struct cmd *c)
{
	const struct opt *o = c->options ? c->options() : NULL;

	if (o && o->name)
		fputs("\noptions:\n", out);
	for (; o && o->name; o++) {
		char left[80];
		int n = snprintf(left, sizeof(left), "  %c%c%s--%s%s%s%s", o->short_name ? '-' : ' ',
				 o->short_name ? o->short_name : ' ', o->short_name ? ", " : "  ", o->name,
				 o->arg ? (o->optional_arg ? "[=" : " ") : "", o->arg ? o->arg : "",
				 o->optional_arg ? "]" : "");

		fputs(left, out);
		if (n > 27)
			fprintf(out, "\n%*s", 28, "");
		else
			fprintf(out, "%*s", 28 - n, "");
		wrap(out, o->help, 28, 28);
	}
}

static void help_one(FILE *out, const struct cmd *c)
{
	int at = fprintf(out, "usage: stallmark %s ", c->name);

	wrap(out, c->usage, at, at);
	fputc('\n', out);
	wrap(out, c->about, 0, 0);
	help_options(out, c);
	if (c->details) {
		fputc('\n', out);
		wrap(out, c->details, 0, 0);
	}
}

static int unknown(const char *name)
{
	VEC(const char *) names = { 0 };
	const char *near;

	for (const struct cmd *const *c = cmd_table; *c; c++)
		vec_push(&names, (*c)->name);
	near = units_nearest(name, names.p, names.n);
	if (near)
		fprintf(stderr, "stallmark: there is no command '%s'; did you mean '%s'?\n", name, near);
	else
		fprintf(stderr, "stallmark: there is no command '%s'; stallmark --help lists them\n", name);
	vec_done(&names);
	return EXIT_TROUBLE;
}

int cmd_help(const char *name)
{
	const struct cmd *c;

	if (!name) {
		cmd_overview(stdout);
		return EXIT_FINE;
	}
	c = find(name);
	if (!c)
		return unknown(name);
	help_one(stdout, c);
	return EXIT_FINE;
}

void cmd_version(void)
{
	puts("stallmark " STALLMARK_VERSION);
}

int cmd_usage(const char *cmd, const char *fmt, ...)
{
	va_list ap;

	fprintf(stderr, "stallmark %s: ", cmd);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fprintf(stderr, "; stallmark %s --help shows how\n", cmd);
	return EXIT_TROUBLE;
}

int cmd_fail(const struct err *e)
{
	fprintf(stderr, "stallmark: %s\n", e->msg[0] ? e->msg : strerror(-e->code));
	return EXIT_TROUBLE;
}

bool cmd_colour(int fd)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	if (!strcmp(color_mode, "always"))
		return true;
	if (!strcmp(color_mode, "never") || (no && *no) || !term || !strcmp(term, "dumb"))
		return false;
	return isatty(fd);
}

int cmd_print_page(const struct page *p, const char *format, bool verbose)
{
	const struct report_ops *ops;
	struct report_conf conf = { .width = 78, .colour = cmd_colour(STDOUT_FILENO), .verbose = verbose };
	cleanup_strbuf struct strbuf out = STRBUF_INIT;
	struct err e = { 0 };

	ops = plug_need(report_table, "format", format ? format : "term", &e);
	if (!ops)
		return cmd_fail(&e);
	setlocale(LC_CTYPE, "");
	conf.utf8 = !strcmp(nl_langinfo(CODESET), "UTF-8");
	ops->write(p, &conf, &out);
	if (out.len && fwrite(out.s, 1, out.len, stdout) != out.len)
		return cmd_fail(&(struct err){ .code = -errno, .msg = "could not write to standard output" });
	if (fflush(stdout)) {
		err_sys(&e, -errno, "could not write to standard output");
		return cmd_fail(&e);
	}
	return EXIT_FINE;
}

/* The environment's folder first (tests, running from the source tree), then the installed one, then the source. */
static const char *const *dirs(const char *env, const char *sub, const char *dir[4], char buf[2][512])
{
	const char *e = getenv(env);
	int n = 0;

	if (e && *e)
		dir[n++] = e;
	snprintf(buf[0], 512, "%s/%s", DATADIR, sub);
	snprintf(buf[1], 512, "%s/%s", SOURCE_DIR, sub);
	dir[n++] = buf[0];
	dir[n++] = buf[1];
	dir[n] = NULL;
	return dir;
}

const char *const *cmd_scenario_dirs(void)
{
	static const char *dir[4];
	static char buf[2][512];

	return dirs("STALLMARK_SCENARIOS", "scenarios", dir, buf);
}

const char *const *cmd_profile_dirs(void)
{
	static const char *dir[4];
	static char buf[2][512];

	return dirs("STALLMARK_PROFILES", "profiles", dir, buf);
}

#define OPT_HELP	0x1000
#define OPT_COLOR	0x1001
#define OPT_FIRST	0x2000

static int set_option(const struct opt *o, const char *arg)
{
	switch (o->type) {
	case OPT_FLAG:
		*(bool *)o->value = true;
		break;
	case OPT_TEXT:
		*(const char **)o->value = arg ? arg : "";
		break;
	case OPT_LIST: {
		struct opt_list *l = o->value;

		l->v = mem_realloc(l->v, (l->n + 1) * sizeof(*l->v));
		l->v[l->n++] = arg;
		break;
	}
	}
	return 0;
}

static int bad_option(const struct cmd *c, const struct opt *opts, char **argv, int c_ret)
{
	const char *word = argv[optind > 1 ? optind - 1 : 1];
	VEC(const char *) names = { 0 };
	const char *near = NULL;
	char plain[64];

	if (c_ret == ':')
		return cmd_usage(c->name, "option '%s' needs a value", word);
	if (word[0] == '-' && word[1] == '-') {
		snprintf(plain, sizeof(plain), "%.*s", (int)strcspn(word + 2, "="), word + 2);
		for (const struct opt *o = opts; o && o->name; o++)
			vec_push(&names, o->name);
		near = units_nearest(plain, names.p, names.n);
	}
	vec_done(&names);
	if (near)
		return cmd_usage(c->name, "there is no option '%s'; did you mean '--%s'?", word, near);
	return cmd_usage(c->name, "there is no option '%s'", word);
}

int cmd_dispatch(int argc, char **argv)
{
	const struct cmd *c = find(argv[0]);
	VEC(struct option) lo = { 0 };
	cleanup_strbuf struct strbuf so = STRBUF_INIT;
	const struct opt *opts;
	int got, n, i = 0;

	if (!c)
		return unknown(argv[0]);
	opts = c->options ? c->options() : NULL;
	strbuf_adds(&so, ":h");
	vec_push(&lo, ((struct option){ "help", no_argument, NULL, OPT_HELP }));
	vec_push(&lo, ((struct option){ "color", required_argument, NULL, OPT_COLOR }));
	for (const struct opt *o = opts; o && o->name; o++, i++) {
		int has = o->type == OPT_FLAG ? no_argument : o->optional_arg ? optional_argument : required_argument;

		vec_push(&lo, ((struct option){ o->name, has, NULL, OPT_FIRST + i }));
		if (o->short_name)
			strbuf_addf(&so, "%c%s", o->short_name, has == required_argument ? ":" : "");
	}
	vec_push(&lo, ((struct option){ 0 }));
	opterr = 0;
	optind = 1;
	while ((got = getopt_long(argc, argv, strbuf_str(&so), lo.p, NULL)) != -1) {
		if (got == 'h' || got == OPT_HELP) {
			help_one(stdout, c);
			vec_done(&lo);
			return EXIT_FINE;
		}
		if (got == OPT_COLOR) {
			color_mode = optarg;
			continue;
		}
		if (got == '?' || got == ':') {
			vec_done(&lo);
			return bad_option(c, opts, argv, got);
		}
		for (const struct opt *o = opts; o && o->name; o++)
			if (got == OPT_FIRST + (int)(o - opts) || (got < 256 && got == o->short_name))
				set_option(o, optarg);
	}
	vec_done(&lo);
	n = argc - optind;
	if (n < c->min_args)
		return cmd_usage(c->name, "too few arguments (%s)", c->usage);
	if (c->max_args >= 0 && n > c->max_args)
		return cmd_usage(c->name, "'%s' is one argument too many", argv[optind + c->max_args]);
	return c->run(n, argv + optind);
}

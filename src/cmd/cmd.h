/* SPDX-License-Identifier: MIT */
/*
 * Subcommands: one file each, one table (cmd/meson.build). Options are data,
 * help is made from them. Only cmd/ prints: results on stdout, the rest on
 * stderr. Exit codes: 0 fine, 1 gate failed, 2 usage, configuration or
 * environment, 3 undecided with --strict, 130/143 signals.
 */
#ifndef CMD_CMD_H
#define CMD_CMD_H

#include "base/err.h"
#include "page/page.h"

#include <stdbool.h>
#include <stddef.h>

enum { EXIT_FINE = 0, EXIT_GATE = 1, EXIT_TROUBLE = 2, EXIT_UNDECIDED = 3 };

enum opt_type {
	OPT_FLAG,	/* bool */
	OPT_TEXT,	/* const char * */
	OPT_LIST,	/* struct opt_list: may be given several times */
};

struct opt_list {
	const char **v;
	size_t n;
};

struct opt {
	char short_name;	/* 0: none */
	const char *name;	/* "record-dir" */
	enum opt_type type;
	void *value;		/* where it goes */
	const char *arg;	/* name of the argument in help: "DIR"; NULL for flags */
	const char *help;
	bool optional_arg;	/* OPT_TEXT: "--trace" alone sets "" */
};

struct cmd {
	const char *name;
	const char *about;	/* one line */
	const char *usage;	/* "[options] SCENARIO" */
	const char *group;	/* "Measure", "Read", "Machine" */
	const struct opt *(*options)(void);	/* ends with a NULL name; sets the values to their defaults */
	const char *details;	/* paragraphs under the options in --help; may be NULL */
	int min_args, max_args;	/* positional; max -1: any */
	int (*run)(int argc, char **argv);	/* positional arguments only; returns the exit code */
};

extern const struct cmd *const cmd_table[];	/* ends with NULL, sorted by name */

/* For commands: */
int cmd_fail(const struct err *e);			/* prints "stallmark: sentence", returns EXIT_TROUBLE */
/* `stallmark: run: sentence` + hint to --help */
int cmd_usage(const char *cmd, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Writes the page to stdout in the format (NULL: term). colour/width from the terminal. */
int cmd_print_page(const struct page *p, const char *format, bool verbose);
bool cmd_colour(int fd);				/* tty, no NO_COLOR, TERM not dumb, --color */
const char *const *cmd_scenario_dirs(void);		/* where shipped scenarios are */
const char *const *cmd_profile_dirs(void);		/* where shipped disk profiles are */

#endif

/* SPDX-License-Identifier: MIT */
/* stallmark scenarios: what can be run, with the question each one asks; or the text of one. */
#include "base/cleanup.h"
#include "base/mem.h"
#include "cmd/cmd.h"
#include "scenario/scenario.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static bool json;

static const struct opt *options(void)
{
	static const struct opt o[] = {
		{ 0, "json", OPT_FLAG, &json, NULL, "one JSON document" },
		{ 0 },
	};

	json = false;
	return o;
}

/* The file as it is, comments and all. */
static int print_text(const char *name)
{
	struct scenario *s = NULL;
	struct err e = { 0 };
	char buf[65536];
	size_t n;

	if (scenario_load(name, cmd_scenario_dirs(), NULL, 0, &s, &e) == -ENOENT)
		return cmd_fail(&e);
	for (const char *const *d = cmd_scenario_dirs(); *d; d++) {
		cleanup_free char *path = mem_printf("%s/%s.scenario", *d, name);
		cleanup_file FILE *f = fopen(path, "re");

		if (!f)
			continue;
		while ((n = fread(buf, 1, sizeof(buf), f)) > 0)
			fwrite(buf, 1, n, stdout);
		break;
	}
	scenario_free(s);
	return EXIT_FINE;
}

static void row(struct node *table, const char *name)
{
	struct scenario *s = NULL;
	struct err e = { 0 };
	struct node *r = page_row(table);
	cleanup_strbuf struct strbuf probes = STRBUF_INIT, loads = STRBUF_INIT;

	page_cell(r, "name", NULL, val_text(name));
	if (scenario_load(name, cmd_scenario_dirs(), NULL, 0, &s, &e)) {	/* one that needs -D is still listed */
		page_cell(r, "question", NULL, val_text(e.msg));
		return;
	}
	page_cell(r, "question", NULL, val_text(s->question));
	for (size_t i = 0; i < s->nsections; i++) {
		struct strbuf *b = s->sections[i].kind[0] == 'p' ? &probes : s->sections[i].kind[0] == 'l' &&
				   s->sections[i].kind[1] == 'o' ? &loads : NULL;

		if (b)
			strbuf_addf(b, "%s%s", b->len ? " " : "", s->sections[i].label);
	}
	page_cell(r, "probes", NULL, val_text(strbuf_str(&probes)));
	page_cell(r, "loads", NULL, val_text(strbuf_str(&loads)));
	scenario_free(s);
}

static int run(int argc, char **argv)
{
	struct page *p;
	struct node *table;
	char **names = NULL;
	size_t n = 0;
	int code;

	if (argc == 1)
		return print_text(argv[0]);
	p = page_new("stallmark.scenarios/1");
	table = page_table(p->root, "scenarios", NULL);
	page_column(table, "name", "scenario", 0);
	page_column(table, "question", "what it asks", 0);
	page_column(table, "probes", "probes", NODE_JSON_ONLY);
	page_column(table, "loads", "loads", NODE_JSON_ONLY);
	scenario_names(cmd_scenario_dirs(), &names, &n, NULL);
	for (size_t i = 0; i < n; i++) {
		row(table, names[i]);
		free(names[i]);
	}
	free(names);
	if (!n)
		page_text(p->root, "No scenarios were found; they are installed beside the program.");
	page_text(p->root, "\nstallmark scenarios NAME prints one with its parameters, cost and risk; stallmark run NAME --dir DIR "
			   "runs it.");
	code = cmd_print_page(p, json ? "json" : NULL, false);
	page_free(p);
	return code;
}

const struct cmd cmd_scenarios = {
	.name = "scenarios",
	.about = "list the shipped scenarios, or print one",
	.usage = "[options] [NAME]",
	.group = "Measure",
	.options = options,
	.min_args = 0,
	.max_args = 1,
	.run = run,
};

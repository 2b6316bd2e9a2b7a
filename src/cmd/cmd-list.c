/* SPDX-License-Identifier: MIT */
/* stallmark list: what can be named in a scenario or on the command line, or one of them with its parameters. */
#include "analyze/cause.h"
#include "base/cleanup.h"
#include "base/units.h"
#include "base/vec.h"
#include "cmd/cmd.h"
#include "collect/source.h"
#include "format/format.h"
#include "load/load.h"
#include "model/disk.h"
#include "perform/perform.h"
#include "probe/probe.h"
#include "report/report.h"

#include <errno.h>
#include <string.h>

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

struct kind {
	const char *one, *many;		/* "probe", "probes" */
	const char *heading;
	const void *const *table;	/* of pointers to ops structs that begin with struct plug */
	void (*more)(struct node *g, const void *ops);	/* what only this kind has */
};

static void more_probe(struct node *g, const void *ops)
{
	const struct probe_ops *o = ops;
	cleanup_strbuf struct strbuf steps = STRBUF_INIT;
	bool open = o->loop == LOOP_OPEN;

	for (const char *const *s = o->steps; s && *s; s++)
		strbuf_addf(&steps, "%s%s", s == o->steps ? "" : ", ", *s);
	page_cell(g, "measures", "one sample", val_text(o->measures));
	page_cell(g, "loop", "loop", val_text(open ? "open: it comes whether or not the last one is done"
						    : "closed: the next begins a pause after the last one ended"));
	if (open)
		page_cell(g, "rate", "rate", val(o->interval ? 1e9 / (double)o->interval : 0, UNIT_PER_S));
	else
		page_cell(g, "pause", "pause", val_nsec(o->interval));
	page_cell(g, "limit", "stuck over", val_nsec(o->limit));
	page_cell(g, "interactive", "counts for the grade", val_bool(o->interactive));
	page_cell(g, "wants_cold", "needs a cold cache", val_bool(o->wants_cold));
	page_cell(g, "steps", "steps", val_text(strbuf_str(&steps)));
	if (o->why_no_sim)
		page_cell(g, "why_no_sim", "not in the simulator", val_text(o->why_no_sim));
}

static void more_load(struct node *g, const void *ops)
{
	static const char *const words[] = { "reads", "writes", "memory", "CPU", "runs a program" };
	const struct load_ops *o = ops;
	cleanup_strbuf struct strbuf t = STRBUF_INIT;

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (o->touches & 1u << i)
			strbuf_addf(&t, "%s%s", t.len ? ", " : "", words[i]);
	page_cell(g, "touches", "touches", val_text(strbuf_str(&t)));
	page_cell(g, "counts", "counts", val_text(o->unit_name ? o->unit_name : "bytes only"));
	page_cell(g, "performer", "by", val_text(o->performer ? o->performer : "its own code"));
	page_cell(g, "scales", "shrinks to the space at hand", val_bool(o->scale));
	if (o->why_no_sim)
		page_cell(g, "why_no_sim", "not in the simulator", val_text(o->why_no_sim));
}

static void more_format(struct node *g, const void *ops)
{
	const struct format_ops *o = ops;

	page_cell(g, "reads", "is read", val_bool(o->import));
	page_cell(g, "writes", "is written", val_bool(o->export_));
}

static void more_cause(struct node *g, const void *ops)
{
	const struct cause_ops *o = ops;

	page_cell(g, "whom", "behind it", val_text(o->whom));
	page_cell(g, "remedy", "what may help", val_text(o->remedy));
	page_cell(g, "ab", "tested by", val_text(o->ab));
}

static const struct kind kinds[] = {
	{ "probe", "probes", "Probes: what is measured, [probe NAME] in a scenario", probe_table, more_probe },
	{ "load", "loads", "Loads: what disturbs, [load NAME]", load_table, more_load },
	{ "disk", "disks", "Modelled disks, for the lab and the simulator", disk_table, NULL },
	{ "format", "formats", "Foreign files, --as NAME", format_table, more_format },
	{ "report", "reports", "Ways to write an answer, --format NAME", report_table, NULL },
	{ "source", "sources", "What is watched during a run", source_table, NULL },
	{ "cause", "causes", "Causes that explain finds", (const void *const *)cause_table, more_cause },
	{ "performer", "performers", "Who performs", perform_table, NULL },
};

static const char *type_word(const struct param *p, struct strbuf *words)
{
	switch (p->type) {
	case PARAM_BOOL:
		return "yes or no";
	case PARAM_COUNT:
		return "count";
	case PARAM_SIZE:
		return "size";
	case PARAM_NSEC:
		return "time";
	case PARAM_NUMBER:
		return "number";
	case PARAM_SHARE:
		return "share";
	case PARAM_TEXT:
		return "text";
	case PARAM_WORD:
		for (const char *const *w = p->words; *w; w++)
			strbuf_addf(words, "%s%s", w == p->words ? "" : "|", *w);
		return strbuf_str(words);
	}
	return "";
}

static void add_params(struct node *g, const struct plug *plug)
{
	struct node *t;

	if (!plug->params || !plug->params->name)
		return;
	t = page_table(g, "parameters", NULL);
	page_column(t, "name", "key", 0);
	page_column(t, "default", "default", 0);
	page_column(t, "type", "is", 0);
	page_column(t, "help", "means", 0);
	for (const struct param *p = plug->params; p->name; p++) {
		cleanup_strbuf struct strbuf words = STRBUF_INIT;
		struct node *r = page_row(t);

		page_cell(r, "name", NULL, val_text(p->name));
		page_cell(r, "default", NULL, val_text(p->def));
		page_cell(r, "type", NULL, val_text(type_word(p, &words)));
		page_cell(r, "help", NULL, val_text(p->help));
	}
}

static void add_overview(struct page *p, const struct kind *k)
{
	struct node *t = page_table(p->root, k->many, k->heading);

	page_column(t, "name", k->one, 0);
	page_column(t, "about", "what it is", 0);
	for (const void *const *e = k->table; *e; e++) {
		const struct plug *plug = *e;
		struct node *r = page_row(t);

		page_cell(r, "name", NULL, val_text(plug->name));
		page_cell(r, "about", NULL, val_text(plug->about));
	}
}

static void add_detail(struct node *list, const struct kind *k, const void *ops)
{
	const struct plug *plug = ops;
	struct node *g = page_group(list, NULL, NULL);

	page_cell(g, "kind", "kind", val_text(k->one));
	page_cell(g, "name", "name", val_text(plug->name));
	page_cell(g, "about", "what it is", val_text(plug->about));
	if (k->more)
		k->more(g, ops);
	add_params(g, plug);
}

static int no_such(const char *word)
{
	VEC(const char *) names = { 0 };
	struct err e = { 0 };
	const char *near;

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		vec_push(&names, kinds[i].many);
		for (const void *const *t = kinds[i].table; *t; t++)
			vec_push(&names, ((const struct plug *)*t)->name);
	}
	near = units_nearest(word, names.p, names.n);
	if (near)
		err_set(&e, -ENOENT, "list: there is nothing called '%s'; did you mean '%s'?", word, near);
	else
		err_set(&e, -ENOENT, "list: there is nothing called '%s'; stallmark list shows all", word);
	vec_done(&names);
	return cmd_fail(&e);
}

static int run(int argc, char **argv)
{
	struct page *p = page_new("stallmark.list/1");
	struct node *found = NULL;
	bool any = argc == 0;
	int code;

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		const struct kind *k = &kinds[i];
		const void *ops = argc ? plug_find(k->table, argv[0]) : NULL;

		if (!argc || !strcmp(argv[0], k->many) || !strcmp(argv[0], k->one)) {
			add_overview(p, k);
			any = true;
		} else if (ops) {
			if (!found)
				found = page_list(p->root, "found", NULL);
			add_detail(found, k, ops);
		}
	}
	if (!any && !found) {
		page_free(p);
		return no_such(argv[0]);
	}
	if (any)
		page_text(p->root, "stallmark list NAME shows one with its parameters; in a scenario they are keys of its section, on the "
				   "command line -D NAME.KEY=VALUE.");
	code = cmd_print_page(p, json ? "json" : NULL, false);
	page_free(p);
	return code;
}

const struct cmd cmd_list = {
	.name = "list",
	.about = "list probes, loads, disks, formats; or one with its parameters",
	.usage = "[options] [KIND|NAME]",
	.group = "Measure",
	.options = options,
	.details = "KIND is one of probes, loads, disks, formats, reports, sources, causes, performers.",
	.min_args = 0,
	.max_args = 1,
	.run = run,
};

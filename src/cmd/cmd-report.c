/* SPDX-License-Identifier: MIT */
/* stallmark report: one HTML file about one or two records. */
#include "analyze/analyze.h"
#include "analyze/compare.h"
#include "analyze/explain.h"
#include "analyze/report.h"
#include "base/cleanup.h"
#include "base/mem.h"
#include "cmd/cmd.h"
#include "report/report.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

static const char *output;

static const struct opt *options(void)
{
	static const struct opt opts[] = {
		{ 'o', "output", OPT_TEXT, &output, "FILE", "where to write; default: the record's name with .html" },
		{ 0 },
	};

	output = NULL;
	return opts;
}

/* Complete or not at all: a report that is cut would still open in a browser. */
static int write_file(const char *name, const struct strbuf *text, struct err *e)
{
	cleanup_free char *tmp = mem_printf("%s.tmp", name);
	int fd = open(tmp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	size_t done = 0;

	if (fd < 0)
		return err_sys(e, -errno, "cannot write the report %s", name);
	while (done < text->len) {
		ssize_t n = write(fd, text->s + done, text->len - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			err_sys(e, -errno, "cannot write the report %s", name);
			close(fd);
			unlink(tmp);
			return e->code;
		}
		done += (size_t)n;
	}
	if (close(fd) || rename(tmp, name)) {
		err_sys(e, -errno, "cannot write the report %s", name);
		unlink(tmp);
		return e->code;
	}
	return 0;
}

static void as_json(const struct page *p, struct strbuf *out)
{
	const struct report_ops *json = plug_find(report_table, "json");
	struct report_conf conf = { 0 };

	json->write(p, &conf, out);
}

static int one_side(struct page *p, const struct report_side *s, size_t n, struct err *e)
{
	char label[64];
	struct node *g;
	struct page *show;
	int err = analyze_show(s->rec, &show, e);

	if (err)
		return err;
	{
		cleanup_strbuf struct strbuf json = STRBUF_INIT;
		char name[64];

		as_json(show, &json);
		snprintf(label, sizeof(label), n > 1 ? "Result of %s" : "Result", s->name);
		g = page_group(p->root, NULL, label);
		page_adopt(g, show);
		snprintf(name, sizeof(name), "show%s%s.json", *s->name ? "-" : "", s->name);
		page_file(g, name, "application/json", strbuf_str(&json));
	}
	return 0;
}

/* A against B as compare says it; what differs between the two is listed there, not refused. */
static int comparison(struct page *p, const struct report_side *sides, struct err *e)
{
	struct compare_conf conf = { .alpha = 0.05, .margin = 0.10, .share_margin = 0.01, .allow_different = true };
	struct side *side[2] = { side_new("A"), side_new("B") };
	struct compare_outcome out = { 0 };
	struct page *verdict = NULL;
	int err = 0;

	for (int i = 0; i < 2 && !err; i++)
		err = side_add_record(side[i], sides[i].rec, rec_path(sides[i].rec), e);
	if (!err)
		err = analyze_compare(side, 2, &conf, &verdict, &out, e);
	if (!err)
		page_adopt(page_group(p->root, NULL, "A against B"), verdict);
	side_free(side[0]);
	side_free(side[1]);
	return err;
}

static void explained(struct page *p, const struct report_side *s, size_t n)
{
	struct explain_conf conf = { .show = 20 };
	struct err why_not = { 0 };
	struct page *why;
	struct node *g;
	char label[64];

	snprintf(label, sizeof(label), n > 1 ? "Why, and who, in %s" : "Why, and who", s->name);
	g = page_group(p->root, NULL, label);
	if (analyze_explain(s->rec, &conf, &why, &why_not))
		page_text(g, "%s.", why_not.msg);	/* not traced: the rest of the report is still worth reading */
	else
		page_adopt(g, why);
}

static int sections(struct page *p, const struct report_side *sides, size_t n, struct err *e)
{
	int err = n > 1 ? comparison(p, sides, e) : 0;

	for (size_t i = 0; i < n && !err; i++)
		err = one_side(p, &sides[i], n, e);
	if (!err)
		err = report_stuck(page_group(p->root, NULL, "How stuck"), sides, n, e);
	for (size_t i = 0; i < n && !err; i++) {
		char label[64], group[16];

		snprintf(label, sizeof(label), n > 1 ? "Over time, %s" : "Over time", sides[i].name);
		snprintf(group, sizeof(group), "time%zu", i);
		err = report_timeline(page_group(p->root, NULL, label), &sides[i], group, e);
	}
	for (size_t i = 0; i < n && !err; i++)
		explained(p, &sides[i], n);
	for (size_t i = 0; i < n && !err; i++) {
		char label[64];

		snprintf(label, sizeof(label), n > 1 ? "Caught stuck in %s" : "Caught stuck", sides[i].name);
		err = report_stalls(page_group(p->root, NULL, label), &sides[i], e);
	}
	if (!err)
		err = report_strips(page_group(p->root, NULL, "Run by run"), sides, n, e);
	if (!err)
		report_environment(page_group(p->root, NULL, "Environment"), sides, n);
	return err;
}

static int run(int argc, char **argv)
{
	static const char *const side_name[] = { "A", "B" };
	struct report_side sides[2] = { 0 };
	cleanup_strbuf struct strbuf html = STRBUF_INIT;
	cleanup_free char *name = NULL;
	struct report_conf conf = { 0 };
	struct page *p = page_new("stallmark.report/1");
	struct err e = { 0 };
	int err = 0;

	for (int i = 0; i < argc && !err; i++) {
		sides[i].name = argc > 1 ? side_name[i] : "";
		err = rec_open(argv[i], &sides[i].rec, &e);
	}
	if (!err)
		err = sections(p, sides, (size_t)argc, &e);
	if (!err) {
		size_t len = strlen(argv[0]);

		if (len > 4 && !strcmp(argv[0] + len - 4, ".smk"))
			len -= 4;
		name = output ? mem_dup(output) : mem_printf("%.*s.html", (int)len, argv[0]);
		((const struct report_ops *)plug_find(report_table, "html"))->write(p, &conf, &html);
		err = write_file(name, &html, &e);
	}
	for (int i = 0; i < argc; i++)
		rec_close(sides[i].rec);
	page_free(p);
	return err ? cmd_fail(&e) : EXIT_FINE;
}

const struct cmd cmd_report = {
	.name = "report",
	.about = "one HTML file with pictures about one or two runs",
	.usage = "[options] FILE [FILE]",
	.group = "Read",
	.options = options,
	.min_args = 1,
	.max_args = 2,
	.run = run,
};

/* SPDX-License-Identifier: MIT */
/*
 * pg_test_fsync: sections of "METHOD   3177.689 ops/sec     315 usecs/op" or "n/a". Rates and mean times; the times are
 * rounded to microseconds, so they are made from the rates, which have seven digits.
 */
#include "base/cleanup.h"
#include "format/text.h"

#include <errno.h>
#include <string.h>

static const struct { const char *heading, *name; } sections[] = {
	{ "Compare file sync methods using one", "one 8kB write" },
	{ "Compare file sync methods using two", "two 8kB writes" },
	{ "Compare open_sync with different", "16kB in pieces" },
	{ "Test if fsync on non-write", "other descriptor" },
	{ "Non-sync", "not synced" },
};

/* "  open_datasync    2412.824 ops/sec  414 usecs/op": where the name ends, and the rate. */
static bool read_rate(const char *line, size_t *ret_name, double *ret_rate)
{
	const char *unit = strstr(line, " ops/sec"), *s = unit;

	if (!unit)
		return false;
	while (s > line && s[-1] == ' ')
		s--;
	while (s > line && strchr("0123456789.,", s[-1]))
		s--;
	if (!text_number(&s, ret_rate) || !(*ret_rate > 0))
		return false;
	s = unit;
	while (s > line && s[-1] == ' ')
		s--;
	while (s > line && s[-1] != ' ')
		s--;
	while (s > line && s[-1] == ' ')
		s--;
	*ret_name = (size_t)(s - line);
	return *ret_name > 0;
}

static int pg_import(struct input *in, const struct import_sink *sink, struct err *e)
{
	const char *section = "";
	uint64_t n = 0;
	char *line;
	int r = 0;

	while (!r && input_line(in, &line)) {
		const char *s = text_skip(line);
		size_t len;
		double rate;

		for (size_t i = 0; i < ARRAY_SIZE(sections); i++)
			if (!strncmp(s, sections[i].heading, strlen(sections[i].heading)))
				section = sections[i].name;
		if (read_rate(s, &len, &rate)) {
			cleanup_free char *name = mem_printf("%.*s%s%s%s", (int)len, s, *section ? " (" : "", section,
							     *section ? ")" : "");
			cleanup_free char *mean = mem_printf("%s.mean", name);

			n++;
			r = sink->number(sink->ctx, name, "/s", rate, 1);
			if (!r)
				r = sink->number(sink->ctx, mean, "s", 1 / rate, -1);
		}
	}
	if (!r && !n)
		r = err_set(e, -ENODATA, "'%s' holds no rates of pg_test_fsync", in->name);
	return r;
}

struct look {
	unsigned rates;
	bool heading;
};

static void look_line(void *ctx, const char *line)
{
	struct look *l = ctx;
	double rate;
	size_t n;

	l->heading |= strstr(line, "Compare file sync methods") != NULL;
	l->rates += strstr(line, "usecs/op") && read_rate(text_skip(line), &n, &rate);
}

static int pg_sniff(const uint8_t *head, size_t n, const char *name)
{
	struct look l = { 0 };

	text_head_lines(head, n, look_line, &l);
	return l.rates ? l.heading ? 95 : 70 : 0;
}

const struct format_ops format_pg_test_fsync = {
	.plug = { .name = "pg-test-fsync", .about = "pg_test_fsync" },
	.sniff = pg_sniff,
	.import = pg_import,
};

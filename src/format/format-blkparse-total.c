/* SPDX-License-Identifier: MIT */
/*
 * The totals at the end of blkparse's output: "Total (sde):" and pairs of counts and sizes. blkparse cuts numbers over a
 * million by 1000 and appends K, M ...; so does it with KiB: one "MiB" here is 1000 KiB. Numbers are grouped as the
 * locale wants it. Lines around it like "fs_mark: 307.288 files/sec" are taken as numbers too.
 */
#include "base/cleanup.h"
#include "format/text.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

struct totals {
	const struct import_sink *sink;
	uint64_t numbers, cut_counts, cut_sizes;
	bool in_total, in_cpu;
	unsigned cpus, devices;
	char device[32];		/* "sdb." for the second device and later */
	struct strbuf only_cpu;		/* the first CPU's lines: with one CPU blkparse prints no total */
};

static const struct { const char *label, *name; bool size; } fields[] = {
	{ "Reads Queued:", "reads_queued", true }, { "Writes Queued:", "writes_queued", true },
	{ "Read Dispatches:", "read_dispatches", true }, { "Write Dispatches:", "write_dispatches", true },
	{ "Reads Requeued:", "reads_requeued", false }, { "Writes Requeued:", "writes_requeued", false },
	{ "Reads Completed:", "reads_completed", true }, { "Writes Completed:", "writes_completed", true },
	{ "Read Merges:", "read_merges", true }, { "Write Merges:", "write_merges", true },
	{ "Read depth:", "read_depth", false }, { "Write depth:", "write_depth", false },
	{ "IO unplugs:", "io_unplugs", false }, { "Timer unplugs:", "timer_unplugs", false },
};

/* K = 1000, M = 1000 K ... ; 1 for none. */
static double steps(char c)
{
	return c == 'K' ? 1e3 : c == 'M' ? 1e6 : c == 'G' ? 1e9 : c == 'T' ? 1e12 : 1;
}

/* "345,407", "1,566K" */
static bool count(const char **p, double *ret, bool *ret_cut)
{
	uint64_t n;

	if (!text_grouped(p, &n))
		return false;
	*ret_cut = steps(**p) > 1;
	*ret = (double)n * steps(**p);
	*p += *ret_cut;
	return true;
}

/* "86,834MiB": in bytes. KiB are true; each step above is 1000 of the one below. */
static bool size(const char **p, double *ret, bool *ret_cut)
{
	const char *s = *p;
	uint64_t n;

	if (!text_grouped(&s, &n) || !strchr("KMGT", *s) || !*s || s[1] != 'i' || s[2] != 'B')
		return false;
	*ret_cut = *s != 'K';
	*ret = (double)n * steps(*s) / 1e3 * 1024;
	*p = s + 3;
	return true;
}

static int tell(struct totals *t, const char *name, const char *suffix, const char *unit, double x, int better)
{
	cleanup_free char *full = mem_printf("%s%s%s", t->device, name, suffix);

	t->numbers++;
	return t->sink->number(t->sink->ctx, full, unit, x, better);
}

static int field(struct totals *t, size_t i, const char *s)
{
	double x;
	bool cut;
	int r;

	s = text_skip(s);
	if (!count(&s, &x, &cut))
		return 0;
	t->cut_counts += cut;
	r = tell(t, fields[i].name, "", "count", x, 0);
	if (r || !fields[i].size)
		return r;
	s += *s == ',';
	s = text_skip(s);
	if (!size(&s, &x, &cut))
		return 0;
	t->cut_sizes += cut;
	return tell(t, fields[i].name, "_bytes", "bytes", x, 0);
}

static int total_line(struct totals *t, const char *line)
{
	const char *s;
	double x;
	bool cut;
	int r = 0;

	for (size_t i = 0; !r && i < ARRAY_SIZE(fields); i++) {
		s = strstr(line, fields[i].label);
		if (s)
			r = field(t, i, s + strlen(fields[i].label));
	}
	s = strstr(line, "Throughput (R/W):");
	if (r || !s)
		return r;
	s = text_skip(s + strlen("Throughput (R/W):"));
	if (!size(&s, &x, &cut))
		return 0;
	r = tell(t, "read_throughput", "", "bytes/s", x, 1);
	s = strchr(s, '/');			/* "/s / 20,776KiB/s" */
	s = s ? strchr(s + 1, '/') : NULL;
	s = s ? text_skip(s + 1) : "";
	return r || !size(&s, &x, &cut) ? r : tell(t, "write_throughput", "", "bytes/s", x, 1);
}

/* "fs_mark: 307.288 files/sec", "fio: 286509 KB/s" */
static int rate_line(struct totals *t, const char *line)
{
	const char *colon = strstr(line, ": "), *s;
	cleanup_free char *name = NULL;
	double x;

	if (!colon || colon == line || colon - line > 40 || strpbrk(line, "(\t"))
		return 0;
	s = colon + 2;
	if (!text_number(&s, &x) || x < 0)
		return 0;
	for (const char *c = line; c < colon; c++)
		if (!isalnum((unsigned char)*c) && !strchr("_- .", *c))
			return 0;
	name = mem_dupn(line, (size_t)(colon - line));
	s = text_skip(s);
	if (!strcmp(s, "files/sec") || !strcmp(s, "files/s"))
		return tell(t, name, ".files_per_s", "/s", x, 1);
	if (!strcmp(s, "KB/s") || !strcmp(s, "KiB/s"))
		return tell(t, name, ".throughput", "bytes/s", x * 1024, 1);
	if (!strcmp(s, "MB/s") || !strcmp(s, "MiB/s"))
		return tell(t, name, ".throughput", "bytes/s", x * 1048576, 1);
	return 0;
}

static int begin_total(struct totals *t, const char *device)
{
	int n = (int)strcspn(device, ")");

	t->in_total = true;
	t->in_cpu = false;
	if (t->devices++) {
		snprintf(t->device, sizeof(t->device), "%.*s.", n, device);
		return 0;
	}
	return text_fact(t->sink, "device", "%.*s", n, device);
}

static int one_line(struct totals *t, const char *line)
{
	const char *s = text_skip(line);

	if (text_take(&s, "Total ("))
		return begin_total(t, s);
	if (!strncmp(s, "CPU", 3) && strchr(s, '(') && strchr(s, ':')) {
		t->in_cpu = true;
		t->in_total = false;
		t->cpus++;
		if (t->cpus == 1)
			strbuf_addf(&t->only_cpu, "Total %s\n", strchr(s, '('));
		return 0;
	}
	if (t->in_total)
		return total_line(t, s);
	if (!t->in_cpu)
		return rate_line(t, s);
	if (t->cpus == 1 && t->only_cpu.len < 65536)
		strbuf_addf(&t->only_cpu, "%s\n", s);
	return 0;
}

static int blkparse_import(struct input *in, const struct import_sink *sink, struct err *e)
{
	struct totals t = { .sink = sink };
	char *line;
	int r = 0;

	while (!r && input_line(in, &line))
		r = one_line(&t, line);
	if (!r && !t.devices && t.cpus == 1) {
		char *save = NULL;

		for (line = strtok_r(t.only_cpu.s, "\n", &save); !r && line; line = strtok_r(NULL, "\n", &save))
			r = one_line(&t, line);
	}
	strbuf_done(&t.only_cpu);
	if (!r && !t.devices && t.cpus > 1)
		r = err_set(e, -ENODATA, "'%s' holds counts of single CPUs but no \"Total (device):\" of blkparse", in->name);
	if (!r && !t.numbers)
		r = err_set(e, -ENODATA, "'%s' holds no totals of blkparse", in->name);
	if (!r && t.cut_counts)
		r = text_note(sink, NOTE_INFO, "%llu counts end in K or more: cut to thousands, up to 999 more in truth",
			      (unsigned long long)t.cut_counts);
	if (!r && t.cut_sizes)
		r = text_note(sink, NOTE_INFO, "%llu sizes are in blkparse's MiB of 1000 KiB, cut, not rounded",
			      (unsigned long long)t.cut_sizes);
	return r;
}

static int blkparse_sniff(const uint8_t *head, size_t n, const char *name)
{
	return memmem(head, n, "Reads Queued:", 13) && memmem(head, n, "Writes Queued:", 14) ? 90 : 0;
}

const struct format_ops format_blkparse_total = {
	.plug = { .name = "blkparse-total", .about = "the totals at the end of blkparse's text" },
	.sniff = blkparse_sniff,
	.import = blkparse_import,
};

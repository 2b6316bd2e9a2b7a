/* SPDX-License-Identifier: MIT */
/*
 * fio's write_hist_log: one line an interval, "time_ms, direction, block size, count of bucket 0, 1, ...", with 1856
 * buckets in nanoseconds (fio 3) or 1216 in microseconds (fio 2), fewer by powers of two with log_hist_coarseness.
 * The counts are those of the interval; they are added up.
 */
#include "base/vec.h"
#include "format/fiobins.h"
#include "format/text.h"

#include <errno.h>
#include <string.h>

#define DIRS 3
#define COARSEST 6

static const char *const dir_name[DIRS] = { "read", "write", "trim" };

struct hist {
	VEC(uint64_t) row;			/* numbers of one line */
	uint64_t count[DIRS][FIOBINS_NS];	/* by bucket of this file */
	unsigned columns;			/* buckets in a line; 0: not known yet */
	unsigned total, shift;			/* of the full histogram, and how many of its buckets share one here */
	uint64_t rows, bad, cut;
};

/* The numbers of a line into h->row; false when it holds anything else. */
static bool numbers(struct hist *h, const char *s)
{
	h->row.n = 0;
	for (;;) {
		const char *from;
		uint64_t x = 0;

		s = text_skip(s);
		from = s;
		while ((unsigned char)(*s - '0') < 10)
			x = x * 10 + (uint64_t)(*s++ - '0');
		if (s == from || s - from > 18)
			return false;
		vec_push(&h->row, x);
		s = text_skip(s);
		if (!*s)
			return true;
		if (*s++ != ',')
			return false;
		if (!*text_skip(s))
			return true;
	}
}

static bool known_width(unsigned columns, unsigned *ret_total, unsigned *ret_shift)
{
	for (unsigned c = 0; c <= COARSEST; c++) {
		if (columns << c == FIOBINS_NS || columns << c == FIOBINS_US) {
			*ret_total = columns << c;
			*ret_shift = c;
			return true;
		}
	}
	return false;
}

static void add_line(struct hist *h, const char *line)
{
	unsigned n;

	if (!numbers(h, line) || h->row.n < 4) {
		h->bad++;
		return;
	}
	n = (unsigned)h->row.n - 3;
	if (!h->columns && known_width(n, &h->total, &h->shift))
		h->columns = n;
	if (n != h->columns || h->row.p[1] >= DIRS) {
		h->cut += h->columns && n < h->columns;
		h->bad++;
		return;
	}
	h->rows++;
	for (unsigned i = 0; i < n; i++)
		h->count[h->row.p[1]][i] += h->row.p[3 + i];
}

static int emit(struct hist *h, const struct import_sink *sink, bool *ret_clipped)
{
	uint64_t unit = h->total == FIOBINS_NS ? 1 : 1000;
	int r = 0;

	*ret_clipped = false;
	for (int d = 0; d < DIRS; d++) {
		int series = -1;

		for (unsigned i = 0; !r && i < h->columns; i++) {
			struct fiobin a = fiobin_of_index(i << h->shift, h->total);
			struct fiobin b = fiobin_of_index(((i + 1) << h->shift) - 1, h->total);

			if (!h->count[d][i])
				continue;
			if (series < 0)
				series = sink->series(sink->ctx, dir_name[d], "I/Os counted in fio's buckets", false, 0);
			*ret_clipped |= b.clipped;
			r = series < 0 ? series :
			    sink->bucket(sink->ctx, series, (nsec_t)(a.lo * unit),
					 b.clipped ? NSEC_NEVER : (nsec_t)((b.hi + 1) * unit - 1), h->count[d][i], b.clipped);
		}
	}
	return r;
}

static int fio_hist_import(struct input *in, const struct import_sink *sink, struct err *e)
{
	struct hist *h = mem_alloc(sizeof(*h));
	bool clipped = false;
	char *line;
	int r;

	while (input_line(in, &line))
		if (*text_skip(line))
			add_line(h, line);
	if (!h->rows)
		r = err_set(e, -ENODATA, "'%s' holds no histogram log of fio", in->name);
	else
		r = emit(h, sink, &clipped);
	if (h->cut && h->rows)
		in->truncated = true;
	if (!r && h->bad)
		r = text_note(sink, NOTE_WARNING, "%llu lines are no rows of a histogram log and were left out",
			      (unsigned long long)h->bad);
	if (!r && clipped)
		r = text_note(sink, NOTE_WARNING, "fio's histogram ends at %.1f s: longer waits are only known to be at least that",
			      (double)fiobin_of_index((h->columns - 1) << h->shift, h->total).lo / (h->total == FIOBINS_NS ? 1e9 : 1e6));
	vec_done(&h->row);
	free(h);
	return r;
}

struct look {
	struct hist *h;
	uint64_t good, other;
};

static void look_line(void *ctx, const char *line)
{
	struct look *l = ctx;
	unsigned total, shift;

	if (!*text_skip(line))
		return;
	if (numbers(l->h, line) && l->h->row.n > 3 && known_width((unsigned)l->h->row.n - 3, &total, &shift))
		l->good++;
	else
		l->other++;
}

static int fio_hist_sniff(const uint8_t *head, size_t n, const char *name)
{
	struct look l = { .h = mem_alloc(sizeof(struct hist)) };

	text_head_lines(head, n, look_line, &l);
	vec_done(&l.h->row);
	free(l.h);
	return l.good && l.good >= l.other ? 95 : 0;
}

const struct format_ops format_fio_hist = {
	.plug = { .name = "fio-hist", .about = "fio's write_hist_log, counts by interval" },
	.sniff = fio_hist_sniff,
	.import = fio_hist_import,
};

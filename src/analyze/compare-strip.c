/* SPDX-License-Identifier: MIT */
#include "analyze/compare-strip.h"
#include "base/cleanup.h"

#include <math.h>
#include <string.h>

#define COLUMNS 48

static size_t column_of(nsec_t x, double lo, double hi)
{
	double f = (wait_log(x) - lo) / (hi - lo);

	return (size_t)MIN(MAX(f, 0.0) * COLUMNS, COLUMNS - 1.0);
}

static void line(const struct side *s, const char *probe, const struct summary *sum, double lo, double hi,
		 struct strbuf *out)
{
	static const char dark[] = " .:-=+#";
	size_t count[COLUMNS] = { 0 }, most = 0;
	char text[COLUMNS + 1];

	for (size_t i = 0; i < s->runs.n; i++) {
		const struct side_series *x = side_series_find(&s->runs.p[i], probe);

		for (size_t k = 0; x && k < x->w.n; k++)
			count[column_of(x->w.x[k], lo, hi)]++;
	}
	for (size_t c = 0; c < COLUMNS; c++)
		most = MAX(most, count[c]);
	for (size_t c = 0; c < COLUMNS; c++)	/* any wait is seen, the fullest column is darkest */
		text[c] = dark[count[c] ? (size_t)ceil((double)count[c] / (double)most * (double)(strlen(dark) - 1)) : 0];
	text[COLUMNS] = 0;
	if (sum->p90.known && !sum->p90.at_least)
		text[column_of(sum->p90.value, lo, hi)] = '*';
	text[column_of(sum->usual.value, lo, hi)] = 'o';
	strbuf_addf(out, "|%s|", text);
}

void compare_strip(const struct side *a, const struct side *b, const char *probe, const struct comparison *c,
		   struct strbuf *out)
{
	nsec_t best = MIN(c->a.best, c->b.best), worst = MAX(c->a.worst, c->b.worst);
	double lo = wait_log(best), hi = wait_log(worst);
	char tlo[NSEC_TEXT], thi[NSEC_TEXT];
	cleanup_free char *range = mem_printf("%s..%s", nsec_text(best, tlo), nsec_text(worst, thi));

	if (hi - lo < 0.01)
		hi = lo + 0.01;
	strbuf_addf(out, "%-17.17s A ", probe);
	line(a, probe, &c->a, lo, hi, out);
	strbuf_addf(out, "\n%-17.17s B ", range);
	line(b, probe, &c->b, lo, hi, out);
	strbuf_addc(out, '\n');
}

/* SPDX-License-Identifier: MIT */
/*
 * What exporters share: the runs and series of a record in order, safe text,
 * and an error when nothing was found. Times handed out are those of the
 * record; `t0` of a run is its zero.
 */
#ifndef FORMAT_EXPORT_H
#define FORMAT_EXPORT_H

#include "format/format.h"
#include "format/scrub.h"

struct exporter {
	struct rec *rec;
	const struct export_conf *conf;
	FILE *out;
	struct err *e;
	struct scrub scrub;
	VEC(struct rec_run) runs;
	VEC(struct rec_series) series;	/* all kinds; samples and counters only the chosen one */
};

/* -ENOENT when conf->series names none; the sentence lists what there is. */
int export_begin(struct exporter *x, struct rec *r, const struct export_conf *conf, FILE *out, struct err *e);
void export_end(struct exporter *x);
size_t export_count(const struct exporter *x, enum series_kind kind);

/* "text" with quotes, as JSON; broken UTF-8 becomes U+FFFD. */
void export_json(FILE *out, const char *text);
/* A cell of CSV: quoted when it has to be. */
void export_csv(FILE *out, const char *text);
/* Seconds with nine decimals, exactly. */
void export_seconds(FILE *out, nsec_t t);

/* A write error of out, as a sentence; else 0. */
int export_check(FILE *out, struct err *e);

static inline nsec_t export_t0(const struct exporter *x, int run)
{
	for (size_t i = 0; i < x->runs.n; i++)
		if (x->runs.p[i].id == run)
			return x->runs.p[i].t0;
	return 0;
}

#endif

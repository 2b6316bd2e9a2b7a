/* SPDX-License-Identifier: MIT */
#include "format/export.h"
#include "base/cleanup.h"

#include <errno.h>
#include <string.h>

static int keep_series(void *ctx, const struct rec_series *s)
{
	struct exporter *x = ctx;

	if (!x->conf->series || s->kind == SERIES_EVENTS || !strcmp(s->name, x->conf->series))
		vec_push(&x->series, *s);
	return 0;
}

size_t export_count(const struct exporter *x, enum series_kind kind)
{
	size_t n = 0;

	for (size_t i = 0; i < x->series.n; i++)
		n += x->series.p[i].kind == kind;
	return n;
}

static int list_series(void *ctx, const struct rec_series *s)
{
	struct strbuf *b = ctx;

	if (s->kind != SERIES_EVENTS && b->len < 600)
		strbuf_addf(b, "%s%s", b->len ? ", " : "", s->name);
	return 0;
}

int export_begin(struct exporter *x, struct rec *r, const struct export_conf *conf, FILE *out, struct err *e)
{
	memset(x, 0, sizeof(*x));
	x->rec = r;
	x->conf = conf;
	x->out = out;
	x->e = e;
	scrub_begin(&x->scrub, r, conf->scrub);
	for (int i = 0; i < rec_run_count(r); i++) {
		struct rec_run run;

		if (!rec_run_get(r, i, &run))
			vec_push(&x->runs, run);
	}
	rec_series_each(r, keep_series, x);
	if (conf->series && !export_count(x, SERIES_SAMPLES) && !export_count(x, SERIES_COUNTER)) {
		cleanup_strbuf struct strbuf names = STRBUF_INIT;

		rec_series_each(r, list_series, &names);
		return err_set(e, -ENOENT, "%s has no series '%s'; it has %s", rec_path(r), conf->series, strbuf_str(&names));
	}
	return 0;
}

void export_end(struct exporter *x)
{
	scrub_end(&x->scrub);
	vec_done(&x->runs);
	vec_done(&x->series);
}

/* Bytes of the valid UTF-8 character at s, 0: none. */
static size_t utf8(const unsigned char *s)
{
	size_t n = s[0] < 0x80 ? 1 : s[0] >= 0xc2 && s[0] < 0xe0 ? 2 : s[0] >= 0xe0 && s[0] < 0xf0 ? 3 :
		   s[0] >= 0xf0 && s[0] < 0xf5 ? 4 : 0;

	for (size_t i = 1; i < n; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	if ((n == 3 && s[0] == 0xe0 && s[1] < 0xa0) || (n == 3 && s[0] == 0xed && s[1] >= 0xa0) ||
	    (n == 4 && s[0] == 0xf0 && s[1] < 0x90) || (n == 4 && s[0] == 0xf4 && s[1] >= 0x90))
		return 0;
	return n;
}

void export_json(FILE *out, const char *text)
{
	fputc('"', out);
	for (const unsigned char *s = (const unsigned char *)text; *s; ) {
		size_t n = utf8(s);

		if (!n) {
			fputs("\xef\xbf\xbd", out);
			s++;
			continue;
		}
		if (*s == '"' || *s == '\\')
			fprintf(out, "\\%c", *s);
		else if (*s < 32 || *s == 127)
			fprintf(out, "\\u%04x", *s);
		else
			fwrite(s, 1, n, out);
		s += n;
	}
	fputc('"', out);
}

void export_csv(FILE *out, const char *text)
{
	/* a cell that begins like a formula would be run by spreadsheets */
	bool quote = strpbrk(text, ",;\"\r\n\t") || strchr("=+-@", *text);

	if (!quote) {
		fputs(text, out);
		return;
	}
	fputc('"', out);
	if (*text && strchr("=+-@", *text))
		fputc('\'', out);
	for (; *text; text++) {
		if (*text == '"')
			fputc('"', out);
		fputc(*text == '\r' || *text == '\n' ? ' ' : *text, out);
	}
	fputc('"', out);
}

void export_seconds(FILE *out, nsec_t t)
{
	uint64_t u = t < 0 ? -(uint64_t)t : (uint64_t)t;

	fprintf(out, "%s%llu.%09llu", t < 0 ? "-" : "", (unsigned long long)(u / 1000000000),
		(unsigned long long)(u % 1000000000));
}

int export_check(FILE *out, struct err *e)
{
	if (fflush(out) || ferror(out))
		return err_sys(e, errno ? -errno : -EIO, "writing the export failed");
	return 0;
}

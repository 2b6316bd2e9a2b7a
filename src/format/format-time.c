/* SPDX-License-Identifier: MIT */
/*
 * What time commands print, once or many times:
 *	real	4m9.100s	bash (also with a decimal comma), real 249.10 with -p
 *	0.00user 0.01system 4:09.12elapsed 70%CPU ...	GNU time
 *	Elapsed (wall clock) time (h:mm:ss or m:ss): 4:09.12	GNU time -v
 *	... 0.00s user 0.01s system 43% cpu 4:09.12 total	zsh
 */
#include "format/text.h"

#include <errno.h>
#include <string.h>

struct timing {
	double real, user, sys;		/* seconds; below 0: not said */
	unsigned digits;		/* of the fraction of `real` */
};

/* "4m9.1s", "1h2m3s", "249.10", "4:09.12", "1:04:09" as seconds; *ret_digits: of the fraction. */
static bool clock_time(const char **p, double *ret, unsigned *ret_digits)
{
	const char *s = *p, *from, *frac;
	double sum = 0, x;

	for (;;) {
		from = s;
		if (*s < '0' || *s > '9' || !text_number(&s, &x))
			return false;
		if (*s == ':') {
			sum = (sum + x) * 60;
			s++;
		} else if (*s == 'h') {
			sum += x * 3600;
			s++;
		} else if (*s == 'm' && s[1] != 's') {
			sum += x * 60;
			s++;
		} else {
			sum += x;
			break;
		}
	}
	frac = from + strcspn(from, ".,");
	*ret_digits = frac < s ? (unsigned)(s - frac - 1) : 0;
	*ret = sum;
	*p = s;
	return true;
}

/* The number that ends right before `word` in the line. */
static bool before(const char *line, const char *word, double *ret, unsigned *ret_digits)
{
	const char *end = strstr(line, word), *s = end;

	if (!end)
		return false;
	while (s > line && strchr(" \ts", s[-1]))
		s--;
	while (s > line && strchr("0123456789.,:", s[-1]))
		s--;
	return clock_time(&s, ret, ret_digits) && s <= end;
}

static bool after(const char *line, const char *word, double *ret, unsigned *ret_digits)
{
	const char *s = text_skip(line);

	if (!text_take(&s, word) || (*s != ' ' && *s != '\t'))
		return false;
	s = text_skip(s);
	return clock_time(&s, ret, ret_digits);
}

/* True when the line says the elapsed time; the others are filled as they come. */
static bool read_line(const char *line, struct timing *t)
{
	unsigned d;
	const char *s;

	if (after(line, "real", &t->real, &t->digits))
		return true;
	if (after(line, "user", &t->user, &d) || after(line, "sys", &t->sys, &d))
		return false;
	s = strstr(line, "Elapsed (wall clock) time");
	if (s) {
		s = strstr(s, "): ");
		s = s ? s + 3 : "";
		return clock_time(&s, &t->real, &t->digits);
	}
	if (before(line, "elapsed", &t->real, &t->digits) || before(line, " total", &t->real, &t->digits)) {
		before(line, "user", &t->user, &d);
		before(line, "system", &t->sys, &d);
		return strstr(line, "user") != NULL;
	}
	return false;
}

static int time_import(struct input *in, const struct import_sink *sink, struct err *e)
{
	struct timing t = { .user = -1, .sys = -1 };
	unsigned coarse = 9;
	uint64_t n = 0;
	int series = -1, r = 0;
	char *line;

	while (!r && input_line(in, &line)) {
		const char *cmd = strstr(line, "Command being timed: ");
		nsec_t wait;

		if (cmd)
			r = sink->fact(sink->ctx, "command", cmd + strlen("Command being timed: "));
		if (r || !read_line(line, &t))
			continue;
		if (!text_nsec(t.real, NSEC_PER_SEC, &wait))
			return err_set(e, -EINVAL, "'%s' line %llu: %g s is not a time", in->name, (unsigned long long)in->line,
				       t.real);
		if (series < 0)
			series = sink->series(sink->ctx, "real", "elapsed time of a command", false, 0);
		if (t.digits < coarse)
			coarse = t.digits;
		n++;
		r = series < 0 ? series : sink->wait(sink->ctx, series, NSEC_NEVER, wait, SAMPLE_OK, 0);
	}
	if (!r && !n)
		r = err_set(e, -ENODATA, "'%s' holds no elapsed times", in->name);
	if (!r && n == 1 && t.user > 0)
		r = sink->number(sink->ctx, "user", "s", t.user, 0);
	if (!r && n == 1 && t.sys > 0)
		r = sink->number(sink->ctx, "sys", "s", t.sys, 0);
	if (!r && coarse < 3)
		r = text_note(sink, NOTE_INFO, "elapsed times are rounded to %s s", coarse == 2 ? "0.01" : coarse ? "0.1" : "1");
	return r;
}

struct look {
	unsigned times;
};

static void look_line(void *ctx, const char *line)
{
	struct look *l = ctx;
	struct timing t;

	l->times += read_line(line, &t);
}

static int time_sniff(const uint8_t *head, size_t n, const char *name)
{
	struct look l = { 0 };

	text_head_lines(head, n, look_line, &l);
	return l.times ? 70 : 0;
}

const struct format_ops format_time = {
	.plug = { .name = "time", .about = "elapsed times as bash, GNU time and zsh print them" },
	.sniff = time_sniff,
	.import = time_import,
};

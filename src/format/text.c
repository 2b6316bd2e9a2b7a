/* SPDX-License-Identifier: MIT */
#include "format/text.h"
#include "base/cleanup.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static bool digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Copies the digits of a number to buf with '.' as the point; how many bytes of s it took, 0: none. */
static size_t digits(const char *s, char *buf, size_t size)
{
	size_t i = 0, n = 0, commas = 0, last_comma = 0;
	bool point = false, any = false;

	for (i = 0; digit(s[i]) || s[i] == '.' || s[i] == ','; i++) {
		if (s[i] == ',') {
			if (point || !digit(s[i + 1]))
				break;
			commas++;
			last_comma = i;
		} else if (s[i] == '.') {
			if (point)
				break;
			point = true;
		} else {
			any = true;
		}
	}
	if (!any || i >= size)
		return 0;
	for (size_t k = 0; k < i; k++) {
		if (s[k] != ',')
			buf[n++] = s[k];
		else if (commas == 1 && !point && k == last_comma)
			buf[n++] = '.';
	}
	buf[n] = 0;
	return i;
}

bool text_number(const char **p, double *ret)
{
	const char *s = *p;
	char buf[80];
	bool minus = false;
	size_t n;
	double x;

	if (*s == '-' || *s == '+')
		minus = *s++ == '-';
	n = digits(s, buf, 64);
	if (!n)
		return false;
	s += n;
	if ((*s == 'e' || *s == 'E') && (digit(s[1]) || ((s[1] == '-' || s[1] == '+') && digit(s[2])))) {
		size_t len = strlen(buf);

		buf[len++] = *s++;
		do
			buf[len++] = *s++;
		while (digit(*s) && len < sizeof(buf) - 1);
		buf[len] = 0;
		if (digit(*s))
			return false;
	}
	x = strtod(buf, NULL);		/* LC_NUMERIC is always "C" here: nothing in this program sets it */
	if (!isfinite(x))
		return false;
	*ret = minus ? -x : x;
	*p = s;
	return true;
}

bool text_grouped(const char **p, uint64_t *ret)
{
	const char *s = *p;
	uint64_t v = 0;

	if (!digit(*s))
		return false;
	for (; digit(*s) || ((*s == ',' || *s == '.' || *s == '\'') && digit(s[1])); s++) {
		if (!digit(*s))
			continue;
		if (__builtin_mul_overflow(v, 10, &v) || __builtin_add_overflow(v, *s - '0', &v))
			return false;
	}
	*ret = v;
	*p = s;
	return true;
}

nsec_t text_unit(const char *s, size_t n)
{
	static const struct { const char *name; nsec_t unit; } units[] = {
		{ "ns", 1 }, { "nsec", 1 }, { "nsecs", 1 }, { "nanosecond", 1 }, { "nanoseconds", 1 }, { "nanos", 1 },
		{ "us", NSEC_PER_USEC }, { "usec", NSEC_PER_USEC }, { "usecs", NSEC_PER_USEC },
		{ "\xc2\xb5s", NSEC_PER_USEC }, { "\xce\xbcs", NSEC_PER_USEC }, { "microsecond", NSEC_PER_USEC },
		{ "microseconds", NSEC_PER_USEC }, { "micros", NSEC_PER_USEC },
		{ "ms", NSEC_PER_MSEC }, { "msec", NSEC_PER_MSEC }, { "msecs", NSEC_PER_MSEC },
		{ "millisecond", NSEC_PER_MSEC }, { "milliseconds", NSEC_PER_MSEC }, { "millis", NSEC_PER_MSEC },
		{ "s", NSEC_PER_SEC }, { "sec", NSEC_PER_SEC }, { "secs", NSEC_PER_SEC }, { "seconds", NSEC_PER_SEC },
		{ "min", 60 * NSEC_PER_SEC }, { "minutes", 60 * NSEC_PER_SEC }, { "m", 60 * NSEC_PER_SEC },
		{ "h", 3600 * NSEC_PER_SEC }, { "hours", 3600 * NSEC_PER_SEC },
	};

	for (size_t i = 0; i < ARRAY_SIZE(units); i++)
		if (strlen(units[i].name) == n && !strncasecmp(units[i].name, s, n))
			return units[i].unit;
	return 0;
}

bool text_nsec(double x, nsec_t unit, nsec_t *ret)
{
	double ns = x * (double)unit;

	if (!(ns >= 0) || ns > 3.2e18)
		return false;
	*ret = (nsec_t)(ns + 0.5);
	return true;
}

const char *text_skip(const char *s)
{
	while (*s == ' ' || *s == '\t')
		s++;
	return s;
}

size_t text_word(const char *s)
{
	return strcspn(s, " \t");
}

bool text_take(const char **p, const char *word)
{
	size_t n = strlen(word);

	if (strncmp(*p, word, n))
		return false;
	*p += n;
	return true;
}

bool text_amount(const char **p, nsec_t default_unit, double *ret, nsec_t *ret_unit)
{
	const char *s = *p, *u;
	nsec_t unit = 0;
	size_t n;
	double x;

	if (!text_number(&s, &x))
		return false;
	u = text_skip(s);
	n = 0;
	while (isalpha((unsigned char)u[n]) || (unsigned char)u[n] >= 0x80)
		n++;
	if (n && !digit(u[n]))
		unit = text_unit(u, n);
	if (unit)
		s = u + n;
	*ret = x * ((double)(unit ? unit : default_unit) / (double)default_unit);
	if (ret_unit)
		*ret_unit = unit;
	*p = s;
	return true;
}

void text_head_lines(const uint8_t *head, size_t n, void (*fn)(void *ctx, const char *line), void *ctx)
{
	size_t end = n;
	cleanup_input struct input *in = NULL;
	char *line;

	/* A full head ends inside a line most of the time: leave that one out. */
	if (n >= INPUT_HEAD) {
		const uint8_t *nl = memrchr(head, '\n', n);

		end = nl ? (size_t)(nl - head) : n;
	}
	in = input_of_memory(head, end, "head");
	while (input_line(in, &line))
		fn(ctx, line);
}

int text_note(const struct import_sink *sink, enum note_kind kind, const char *fmt, ...)
{
	cleanup_strbuf struct strbuf b = STRBUF_INIT;
	va_list ap;

	va_start(ap, fmt);
	strbuf_vaddf(&b, fmt, ap);
	va_end(ap);
	return sink->note(sink->ctx, kind, strbuf_str(&b));
}

int text_fact(const struct import_sink *sink, const char *key, const char *fmt, ...)
{
	cleanup_strbuf struct strbuf b = STRBUF_INIT;
	va_list ap;

	va_start(ap, fmt);
	strbuf_vaddf(&b, fmt, ap);
	va_end(ap);
	return sink->fact(sink->ctx, key, strbuf_str(&b));
}

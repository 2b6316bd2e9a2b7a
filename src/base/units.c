/* SPDX-License-Identifier: MIT */
#include "base/units.h"
#include "base/cleanup.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct suffix {
	const char *name;
	double factor;
};

/* A decimal number in the C locale's form, whatever the locale is; *end behind it. */
static bool number(const char *s, double *ret, const char **end)
{
	char buf[64];
	size_t n = 0;
	bool dot = false, digit = false;

	while (isspace((unsigned char)*s))
		s++;
	if (*s == '-' || *s == '+')
		buf[n++] = *s++;
	while (n < sizeof(buf) - 8 && (isdigit((unsigned char)*s) || (*s == '.' && !dot))) {
		digit |= *s != '.';
		dot |= *s == '.';
		buf[n++] = *s++;
	}
	if (digit && (*s == 'e' || *s == 'E') && (isdigit((unsigned char)s[1]) ||
	    ((s[1] == '-' || s[1] == '+') && isdigit((unsigned char)s[2])))) {
		buf[n++] = *s++;
		buf[n++] = *s++;
		while (n < sizeof(buf) - 2 && isdigit((unsigned char)*s))
			buf[n++] = *s++;
	}
	if (!digit || isdigit((unsigned char)*s))
		return false;
	buf[n] = 0;
	*ret = strtod(buf, NULL);
	*end = s;
	return isfinite(*ret);
}

/* -1: no number, -2: unknown unit */
static int with_suffix(const char *s, const struct suffix *t, size_t n, double *ret)
{
	const char *end;
	size_t len;
	double x;

	if (!s || !number(s, &x, &end))
		return -1;
	while (isspace((unsigned char)*end))
		end++;
	len = strlen(end);
	while (len && isspace((unsigned char)end[len - 1]))
		len--;
	for (size_t i = 0; i < n; i++) {
		if (strlen(t[i].name) == len && !strncasecmp(end, t[i].name, len)) {
			*ret = x * t[i].factor;
			return 0;
		}
	}
	return -2;
}

static int whole(const char *s, const struct suffix *t, size_t n, const char *what, const char *say,
		 uint64_t *ret, struct err *e)
{
	double x;
	int r = with_suffix(s, t, n, &x);

	if (r || x < 0)
		return err_set(e, -EINVAL, "'%s' is not a %s; write it like %s", s ? s : "", what, say);
	if (x >= 18446744073709549568.0)
		return err_set(e, -ERANGE, "'%s' is too large for a %s", s, what);
	*ret = (uint64_t)(x + 0.5);
	return 0;
}

int units_size(const char *s, uint64_t *ret_bytes, struct err *e)
{
	static const struct suffix t[] = {
		{ "", 1 }, { "b", 1 }, { "k", 0x1p10 }, { "kb", 0x1p10 }, { "kib", 0x1p10 }, { "m", 0x1p20 },
		{ "mb", 0x1p20 }, { "mib", 0x1p20 }, { "g", 0x1p30 }, { "gb", 0x1p30 }, { "gib", 0x1p30 },
		{ "t", 0x1p40 }, { "tb", 0x1p40 }, { "tib", 0x1p40 },
	};

	return whole(s, t, ARRAY_SIZE(t), "size", "4k, 512M or 20G", ret_bytes, e);
}

int units_count(const char *s, uint64_t *ret_n, struct err *e)
{
	static const struct suffix t[] = { { "", 1 }, { "k", 1e3 }, { "m", 1e6 }, { "g", 1e9 } };

	return whole(s, t, ARRAY_SIZE(t), "number", "32 or 10k", ret_n, e);
}

int units_nsec(const char *s, nsec_t *ret_time, struct err *e)
{
	static const struct suffix t[] = {
		{ "ns", 1 }, { "us", 1e3 }, { "ms", 1e6 }, { "s", 1e9 }, { "sec", 1e9 }, { "m", 60e9 },
		{ "min", 60e9 }, { "h", 3600e9 },
	};
	double x;
	int r = with_suffix(s, t, ARRAY_SIZE(t), &x);

	if (r == -2) {
		static const struct suffix none[] = { { "", 1 } };

		if (!with_suffix(s, none, 1, &x) && x == 0)
			r = 0;
		else if (!with_suffix(s, none, 1, &x))
			return err_set(e, -EINVAL, "'%s' has no unit of time; write it like 5ms, 60s or 10m", s);
	}
	if (r || x < 0)
		return err_set(e, -EINVAL, "'%s' is not a time; write it like 5ms, 60s or 10m", s ? s : "");
	if (x >= 9.2e18)
		return err_set(e, -ERANGE, "'%s' is too long a time", s);
	*ret_time = (nsec_t)(x + 0.5);
	return 0;
}

int units_number(const char *s, double *ret_x, struct err *e)
{
	static const struct suffix none[] = { { "", 1 } };

	if (with_suffix(s, none, 1, ret_x))
		return err_set(e, -EINVAL, "'%s' is not a number", s ? s : "");
	return 0;
}

int units_share(const char *s, double *ret_share, struct err *e)
{
	static const struct suffix t[] = { { "", 1 }, { "%", 0.01 } };
	double x;

	if (with_suffix(s, t, ARRAY_SIZE(t), &x) || x < 0)
		return err_set(e, -EINVAL, "'%s' is not a share; write it like 5%% or 0.05", s ? s : "");
	*ret_share = x;
	return 0;
}

int units_bool(const char *s, bool *ret_b, struct err *e)
{
	static const char *const yes[] = { "yes", "on", "true", "1" }, *const no[] = { "no", "off", "false", "0" };

	for (size_t i = 0; s && i < ARRAY_SIZE(yes); i++) {
		if (!strcasecmp(s, yes[i])) {
			*ret_b = true;
			return 0;
		}
		if (!strcasecmp(s, no[i])) {
			*ret_b = false;
			return 0;
		}
	}
	return err_set(e, -EINVAL, "'%s' is neither yes nor no", s ? s : "");
}

const char *units_size_text(uint64_t bytes, char buf[UNITS_TEXT])
{
	static const char *const unit[] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
	double x = (double)bytes;
	size_t i = 0;

	while (x >= 1023.5 && i + 1 < ARRAY_SIZE(unit)) {
		x /= 1024;
		i++;
	}
	if (i && x < 9.95)
		snprintf(buf, UNITS_TEXT, "%.1f %s", x, unit[i]);
	else
		snprintf(buf, UNITS_TEXT, "%.0f %s", x, unit[i]);
	return buf;
}

const char *units_rate_text(double r, char buf[UNITS_TEXT])
{
	if (r >= 9.95e9)
		snprintf(buf, UNITS_TEXT, "%.0f GB/s", r / 1e9);
	else if (r >= 999.5e6)
		snprintf(buf, UNITS_TEXT, "%.1f GB/s", r / 1e9);
	else if (r >= 9.95e6)
		snprintf(buf, UNITS_TEXT, "%.0f MB/s", r / 1e6);
	else if (r >= 999.5e3)
		snprintf(buf, UNITS_TEXT, "%.1f MB/s", r / 1e6);
	else
		snprintf(buf, UNITS_TEXT, "%.0f kB/s", r / 1e3);
	return buf;
}

static size_t distance(const char *a, const char *b)
{
	size_t n = strlen(b), row[65];

	if (n > 64 || strlen(a) > 64)
		return 99;
	for (size_t j = 0; j <= n; j++)
		row[j] = j;
	for (size_t i = 1; a[i - 1]; i++) {
		size_t diag = row[0];

		row[0] = i;
		for (size_t j = 1; j <= n; j++) {
			size_t up = row[j], best = diag + (a[i - 1] != b[j - 1]);

			best = MIN(best, up + 1);
			best = MIN(best, row[j - 1] + 1);
			diag = up;
			row[j] = best;
		}
	}
	return row[n];
}

const char *units_nearest(const char *s, const char *const *words, size_t n)
{
	const char *best = NULL;
	size_t best_d = MAX(strlen(s) / 3, (size_t)1) + 1;

	for (size_t i = 0; i < n; i++) {
		size_t d = distance(s, words[i]);

		if (d < best_d || (d == best_d && best && !strncmp(s, words[i], 2) && strncmp(s, best, 2))) {
			best_d = d;
			best = words[i];
		}
	}
	return best;
}

/* SPDX-License-Identifier: MIT */
#include "format/jsondoc.h"
#include "base/cleanup.h"
#include "format/text.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <string.h>

/* A line that is part of a document never begins with a letter, except for the three literals. */
static bool is_message(const char *s)
{
	size_t n;

	if (!isalpha((unsigned char)*s))
		return false;
	n = strspn(s, "abcdefghijklmnopqrstuvwxyz");
	if ((n == 4 && (!strncmp(s, "true", 4) || !strncmp(s, "null", 4))) || (n == 5 && !strncmp(s, "false", 5)) ||
	    (n == 3 && !strncmp(s, "nan", 3)))
		return s[n + strspn(s + n, " ,]}")] != 0;
	return true;
}

/* Cleans line by line, in place: the text only gets shorter. */
static void clean(struct jsondoc *d)
{
	size_t w = 0;

	for (size_t i = 0; i < d->n; ) {
		char *from = d->text + i, *nl = memchr(from, '\n', d->n - i), *line;
		size_t len = nl ? (size_t)(nl - from) : d->n - i, n;

		from[len] = 0;
		i += len + 1;
		line = input_clean(from, len);
		n = strlen(line);
		if (is_message(text_skip(line))) {
			d->garbage++;
			/* "Jobs: 1 ... {": a progress line without its newline, and the document behind it */
			if (line[n - 1] != '{')
				continue;
			line += n - 1;
			n = 1;
		}
		memmove(d->text + w, line, n);
		w += n;
		if (nl)
			d->text[w++] = '\n';
	}
	d->n = w;
	d->text[w] = 0;
}

int jsondoc_open(struct input *in, struct jsondoc *ret, struct err *e)
{
	int r;

	memset(ret, 0, sizeof(*ret));
	r = input_all(in, &ret->text, &ret->n, e);
	if (r)
		return r;
	clean(ret);
	return 0;
}

void jsondoc_close(struct jsondoc *d)
{
	free(d->text);
	d->text = NULL;
}

/* Where the next document begins: { or [ at the start of a line or behind another document; n when there is none. */
static size_t find_start(struct jsondoc *d)
{
	bool line_start = !d->at || d->text[d->at - 1] == '\n' || d->ended;

	for (size_t i = d->at; i < d->n; i++) {
		char c = d->text[i];

		if (line_start && (c == '{' || c == '[')) {
			const char *s = d->text + i + 1;

			s += strspn(s, " \t\n");
			if (c == '{' ? *s == '"' || *s == '}' || !*s : *s == '{' || *s == ']' || !*s)
				return i;
		}
		if (c == '\n') {
			line_start = true;
		} else if (c != ' ' && c != '\t' && c != ',') {
			d->garbage += line_start;
			line_start = false;
		}
	}
	return d->n;
}

enum want { WANT_VALUE, WANT_KEY, WANT_COLON, WANT_SEP };

struct scan {
	struct strbuf out;
	size_t good;			/* bytes of out up to the last complete value */
	int good_depth, depth;
	char stack[JSONDOC_DEPTH];
	enum want want;
};

static void value_done(struct scan *s)
{
	s->want = WANT_SEP;
	s->good = s->out.len;
	s->good_depth = s->depth;
}

/* The string at d->at (its quote) is copied; false when it does not end on its line. */
static bool take_string(struct jsondoc *d, struct scan *s)
{
	size_t i = d->at + 1;

	while (i < d->n && d->text[i] != '"' && d->text[i] != '\n')
		i += d->text[i] == '\\' && i + 1 < d->n ? 2 : 1;
	if (i >= d->n || d->text[i] != '"')
		return false;
	strbuf_add(&s->out, d->text + d->at, i + 1 - d->at);
	d->at = i + 1;
	return true;
}

/* A number or literal; NaN and infinity become null. False when it runs into the end of the file. */
static bool take_scalar(struct jsondoc *d, struct scan *s)
{
	size_t i = d->at, n;
	const char *w = d->text + d->at;

	while (i < d->n && (isalnum((unsigned char)d->text[i]) || strchr("+-.", d->text[i])))
		i++;
	n = i - d->at;
	if (i == d->n || !n)
		return false;
	if (memmem(w, n, "nan", 3) || memmem(w, n, "NaN", 3) || memmem(w, n, "inf", 3) || memmem(w, n, "Inf", 3))
		strbuf_adds(&s->out, "null");
	else
		strbuf_add(&s->out, w, n);
	d->at = i;
	return true;
}

/* One token; false ends the document as cut. */
static bool step(struct jsondoc *d, struct scan *s)
{
	char c = d->text[d->at];
	bool in_object = s->depth && s->stack[s->depth - 1] == '{';

	if (c == '{' || c == '[') {
		if (s->want != WANT_VALUE || s->depth == JSONDOC_DEPTH)
			return false;
		strbuf_addc(&s->out, c);
		s->stack[s->depth++] = c;
		s->want = c == '{' ? WANT_KEY : WANT_VALUE;
	} else if (c == '}' || c == ']') {
		char last = s->out.len ? s->out.s[s->out.len - 1] : 0;

		if (!s->depth || s->stack[s->depth - 1] != (c == '}' ? '{' : '['))
			return false;
		if (s->want != WANT_SEP && last != s->stack[s->depth - 1])
			return false;
		strbuf_addc(&s->out, c);
		s->depth--;
		value_done(s);
	} else if (c == ',') {
		if (s->want != WANT_SEP)
			return false;
		strbuf_addc(&s->out, c);
		s->want = in_object ? WANT_KEY : WANT_VALUE;
	} else if (c == ':') {
		if (s->want != WANT_COLON)
			return false;
		strbuf_addc(&s->out, c);
		s->want = WANT_VALUE;
	} else if (c == '"') {
		if (s->want == WANT_SEP || s->want == WANT_COLON || !take_string(d, s))
			return false;
		if (s->want == WANT_KEY)
			s->want = WANT_COLON;
		else
			value_done(s);
		return true;
	} else {
		if (s->want != WANT_VALUE || !take_scalar(d, s))
			return false;
		value_done(s);
		return true;
	}
	d->at++;
	return true;
}

/* Copies the document that begins at d->at; false when nothing of it is usable. Sets d->truncated. */
static bool scan(struct jsondoc *d, struct scan *s)
{
	size_t from = d->at;

	d->truncated = false;
	s->want = WANT_VALUE;
	do {
		if (s->out.len > JSONDOC_MAX) {
			d->truncated = true;
			break;
		}
		d->at += strspn(d->text + d->at, " \t\n");
		if (d->at >= d->n || !step(d, s)) {
			d->truncated = true;
			break;
		}
	} while (s->depth);
	d->ended = !d->truncated;
	if (!d->truncated)
		return true;
	/* What is left of a document that broke off in the middle is not the next one: go on at a line that begins one. */
	while (d->at < d->n && !((d->text[d->at] == '{' || d->text[d->at] == '[') && d->at > from &&
				 d->text[d->at - 1] == '\n'))
		d->at++;
	if (!s->good_depth)
		return false;
	s->out.len = s->good;
	while (s->good_depth)
		strbuf_addc(&s->out, s->stack[--s->good_depth] == '{' ? '}' : ']');
	return true;
}

int jsondoc_next(struct jsondoc *d, json_t **ret, struct err *e)
{
	for (;;) {
		struct scan s = { 0 };
		json_error_t je;
		json_t *j = NULL;
		size_t from = find_start(d);

		d->at = from;
		if (from >= d->n)
			return 0;
		if (scan(d, &s))
			j = json_loadb(s.out.s, s.out.len, JSON_DECODE_INT_AS_REAL | JSON_ALLOW_NUL, &je);
		strbuf_done(&s.out);
		if (j) {
			*ret = j;
			return 1;
		}
		d->broken++;
	}
}

int jsondoc_notes(const struct jsondoc *d, const struct import_sink *sink)
{
	int r = 0;

	if (d->garbage)
		r = text_note(sink, NOTE_INFO, "%llu lines around the JSON are messages and were left out",
			      (unsigned long long)d->garbage);
	if (!r && d->broken)
		r = text_note(sink, NOTE_LOSS, "%llu JSON documents are broken and were left out",
			      (unsigned long long)d->broken);
	return r;
}

json_t *jsondoc_at(const json_t *o, const char *path)
{
	while (o) {
		char key[64];
		size_t n = strcspn(path, "/");

		if (n >= sizeof(key))
			return NULL;
		memcpy(key, path, n);
		key[n] = 0;
		o = json_object_get(o, key);
		if (!path[n])
			return (json_t *)o;
		path += n + 1;
	}
	return NULL;
}

bool jsondoc_number(const json_t *o, const char *path, double *ret)
{
	const json_t *v = jsondoc_at(o, path);

	if (!json_is_number(v) || !isfinite(json_number_value(v)))
		return false;
	*ret = json_number_value(v);
	return true;
}

const char *jsondoc_string(const json_t *o, const char *path)
{
	return json_string_value(jsondoc_at(o, path));
}

bool jsondoc_sniff(const uint8_t *head, size_t n, const char *word)
{
	return (memchr(head, '{', n) || memchr(head, '[', n)) && memmem(head, n, word, strlen(word));
}

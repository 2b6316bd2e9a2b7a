/* SPDX-License-Identifier: MIT */
#include "base/cleanup.h"
#include "base/mem.h"
#include "base/units.h"
#include "scenario/scenario-internal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const char *const kinds[] = { "probe", "load", "lab", "settings", "global", "fault", "model", "compare" };

/* One line without its end: pointers into the text. */
struct span {
	const char *p;
	size_t n;
};

static struct span trim(struct span s)
{
	while (s.n && (s.p[0] == ' ' || s.p[0] == '\t'))
		s.p++, s.n--;
	while (s.n && (s.p[s.n - 1] == ' ' || s.p[s.n - 1] == '\t' || s.p[s.n - 1] == '\r'))
		s.n--;
	return s;
}

static bool word_ok(struct span s)
{
	for (size_t i = 0; i < s.n; i++) {
		unsigned char c = (unsigned char)s.p[i];

		if (!(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') && !(c >= '0' && c <= '9') && !strchr("_-.@", c))
			return false;
	}
	return s.n > 0 && s.n <= 64;
}

/* The part of s before the first of `sep`, which is consumed; the rest stays in s. */
static struct span cut(struct span *s, const char *sep)
{
	struct span left = { s->p, 0 };

	while (left.n < s->n && !strchr(sep, s->p[left.n]))
		left.n++;
	s->p += left.n;
	s->n -= left.n;
	if (s->n)
		s->p++, s->n--;
	return left;
}

static int section_line(struct scenario *s, struct span in, const char *file, int line, struct scn_section **ret,
			struct err *e)
{
	struct span kind, name, rest;
	cleanup_free char *k = NULL, *n = NULL, *l = NULL;
	const char *near;
	bool known = false;

	if (in.p[in.n - 1] != ']')
		return err_set(e, -EINVAL, "%s:%d: this section has no closing ']'", file, line);
	rest = trim((struct span){ in.p + 1, in.n - 2 });
	kind = trim(cut(&rest, " \t"));
	rest = trim(rest);
	name = trim(cut(&rest, ":"));
	rest = trim(rest);
	if (!word_ok(kind) || (name.n && !word_ok(name)) || (rest.n && !word_ok(rest)))
		return err_set(e, -EINVAL, "%s:%d: a section is written [kind], [kind name] or [kind name:label]", file, line);
	k = mem_dupn(kind.p, kind.n);
	n = mem_dupn(name.p, name.n);
	l = rest.n ? mem_dupn(rest.p, rest.n) : mem_dup(n);
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		known |= !strcmp(kinds[i], k);
	if (!known) {
		near = units_nearest(k, kinds, ARRAY_SIZE(kinds));
		return err_set(e, -EINVAL, "%s:%d: there is no kind of section '%s'%s%s%s", file, line, k,
			       near ? "; did you mean '" : " (probe, load, settings, lab)", near ?: "", near ? "'?" : "");
	}
	if ((!strcmp(k, "probe") || !strcmp(k, "load")) && !*n)
		return err_set(e, -EINVAL, "%s:%d: which %s? Write [%s NAME]", file, line, k, k);
	if (!strcmp(k, "global") && (*n || *l))
		return err_set(e, -EINVAL, "%s:%d: [global] has no name", file, line);
	*ret = scn_section_add(s, k, n, l, file, line);
	if (!*ret)
		return err_set(e, -E2BIG, "%s:%d: more than %d sections", file, line, SCN_SECTIONS);
	if (strcmp((*ret)->name, n))
		return err_set(e, -EINVAL, "%s:%d: the label '%s' is taken by [%s %s] (line %d)", file, line, l, k,
			       (*ret)->name, (*ret)->line);
	return 0;
}

static int key_line(struct scn_section *sec, struct span in, const char *file, int line, struct err *e)
{
	struct span key = trim(cut(&(struct span){ in.p, in.n }, "=")), value;
	cleanup_free char *k = NULL, *v = NULL;
	struct scn_key *old;
	const char *eq = memchr(in.p, '=', in.n);

	if (!eq)
		return err_set(e, -EINVAL, "%s:%d: '%.*s' is neither 'key = value' nor a [section] nor a # comment", file,
			       line, (int)MIN(in.n, (size_t)60), in.p);
	value = trim((struct span){ eq + 1, in.n - (size_t)(eq + 1 - in.p) });
	if (!word_ok(key))
		return err_set(e, -EINVAL, "%s:%d: '%.*s' cannot be a key (letters, digits, - _ . @)", file, line,
			       (int)MIN(key.n, (size_t)60), key.p);
	k = mem_dupn(key.p, key.n);
	v = mem_dupn(value.p, value.n);
	old = scn_key_find(sec, k);
	if (old && !strcmp(old->file, file) && !(scn_adds_up(k) && !strcmp(sec->kind, "global")))
		return err_set(e, -EINVAL, "%s:%d: key '%s' was given before in line %d", file, line, k, old->line);
	if (!scn_key_set(sec, k, v, file, line))
		return err_set(e, -E2BIG, "%s:%d: more than %d keys", file, line, SCN_KEYS);
	return 0;
}

int scn_parse_into(struct scenario *s, const char *text, size_t len, const char *file, struct err *e)
{
	struct scn_section *sec = scn_section_add(s, "global", "", "", file, 1);
	cleanup_strbuf struct strbuf question = STRBUF_INIT;
	bool in_head = true;
	int r = 0;

	if (len > SCN_FILE_MAX)
		return err_set(e, -EFBIG, "%s: longer than 1 MiB, not a scenario", file);
	for (int line = 1; len && !r; line++) {
		const char *nl = memchr(text, '\n', len);
		struct span in = { text, nl ? (size_t)(nl - text) : len };

		text += in.n + (nl ? 1 : 0);
		len -= in.n + (nl ? 1 : 0);
		if (line == 1 && in.n >= 3 && !memcmp(in.p, "\xef\xbb\xbf", 3))
			in.p += 3, in.n -= 3;
		in = trim(in);
		for (size_t i = 0; i < in.n; i++)
			if ((unsigned char)in.p[i] < 32 && in.p[i] != '\t')
				return err_set(e, -EINVAL, "%s:%d: a control byte (0x%02x), not a scenario", file, line,
					       (unsigned char)in.p[i]);
		if (in.n && (in.p[0] == '#' || in.p[0] == ';')) {
			struct span said = trim((struct span){ in.p + 1, in.n - 1 });

			if (in_head && said.n && !(said.n > 4 && !memcmp(said.p, "SPDX", 4))) {
				strbuf_addf(&question, "%s%.*s", question.len ? " " : "", (int)said.n, said.p);
			} else if (in_head && !said.n && question.len) {
				in_head = false;
			}
			continue;
		}
		if (question.len || in.n)
			in_head = false;
		if (!in.n)
			continue;
		if (in.p[0] == '[')
			r = section_line(s, in, file, line, &sec, e);
		else
			r = key_line(sec, in, file, line, e);
	}
	if (!r && question.len && !s->question)
		s->question = strbuf_detach(&question);
	return r;
}

int scenario_parse(const char *text, size_t len, const char *file, struct scenario **ret, struct err *e)
{
	struct scenario *s = scn_new(file);
	int r = scn_parse_into(s, text, len, file, e);

	if (r) {
		scenario_free(s);
		return r;
	}
	*ret = s;
	return 0;
}

/* SPDX-License-Identifier: MIT */
#include "format/scrub.h"
#include "base/cleanup.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>
#include <sys/utsname.h>

static bool holds(const char *key, const char *const *words)
{
	for (; *words; words++)
		if (strcasestr(key, *words))
			return true;
	return false;
}

static const char *const host_keys[] = { "hostname", "nodename", NULL };

static void add_host(struct scrub *s, const char *name)
{
	size_t short_len = strcspn(name, ".");

	if (short_len < 2 || !strcmp(name, "localhost"))
		return;
	vec_push(&s->hosts, mem_dup(name));
	if (name[short_len])
		vec_push(&s->hosts, mem_dupn(name, short_len));
}

static int collect(void *ctx, const char *key, const char *value, bool counts)
{
	if (holds(key, host_keys) || !strcmp(key, "host"))
		add_host(ctx, value);
	return 0;
}

void scrub_begin(struct scrub *s, struct rec *r, bool on)
{
	struct rec_run run;
	struct utsname u;

	memset(s, 0, sizeof(*s));
	s->on = on;
	if (!on)
		return;
	if (!uname(&u))
		add_host(s, u.nodename);
	for (int i = 0; r && i < rec_run_count(r); i++)
		if (!rec_run_get(r, i, &run))
			rec_env_each(r, run.id, collect, s);
}

void scrub_end(struct scrub *s)
{
	for (size_t i = 0; i < s->hosts.n; i++)
		free(s->hosts.p[i]);
	vec_done(&s->hosts);
	strbuf_done(&s->text);
}

bool scrub_fact(const struct scrub *s, const char *key)
{
	static const char *const words[] = {
		"command", "cmdline", "path", "dir", "file", "host", "nodename", "user", "serial", "uuid", "source", "comment",
		"log", "title", NULL
	};

	return !s->on || !strncmp(key, "result.", 7) || !holds(key, words) || !strcmp(key, "fs_mark.files");
}

static bool path_char(char c)
{
	return isalnum((unsigned char)c) || (unsigned char)c >= 0x80 || (c && strchr("/._-+@~%:", c));
}

/* Bytes of the path at s, 0: none begins here. "/s" is a unit. */
static size_t path_at(const char *text, const char *s)
{
	size_t n = 0, slashes = 0;
	char before = s > text ? s[-1] : ' ';

	if (*s != '/' && !(*s == '~' && s[1] == '/') && !(*s == '.' && (s[1] == '/' || (s[1] == '.' && s[2] == '/'))))
		return 0;
	if (isalnum((unsigned char)before) || before == '/' || before == '.' || before == '<' || before == '>')
		return 0;
	while (path_char(s[n]))
		slashes += s[n++] == '/';
	while (n && strchr(".:", s[n - 1]))
		n--;
	return n >= 3 || slashes > 1 ? n : 0;
}

static size_t host_at(const struct scrub *s, const char *text, const char *at)
{
	if (at > text && (isalnum((unsigned char)at[-1]) || at[-1] == '_'))
		return 0;
	for (size_t i = 0; i < s->hosts.n; i++) {
		size_t n = strlen(s->hosts.p[i]);

		if (!strncasecmp(at, s->hosts.p[i], n) && !isalnum((unsigned char)at[n]) && at[n] != '_')
			return n;
	}
	return 0;
}

static const char *without(struct scrub *s, const char *text, bool hosts)
{
	if (!s->on)
		return text;
	strbuf_clear(&s->text);
	for (const char *c = text; *c; ) {
		size_t n = path_at(text, c);

		if (n) {
			strbuf_adds(&s->text, "<path>");
			c += n;
			continue;
		}
		n = hosts ? host_at(s, text, c) : 0;
		if (n) {
			strbuf_adds(&s->text, "<host>");
			c += n;
			continue;
		}
		strbuf_addc(&s->text, *c++);
	}
	return strbuf_str(&s->text);
}

const char *scrub_text(struct scrub *s, const char *text)
{
	return without(s, text, true);
}

const char *scrub_name(struct scrub *s, const char *name)
{
	return without(s, name, false);
}

/* SPDX-License-Identifier: MIT */
#include "run/consent.h"
#include "base/cleanup.h"
#include "base/mem.h"
#include "base/units.h"
#include "sys/proc.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WIDTH 78
#define INDENT 10

/* "label     text ...", wrapped. */
static void line(struct strbuf *out, const char *label, const char *text)
{
	size_t col = INDENT;

	strbuf_addf(out, "  %-7s ", label);
	while (*text) {
		size_t word = strcspn(text, " ");

		/* a number stays with its unit */
		if (isdigit((unsigned char)text[0]) && text[word] == ' ' && strcspn(text + word + 1, " ") <= 4)
			word += 1 + strcspn(text + word + 1, " ");
		if (col > INDENT && col + 1 + word > WIDTH) {
			strbuf_addc(out, '\n');
			strbuf_addn(out, ' ', INDENT);
			col = INDENT;
		} else if (col > INDENT) {
			strbuf_addc(out, ' ');
			col++;
		}
		strbuf_add(out, text, word);
		col += word;
		text += word + strspn(text + word, " ");
	}
	strbuf_addc(out, '\n');
}

static void linef(struct strbuf *out, const char *label, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

static void linef(struct strbuf *out, const char *label, const char *fmt, ...)
{
	cleanup_strbuf struct strbuf b = STRBUF_INIT;
	va_list ap;

	va_start(ap, fmt);
	strbuf_vaddf(&b, fmt, ap);
	va_end(ap);
	line(out, label, strbuf_str(&b));
}

/* Does the process have a file open (not only its working directory) below dir? */
static bool has_open(const char *pid, const char *dir)
{
	cleanup_free char *fds = mem_printf("/proc/%s/fd", pid);
	size_t n = strlen(dir);
	DIR *d = opendir(fds);
	struct dirent *de;
	bool found = false;

	while (d && !found && (de = readdir(d))) {
		char to[4096];
		ssize_t len = readlinkat(dirfd(d), de->d_name, to, sizeof(to) - 1);

		if (len <= 0)
			continue;
		to[len] = 0;
		found = !strncmp(to, dir, n) && (to[n] == '/' || !strcmp(dir, "/"));
	}
	if (d)
		closedir(d);
	return found;
}

void consent_others(const char *dir, struct strbuf *out)
{
	DIR *d = opendir("/proc");
	struct dirent *de;
	unsigned n = 0;

	while (d && (de = readdir(d))) {
		char comm[64] = "";

		if (!isdigit((unsigned char)de->d_name[0]) || atoi(de->d_name) == getpid() || !has_open(de->d_name, dir))
			continue;
		if (n++ >= 4)
			continue;
		proc_text(atoi(de->d_name), 0, "comm", comm, sizeof(comm));
		strbuf_addf(out, "%s%s (%s)", n > 1 ? ", " : "", comm, de->d_name);
	}
	if (d)
		closedir(d);
	if (n > 4)
		strbuf_addf(out, ", %u more", n - 4);
}

static void where(const struct plan *p, struct strbuf *out)
{
	for (size_t i = 0; i < p->dirs.n; i++) {
		const struct plan_dir *d = &p->dirs.p[i];
		cleanup_strbuf struct strbuf devs = STRBUF_INIT, others = STRBUF_INIT;
		char free_text[UNITS_TEXT], need[UNITS_TEXT];

		for (size_t k = 0; k < d->topo.devs.n; k++)
			strbuf_addf(&devs, "%s%s", devs.len ? ", " : " on ", d->topo.devs.p[k].name);
		linef(out, i ? "" : "where", "%s (%s%s); only in a folder of its own there, which goes away again", d->path,
		      d->topo.mount.type, strbuf_str(&devs));
		linef(out, "", "up to %s of the %s that may be used (5 %% stay free)", units_size_text(d->need_bytes, need),
		      units_size_text(d->free_bytes, free_text));
		consent_others(d->path, &others);
		if (others.len)
			linef(out, "", "files are open there: %s; they will have to wait as well", strbuf_str(&others));
	}
}

void consent_text(const struct plan *p, unsigned repeat, const char *output, struct strbuf *out)
{
	cleanup_strbuf struct strbuf names = STRBUF_INIT, phases = STRBUF_INIT;
	char a[NSEC_TEXT], b[NSEC_TEXT], most[UNITS_TEXT];

	strbuf_addf(out, "stallmark run %s%s%s\n", p->scenario->name, *p->cell ? " " : "", p->cell);
	if (p->scenario->question)
		line(out, "asks", p->scenario->question);
	where(p, out);
	for (size_t i = 0; i < p->probes.n; i++)
		strbuf_addf(&names, "%s%s", i ? ", " : "", p->probes.p[i].name);
	line(out, "probes", strbuf_str(&names));
	for (size_t i = 0; i < p->loads.n; i++) {
		const struct plan_load *l = &p->loads.p[i];

		linef(out, i ? "" : "loads", "%s: %s (%u process%s)", l->name, l->ops->plug.about, l->workers,
		      l->workers == 1 ? "" : "es");
	}
	for (size_t i = 0; i < p->programs.n; i++)
		line(out, i ? "" : "runs", p->programs.p[i]);
	for (size_t i = 0; i < p->scaled.n; i++)
		line(out, i ? "" : "smaller", p->scaled.p[i]);
	for (size_t i = 0; i < p->notes.n; i++)
		line(out, i ? "" : "note", p->notes.p[i]);
	if (p->loads.n)
		linef(out, "writes", "at most %s, then it stops (--write-budget)", units_size_text(p->write_budget, most));
	if (p->drop_caches)
		line(out, "system", "drops the page cache of the whole machine once (--drop-caches)");
	if (p->idle)
		strbuf_addf(&phases, "%s idle, ", nsec_text(p->idle, a));
	if (p->loads.n)
		strbuf_addf(&phases, "up to %s until the load is up, ", nsec_text(p->load_up_max, a));
	strbuf_addf(&phases, "%s measured", nsec_text(p->time, a));
	if (p->recovery_max && p->idle)
		strbuf_addf(&phases, ", up to %s until all is quick again", nsec_text(p->recovery_max, a));
	if (repeat > 1)
		strbuf_addf(&phases, "; %u times", repeat);
	linef(out, "time", "laying out files, %s: at most %s", strbuf_str(&phases), nsec_text(plan_duration(p) * repeat, b));
	if (output)
		line(out, "record", output);
}

/* SPDX-License-Identifier: MIT */
#include "live/live.h"
#include "base/cleanup.h"
#include "base/mem.h"
#include "base/units.h"
#include "config.h"
#include "live/facts.h"
#include "live/screen.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PLAIN_EVERY (10 * NSEC_PER_SEC)
#define SCREEN_EVERY (NSEC_PER_SEC / 2)

struct live {
	char title[200];
	struct facts facts;
	struct screen *screen;		/* NULL: plain lines */
	nsec_t last;
	int last_phase;
};

struct live *live_begin(const char *title, bool plain, bool quiet)
{
	struct live *l;

	if (quiet)
		return NULL;
	l = mem_alloc(sizeof(*l));
	snprintf(l->title, sizeof(l->title), "%s", title);
	l->last_phase = -1;
	facts_open(&l->facts);
	if (!plain && isatty(STDERR_FILENO) && isatty(STDIN_FILENO))
		l->screen = screen_open();
	return l;
}

/* "measuring 12/60 s; load 112 MB/s; Dirty 1.2 GiB of 4.6 GiB; fsync waits 3.41 s" */
static void plain_line(const struct live *l, const struct run_view *v)
{
	char t[NSEC_TEXT], r[UNITS_TEXT], d[UNITS_TEXT], lim[UNITS_TEXT];

	fputs(live_phase((int)v->phase), stderr);
	if (v->until > v->since)
		fprintf(stderr, " %.0f/%.0f s", nsec_seconds(v->now - v->since), nsec_seconds(v->until - v->since));
	else if (v->now - v->since > NSEC_PER_SEC)
		fprintf(stderr, " %.0f s", nsec_seconds(v->now - v->since));
	if (v->load_written_s + v->load_read_s)
		fprintf(stderr, "; load %s", units_rate_text((double)(v->load_written_s + v->load_read_s), r));
	fprintf(stderr, "; Dirty %s of %s", units_size_text(l->facts.dirty, d), units_size_text(l->facts.dirty_limit, lim));
	for (int i = 0; i < v->nprobes; i++)
		if (v->probe[i].in_flight > 250 * NSEC_PER_MSEC)
			fprintf(stderr, "; %s waits %s", v->probe[i].name, nsec_text(v->probe[i].in_flight, t));
	if (v->say && *v->say)
		fprintf(stderr, "; %s", v->say);
	fputc('\n', stderr);
}

const char *live_phase(int phase)
{
	static const char *const words[PHASE_MAX] = { "preparing", "idle baseline", "load comes up", "measuring", "stopping",
						      "recovery", "cleaning up" };

	return phase >= 0 && phase < PHASE_MAX ? words[phase] : "";
}

void live_progress(void *live, const struct run_view *v)
{
	struct live *l = live;
	bool new_phase;

	if (!l)
		return;
	new_phase = (int)v->phase != l->last_phase;
	if (!new_phase && v->now - l->last < (l->screen ? SCREEN_EVERY : PLAIN_EVERY))
		return;
	l->last = v->now;
	l->last_phase = (int)v->phase;
	facts_read(&l->facts);
	if (l->screen)
		screen_draw(l->screen, l->title, &l->facts, v);
	else
		plain_line(l, v);
}

void live_say(struct live *l, const char *text)
{
	if (l && l->screen)
		screen_say(l->screen, text);
	else if (l)
		fprintf(stderr, "%s\n", text);
}

void live_end(struct live *l)
{
	if (!l)
		return;
	screen_close(l->screen);
	facts_close(&l->facts);
	free(l);
}

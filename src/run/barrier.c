/* SPDX-License-Identifier: MIT */
/* "The load is up" (design, rules of measurement 3): two seconds alike, and the page cache where it will stay. */
#include "base/cleanup.h"
#include "run/conduct.h"
#include "sys/kfile.h"

#include <math.h>
#include <stdio.h>

struct look {
	double rate;			/* bytes/s of all loads */
	uint64_t dirty, background;	/* pages */
};

static void take_look(const struct conductor *c, uint64_t *bytes, nsec_t *t, struct look *ret)
{
	cleanup_strbuf struct strbuf vmstat = STRBUF_INIT;
	uint64_t now_bytes = children_bytes(c);
	nsec_t now = nsec_now();

	*ret = (struct look){ .rate = (double)(now_bytes - *bytes) / nsec_seconds(MAX(now - *t, NSEC_PER_MSEC)) };
	*bytes = now_bytes;
	*t = now;
	if (!file_read("/proc/vmstat", &vmstat, NULL)) {
		file_field(strbuf_str(&vmstat), "nr_dirty", &ret->dirty);
		file_field(strbuf_str(&vmstat), "nr_dirty_background_threshold", &ret->background);
	}
}

static bool is_up(const struct look *before, const struct look *now)
{
	double most = fmax(before->rate, now->rate);
	bool alike = fabs(before->rate - now->rate) <= 0.2 * most;
	bool filled = now->dirty >= now->background || now->dirty <= before->dirty + before->dirty / 20;

	return alike && filled;
}

void barrier_wait(struct conductor *c)
{
	uint64_t bytes = children_bytes(c);
	nsec_t t = nsec_now(), began = t, end = t + c->plan->load_up_max;
	struct look before = { 0 }, now = { 0 };
	char text[NSEC_TEXT];

	for (int i = 0; nsec_now() < end; i++) {
		if (conduct_wait(c, MIN(nsec_now() + NSEC_PER_SEC, end), NULL) == WAIT_BROKEN)
			return;
		before = now;
		take_look(c, &bytes, &t, &now);
		if (i >= 1 && is_up(&before, &now)) {
			conduct_note(c, NOTE_CHECK_OK, "load-up", "the load was up after %s",
				     nsec_text(nsec_now() - began, text));
			return;
		}
	}
	conduct_note(c, NOTE_CHECK_FAILED, "load-up", "after %s the load had not become steady: its last two seconds moved "
		     "%.0f and %.0f MB", nsec_text(c->plan->load_up_max, text), before.rate / 1e6, now.rate / 1e6);
}

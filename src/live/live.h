/* SPDX-License-Identifier: MIT */
/*
 * What one sees while a run goes on, on standard error: a screen on a terminal
 * (ncurses, 80x24 suffices), otherwise one plain line every 10 s.
 *
 *	live_begin() -> live_progress() several times a second -> live_end()
 *
 * The terminal is given back by live_end, at exit, on a fatal signal and while
 * suspended. Nothing here allocates after live_begin or touches the disk.
 */
#ifndef LIVE_LIVE_H
#define LIVE_LIVE_H

#include "run/run.h"

#include <stdbool.h>

struct live;

/* title: "quick on /home/me"; plain: never a screen. NULL: quiet, and the others then do nothing. */
struct live *live_begin(const char *title, bool plain, bool quiet);
void live_progress(void *live, const struct run_view *v);	/* fits struct run_hooks.progress */
/* A line that must be seen: above the screen, or plain. */
void live_say(struct live *l, const char *text);
void live_end(struct live *l);

#endif

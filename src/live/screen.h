/* SPDX-License-Identifier: MIT */
/* The full screen (ncurses). Without ncurses screen_open() returns NULL. */
#ifndef LIVE_SCREEN_H
#define LIVE_SCREEN_H

#include "live/facts.h"
#include "run/run.h"

struct screen;

const char *live_phase(int phase);	/* "measuring" */

struct screen *screen_open(void);	/* NULL: this terminal cannot */
void screen_draw(struct screen *s, const char *title, const struct facts *f, const struct run_view *v);
void screen_say(struct screen *s, const char *text);	/* shown in the last line, and again after the end */
void screen_close(struct screen *s);	/* NULL is fine */

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Causes: what stands behind a wait class. One file each, cause-NAME.c; the
 * table is made by meson. The stack patterns that lead to the class are data in
 * event/wait-pattern.def; a cause adds the sentence, whom to follow next, and
 * the experiment that tests the remedy.
 */
#ifndef ANALYZE_CAUSE_H
#define ANALYZE_CAUSE_H

#include "base/plug.h"
#include "event/event.h"

struct walk;		/* analyze/walk.h: one explanation in progress */
struct walk_node;

struct cause_ops {
	struct plug plug;		/* "journal-commit"; what it is in one line */
	enum wait_class classes[12];	/* which waits it explains; ends at the first WAIT_UNKNOWN */
	const char *whom;		/* for a lone stack: who is behind it and where to look, a sentence */
	const char *remedy;		/* what may help, half a sentence; NULL: nothing to try */
	const char *ab;			/* the command that tests it; NULL with remedy */
	/* Explains the wait `w` within n's interval: adds children or makes n a leaf. NULL: a leaf of its class. */
	void (*follow)(struct walk *k, struct walk_node *n, const struct event *w);
};

extern const struct cause_ops *const cause_table[];

const struct cause_ops *cause_of(enum wait_class class);	/* never NULL: the last one takes the rest */

#endif

/* SPDX-License-Identifier: MIT */
/* How each kind of entry is taken back; inside of the undo log (undo.c). */
#ifndef SYS_UNDO_KIND_H
#define SYS_UNDO_KIND_H

#include "sys/undo.h"

struct undo_entry {
	int id;
	enum undo_kind kind;
	char *object, *detail;
	char *now;		/* FILE: what our write left there; NULL: killed between entry and write */
	bool gone;		/* undone or forgotten */
};

/*
 * 0: undone, or nothing to do. 1: somebody else changed it since, left alone; `why` has the sentence. Negative: could
 * not be undone. other_boot: the entry is from before a reboot; what the kernel forgot then is not looked for.
 */
int undo_entry_take_back(const struct undo_entry *n, bool other_boot, struct err *why);
const char *undo_kind_name(enum undo_kind kind);		/* "file", "mount", ... */
int undo_kind_by_name(const char *name);			/* or -1 */

#endif

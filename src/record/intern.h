/* SPDX-License-Identifier: MIT */
/*
 * Texts kept once: the same text gives the same number and the same pointer.
 * Numbers count from 0 in the order of arrival; pointers live until
 * intern_done(). Zeroed is a valid empty one.
 */
#ifndef RECORD_INTERN_H
#define RECORD_INTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct intern {
	const char **text;	/* by number */
	uint32_t n, cap;
	uint32_t *slot;		/* open addressing: number + 1, 0 is free */
	uint32_t nslots;
	struct intern_block *block;
};

/* The number of the text; *ret_new says that it was not there. */
uint32_t intern(struct intern *in, const char *text, bool *ret_new);
const char *intern_keep(struct intern *in, const char *text);	/* the pointer; NULL gives NULL */
void intern_done(struct intern *in);

#endif

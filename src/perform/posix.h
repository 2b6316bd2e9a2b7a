/* SPDX-License-Identifier: MIT */
/* What other performers borrow from posix: it opens their files and does the ops they have no better way for. */
#ifndef PERFORM_POSIX_H
#define PERFORM_POSIX_H

#include "perform/perform.h"

extern const struct perform_ops perform_posix;

int posix_fd(const void *st, uint8_t slot);	/* -1: not open */

#endif

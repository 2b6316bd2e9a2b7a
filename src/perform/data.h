/* SPDX-License-Identifier: MIT */
/*
 * What is written: random bytes, so that no layer below can compress or share
 * them, made once and given a new stamp in each 4 KiB before every use, which
 * costs one store a page instead of a fresh random buffer.
 */
#ifndef PERFORM_DATA_H
#define PERFORM_DATA_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

#define DATA_PAGE 4096

struct data {
	unsigned char *buf;	/* page aligned: good for O_DIRECT */
	size_t bytes;
	uint64_t key;
};

int data_open(struct data *d, size_t bytes, uint64_t seed, struct err *e);
void data_close(struct data *d);			/* accepts a zeroed one */
void *data_stamp(struct data *d, size_t offset, size_t n);	/* buf + offset, its pages stamped anew */

#endif

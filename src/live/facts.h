/* SPDX-License-Identifier: MIT */
/* The few kernel numbers of the live screen, read with descriptors that stay open. */
#ifndef LIVE_FACTS_H
#define LIVE_FACTS_H

#include <stdint.h>

struct facts {
	int meminfo, vmstat;		/* -1: not there */
	uint64_t dirty, writeback, dirty_limit;	/* bytes */
};

void facts_open(struct facts *f);
void facts_read(struct facts *f);
void facts_close(struct facts *f);

/* Where thread tid sleeps, as the kernel names it; "" unknown or running. Returns buf. */
const char *facts_wchan(uint32_t tid, char buf[64]);

#endif

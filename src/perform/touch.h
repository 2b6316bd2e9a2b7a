/* SPDX-License-Identifier: MIT */
/*
 * Reading mapped pages of a file that may fail: the kernel reports a read
 * error as SIGBUS, which would kill the probe. touch_pages() turns it into
 * -EIO. A SIGBUS from anywhere else still kills.
 */
#ifndef PERFORM_TOUCH_H
#define PERFORM_TOUCH_H

#include <stdbool.h>
#include <stdint.h>

void touch_arm(void);	/* installs the handler for SIGBUS; once after each mmap() is enough */
/* One byte of each page in p[0..n); 0 or -EIO. */
int touch_pages(unsigned char *p, uint64_t n, uint64_t page, bool write);

#endif

/* SPDX-License-Identifier: MIT */
#include "perform/touch.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>

static __thread sigjmp_buf *volatile back;	/* volatile: only the handler reads it in between */

static void on_bus(int sig)
{
	if (back)
		siglongjmp(*back, 1);
	signal(sig, SIG_DFL);	/* not ours: returning repeats the access, and now it kills */
}

void touch_arm(void)
{
	struct sigaction sa = { .sa_handler = on_bus, .sa_flags = SA_NODEFER };

	sigaction(SIGBUS, &sa, NULL);
}

/* Apart from touch_pages() so that no local variable lives across sigsetjmp(). */
static void touch(volatile unsigned char *p, uint64_t n, uint64_t page, bool write)
{
	for (uint64_t i = 0; i < n; i += page) {
		unsigned char c = p[i];

		if (write)
			p[i] = (unsigned char)(c + 1);
	}
}

int touch_pages(unsigned char *p, uint64_t n, uint64_t page, bool write)
{
	sigjmp_buf here;

	if (sigsetjmp(here, 0)) {
		back = NULL;
		return -EIO;
	}
	back = &here;
	touch(p, n, page, write);
	back = NULL;
	return 0;
}

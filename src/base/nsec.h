/* SPDX-License-Identifier: MIT */
/*
 * Time. One type, nanoseconds in a signed 64-bit integer, good for 292 years.
 * Stamps are CLOCK_MONOTONIC unless a name says wall; simulated time counts from 0.
 */
#ifndef BASE_NSEC_H
#define BASE_NSEC_H

#include <stddef.h>
#include <stdint.h>

typedef int64_t nsec_t;

#define NSEC_PER_USEC	INT64_C(1000)
#define NSEC_PER_MSEC	INT64_C(1000000)
#define NSEC_PER_SEC	INT64_C(1000000000)
#define NSEC_NEVER	INT64_MAX

nsec_t nsec_now(void);			/* CLOCK_MONOTONIC */
nsec_t nsec_wall(void);			/* CLOCK_REALTIME */
nsec_t nsec_thread_cpu(void);		/* CLOCK_THREAD_CPUTIME_ID */

/* Sleeps until `t` (monotonic), not ended early by signals unless *stop becomes non-zero (stop may be NULL). */
void nsec_sleep_until(nsec_t t, const volatile int *stop);

/* a + b, where "never" plus anything is never and overflow is never too. */
nsec_t nsec_add(nsec_t a, nsec_t b);

double nsec_seconds(nsec_t t);
nsec_t nsec_from_seconds(double s);	/* rounded to the nearest; saturates */

#define NSEC_TEXT 24
/* For people: "0.2 ms", "17 ms", "3.41 s", "25.1 s", "2 min 0 s", "24 h 0 min". Returns buf. */
const char *nsec_text(nsec_t t, char buf[NSEC_TEXT]);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Why something failed, for a person.
 *
 * Functions that can fail return 0 or -errno and take `struct err *` last (it
 * may be NULL). On failure it holds one finished sentence without a full stop:
 * what failed, on which object, why, and what to do. Only cmd/ prints it.
 * A struct err starts zeroed and needs no clean-up.
 */
#ifndef BASE_ERR_H
#define BASE_ERR_H

struct err {
	int code;		/* the -errno that was returned; 0: no error */
	char msg[1000];
};

/* Stores the sentence and returns `code` (negative), so callers can `return err_set(...)`. */
int err_set(struct err *e, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* As err_set, and appends ": " and the words for -code ("No space left on device"). */
int err_sys(struct err *e, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* Puts "context: " before the sentence that is there; returns e->code (-EIO when e is NULL). */
int err_wrap(struct err *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif

/* SPDX-License-Identifier: MIT */
/*
 * The bytes of one foreign file, read in order from a descriptor (a pipe will
 * do) with one window of bounded size in memory. Everything in it is hostile.
 *
 * Life: input_open() or input_of_memory() -> readers -> input_close(). A line
 * handed out lives until the next call. `name` is copied.
 */
#ifndef FORMAT_INPUT_H
#define FORMAT_INPUT_H

#include "base/err.h"
#include "base/nsec.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define INPUT_HEAD	(64 * 1024)		/* what format_sniff() sees */
#define INPUT_LINE_MAX	(256 * 1024)		/* of a line the rest is skipped; a fio histogram line has about 40 kB */
#define INPUT_ALL_MAX	(512u * 1024 * 1024)	/* of a document that has to be read whole */

struct input {
	char *name;		/* for messages */
	uint64_t line;		/* number of the last line read, from 1 */
	bool truncated;		/* set by a reader that cut at the last complete value */
	bool long_line;		/* a line was longer than INPUT_LINE_MAX and cut */
	bool told;		/* the format was named by the user, not guessed */
	/* Set by the caller: nanoseconds in one unit of a number that carries none. 0: as the format says. */
	nsec_t unit;

	/* private to input.c */
	int fd;			/* -1: memory, or at its end */
	int error;
	char *buf;
	size_t at, end, cap;
	size_t seen;		/* buf[at..seen) is known to hold no newline */
	char *cut;		/* holds a line that was too long */
};

/* path "-" is standard input. */
int input_open(const char *path, struct input **ret, struct err *e);
struct input *input_of_memory(const void *data, size_t n, const char *name);
void input_close(struct input *in);		/* NULL is fine */

/* The next bytes without reading past them, as many as there are up to INPUT_HEAD. */
const uint8_t *input_peek(struct input *in, size_t *ret_n);

/* The next line as it stands, ended by NUL instead of the newline. false: end or error (input_check). */
bool input_raw_line(struct input *in, char **ret_line, size_t *ret_n);

/*
 * The next line as a person would read it: without the byte order mark, CR at
 * the end, what a carriage return has overwritten (progress lines), quote
 * marks of mail ("> > "), and escape sequences of terminals.
 */
bool input_line(struct input *in, char **ret_line);
/* The same for n bytes at s, which end in NUL; in place. */
char *input_clean(char *s, size_t n);

/* All that is left (at most INPUT_ALL_MAX, else -E2BIG), ended by NUL; the caller frees. */
int input_all(struct input *in, char **ret, size_t *ret_n, struct err *e);

/* 0, or the error that ended the reading early. */
int input_check(const struct input *in, struct err *e);

static inline void input_closep(struct input **in)
{
	input_close(*in);
}
#define cleanup_input __attribute__((cleanup(input_closep)))

#endif

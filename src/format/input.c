/* SPDX-License-Identifier: MIT */
#include "format/input.h"
#include "base/cleanup.h"
#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#define WINDOW (1024 * 1024)

static struct input *input_new(const char *name, size_t cap)
{
	struct input *in = mem_alloc(sizeof(*in));

	in->name = mem_dup(name);
	in->fd = -1;
	in->cap = cap;
	in->buf = mem_alloc(cap + 1);	/* one more: a NUL behind the last line */
	return in;
}

int input_open(const char *path, struct input **ret, struct err *e)
{
	bool standard = !strcmp(path, "-");
	cleanup_close int fd = standard ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC);
	struct input *in;
	struct stat st;

	if (fd < 0 || fstat(fd, &st))
		return err_sys(e, -errno, "cannot open '%s'", path);
	if (S_ISDIR(st.st_mode))
		return err_set(e, -EISDIR, "'%s' is a directory; name one file in it", path);
	in = input_new(standard ? "standard input" : path, WINDOW);
	in->fd = take_fd(fd);
	*ret = in;
	return 0;
}

struct input *input_of_memory(const void *data, size_t n, const char *name)
{
	struct input *in = input_new(name, n);

	if (n)
		memcpy(in->buf, data, n);
	in->end = n;
	return in;
}

void input_close(struct input *in)
{
	if (!in)
		return;
	if (in->fd >= 0)
		close(in->fd);
	free(in->name);
	free(in->buf);
	free(in->cut);
	free(in);
}

/* Moves what is left to the front and reads once more; false when nothing was added. */
static bool fill(struct input *in)
{
	ssize_t got;

	if (in->fd < 0)
		return false;
	if (in->at) {
		memmove(in->buf, in->buf + in->at, in->end - in->at);
		in->end -= in->at;
		in->seen -= in->seen < in->at ? in->seen : in->at;
		in->at = 0;
	}
	if (in->end == in->cap)
		return false;
	do
		got = read(in->fd, in->buf + in->end, in->cap - in->end);
	while (got < 0 && errno == EINTR);
	if (got > 0) {
		in->end += (size_t)got;
		return true;
	}
	if (got < 0)
		in->error = -errno;
	close(in->fd);
	in->fd = -1;
	return false;
}

const uint8_t *input_peek(struct input *in, size_t *ret_n)
{
	while (in->end - in->at < INPUT_HEAD && fill(in))
		;
	*ret_n = MIN(in->end - in->at, (size_t)INPUT_HEAD);
	return (const uint8_t *)in->buf + in->at;
}

/* Drops bytes up to and with the next newline. */
static void skip_line(struct input *in)
{
	char *nl;

	for (;;) {
		nl = memchr(in->buf + in->at, '\n', in->end - in->at);
		if (nl) {
			in->at = (size_t)(nl - in->buf) + 1;
			return;
		}
		in->at = in->end;
		if (!fill(in))
			return;
	}
}

bool input_raw_line(struct input *in, char **ret_line, size_t *ret_n)
{
	size_t from, n;
	char *nl;

	for (;;) {
		if (in->seen < in->at)
			in->seen = in->at;
		nl = memchr(in->buf + in->seen, '\n', in->end - in->seen);
		in->seen = in->end;
		if (nl || in->end - in->at > INPUT_LINE_MAX || !fill(in))
			break;
	}
	from = in->at;
	n = nl ? (size_t)(nl - in->buf) - from : in->end - from;
	if (!nl && !n)
		return false;
	in->line++;
	if (n > INPUT_LINE_MAX) {
		if (!in->cut)
			in->cut = mem_alloc(INPUT_LINE_MAX + 1);
		memcpy(in->cut, in->buf + from, INPUT_LINE_MAX);
		skip_line(in);
		in->long_line = true;
		*ret_line = in->cut;
		*ret_n = INPUT_LINE_MAX;
		return true;
	}
	in->at = nl ? from + n + 1 : in->end;
	in->seen = in->at;
	in->buf[from + n] = 0;
	*ret_line = in->buf + from;
	*ret_n = n;
	return true;
}

/* Removes ESC [ ... letter. */
static void strip_escapes(char *s)
{
	char *w = s;

	for (char *r = s; *r; ) {
		if (r[0] == 0x1b && r[1] == '[') {
			r += 2;
			while (*r && !(*r >= '@' && *r <= '~'))
				r++;
			r += *r != 0;
			continue;
		}
		*w++ = *r++;
	}
	*w = 0;
}

char *input_clean(char *s, size_t n)
{
	char *cr;

	while (n && s[n - 1] == '\r')
		s[--n] = 0;
	cr = memrchr(s, '\r', n);
	if (cr)
		s = cr + 1;
	if (strchr(s, 0x1b))
		strip_escapes(s);
	for (;;) {
		char *q = s + strspn(s, " ");

		if (*q != '>')
			return s;
		s = q + 1;
		if (*s == ' ')
			s++;
	}
}

bool input_line(struct input *in, char **ret_line)
{
	char *s;
	size_t n;

	if (!input_raw_line(in, &s, &n))
		return false;
	if (in->line == 1 && n >= 3 && !memcmp(s, "\xef\xbb\xbf", 3))
		s += 3, n -= 3;
	*ret_line = input_clean(s, n);
	return true;
}

int input_all(struct input *in, char **ret, size_t *ret_n, struct err *e)
{
	while (in->fd >= 0) {
		if (!fill(in) && in->fd >= 0) {
			size_t cap = in->cap * 2;

			if (in->cap >= INPUT_ALL_MAX)
				return err_set(e, -E2BIG, "'%s' is larger than %u MiB, more than is read as one document", in->name,
					       INPUT_ALL_MAX >> 20);
			in->buf = mem_realloc(in->buf, cap + 1);
			in->cap = cap;
		}
	}
	if (in->error)
		return input_check(in, e);
	*ret_n = in->end - in->at;
	*ret = mem_alloc(*ret_n + 1);
	memcpy(*ret, in->buf + in->at, *ret_n);
	in->at = in->end;
	return 0;
}

int input_check(const struct input *in, struct err *e)
{
	if (in->error)
		return err_sys(e, in->error, "reading '%s' failed", in->name);
	return 0;
}

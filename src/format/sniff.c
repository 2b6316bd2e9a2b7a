/* SPDX-License-Identifier: MIT */
#include "base/cleanup.h"
#include "format/format.h"

#include <errno.h>
#include <string.h>

#define SURE_ENOUGH 20

void format_names(struct strbuf *out, bool for_export)
{
	const char *sep = "";

	for (const void *const *t = format_table; *t; t++) {
		const struct format_ops *f = *t;

		if (for_export ? !f->export_ : !f->import)
			continue;
		strbuf_addf(out, "%s%s", sep, f->plug.name);
		sep = ", ";
	}
}

/* Files people hand to import by mistake. NULL: none of these. */
static const char *known_stranger(const uint8_t *head, size_t n)
{
	if (n >= 16 && !memcmp(head, "SQLite format 3", 16))
		return "is a run record already; show, compare and export read it as it is";
	if (n >= 4 && (!memcmp(head, "\x07\x41\x61\x65", 4) || !memcmp(head, "\x08\x41\x61\x65", 4)))
		return "is a binary block trace; stallmark blk reads it";
	if (n >= 4 && (!memcmp(head, "\x28\xb5\x2f\xfd", 4) || !memcmp(head, "\x1f\x8b", 2)))
		return "is compressed; unpack it first";
	if (n >= 2 && (!memcmp(head, "\xff\xfe", 2) || !memcmp(head, "\xfe\xff", 2)))
		return "is text in UTF-16; convert it to UTF-8 first";
	return NULL;
}

const struct format_ops *format_sniff(const uint8_t *head, size_t n, const char *name, struct err *e)
{
	const struct format_ops *best = NULL, *second = NULL;
	int sure = 0, sure2 = 0;
	cleanup_strbuf struct strbuf names = STRBUF_INIT;
	const char *why = known_stranger(head, n);

	if (!n) {
		err_set(e, -ENODATA, "'%s' is empty", name);
		return NULL;
	}
	if (why) {
		err_set(e, -EINVAL, "'%s' %s", name, why);
		return NULL;
	}
	for (const void *const *t = format_table; *t; t++) {
		const struct format_ops *f = *t;
		int s = f->sniff && f->import ? f->sniff(head, n, name) : 0;

		if (s > sure) {
			second = best;
			sure2 = sure;
			best = f;
			sure = s;
		} else if (s > sure2) {
			second = f;
			sure2 = s;
		}
	}
	if (best && sure >= SURE_ENOUGH && sure > sure2)
		return best;
	if (best && sure >= SURE_ENOUGH && second) {
		err_set(e, -EINVAL, "'%s' may be %s or %s; say which with --as", name, best->plug.name, second->plug.name);
		return NULL;
	}
	format_names(&names, false);
	err_set(e, -EINVAL, "cannot tell what '%s' is; say so with --as (%s)", name, strbuf_str(&names));
	return NULL;
}

int format_choose(struct input *in, const char *as, const struct format_ops **ret_ops, struct err *e)
{
	const struct format_ops *ops;
	const uint8_t *head;
	size_t n;
	int r;

	head = input_peek(in, &n);
	r = input_check(in, e);
	if (r)
		return r;
	in->told = as != NULL;
	if (as) {
		ops = plug_need(format_table, "format", as, e);
		if (!ops)
			return -ENOENT;
		if (!ops->import)
			return err_set(e, -EINVAL, "%s can be exported but not imported", as);
		if (!n)
			return err_set(e, -ENODATA, "'%s' is empty", in->name);
	} else {
		ops = format_sniff(head, n, in->name, e);
		if (!ops)
			return -EINVAL;
	}
	*ret_ops = ops;
	return 0;
}

int format_open(const char *path, const char *as, struct input **ret_in, const struct format_ops **ret_ops,
		struct err *e)
{
	cleanup_input struct input *in = NULL;
	int r = input_open(path, &in, e);

	if (!r)
		r = format_choose(in, as, ret_ops, e);
	if (!r)
		*ret_in = take(in);
	return r;
}

int format_read(struct input *in, const struct format_ops *ops, const struct import_sink *sink, struct err *e)
{
	int r = ops->import(in, sink, e);

	if (!r)
		r = input_check(in, e);
	if (!r && in->long_line)
		r = sink->note(sink->ctx, NOTE_LOSS, "a line was longer than 256 KiB; the rest of it was not read");
	if (!r && in->truncated)
		r = sink->note(sink->ctx, NOTE_LOSS, "the file is cut off; it was read up to the last complete value");
	return r;
}

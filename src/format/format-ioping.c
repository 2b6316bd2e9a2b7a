/* SPDX-License-Identifier: MIT */
/* ioping's text: "4 KiB <<< DIR (ext4 /dev/sda1 ...): request=2 time=335.3 us", and of older versions "4096 bytes from". */
#include "format/text.h"

#include <errno.h>
#include <string.h>

struct request {
	nsec_t wait;
	uint64_t bytes;
	bool warmup, write;
};

static uint64_t size_of(const char *line)
{
	const char *s = text_skip(line);
	double x, factor = 1;

	if (!text_number(&s, &x))
		return 0;
	s = text_skip(s);
	factor = *s == 'k' || *s == 'K' ? 1024.0 : *s == 'm' || *s == 'M' ? 1048576.0 : 1;
	return x > 0 && x < 1e12 ? (uint64_t)(x * factor) : 0;
}

static bool read_request(const char *line, struct request *ret)
{
	const char *s = strstr(line, "request=");
	nsec_t unit;
	double x;

	s = s ? strstr(s, " time=") : NULL;
	if (!s)
		return false;
	s += 6;
	if (!text_amount(&s, NSEC_PER_SEC, &x, &unit) || !unit || !text_nsec(x, NSEC_PER_SEC, &ret->wait))
		return false;
	ret->warmup = strstr(s, "(warmup)") != NULL;
	ret->write = strstr(line, " >>> ") != NULL;
	ret->bytes = size_of(line);
	return true;
}

/* "... <<< w (ext4 /dev/vda 252.0 GiB): request=" */
static int target(const struct import_sink *sink, const char *line)
{
	const char *s = strstr(line, "<<< "), *end = strstr(line, ": request=");

	s = s ? s : strstr(line, ">>> ");
	return s && end && end > s + 4 ? text_fact(sink, "path", "%.*s", (int)(end - s - 4), s + 4) : 0;
}

static int ioping_import(struct input *in, const struct import_sink *sink, struct err *e)
{
	uint64_t n = 0, warmup = 0;
	struct request q;
	char *line;
	int r = 0;

	while (!r && input_line(in, &line)) {
		int series;

		if (!read_request(line, &q))
			continue;
		if (!n && !warmup)
			r = target(sink, line);
		if (q.warmup) {
			warmup++;
			continue;
		}
		n++;
		series = r ? r : sink->series(sink->ctx, q.write ? "write" : "read", "requests of ioping", false, 0);
		r = series < 0 ? series : sink->wait(sink->ctx, series, NSEC_NEVER, q.wait, SAMPLE_OK, q.bytes);
	}
	if (!r && !n)
		r = err_set(e, -ENODATA, "'%s' holds no requests of ioping", in->name);
	if (!r && warmup)
		r = text_note(sink, NOTE_INFO, "%llu warm-up requests were left out, as ioping does", (unsigned long long)warmup);
	if (!r)
		r = text_note(sink, NOTE_INFO, "ioping's text rounds to three or four digits; -J has nanoseconds");
	return r;
}

static void look_line(void *ctx, const char *line)
{
	struct request q;

	*(unsigned *)ctx += read_request(line, &q);
}

static int ioping_sniff(const uint8_t *head, size_t n, const char *name)
{
	unsigned requests = 0;

	text_head_lines(head, n, look_line, &requests);
	return requests ? 95 : 0;
}

const struct format_ops format_ioping = {
	.plug = { .name = "ioping", .about = "ioping's text, one line a request" },
	.sniff = ioping_sniff,
	.import = ioping_import,
};

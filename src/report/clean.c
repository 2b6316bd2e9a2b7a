/* SPDX-License-Identifier: MIT */
/* Text from records is hostile: a terminal must never obey it. */
#include "report/report.h"

#include <string.h>

/* Length of the valid UTF-8 sequence at s (no overlong forms, surrogates or C1 controls), 0 when there is none. */
static size_t utf8_len(const unsigned char *s)
{
	uint32_t c;
	size_t n;

	if (s[0] >= 0xc2 && s[0] <= 0xdf)
		n = 2, c = s[0] & 0x1f;
	else if (s[0] >= 0xe0 && s[0] <= 0xef)
		n = 3, c = s[0] & 0x0f;
	else if (s[0] >= 0xf0 && s[0] <= 0xf4)
		n = 4, c = s[0] & 0x07;
	else
		return 0;
	for (size_t i = 1; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (s[i] & 0x3f);
	}
	if ((n == 3 && c < 0x800) || (n == 4 && (c < 0x10000 || c > 0x10ffff)) || (c >= 0xd800 && c <= 0xdfff))
		return 0;
	if (c < 0xa0 || (c >= 0x200b && c <= 0x200f) || (c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069))
		return 0;	/* controls and direction overrides can rewrite what is on screen */
	return n;
}

void report_add_clean(struct strbuf *out, const char *s)
{
	const unsigned char *p = (const unsigned char *)s;

	while (*p) {
		size_t n = *p >= 0x20 && *p < 0x7f ? 1 : utf8_len(p);

		if (n)
			strbuf_add(out, p, n);
		else
			strbuf_addf(out, "\\x%02x", *p);
		p += n ? n : 1;
	}
}

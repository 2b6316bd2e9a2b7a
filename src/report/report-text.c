/* SPDX-License-Identifier: MIT */
/* As the screen without colour, with every detail: --format text. */
#include "report/text.h"

static void write_text(const struct page *p, const struct report_conf *conf, struct strbuf *out)
{
	struct report_conf plain = *conf;

	plain.colour = false;
	plain.verbose = true;
	text_write(p, &plain, out);
}

const struct report_ops report_text = {
	.plug = { .name = "text", .about = "plain text with every detail" },
	.suffix = "txt",
	.write = write_text,
};

/* SPDX-License-Identifier: MIT */
/* What one pastes into a mail to a kernel list: ASCII, 72 columns, no tabs. */
#include "report/text.h"

static void write_lkml(const struct page *p, const struct report_conf *conf, struct strbuf *out)
{
	struct report_conf mail = { .width = 72, .verbose = conf->verbose };

	text_write(p, &mail, out);
}

const struct report_ops report_lkml = {
	.plug = { .name = "lkml", .about = "for a mail: 72 columns, ASCII, no tabs" },
	.suffix = "txt",
	.write = write_lkml,
};

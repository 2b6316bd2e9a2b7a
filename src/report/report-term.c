/* SPDX-License-Identifier: MIT */
/* The screen: 78 columns, colour and block characters only where the terminal has them. */
#include "report/text.h"

const struct report_ops report_term = {
	.plug = { .name = "term", .about = "text for a terminal" },
	.suffix = "txt",
	.write = text_write,
};

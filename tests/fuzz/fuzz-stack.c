/* SPDX-License-Identifier: MIT */
/* Pasted stacks: any bytes become a page or a sentence, and every frame ends up in one task. */
#include "analyze/stack.h"
#include "base/mem.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = mem_alloc(size + 1);	/* callers hand over NUL-terminated text */
	struct page *p = NULL;
	struct err e = { 0 };

	memcpy(text, data, size);
	if (analyze_stack(text, size, size & 1, &p, &e) == 0)
		page_free(p);
	else if (!*e.msg)
		abort();
	free(text);
	return 0;
}

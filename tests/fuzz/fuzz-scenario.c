/* SPDX-License-Identifier: MIT */
/* Whatever the bytes are: an error or a scenario whose text reads back as the same text. */
#include "base/cleanup.h"
#include "scenario/scenario.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup_strbuf struct strbuf a = STRBUF_INIT, b = STRBUF_INIT;
	struct scenario *s = NULL, *again = NULL;
	struct scn_cell *cells = NULL;
	struct err e = { 0 };
	size_t n = 0;

	if (scenario_parse((const char *)data, size, "fuzz", &s, &e))
		return 0;
	scenario_text(s, &a);
	if (scenario_parse(strbuf_str(&a), a.len, "fuzz", &again, &e))
		abort();
	scenario_text(again, &b);
	if (strcmp(strbuf_str(&a), strbuf_str(&b)))
		abort();
	if (!scenario_cells(s, &cells, &n, &e) && n <= 4096)
		scenario_cells_free(cells, n);
	scenario_free(again);
	scenario_free(s);
	return 0;
}

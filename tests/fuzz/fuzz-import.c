/* SPDX-License-Identifier: MIT */
/*
 * The first line names the importer; any other word sniffs. Whatever the bytes are, an import ends with an error and
 * a sentence, or with waits of which none is negative and buckets that are in order.
 */
#include "base/cleanup.h"
#include "format/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct import_mem *m)
{
	for (size_t i = 0; i < m->runs.n; i++) {
		const struct import_run *r = &m->runs.p[i];

		for (size_t k = 0; k < r->series.n; k++) {
			const struct import_series *s = &r->series.p[k];

			for (size_t w = 0; w < s->waits.n; w++)
				if (s->waits.p[w].wait < 0 || s->waits.p[w].t_start < 0 ||
				    s->waits.p[w].status >= SAMPLE_STATUS_MAX)
					abort();
			for (size_t b = 0; b < s->buckets.n; b++)
				if (s->buckets.p[b].lo < 0 || s->buckets.p[b].hi < s->buckets.p[b].lo || !s->buckets.p[b].n)
					abort();
		}
		for (size_t k = 0; k < r->numbers.n; k++)
			if (!isfinite(r->numbers.p[k].value))
				abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct import_mem *m = NULL;
	struct err e = { 0 };
	struct input *in;
	const uint8_t *nl = memchr(data, '\n', size);
	cleanup_free char *as = NULL;
	const struct format_ops *ops;

	if (!nl)
		return 0;
	as = mem_dupn((const char *)data, (size_t)(nl - data));
	ops = plug_find(format_table, as);
	nl++;
	in = input_of_memory(nl, size - (size_t)(nl - data), "fuzz_clat.1.log");
	if (!import_mem_take(in, ops && ops->import ? as : NULL, &m, &e))
		check(m);
	else if (!e.msg[0])
		abort();
	import_mem_free(m);
	input_close(in);
	return 0;
}

/* SPDX-License-Identifier: MIT */
/* Any bytes as a disk profile, and each of its lines as a fault: an error, or something that can be served. */
#include "base/mem.h"
#include "model/drive.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What was accepted must be able to serve: a few requests, all of which end. */
static void serve(const struct profile *p)
{
	struct rq rq[8], *done[8];
	struct drive *d;
	unsigned got = 0;

	if (drive_new(p, UINT64_C(64) << 20, 1, &d, NULL))
		return;
	for (unsigned i = 0; i < 8; i++) {
		rq[i] = (struct rq){ .op = i == 6 ? RQ_FLUSH : i & 1 ? RQ_WRITE : RQ_READ, .sector = i * 4096,
				     .bytes = i == 6 ? 0 : 8192 };
		drive_submit(d, &rq[i], i);
	}
	for (int i = 0; i < 1000 && got < 8; i++)
		got += drive_reap(d, drive_next(d), done, 8);
	if (got < 8)
		abort();
	drive_free(d);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = mem_dupn((const char *)data, size > 4096 ? 4096 : size), *save = NULL;
	struct profile *p = NULL;
	struct err e = { 0 };
	struct fault f;

	if (!profile_parse((const char *)data, size, "fuzz", "fuzz", &p, &e)) {
		serve(p);
		profile_free(p);
	} else if (!e.msg[0]) {
		abort();	/* a refusal has a sentence */
	}
	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		(void)fault_parse(line, &f, NULL);
	free(text);
	return 0;
}

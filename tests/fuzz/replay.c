/* SPDX-License-Identifier: MIT */
/* Gives every file below the folders (or files) named to one fuzz target, once, and the empty input first. */
#include "base/cleanup.h"
#include "base/vec.h"

#include <fts.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int replay(const char *path)
{
	cleanup_file FILE *f = fopen(path, "rb");
	VEC(uint8_t) data = { 0 };
	int c;

	if (!f) {
		perror(path);
		return 1;
	}
	while ((c = getc(f)) != EOF)
		vec_push(&data, (uint8_t)c);
	/* Printed before: when the target crashes the last line names the input. */
	printf("%s\n", path);
	fflush(stdout);
	LLVMFuzzerTestOneInput(data.p, data.n);
	vec_done(&data);
	return 0;
}

int main(int argc, char **argv)
{
	FTS *fts;
	FTSENT *f;
	int bad = 0, n = 0;

	LLVMFuzzerTestOneInput((const uint8_t *)"", 0);
	if (argc < 2)
		return 0;
	fts = fts_open(argv + 1, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	while (fts && (f = fts_read(fts))) {
		if (f->fts_info != FTS_F)
			continue;
		bad |= replay(f->fts_path);
		n++;
	}
	fts_close(fts);
	printf("%d inputs\n", n);
	if (!n)
		fprintf(stderr, "there is no corpus in %s\n", argv[1]);
	return bad || !n;
}

/* SPDX-License-Identifier: MIT */
/* Block traces: any bytes become a page, blkparse's summary and btt's tables, as files, as a dump and as a stream; every
 * record that is read is counted, and no byte is both skipped and read. */
#include "analyze/blk-blkparse.h"
#include "analyze/blk-btt.h"
#include "analyze/blk.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void to_btt(void *ctx, const struct blk_rec *r)
{
	blk_btt_record(ctx, r);
}

static void page_of(const struct blk_input *in, size_t size)
{
	struct blk_filter all = { 0 };
	struct blk_trace *t;

	if (blk_load(in, &all, NULL, &t, NULL))
		abort();
	if (t->seen.skipped_bytes + t->seen.records * BLK_V7_BYTES > size)
		abort();
	page_free(blk_page(t));
	blk_free(t);
}

static void summary(const struct blk_input *in)
{
	struct blk_totals_conf conf = { .by_pid = true, .threads = 1 };
	struct strbuf text = STRBUF_INIT;
	struct blk_totals t;

	if (blk_totals(in, &conf, &t, NULL))
		abort();
	blk_blkparse_text(&t, true, &text);
	blk_blkparse_notes(&t, &text);
	blk_totals_done(&t);
	strbuf_done(&text);
}

static void tables(const struct blk_input *in)
{
	struct blk_btt *b = blk_btt_new();
	struct strbuf text = STRBUF_INIT;
	struct blk_seen seen;

	if (blk_read(in, to_btt, b, NULL, &seen, NULL))
		abort();
	blk_btt_text(b, &text);
	blk_btt_notes(b, &text);
	blk_btt_free(b);
	strbuf_done(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct blk_file files[2] = { { .path = (char *)"a", .fd = -1, .map = data, .size = size / 2 },
				     { .path = (char *)"b", .fd = -1, .cpu = 1, .map = data + size / 2, .size = size - size / 2 } };
	struct blk_set set = { .name = (char *)"fuzz", .n = 2, .missing_cpu = -1 };
	struct blk_input in = { .files = files, .sets = &set, .nfiles = 2, .nsets = 1, .bytes = size };
	int fd;

	if (size > 60000)	/* pages behind the reading position are dropped, which only files survive */
		return 0;
	summary(&in);
	page_of(&in, size);
	tables(&in);
	/* one dump */
	files[0] = (struct blk_file){ .path = (char *)"a", .fd = -1, .cpu = BLK_ANY_CPU, .map = data, .size = size };
	in.nfiles = set.n = 1;
	page_of(&in, size);
	/* a stream, blkparse's way */
	fd = memfd_create("fuzz", 0);
	if (fd < 0 || write(fd, data, size) != (ssize_t)size || lseek(fd, 0, SEEK_SET))
		abort();
	files[0].fd = fd;
	in.stream = true;
	summary(&in);
	close(fd);
	return 0;
}

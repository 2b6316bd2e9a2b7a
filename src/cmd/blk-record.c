/* SPDX-License-Identifier: MIT */
#include "cmd/blk-record.h"
#include "base/cleanup.h"
#include "base/mem.h"
#include "cmd/cmd.h"
#include "collect/blk-tap.h"
#include "sys/spawn.h"
#include "sys/undo.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define POLL (20 * NSEC_PER_MSEC)

struct files {
	const char *name;
	FILE **f;		/* one a CPU, all of them made: blkparse stops at the first missing number */
	int n;
	int error;
	uint8_t buf[BLK_V8_BYTES + BLK_PDU_MAX];
};

static int files_open(struct files *fs, int n, struct err *e)
{
	fs->f = mem_array((size_t)n, sizeof(*fs->f));
	for (fs->n = 0; fs->n < n; fs->n++) {
		cleanup_free char *path = mem_printf("%s.blktrace.%d", fs->name, fs->n);

		fs->f[fs->n] = fopen(path, "wxe");
		if (!fs->f[fs->n])
			return err_sys(e, -errno, "cannot make %s", path);
		setvbuf(fs->f[fs->n], NULL, _IOFBF, 1 << 18);
	}
	return 0;
}

static int files_close(struct files *fs, bool remove, struct err *e)
{
	int r = fs->error;

	for (int i = 0; i < fs->n; i++) {
		cleanup_free char *path = mem_printf("%s.blktrace.%d", fs->name, i);

		if (fs->f[i] && fclose(fs->f[i]) && !r)
			r = -errno;
		if (remove)
			unlink(path);
	}
	free(fs->f);
	fs->f = NULL;
	return r ? err_sys(e, r, "writing %s.blktrace.*", fs->name) : 0;
}

static void put(void *ctx, const struct blk_rec *r)
{
	struct files *fs = ctx;
	size_t n;

	if (r->cpu >= (uint32_t)fs->n)
		return;
	n = blk_encode(r, fs->buf);
	if (fwrite(fs->buf, 1, n, fs->f[r->cpu]) != n && !fs->error)
		fs->error = -errno;
}

/* The wall clock at a time of the trace, as blktrace notes it. */
static void put_wall_clock(struct files *fs)
{
	nsec_t mono = nsec_now(), wall = nsec_wall();
	uint32_t two[2] = { (uint32_t)(wall / NSEC_PER_SEC), (uint32_t)(wall % NSEC_PER_SEC) };

	put(fs, &(struct blk_rec){ .version = 7, .time = (uint64_t)mono, .act = BLK_TN_TIME, .tc = BLK_TC_NOTIFY,
				   .pdu = (const uint8_t *)two, .pdu_len = sizeof(two) });
}

static int device_of(const char *name, dev_t *ret, struct err *e)
{
	cleanup_free char *path = *name == '/' || *name == '.' ? mem_dup(name) : mem_printf("/dev/%s", name);
	struct stat st;

	if (stat(path, &st))
		return err_sys(e, -errno, "there is no block device %s", path);
	if (!S_ISBLK(st.st_mode))
		return err_set(e, -EINVAL, "%s is not a block device", path);
	*ret = st.st_rdev;
	return 0;
}

/* Reads until the command ends, the time is over or a signal came. */
static int watch(const struct blk_record_conf *c, struct blk_tap *t, struct files *fs, pid_t child, int *ret_status,
		 struct err *e)
{
	nsec_t end = c->time ? nsec_add(nsec_now(), c->time) : NSEC_NEVER;

	while (!*c->stop && nsec_now() < end && !fs->error) {
		ssize_t got = blk_tap_read(t, e);

		if (got < 0)
			return (int)got;
		if (child > 0 && spawn_wait(child, got ? 0 : POLL, ret_status) != -ETIMEDOUT)
			return 0;
		if (child <= 0 && !got)
			nsec_sleep_until(nsec_now() + POLL, (const volatile int *)c->stop);
	}
	if (child > 0)
		spawn_stop(child, 2 * NSEC_PER_SEC, ret_status);
	return 0;
}

static int start(const struct blk_record_conf *c, pid_t *ret_child, struct err *e)
{
	const struct spawn s = { .argv = c->command, .out = STDERR_FILENO, .err = STDERR_FILENO };

	return c->command ? spawn_start(&s, ret_child, e) : 0;
}

int blk_record(const struct blk_record_conf *c)
{
	struct files *fs = mem_alloc(sizeof(*fs));
	struct blk_tap_conf conf = { .ndevices = 1, .record = put, .ctx = fs };
	struct blk_tap *t = NULL;
	struct err e = { 0 }, second = { 0 };
	uint64_t lost = 0, records = 0;
	pid_t child = 0;
	int status = 0, r;
	dev_t dev;

	undo_stale(NULL, NULL);		/* what a killed one left */
	fs->name = c->name;
	r = device_of(c->device, &dev, &e);
	conf.devices = &dev;
	r = r ? r : blk_tap_supported(&e);
	r = r ? r : undo_open(&conf.undo, &e);
	r = r ? r : files_open(fs, (int)sysconf(_SC_NPROCESSORS_CONF), &e);
	r = r ? r : blk_tap_open(&conf, &t, &e);
	if (!r) {
		put_wall_clock(fs);
		r = start(c, &child, &e);
		r = r ? r : watch(c, t, fs, child, &status, &e);
		records = blk_tap_records(t);
		if (blk_tap_close(t, &lost, r ? &second : &e) && !r)
			r = e.code;
	}
	undo_close(conf.undo);
	if (files_close(fs, r && !records, r ? &second : &e) && !r)
		r = e.code;
	free(fs);
	if (r)
		return cmd_fail(&e);
	fprintf(stderr, "stallmark: %s.blktrace.*: %s%" PRIu64 " records\n", c->name, lost ? "at least " : "", records);
	if (lost)
		fprintf(stderr, "stallmark: the kernel lost %" PRIu64 " records: the disk was faster than the tracer\n", lost);
	return *c->stop ? *c->stop : status ? status : EXIT_FINE;
}

/* SPDX-License-Identifier: MIT */
#include "lab/fit.h"
#include "base/cleanup.h"
#include "base/mem.h"
#include "base/rng.h"
#include "base/units.h"
#include "base/vec.h"
#include "model/profile.h"
#include "sys/folder.h"
#include "sys/kfile.h"
#include "sys/topology.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <math.h>
#include <pthread.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#define BLOCK		4096
#define BIG		(1u << 20)
#define READERS		32
#define FILE_SHARE	4			/* of the free space */
#define FILE_BYTES	(UINT64_C(1) << 30)
#define SCATTERED	32

static const double shares[FIT_DISTANCES] = { 0.0005, 0.002, 0.01, 0.05, 0.15, 0.4, 1 };

struct target {
	int fd;
	uint64_t bytes;
	char *buf;
	struct rng rng;
};

static int open_buffer(struct target *t, struct err *e)
{
	t->buf = aligned_alloc(BLOCK, BIG);
	rng_seed(&t->rng, 1);
	return t->buf ? 0 : err_set(e, -ENOMEM, "no memory for a buffer");
}

static int timed_read(struct target *t, uint64_t at, size_t n, nsec_t *ret, struct err *e)
{
	nsec_t t0 = nsec_now();
	ssize_t r = pread(t->fd, t->buf, n, (off_t)at);

	if (r != (ssize_t)n)
		return err_sys(e, r < 0 ? -errno : -EIO, "reading at %llu failed", (unsigned long long)at);
	*ret = nsec_now() - t0;
	return 0;
}

/* Reads that jump by up to `share` of the disk from one to the next; mean and half width. */
static int jumps(struct target *t, double share, nsec_t time, nsec_t *ret_mean, nsec_t *ret_half, unsigned *ret_n, struct err *e)
{
	uint64_t blocks = t->bytes / BLOCK, reach = (uint64_t)((double)blocks * share), at = blocks / 2;
	nsec_t until = nsec_now() + time, x;
	double sum = 0, sum2 = 0;
	unsigned n = 0;
	int r;

	if (reach < 2)
		reach = 2;
	do {
		uint64_t low = share >= 1 || at < reach ? 0 : at - reach, high = share >= 1 ? blocks : MIN(blocks, at + reach);

		at = low + rng_below(&t->rng, high - low);
		r = timed_read(t, at * BLOCK, BLOCK, &x, e);
		if (r)
			return r;
		if (n++) {	/* the first one came from somewhere else */
			sum += (double)x;
			sum2 += (double)x * (double)x;
		}
	} while (n < 12 || (nsec_now() < until && n < 20000));
	n--;
	*ret_mean = (nsec_t)(sum / n);
	*ret_half = (nsec_t)(1.96 * sqrt((sum2 / n - sum / n * sum / n) / n));
	*ret_n = n;
	return 0;
}

struct reader {
	struct target t;
	nsec_t until;
	unsigned n;
	int error;
};

static void *read_on(void *arg)
{
	struct reader *d = arg;
	nsec_t x;

	while (!d->error && nsec_now() < d->until) {
		d->error = timed_read(&d->t, rng_below(&d->t.rng, d->t.bytes / BLOCK) * BLOCK, BLOCK, &x, NULL);
		d->n++;
	}
	return NULL;
}

static int deep(struct target *t, nsec_t time, double *ret_iops, struct err *e)
{
	struct reader *d = mem_array(READERS, sizeof(*d));
	pthread_t thread[READERS];
	nsec_t t0 = nsec_now();
	unsigned n = 0, started = 0;
	int r = 0;

	for (; started < READERS; started++) {
		d[started].t = *t;
		rng_seed(&d[started].t.rng, 100 + started);
		d[started].until = t0 + time;
		d[started].t.buf = aligned_alloc(BLOCK, BLOCK);
		if (!d[started].t.buf || pthread_create(&thread[started], NULL, read_on, &d[started])) {
			free(d[started].t.buf);
			r = err_set(e, -EAGAIN, "cannot start %d readers", READERS);
			break;
		}
	}
	for (unsigned i = 0; i < started; i++) {
		pthread_join(thread[i], NULL);
		n += d[i].n;
		if (d[i].error && !r)
			r = err_sys(e, d[i].error, "a random read failed");
		free(d[i].t.buf);
	}
	*ret_iops = n / nsec_seconds(nsec_now() - t0);
	free(d);
	return r;
}

static int stream(struct target *t, uint64_t from, nsec_t time, double *ret_rate, struct err *e)
{
	nsec_t t0 = nsec_now(), x;
	uint64_t at = from;
	int r = 0;

	while (!r && at + BIG <= t->bytes && (nsec_now() - t0 < time || at < from + 4 * (uint64_t)BIG)) {
		r = timed_read(t, at, BIG, &x, e);
		at += BIG;
	}
	*ret_rate = (double)(at - from) / nsec_seconds(MAX(nsec_now() - t0, (nsec_t)1));
	return r;
}

/* Virtual disks often say that they turn. One that reads anywhere in less than this does not. */
#define TURNS_LEAST	(1500 * NSEC_PER_USEC)

static int measure_reads(struct target *t, nsec_t time, struct fit *f, struct err *e)
{
	nsec_t part = time / (FIT_DISTANCES + 4), half;
	int r = 0;

	f->bytes = t->bytes;
	for (int i = 0; i < FIT_DISTANCES && !r; i++) {
		f->read[i].share = shares[i];
		r = jumps(t, shares[i], part, &f->read[i].mean, &half, &f->read[i].n, e);
	}
	if (!r) {
		f->random_read = f->read[FIT_DISTANCES - 1].mean;
		f->random_error = half;
		f->rotational &= f->random_read > TURNS_LEAST;
		r = deep(t, part, &f->iops_deep, e);
	}
	if (!r)
		r = stream(t, 0, part, &f->outer, e);
	if (!r)
		r = stream(t, (t->bytes - t->bytes / 20) / BIG * BIG, part, &f->inner, e);
	return r;
}

static bool turns(dev_t dev)
{
	char path[256];
	cleanup_free char *file = NULL;
	uint64_t x = 0;

	if (!topology_queue_dir(dev, path, sizeof(path)))
		return false;
	file = mem_printf("%s/rotational", path);
	return !file_read_u64(file, &x, NULL) && x == 1;
}

int fit_device(const char *device, nsec_t time, struct fit *ret, struct err *e)
{
	struct fit f = { 0 };
	struct target t = { .fd = open(device, O_RDONLY | O_DIRECT | O_CLOEXEC | O_NONBLOCK) };
	cleanup_close int fd = t.fd;
	struct stat st;
	int r;

	if (fd < 0)
		return err_sys(e, -errno, "cannot open %s for reading", device);
	if (fstat(fd, &st) || !S_ISBLK(st.st_mode))
		return err_set(e, -ENOTBLK, "%s is not a block device; --dir DIR measures the disk under a directory", device);
	if (ioctl(fd, BLKGETSIZE64, &t.bytes))
		return err_sys(e, -errno, "cannot ask %s for its size", device);
	if (t.bytes < 64u << 20)
		return err_set(e, -EINVAL, "%s is too small to be measured: 64 MiB at least", device);
	f.rotational = turns(st.st_rdev);
	snprintf(f.what, sizeof(f.what), "%s", device);
	r = open_buffer(&t, e);
	if (!r)
		r = measure_reads(&t, time, &f, e);
	free(t.buf);
	if (!r)
		*ret = f;
	return r;
}

/* ---- a file ---- */

static int fill(struct target *t, struct err *e)
{
	for (uint64_t at = 0; at + BIG <= t->bytes; at += BIG) {
		rng_fill(&t->rng, t->buf, BIG);
		if (pwrite(t->fd, t->buf, BIG, (off_t)at) != BIG)
			return err_sys(e, errno ? -errno : -ENOSPC, "cannot write the file that is to be measured");
	}
	return fsync(t->fd) ? err_sys(e, -errno, "cannot write the file that is to be measured") : 0;
}

static int by_time(const void *a, const void *b)
{
	nsec_t x = *(const nsec_t *)a, y = *(const nsec_t *)b;

	return x < y ? -1 : x > y;
}

/* n scattered direct writes, then one fsync; the median write and the fsync. */
static int scattered(struct target *t, unsigned n, nsec_t *ret_write, nsec_t *ret_flush, struct err *e)
{
	nsec_t w[SCATTERED], t0;

	for (unsigned i = 0; i < n; i++) {
		t0 = nsec_now();
		if (pwrite(t->fd, t->buf, BLOCK, (off_t)(rng_below(&t->rng, t->bytes / BLOCK) * BLOCK)) != BLOCK)
			return err_sys(e, errno ? -errno : -EIO, "a write failed");
		w[i] = nsec_now() - t0;
	}
	t0 = nsec_now();
	if (fdatasync(t->fd))
		return err_sys(e, -errno, "fdatasync failed");
	*ret_flush = nsec_now() - t0;
	qsort(w, n, sizeof(*w), by_time);
	*ret_write = w[n / 2];
	return 0;
}

static int measure_writes(struct target *t, nsec_t time, struct fit *f, struct err *e)
{
	nsec_t until = nsec_now() + time, write, one = 0, many = 0, x;
	unsigned rounds = 0;
	int r = 0;

	do {
		r = scattered(t, 1, &write, &x, e);
		one += x;
		if (!r)
			r = scattered(t, SCATTERED, &write, &x, e);
		many += x;
		rounds++;
	} while (!r && nsec_now() < until && rounds < 1000);
	f->writes = !r;
	f->cached_write = write;
	f->flush_empty = one / rounds;
	f->flush_each = MAX(many - one, (nsec_t)0) / rounds / (SCATTERED - 1);
	return r;
}

static int in_folder(struct folder *d, nsec_t time, struct fit *f, struct err *e)
{
	struct target t = { .fd = -1 };
	struct statvfs fs;
	int r;

	if (fstatvfs(d->fd, &fs))
		return err_sys(e, -errno, "cannot ask for the free space in %s", d->path);
	t.bytes = MIN(FILE_BYTES, (uint64_t)fs.f_bavail * fs.f_frsize / FILE_SHARE) / BIG * BIG;
	if (t.bytes < 64u << 20)
		return err_set(e, -ENOSPC, "too little free space for a file to measure on: 256 MiB are needed");
	t.fd = openat(d->fd, "fit", O_RDWR | O_CREAT | O_EXCL | O_DIRECT | O_CLOEXEC, 0600);
	if (t.fd < 0)
		return err_sys(e, -errno, "cannot open a file for direct I/O in %s", d->path);
	r = open_buffer(&t, e);
	if (!r)
		r = fill(&t, e);
	if (!r)
		r = measure_reads(&t, time * 3 / 4, f, e);
	if (!r)
		r = measure_writes(&t, time / 4, f, e);
	close(t.fd);
	free(t.buf);
	return r;
}

int fit_dir(const char *dir, nsec_t time, struct fit *ret, struct err *e)
{
	struct topology topo = { 0 };
	struct fit f = { 0 };
	struct folder d;
	dev_t devs[8];
	int n = 0, r;

	if (!topology_of(dir, &topo, NULL)) {
		topology_queues(&topo, devs, &n, (int)ARRAY_SIZE(devs));
		for (int i = 0; i < MIN(n, (int)ARRAY_SIZE(devs)); i++)
			f.rotational |= turns(devs[i]);
		topology_done(&topo);
	}
	r = folder_make(dir, &d, e);
	if (r)
		return r;
	snprintf(f.what, sizeof(f.what), "a file in %s", dir);
	r = in_folder(&d, time, &f, e);
	(void)folder_remove(d.path, d.token, r ? NULL : e);
	folder_done(&d);
	if (!r)
		*ret = f;
	return r;
}

/* ---- numbers to a profile ---- */

/* Least squares of y = a + b x. */
static void line_fit(const double *x, const double *y, int n, double *ret_a, double *ret_b)
{
	double sx = 0, sy = 0, sxx = 0, sxy = 0, d;

	for (int i = 0; i < n; i++) {
		sx += x[i];
		sy += y[i];
		sxx += x[i] * x[i];
		sxy += x[i] * y[i];
	}
	d = n * sxx - sx * sx;
	*ret_b = d > 0 ? (n * sxy - sx * sy) / d : 0;
	*ret_a = (sy - *ret_b * sx) / n;
}

static void put(struct strbuf *out, const char *key, const char *value, const char *source)
{
	strbuf_addf(out, "%s = %s  # %s\n", key, value, source);
}

static void put_us(struct strbuf *out, const char *key, double ns, const char *source)
{
	char text[40];

	snprintf(text, sizeof(text), "%lldus", (long long)(MAX(ns, 0.0) / 1e3 + 0.5));
	put(out, key, text, source);
}

static void put_n(struct strbuf *out, const char *key, double x, const char *source)
{
	char text[40];

	snprintf(text, sizeof(text), "%lld", (long long)(x + 0.5));
	put(out, key, text, source);
}

/* Mean of sqrt(x) for jumps of up to s of the stroke from one place to the next: uniform up to s; over all: density 2(1-x). */
static double mean_sqrt(double s)
{
	return s >= 1 ? 8.0 / 15 : 2.0 / 3 * sqrt(s);
}

static void put_hdd(const struct fit *f, struct strbuf *out)
{
	double x[FIT_DISTANCES], y[FIT_DISTANCES], a, b, rev = 60e9 / 7200, overhead = 100e3;
	char text[40];

	for (int i = 0; i < FIT_DISTANCES; i++) {
		x[i] = mean_sqrt(f->read[i].share);
		y[i] = (double)f->read[i].mean;
	}
	line_fit(x, y, FIT_DISTANCES, &a, &b);
	/* what does not grow with the distance is overhead, half a turn and the shortest seek: a 5400 rpm disk needs more */
	if (a > 60e9 / 5400 / 2 + overhead + 0.5e6)
		rev = 60e9 / 5400;
	put_n(out, "rpm", 60e9 / rev, "from the part of a read that does not depend on the distance; the label is surer");
	put_n(out, "media_outer", f->outer * (1 + 0.8e6 / rev), "measured: sequential reads at the start, plus the head switches");
	snprintf(text, sizeof(text), "%.3f", MIN(MAX(f->inner / f->outer, 0.05), 1.0));
	put(out, "inner_ratio", text, "measured: sequential reads at the end and at the start");
	put_us(out, "overhead", overhead, "assumed");
	put_us(out, "read_a", MAX(a - rev / 2 - overhead - 4096 / f->outer * 1e9, 0.1e6),
	       "measured: random reads over seven distances, a + b sqrt(x), half a turn taken off");
	put_us(out, "read_b", MAX(b, 0.0), "same fit");
	put_us(out, "write_a", MAX(a - rev / 2 - overhead, 0.1e6) + 0.2e6, "assumed: 0.2 ms more than reads");
	put_us(out, "write_b", MAX(b, 0.0), "assumed as for reads");
	put(out, "seek_cutoff", "1", "one curve for all distances");
	put_n(out, "considered", f->iops_deep * (double)f->random_read / 1e9 < 1.3 ? 1 : f->iops_deep * (double)f->random_read / 1e9 < 2 ? 8 : 31,
	      "from the gain of 32 readers");
	if (f->writes) {
		put_us(out, "cached_write", MIN((double)f->cached_write, 1e8), "measured: median direct write of 4 KiB");
		put_us(out, "flush_each", (double)f->flush_each, "measured: fdatasync after 32 scattered writes against one");
	}
}

static void put_flash(const struct fit *f, struct strbuf *out)
{
	double read = (double)f->random_read - 5e3 - 4096 / 600e6 * 1e9 - 4096 / MAX(f->outer, 1e6) * 1e9;

	put_us(out, "command", 5e3, "assumed");
	put_us(out, "read", MAX(read, 1e3), "measured: mean random read of 4 KiB, command and transfer taken off");
	put_n(out, "link", MAX(f->outer, 1e6), "measured: sequential reads, one at a time");
	put(out, "channel_rate", "600M", "assumed");
	put_n(out, "dies", MIN(MAX(f->iops_deep * MAX(read, 1e3) / 1e9, 1.0), 256.0), "from what 32 readers get");
	if (f->writes)
		put_us(out, "flush", (double)f->flush_empty, "measured: fdatasync of one write, the filesystem's share included");
}

int fit_profile(const struct fit *f, struct strbuf *out, double *ret_error, struct err *e)
{
	struct profile *p = NULL;
	char bytes[UNITS_TEXT];
	double expect;
	int r;

	strbuf_addf(out, "# Fitted by stallmark lab fit to %s (%s)\nmodel = %s\n", f->what, units_size_text(f->bytes, bytes),
		    f->rotational ? "hdd" : "ssd");
	if (f->rotational)
		put_hdd(f, out);
	else
		put_flash(f, out);
	if (!f->writes)
		strbuf_adds(out, "# writes, cache and flush were not measured (--device only reads): the model's defaults, assumed\n");
	r = profile_parse(strbuf_str(out), out->len, "the fitted profile", "fit", &p, e);
	if (r)
		return r;
	expect = (double)p->ops->expect_random_read(p->conf, f->bytes);
	*ret_error = expect / (double)f->random_read - 1;
	profile_free(p);
	return 0;
}

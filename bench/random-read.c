/* SPDX-License-Identifier: MIT */
/*
 * Random 4 KiB reads at depth 32: our io_uring performer against fio's, in
 * interleaved pairs, each latency kept on both sides, CPU of the whole process
 * by wait4.
 *
 *	random-read			on /dev/zram0, which must be unused; filled with random data, reset afterwards
 *	random-read --file PATH		on a file or device as it is: figures only, no claim
 *	  --pairs N --seconds N --size BYTES --tuned (fio with registered files and buffers)
 *
 * Prints medians and ratios; exit 1 when, on zram, IOPS are below 1.15 times fio's or CPU per I/O is not below fio's.
 */
#include "base/cleanup.h"
#include "base/mem.h"
#include "base/rng.h"
#include "base/units.h"
#include "perform/data.h"
#include "perform/perform.h"
#include "stats/hist.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define DEPTH	32
#define BS	4096
#define PAIRS	16
#define ZRAM	"/dev/zram0"
#define ZRAM_SYS "/sys/block/zram0/"

#define OTHERS_MAX 0.10	/* a pair counts only while others use less of the machine: rule 5 of the design */

struct side {
	double iops, cpu_us;	/* CPU: microseconds of the whole process for one read */
	double p50_us, p99_us;
	double others;		/* share of all CPUs that other processes used (or the host stole) meanwhile */
};

struct reads {
	struct rng rng;
	uint64_t blocks, n;
	nsec_t until;
	struct hist hist;
	int error;
	bool opened, closed;
	const char *name;
};

static int next(void *ctx, struct op *op)
{
	struct reads *r = ctx;

	if (!r->opened) {
		*op = (struct op){ .kind = OP_OPEN, .flags = OPF_READ | OPF_DIRECT };
		snprintf(op->path, sizeof(op->path), "%s", r->name);
		r->opened = true;
		return 1;
	}
	if (r->closed || r->error)
		return 0;
	op->kind = OP_READ;
	op->slot = 0;
	op->flags = 0;
	op->bytes = BS;
	op->offset = rng_below(&r->rng, r->blocks) * BS;
	return 1;
}

static void done(void *ctx, const struct op *op, const struct op_result *res)
{
	struct reads *r = ctx;

	if (res->error || (op->kind == OP_READ && res->bytes != BS))
		r->error = res->error ? res->error : -EIO;
	if (op->kind != OP_READ)
		return;
	hist_add(&r->hist, res->end - res->start, 1);
	r->n++;
	if (res->end >= r->until)
		r->closed = true;
}

/* The child: reads for so long, prints "n seconds p50_ns p99_ns". */
static int ours(const char *path, uint64_t size, double seconds)
{
	const struct perform_ops *u = plug_find(perform_table, "uring");
	const char *slash = strrchr(path, '/');
	char dir[512];
	struct reads r = { .blocks = size / BS, .name = slash + 1 };
	struct perform_conf conf = { .depth = DEPTH, .buffer_bytes = BS, .seed = 1 };
	struct err e = { 0 };
	void *st;
	nsec_t start;
	int ret;

	if (!u) {
		fputs("random-read: built without io_uring\n", stderr);
		return 77;
	}
	snprintf(dir, sizeof(dir), "%.*s", (int)(slash - path), path);
	conf.dirfd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	rng_seed(&r.rng, 42);
	hist_init(&r.hist, 3);
	st = mem_alloc(u->plug.state_size);
	ret = u->open(st, &conf, &e);
	if (ret) {
		fprintf(stderr, "random-read: %s\n", e.msg);
		return 2;
	}
	start = nsec_now();
	r.until = start + nsec_from_seconds(seconds);
	ret = u->stream(st, next, done, &r, &e);
	if (!ret)
		ret = r.error;
	if (ret)
		fprintf(stderr, "random-read: %s\n", e.msg[0] ? e.msg : strerror(-ret));
	printf("%llu %.6f %lld %lld\n", (unsigned long long)r.n, nsec_seconds(nsec_now() - start),
	       (long long)hist_quantile(&r.hist, 0.5), (long long)hist_quantile(&r.hist, 0.99));
	u->close(st);
	free(st);
	hist_done(&r.hist);
	return ret ? 2 : 0;
}

/* CPU seconds that were not idle, of all CPUs, with those the host stole. */
static double machine_busy(void)
{
	cleanup_file FILE *f = fopen("/proc/stat", "re");
	unsigned long long v[8] = { 0 };

	if (!f || fscanf(f, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &v[0], &v[1], &v[2], &v[3], &v[4], &v[5], &v[6],
			 &v[7]) != 8)
		return 0;
	return (double)(v[0] + v[1] + v[2] + v[5] + v[6] + v[7]) / (double)sysconf(_SC_CLK_TCK);
}

/* Runs argv, returns what it printed; CPU seconds of it and its children, and the share of the machine others used. */
static char *run(char *const argv[], double *ret_cpu, double *ret_others)
{
	double busy = machine_busy();
	nsec_t start = nsec_now();
	char *out = mem_alloc(1 << 20);
	size_t n = 0;
	struct rusage ru;
	int p[2], status;
	ssize_t got;
	pid_t pid;

	if (pipe(p) < 0 || (pid = fork()) < 0) {
		perror("random-read");
		exit(2);
	}
	if (!pid) {
		dup2(p[1], 1);
		close(p[0]);
		close(p[1]);
		execvp(argv[0], argv);
		perror(argv[0]);
		_exit(127);
	}
	close(p[1]);
	while ((got = read(p[0], out + n, (1 << 20) - 1 - n)) > 0)
		n += (size_t)got;
	close(p[0]);
	wait4(pid, &status, 0, &ru);
	if (!WIFEXITED(status) || WEXITSTATUS(status)) {
		fprintf(stderr, "random-read: '%s' failed\n", argv[0]);
		exit(WIFEXITED(status) && WEXITSTATUS(status) == 77 ? 77 : 2);
	}
	*ret_cpu = (double)(ru.ru_utime.tv_sec + ru.ru_stime.tv_sec) +
		   (double)(ru.ru_utime.tv_usec + ru.ru_stime.tv_usec) / 1e6;
	*ret_others = MAX(machine_busy() - busy - *ret_cpu, 0.0) / nsec_seconds(nsec_now() - start) /
		      (double)sysconf(_SC_NPROCESSORS_ONLN);
	return out;
}

static struct side side_ours(const char *path, uint64_t size, double seconds)
{
	char size_s[32], sec_s[32];
	char *argv[] = { (char *)"/proc/self/exe", (char *)"--ours", (char *)path, size_s, sec_s, NULL };
	unsigned long long n;
	long long p50, p99;
	struct side s = { 0 };
	double cpu, took, others;
	char *out;

	snprintf(size_s, sizeof(size_s), "%llu", (unsigned long long)size);
	snprintf(sec_s, sizeof(sec_s), "%.3f", seconds);
	out = run(argv, &cpu, &others);
	if (sscanf(out, "%llu %lf %lld %lld", &n, &took, &p50, &p99) == 4 && n)
		s = (struct side){ (double)n / took, cpu * 1e6 / (double)n, (double)p50 / 1e3, (double)p99 / 1e3, others };
	free(out);
	return s;
}

static struct side side_fio(const char *path, uint64_t size, double seconds, bool tuned)
{
	char file[600], size_s[64], sec_s[64];
	char *argv[] = { (char *)"fio", (char *)"--name=r", file, (char *)"--ioengine=io_uring", (char *)"--rw=randread",
			 (char *)"--bs=4k", (char *)"--iodepth=32", (char *)"--direct=1", (char *)"--time_based", sec_s, size_s,
			 (char *)"--output-format=json", (char *)"--readonly", tuned ? (char *)"--fixedbufs" : NULL,
			 (char *)"--registerfiles", NULL };
	struct side s = { 0 };
	double cpu, others, n = 0;
	json_t *j, *job, *read;
	char *out;

	snprintf(file, sizeof(file), "--filename=%s", path);
	snprintf(size_s, sizeof(size_s), "--size=%llu", (unsigned long long)size);
	snprintf(sec_s, sizeof(sec_s), "--runtime=%d", (int)seconds);
	out = run(argv, &cpu, &others);
	j = json_loads(strchr(out, '{') ? strchr(out, '{') : "{}", 0, NULL);
	job = json_array_get(json_object_get(j, "jobs"), 0);
	read = json_object_get(job, "read");
	n = json_number_value(json_object_get(read, "total_ios"));
	if (n > 0) {
		json_t *pct = json_object_get(json_object_get(read, "clat_ns"), "percentile");

		s = (struct side){ json_number_value(json_object_get(read, "iops")), cpu * 1e6 / n,
				   json_number_value(json_object_get(pct, "50.000000")) / 1e3,
				   json_number_value(json_object_get(pct, "99.000000")) / 1e3, others };
	}
	json_decref(j);
	free(out);
	return s;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *x, int n)
{
	qsort(x, (size_t)n, sizeof(*x), by_value);
	return n % 2 ? x[n / 2] : (x[n / 2 - 1] + x[n / 2]) / 2;
}

static bool put(const char *file, const char *text)
{
	cleanup_close int fd = open(file, O_WRONLY | O_CLOEXEC);

	return fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
}

static bool zram_up(uint64_t size)
{
	char now[32] = "", want[32];
	struct err e = { 0 };
	struct data d;
	int fd = open(ZRAM_SYS "disksize", O_RDONLY | O_CLOEXEC);

	if (fd < 0 || read(fd, now, sizeof(now) - 1) <= 0 || atoll(now) != 0) {
		if (fd >= 0)
			close(fd);
		puts("SKIP: " ZRAM " is missing, in use, or we are not root");
		return false;
	}
	close(fd);
	snprintf(want, sizeof(want), "%llu", (unsigned long long)size);
	if (!put(ZRAM_SYS "disksize", want)) {
		puts("SKIP: cannot set the size of " ZRAM);
		return false;
	}
	fd = open(ZRAM, O_WRONLY | O_DIRECT | O_EXCL | O_CLOEXEC);
	if (fd < 0 || data_open(&d, 1 << 20, 5, &e))
		return false;
	for (uint64_t at = 0; at < size; at += 1 << 20)
		if (pwrite(fd, data_stamp(&d, 0, 1 << 20), 1 << 20, (off_t)at) != 1 << 20)
			perror(ZRAM);
	data_close(&d);
	close(fd);
	return true;
}

static double column(const struct side *s, int n, size_t offset)
{
	double x[PAIRS];

	for (int i = 0; i < n; i++)
		memcpy(&x[i], (const char *)&s[i] + offset, sizeof(double));
	return median(x, n);
}

static int compare(const char *path, uint64_t size, int pairs, double seconds, bool tuned, bool claim)
{
	struct side us[PAIRS], fio[PAIRS];
	double iops[PAIRS], cpu[PAIRS], mi, mc;
	char text[UNITS_TEXT];
	int voids = 0;
	bool good;

	for (int i = 0; i < pairs; ) {
		if (i % 2)
			fio[i] = side_fio(path, size, seconds, tuned);
		us[i] = side_ours(path, size, seconds);
		if (!(i % 2))
			fio[i] = side_fio(path, size, seconds, tuned);
		if (us[i].iops <= 0 || fio[i].iops <= 0) {
			fputs("random-read: a side gave no figures\n", stderr);
			return 2;
		}
		iops[i] = us[i].iops / fio[i].iops;
		cpu[i] = us[i].cpu_us / fio[i].cpu_us;
		if (claim && MAX(us[i].others, fio[i].others) > OTHERS_MAX) {
			printf("void: others used %.0f%% of the machine (IOPS x%.2f, CPU x%.2f)\n",
			       100 * MAX(us[i].others, fio[i].others), iops[i], cpu[i]);
			if (++voids == 3 * pairs)
				return puts("SKIP: the machine was never quiet enough"), 77;
			continue;
		}
		i++;
	}
	mi = median(iops, pairs);
	mc = median(cpu, pairs);
	good = mi >= 1.15 && mc < 1;
	printf("random 4 KiB reads, depth %d, %s (%s), %d pairs of %.0f s, medians\n", DEPTH, path,
	       units_size_text(size, text), pairs, seconds);
	printf("%-14s %10s %12s %10s %10s\n", "", "IOPS", "CPU us/read", "p50 us", "p99 us");
	printf("%-14s %10.0f %12.3f %10.1f %10.1f\n", "stallmark", column(us, pairs, offsetof(struct side, iops)),
	       column(us, pairs, offsetof(struct side, cpu_us)), column(us, pairs, offsetof(struct side, p50_us)),
	       column(us, pairs, offsetof(struct side, p99_us)));
	printf("%-14s %10.0f %12.3f %10.1f %10.1f\n", tuned ? "fio tuned" : "fio", column(fio, pairs, offsetof(struct side, iops)),
	       column(fio, pairs, offsetof(struct side, cpu_us)), column(fio, pairs, offsetof(struct side, p50_us)),
	       column(fio, pairs, offsetof(struct side, p99_us)));
	printf("IOPS x%.2f (%.2f to %.2f)%s   CPU per read x%.2f (%.2f to %.2f)%s\n", mi, iops[0], iops[pairs - 1],
	       claim ? ", wanted >= 1.15" : "", mc, cpu[0], cpu[pairs - 1], claim ? ", wanted < 1" : "");
	return claim && !good ? 1 : 0;
}

int main(int argc, char **argv)
{
	const char *file = NULL;
	uint64_t size = 512 << 20;
	double seconds = 4;
	bool tuned = false;
	int pairs = 5, r;
	struct stat sb;

	if (argc == 5 && !strcmp(argv[1], "--ours"))
		return ours(argv[2], strtoull(argv[3], NULL, 10), strtod(argv[4], NULL));
	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--tuned"))
			tuned = true;
		else if (i + 1 == argc)
			return fprintf(stderr, "random-read: '%s' needs a value or is unknown\n", argv[i]), 2;
		else if (!strcmp(argv[i], "--file"))
			file = argv[++i];
		else if (!strcmp(argv[i], "--pairs"))
			pairs = MIN(MAX(atoi(argv[++i]), 1), PAIRS);
		else if (!strcmp(argv[i], "--seconds"))
			seconds = MAX(atof(argv[++i]), 1.0);
		else if (!strcmp(argv[i], "--size"))
			size = strtoull(argv[++i], NULL, 10) >> 20 << 20;
		else
			return fprintf(stderr, "random-read: unknown option '%s'\n", argv[i]), 2;
	}
	if (file) {
		if (file[0] != '/' || stat(file, &sb) < 0 || size < BS)
			return fprintf(stderr, "random-read: --file needs the absolute path of a file\n"), 2;
		return compare(file, S_ISREG(sb.st_mode) ? MIN(size, (uint64_t)sb.st_size) : size, pairs, seconds, tuned, false);
	}
	if (!zram_up(size))
		return 77;
	r = compare(ZRAM, size, pairs, seconds, tuned, true);
	if (!put(ZRAM_SYS "reset", "1"))
		perror("random-read: cannot reset " ZRAM);
	return r;
}

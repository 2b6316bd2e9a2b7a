/* SPDX-License-Identifier: MIT */
/*
 * What the kernel counts anyway: dirty memory and its limits (/proc/vmstat),
 * CPU time (/proc/stat), load average, each block device (/sys/dev/block/M:N/stat,
 * Documentation/block/stat.rst), and of each process of ours the bytes it wrote
 * (/proc/PID/io) and how long it waited for a CPU (/proc/PID/schedstat).
 *
 * Files stay open and are read again with pread; nothing is allocated. One tick
 * with three devices and ten processes costs about 0.2 ms; CPU time and load
 * average, which the kernel counts in jiffies, are read once a second at most.
 */
#include "base/cleanup.h"
#include "base/vec.h"
#include "collect/source.h"
#include "sys/kfile.h"
#include "sys/topology.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>

/* A number that only grows, shown as its growth in a second. */
struct rate {
	int series;
	uint64_t last;
	bool seen;
};

enum { DISK_READ, DISK_WRITTEN, DISK_READS, DISK_WRITES, DISK_FLUSHES, DISK_BUSY, DISK_RATES };

struct disk {
	int fd;
	int inflight;
	struct rate rate[DISK_RATES];
};

struct process {
	int io, schedstat;
	struct rate read, written, runq;
};

enum { VM_DIRTY, VM_WRITEBACK, VM_LIMIT, VM_BACKGROUND, VM_MAX };
enum { CPU_BUSY, CPU_IOWAIT, CPU_STEAL, CPU_MAX };

struct proc {
	const struct source_env *env;
	int vmstat, stat, loadavg;
	int vm[VM_MAX], blocked, load, cpu[CPU_MAX];
	uint64_t cpu_last[CPU_MAX], cpu_total;
	VEC(struct disk) disks;
	VEC(struct process) procs;
	nsec_t then, slow_then, due;
	uint64_t page;
	char buf[65536];
};

static const char *const vm_field[VM_MAX] = { "nr_dirty", "nr_writeback", "nr_dirty_threshold", "nr_dirty_background_threshold" };

static int series(struct proc *p, const char *name, const char *unit, const char *group, const char *meaning, int *ret, struct err *e)
{
	struct rec_series s = { .kind = SERIES_COUNTER, .name = name, .unit = unit, .group = group, .meaning = meaning };

	return rec_series(p->env->rec, &s, ret, e);
}

static int supported(struct err *why)
{
	return access("/proc/vmstat", R_OK) ? err_set(why, -ENOTSUP, "/proc is not mounted") : 0;
}

static int open_system(struct proc *p, struct err *e)
{
	static const char *const vm[VM_MAX][2] = {
		{ "vm.dirty", "changed pages that are not on the way to the disk yet" },
		{ "vm.writeback", "pages on the way to the disk" },
		{ "vm.dirty_limit", "above this much dirty memory writers are made to wait" },
		{ "vm.dirty_background", "above this much dirty memory the kernel writes in the background" },
	};
	static const char *const cpu[CPU_MAX][2] = {
		{ "cpu.busy", "share of the time of all CPUs that was used" },
		{ "cpu.iowait", "share of CPU time idle while a task waited for I/O" },
		{ "cpu.steal", "share of CPU time that the hypervisor gave to others" },
	};
	int r = 0;

	p->vmstat = open("/proc/vmstat", O_RDONLY | O_CLOEXEC);
	p->stat = open("/proc/stat", O_RDONLY | O_CLOEXEC);
	p->loadavg = open("/proc/loadavg", O_RDONLY | O_CLOEXEC);
	for (int i = 0; !r && i < VM_MAX; i++)
		r = series(p, vm[i][0], "bytes", "system", vm[i][1], &p->vm[i], e);
	for (int i = 0; !r && i < CPU_MAX; i++)
		r = series(p, cpu[i][0], "ppm", "system", cpu[i][1], &p->cpu[i], e);
	if (!r)
		r = series(p, "tasks.blocked", "count", "system", "tasks waiting for I/O (D state)", &p->blocked, e);
	if (!r)
		r = series(p, "load.average", "1/100", "system", "load average of the last minute, in hundredths", &p->load, e);
	return r;
}

static int open_disk(struct proc *p, dev_t dev, struct err *e)
{
	static const char *const rates[DISK_RATES][3] = {
		{ "read", "bytes/s", "read from the device" }, { "written", "bytes/s", "written to the device" },
		{ "reads", "1/s", "read requests completed" }, { "writes", "1/s", "write requests completed" },
		{ "flushes", "1/s", "cache flushes completed" }, { "busy", "ppm", "share of time with a request in the device" },
	};
	char path[64], name[64], label[96], group[64];
	struct disk d = { .fd = -1 };
	int r;

	if (!topology_name(dev, name, sizeof(name)))
		return 0;
	snprintf(path, sizeof(path), "/sys/dev/block/%u:%u/stat", major(dev), minor(dev));
	d.fd = open(path, O_RDONLY | O_CLOEXEC);
	if (d.fd < 0)
		return 0;
	snprintf(group, sizeof(group), "device:%.40s", name);
	snprintf(label, sizeof(label), "disk.%s.inflight", name);
	r = series(p, label, "count", group, "requests in the device or its queue now", &d.inflight, e);
	for (int i = 0; !r && i < DISK_RATES; i++) {
		snprintf(label, sizeof(label), "disk.%s.%s", name, rates[i][0]);
		r = series(p, label, rates[i][1], group, rates[i][2], &d.rate[i].series, e);
	}
	vec_push(&p->disks, d);
	return r;
}

static int open_process(struct proc *p, pid_t pid, const char *who, struct err *e)
{
	struct process n = { .io = -1, .schedstat = -1 };
	char path[64], name[96], label[120];
	int r;

	snprintf(path, sizeof(path), "/proc/%d/io", (int)pid);
	n.io = open(path, O_RDONLY | O_CLOEXEC);
	snprintf(path, sizeof(path), "/proc/%d/schedstat", (int)pid);
	n.schedstat = open(path, O_RDONLY | O_CLOEXEC);
	snprintf(name, sizeof(name), "%s", who);
	for (char *c = name; *c; c++)
		if (*c == ' ')
			*c = '.';
	snprintf(label, sizeof(label), "process.%s.read", name);
	r = series(p, label, "bytes/s", "process", "read from disks by this process", &n.read.series, e);
	snprintf(label, sizeof(label), "process.%s.written", name);
	if (!r)
		r = series(p, label, "bytes/s", "process", "sent towards disks by this process (dirtied pages count)", &n.written.series, e);
	snprintf(label, sizeof(label), "process.%s.runq", name);
	if (!r)
		r = series(p, label, "ppm", "process", "share of time this process was ready but had no CPU", &n.runq.series, e);
	vec_push(&p->procs, n);
	return r;
}

static int proc_open(void *st, const void *conf, const struct source_env *env, struct err *e)
{
	struct proc *p = st;
	int r;

	p->env = env;
	p->page = (uint64_t)sysconf(_SC_PAGESIZE);
	p->vmstat = p->stat = p->loadavg = -1;
	r = open_system(p, e);
	for (int i = 0; !r && i < env->ndevices; i++)
		r = open_disk(p, env->devices[i], e);
	for (int i = 0; !r && i < env->npids; i++)
		r = open_process(p, env->pids[i], env->pid_names[i], e);
	return r;
}

static int put(struct proc *p, int to, nsec_t now, double value, struct err *e)
{
	return rec_counter(p->env->rec, p->env->run, to, now, (int64_t)(value + (value < 0 ? -0.5 : 0.5)), e);
}

/* The growth of a counter in a second times `scale`; the first reading only sets the start. */
static int put_rate(struct proc *p, struct rate *r, nsec_t now, uint64_t x, double scale, struct err *e)
{
	bool seen = r->seen;
	double grown = x >= r->last ? (double)(x - r->last) : 0;	/* a device that was reset starts again */

	r->last = x;
	r->seen = true;
	if (!seen || now <= p->then)
		return 0;
	return put(p, r->series, now, grown * scale * 1e9 / (double)(now - p->then), e);
}

static int read_vm(struct proc *p, nsec_t now, struct err *e)
{
	int r = 0;

	if (p->vmstat < 0 || file_again(p->vmstat, p->buf, sizeof(p->buf)) < 0)
		return 0;
	for (int i = 0; !r && i < VM_MAX; i++) {
		uint64_t pages;

		if (file_field(p->buf, vm_field[i], &pages))
			r = put(p, p->vm[i], now, (double)pages * (double)p->page, e);
	}
	return r;
}

/* cpu user nice system idle iowait irq softirq steal; guest time is in user already (proc(5)) */
static int read_cpu(struct proc *p, nsec_t now, struct err *e)
{
	unsigned long long v[8] = { 0 };
	uint64_t is[CPU_MAX], total = 0, blocked, grown;
	bool first = !p->cpu_total;
	int r = 0;

	if (p->stat < 0 || file_again(p->stat, p->buf, sizeof(p->buf)) < 0)
		return 0;
	if (sscanf(p->buf, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", v, v + 1, v + 2, v + 3, v + 4, v + 5, v + 6, v + 7) < 4)
		return 0;
	for (int i = 0; i < 8; i++)
		total += v[i];
	is[CPU_BUSY] = v[0] + v[1] + v[2] + v[5] + v[6];
	is[CPU_IOWAIT] = v[4];
	is[CPU_STEAL] = v[7];
	grown = total - p->cpu_total;
	for (int i = 0; !r && i < CPU_MAX; i++) {
		/* iowait may go backwards (proc(5)) */
		double d = is[i] >= p->cpu_last[i] ? (double)(is[i] - p->cpu_last[i]) : 0;

		p->cpu_last[i] = is[i];
		if (!first && grown)
			r = put(p, p->cpu[i], now, d * 1e6 / (double)grown, e);
	}
	p->cpu_total = total;
	if (!r && file_field(p->buf, "procs_blocked", &blocked))
		r = put(p, p->blocked, now, (double)blocked, e);
	return r;
}

static int read_load(struct proc *p, nsec_t now, struct err *e)
{
	double load;

	if (p->loadavg < 0 || file_again(p->loadavg, p->buf, sizeof(p->buf)) < 0 || sscanf(p->buf, "%lf", &load) != 1)
		return 0;
	return put(p, p->load, now, load * 100, e);
}

static int read_disk(struct proc *p, struct disk *d, nsec_t now, struct err *e)
{
	/* reads merged sectors ms writes merged sectors ms inflight busy-ms queue-ms discards.. (4) flushes ms */
	unsigned long long v[17] = { 0 };
	static const struct { int field; double scale; } from[DISK_RATES] = {
		[DISK_READ] = { 2, 512 }, [DISK_WRITTEN] = { 6, 512 }, [DISK_READS] = { 0, 1 }, [DISK_WRITES] = { 4, 1 },
		[DISK_FLUSHES] = { 15, 1 }, [DISK_BUSY] = { 9, 1000 },
	};
	int n, r;

	if (d->fd < 0 || file_again(d->fd, p->buf, sizeof(p->buf)) < 0)
		return 0;
	n = sscanf(p->buf, "%llu %llu %llu %llu %llu %llu %llu %llu %llu %llu %llu %llu %llu %llu %llu %llu %llu", v, v + 1, v + 2,
		   v + 3, v + 4, v + 5, v + 6, v + 7, v + 8, v + 9, v + 10, v + 11, v + 12, v + 13, v + 14, v + 15, v + 16);
	if (n < 11)
		return 0;
	r = put(p, d->inflight, now, (double)v[8], e);
	for (int i = 0; !r && i < DISK_RATES; i++)
		if (from[i].field < n)		/* flushes are counted since Linux 5.5 */
			r = put_rate(p, &d->rate[i], now, v[from[i].field], from[i].scale, e);
	return r;
}

static int read_process(struct proc *p, struct process *n, nsec_t now, struct err *e)
{
	unsigned long long ran, waited;
	uint64_t x;
	int r = 0;

	/* a process that ended answers with ESRCH; its series ends there */
	if (n->io >= 0 && file_again(n->io, p->buf, sizeof(p->buf)) > 0) {
		if (file_field(p->buf, "read_bytes:", &x))
			r = put_rate(p, &n->read, now, x, 1, e);
		if (!r && file_field(p->buf, "write_bytes:", &x))
			r = put_rate(p, &n->written, now, x, 1, e);
	}
	if (!r && n->schedstat >= 0 && file_again(n->schedstat, p->buf, sizeof(p->buf)) > 0 &&
	    sscanf(p->buf, "%llu %llu", &ran, &waited) == 2)
		r = put_rate(p, &n->runq, now, waited, 1e-3, e);
	return r;
}

static int tick(struct proc *p, nsec_t now, struct err *e)
{
	int r = read_vm(p, now, e);

	if (!r && now - p->slow_then >= NSEC_PER_SEC - 50 * NSEC_PER_MSEC) {
		r = read_cpu(p, now, e);
		if (!r)
			r = read_load(p, now, e);
		p->slow_then = now;
	}
	for (size_t i = 0; !r && i < p->disks.n; i++)
		r = read_disk(p, &p->disks.p[i], now, e);
	for (size_t i = 0; !r && i < p->procs.n; i++)
		r = read_process(p, &p->procs.p[i], now, e);
	p->then = now;
	return r;
}

static int proc_start(void *st, struct err *e)
{
	struct proc *p = st;
	nsec_t now = nsec_now();

	p->due = now + p->env->period;
	p->slow_then = now - NSEC_PER_SEC;
	return tick(p, now, e);
}

static nsec_t proc_due(void *st, nsec_t now)
{
	return ((struct proc *)st)->due;
}

static int proc_drain(void *st, nsec_t now, struct err *e)
{
	struct proc *p = st;

	if (now < p->due)
		return 0;
	p->due = MAX(p->due + p->env->period, now + p->env->period / 2);
	return tick(p, now, e);
}

static int proc_stop(void *st, struct err *e)
{
	struct proc *p = st;
	nsec_t now = nsec_now();

	return now - p->then > p->env->period / 4 ? tick(p, now, e) : 0;
}

static uint64_t proc_lost(const void *st)
{
	return 0;
}

static void close_it(int fd)
{
	if (fd > 0)
		close(fd);
}

static void proc_close(void *st)
{
	struct proc *p = st;

	close_it(p->vmstat);
	close_it(p->stat);
	close_it(p->loadavg);
	for (size_t i = 0; i < p->disks.n; i++)
		close_it(p->disks.p[i].fd);
	for (size_t i = 0; i < p->procs.n; i++) {
		close_it(p->procs.p[i].io);
		close_it(p->procs.p[i].schedstat);
	}
	vec_done(&p->disks);
	vec_done(&p->procs);
}

const struct source_ops source_proc = {
	.plug = { .name = "proc", .about = "dirty memory, CPU, devices and processes, from /proc and /sys",
		  .state_size = sizeof(struct proc) },
	.supported = supported,
	.open = proc_open,
	.start = proc_start,
	.due = proc_due,
	.drain = proc_drain,
	.stop = proc_stop,
	.lost = proc_lost,
	.close = proc_close,
};

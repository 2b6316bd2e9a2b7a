/* SPDX-License-Identifier: MIT */
#include "sys/environ.h"
#include "base/cleanup.h"
#include "base/mem.h"
#include "base/units.h"
#include "sys/kfile.h"
#include "sys/topology.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>

struct facts {
	environ_fn fn;
	void *ctx;
	int r;			/* the first non-zero result */
	struct strbuf missing;
};

static void fact(struct facts *f, const char *prefix, const char *key, const char *value, bool counts)
{
	char full[96];

	if (f->r || !value || !*value)
		return;
	snprintf(full, sizeof(full), "%s%s%s", prefix ? prefix : "", prefix ? "." : "", key);
	f->r = f->fn(f->ctx, full, value, counts);
}

/* The file's value, brackets resolved, blanks at both ends gone. What only root may read is noted as missing. */
static bool value_of(struct facts *f, const char *path, struct strbuf *ret)
{
	cleanup_strbuf struct strbuf raw = STRBUF_INIT;
	struct err e = { 0 };
	const char *from;
	int r = file_read(path, &raw, &e);

	if (r) {
		if (r == -EACCES || r == -EPERM)
			strbuf_addf(&f->missing, "%s%s", f->missing.len ? ", " : "", path);
		return false;
	}
	file_chosen(strbuf_str(&raw), ret);
	for (from = strbuf_str(ret); isspace((unsigned char)*from); from++)
		;
	if (from != strbuf_str(ret)) {
		memmove(ret->s, from, strlen(from) + 1);
		ret->len = strlen(ret->s);
	}
	while (ret->len && isspace((unsigned char)ret->s[ret->len - 1]))
		ret->s[--ret->len] = 0;
	return ret->len > 0;
}

static void file_fact(struct facts *f, const char *prefix, const char *key, const char *path, bool counts)
{
	cleanup_strbuf struct strbuf v = STRBUF_INIT;

	if (value_of(f, path, &v))
		fact(f, prefix, key, strbuf_str(&v), counts);
}

/* ELF notes: namesz, descsz, type, then name and descriptor padded to 4 (elf(5)); the build id is "GNU", type 3. */
bool environ_build_id_parse(const unsigned char *notes, size_t n, char *buf, size_t size)
{
	size_t at = 0;

	while (n - at >= 12) {
		uint32_t h[3];
		size_t name, desc;

		memcpy(h, notes + at, sizeof(h));
		if (h[0] > n || h[1] > n)
			return false;
		name = ((size_t)h[0] + 3) & ~(size_t)3;
		desc = ((size_t)h[1] + 3) & ~(size_t)3;
		at += 12;
		if (name > n - at || desc > n - at - name)
			return false;
		if (h[2] == 3 && h[0] == 4 && !memcmp(notes + at, "GNU", 4) && h[1] && h[1] * 2 < size) {
			for (uint32_t i = 0; i < h[1]; i++)
				snprintf(buf + 2 * i, 3, "%02x", notes[at + name + i]);
			return true;
		}
		at += name + desc;
	}
	return false;
}

const char *environ_build_id(char *buf, size_t size)
{
	cleanup_file FILE *file = fopen("/sys/kernel/notes", "re");
	unsigned char notes[8192];
	size_t n = file ? fread(notes, 1, sizeof(notes), file) : 0;

	buf[0] = 0;
	if (!environ_build_id_parse(notes, n, buf, size))
		buf[0] = 0;
	return buf;
}

const char *environ_lockdown(char *buf, size_t size)
{
	cleanup_strbuf struct strbuf raw = STRBUF_INIT, v = STRBUF_INIT;

	if (file_read("/sys/kernel/security/lockdown", &raw, NULL)) {
		snprintf(buf, size, "unknown");
		return buf;
	}
	file_chosen(strbuf_str(&raw), &v);
	snprintf(buf, size, "%s", strbuf_str(&v));
	return buf;
}

const char *environ_virt(char *buf, size_t size)
{
	cleanup_strbuf struct strbuf b = STRBUF_INIT;
	static const char *const makers[][2] = {
		{ "QEMU", "kvm" }, { "KVM", "kvm" }, { "VMware", "vmware" }, { "VirtualBox", "virtualbox" }, { "innotek", "virtualbox" },
		{ "Xen", "xen" }, { "Microsoft", "hyper-v" }, { "Amazon", "amazon" }, { "Google", "google" }, { "Parallels", "parallels" },
	};

	if (!access("/.dockerenv", F_OK))
		return snprintf(buf, size, "docker"), buf;
	if (!access("/run/.containerenv", F_OK))
		return snprintf(buf, size, "podman"), buf;
	if (!file_read("/sys/class/dmi/id/sys_vendor", &b, NULL))
		for (size_t i = 0; i < ARRAY_SIZE(makers); i++)
			if (strstr(strbuf_str(&b), makers[i][0]))
				return snprintf(buf, size, "%s", makers[i][1]), buf;
	if (!file_read("/sys/hypervisor/type", &b, NULL) && b.len)
		return snprintf(buf, size, "%s", strbuf_str(&b)), buf;
	if (!file_read("/proc/cpuinfo", &b, NULL) && strstr(strbuf_str(&b), " hypervisor"))
		return snprintf(buf, size, "virtual machine"), buf;
	return snprintf(buf, size, "none"), buf;
}

/* The command line without what names the image: it differs between kernels anyway, and they differ by build id. */
static void command_line(struct facts *f)
{
	cleanup_strbuf struct strbuf raw = STRBUF_INIT, out = STRBUF_INIT;

	if (file_read("/proc/cmdline", &raw, NULL))
		return;
	for (char *save = NULL, *w = strtok_r((char *)strbuf_str(&raw), " ", &save); w; w = strtok_r(NULL, " ", &save))
		if (strncmp(w, "BOOT_IMAGE=", 11) && strncmp(w, "initrd=", 7))
			strbuf_addf(&out, "%s%s", out.len ? " " : "", w);
	fact(f, "kernel", "cmdline", strbuf_str(&out), true);
}

static void kernel(struct facts *f)
{
	char id[64], lock[32], virt[32];
	struct utsname u;

	environ_build_id(id, sizeof(id));
	if (!uname(&u)) {
		fact(f, "kernel", "release", u.release, !id[0]);
		fact(f, "kernel", "version", u.version, false);
		fact(f, "machine", "arch", u.machine, false);
	}
	fact(f, "kernel", "build_id", id, true);
	command_line(f);
	fact(f, "security", "lockdown", environ_lockdown(lock, sizeof(lock)), false);
	fact(f, "machine", "virtualisation", environ_virt(virt, sizeof(virt)), false);
	file_fact(f, "machine", "product", "/sys/class/dmi/id/product_name", false);
	fact(f, NULL, "psi", access("/proc/pressure/io", R_OK) ? "no" : "yes", false);
}

static void memory_and_cpus(struct facts *f)
{
	cleanup_strbuf struct strbuf b = STRBUF_INIT;
	char text[32], mhz[64] = "";
	uint64_t kb;

	if (!file_read("/proc/meminfo", &b, NULL) && file_field(strbuf_str(&b), "MemTotal:", &kb)) {
		/* rounded: the kernel's own share differs from build to build */
		snprintf(text, sizeof(text), "%.*f GiB", kb < (8u << 20) ? 2 : 1, (double)kb / (1 << 20));
		fact(f, "mem", "total", text, true);
	}
	if (file_field(strbuf_str(&b), "SwapTotal:", &kb)) {
		snprintf(text, sizeof(text), "%.1f GiB", (double)kb / (1 << 20));
		fact(f, "mem", "swap", text, false);
	}
	snprintf(text, sizeof(text), "%ld", sysconf(_SC_NPROCESSORS_ONLN));
	fact(f, "cpu", "count", text, false);
	if (!file_read("/proc/cpuinfo", &b, NULL)) {
		const char *m = strstr(strbuf_str(&b), "model name");

		m = m ? strchr(m, ':') : NULL;
		if (m)
			snprintf(mhz, sizeof(mhz), "%.*s", (int)strcspn(m + 2, "\n"), m + 2);
		fact(f, "cpu", "model", mhz, false);
	}
	file_fact(f, "cpu", "governor", "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", false);
}

static void sysctls(struct facts *f)
{
	static const char *const names[] = { "dirty_ratio", "dirty_background_ratio", "dirty_bytes", "dirty_background_bytes",
		"dirty_expire_centisecs", "dirty_writeback_centisecs", "dirtytime_expire_seconds", "swappiness", "vfs_cache_pressure",
		"laptop_mode", "min_free_kbytes" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		char path[96];

		snprintf(path, sizeof(path), "/proc/sys/vm/%s", names[i]);
		file_fact(f, "vm", names[i], path, false);
	}
}

/* Model, or what stands for one where there is none (virtio, loop, dm). */
static void model_of(const struct topo_dev *d, const char *sys, struct strbuf *ret)
{
	cleanup_free char *model = mem_printf("%s/device/model", sys), *size = mem_printf("%s/size", sys),
		      *vendor = mem_printf("%s/device/vendor", sys);
	cleanup_strbuf struct strbuf m = STRBUF_INIT, v = STRBUF_INIT;
	uint64_t sectors;
	char text[UNITS_TEXT];

	if (!file_read(model, &m, NULL)) {
		while (m.len && m.s[m.len - 1] == ' ')
			m.s[--m.len] = 0;
		if (!file_read(vendor, &v, NULL) && strncmp(strbuf_str(&v), "0x", 2)) {
			while (v.len && v.s[v.len - 1] == ' ')
				v.s[--v.len] = 0;
			strbuf_addf(ret, "%s ", strbuf_str(&v));
		}
		strbuf_adds(ret, strbuf_str(&m));
		return;
	}
	strbuf_adds(ret, !strncmp(d->name, "vd", 2) ? "virtio disk" : !strncmp(d->name, "xvd", 3) ? "Xen disk" :
		    !strcmp(d->kind, "disk") ? d->name : d->kind);
	if (!file_read_u64(size, &sectors, NULL))
		strbuf_addf(ret, " %s", units_size_text(sectors * 512, text));
}

static void queue_of(struct facts *f, const char *prefix, const struct topo_dev *d)
{
	static const char *const attrs[] = { "scheduler", "nr_requests", "wbt_lat_usec", "write_cache", "read_ahead_kb", "rotational",
		"max_sectors_kb", "nomerges", "rq_affinity", "io_poll", "fua" };
	char queue[256], path[512];
	cleanup_strbuf struct strbuf model = STRBUF_INIT;
	struct dirent *de;
	DIR *dir;

	if (!topology_queue_dir(d->dev, queue, sizeof(queue)))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(attrs); i++) {
		snprintf(path, sizeof(path), "%s/%s", queue, attrs[i]);
		file_fact(f, prefix, attrs[i], path, true);
	}
	snprintf(path, sizeof(path), "%s/iosched", queue);
	dir = opendir(path);
	while (dir && (de = readdir(dir))) {
		char key[64], file[800];

		if (de->d_name[0] == '.')
			continue;
		snprintf(key, sizeof(key), "iosched.%.40s", de->d_name);
		snprintf(file, sizeof(file), "%s/%s", path, de->d_name);
		file_fact(f, prefix, key, file, true);
	}
	if (dir)
		closedir(dir);
	*strrchr(queue, '/') = 0;
	model_of(d, queue, &model);
	fact(f, prefix, "model", strbuf_str(&model), true);
	snprintf(path, sizeof(path), "%s/device/rev", queue);
	file_fact(f, prefix, "firmware", path, false);
	snprintf(path, sizeof(path), "%s/device/firmware_rev", queue);
	file_fact(f, prefix, "firmware", path, false);
}

/* The options of the mount and of the filesystem, each once. */
static void options_of(const struct mount_entry *m, struct strbuf *ret)
{
	strbuf_adds(ret, m->options);
	for (const char *o = m->super; *o;) {
		size_t n = strcspn(o, ",");
		cleanup_free char *one = mem_dupn(o, n);
		bool there = false;

		for (const char *h = strstr(strbuf_str(ret), one); h && !there; h = strstr(h + 1, one))
			there = (h == ret->s || h[-1] == ',') && (h[n] == ',' || !h[n]);
		/* paths of an overlay and numbers of a btrfs sub-volume say where, not how */
		if (!there && n && !strstr(one, "dir=") && strncmp(one, "subvol", 6) && strncmp(one, "fd=", 3))
			strbuf_addf(ret, ",%s", one);
		o += n + (o[n] == ',');
	}
}

static void directory(struct facts *f, const char *dir, int index)
{
	cleanup_strbuf struct strbuf v = STRBUF_INIT;
	char fs[16], dev[16], below[24], text[64];
	struct topology t;
	struct statvfs st;
	int queues = 0;

	if (topology_of(dir, &t, NULL))
		return;
	snprintf(fs, sizeof(fs), index ? "fs%d" : "fs", index + 1);
	snprintf(dev, sizeof(dev), index ? "dev%d" : "dev", index + 1);
	fact(f, fs, "dir", dir, false);
	fact(f, fs, "type", t.mount.type, true);
	options_of(&t.mount, &v);
	fact(f, fs, "options", strbuf_str(&v), true);
	fact(f, fs, "source", t.mount.source, false);
	fact(f, fs, "kind", fs_kind_name(t.fs), false);
	if (!statvfs(dir, &st)) {
		snprintf(text, sizeof(text), "%llu", (unsigned long long)st.f_frsize * st.f_blocks);
		fact(f, fs, "bytes", text, false);
		snprintf(text, sizeof(text), "%llu", (unsigned long long)st.f_frsize * st.f_bavail);
		fact(f, fs, "bytes_free", text, false);
		snprintf(text, sizeof(text), "%lu", st.f_bsize);
		fact(f, fs, "block_size", text, false);
	}
	strbuf_clear(&v);
	for (size_t i = 0; i < t.devs.n; i++)
		strbuf_addf(&v, "%s%s", i ? " < " : "", t.devs.p[i].name);
	if (t.devs.n) {
		fact(f, dev, "name", t.devs.p[0].name, false);
		fact(f, dev, "stack", strbuf_str(&v), false);
	}
	/* a partition has the queue of its disk, which follows it in the list */
	for (size_t i = 0; i < t.devs.n; i++) {
		if (!strcmp(t.devs.p[i].kind, "partition"))
			continue;
		if (!queues) {
			queue_of(f, dev, &t.devs.p[i]);
		} else {
			if (index || queues > 1)
				snprintf(below, sizeof(below), "below%d%c", index + 1, "abcdefghijklmnop"[MIN(queues - 1, 15)]);
			else
				snprintf(below, sizeof(below), "below");
			fact(f, below, "name", t.devs.p[i].name, false);
			queue_of(f, below, &t.devs.p[i]);
		}
		queues++;
	}
	topology_done(&t);
}

int environ_facts(const char *const *dirs, int ndirs, environ_fn fn, void *ctx)
{
	struct facts f = { .fn = fn, .ctx = ctx };

	kernel(&f);
	for (int i = 0; i < ndirs; i++)
		directory(&f, dirs[i], i);
	memory_and_cpus(&f);
	sysctls(&f);
	fact(&f, NULL, "root", geteuid() ? "no" : "yes", false);
	fact(&f, NULL, "missing", strbuf_str(&f.missing), false);
	strbuf_done(&f.missing);
	return f.r;
}

/* SPDX-License-Identifier: MIT */
#include "collect/fs-rows.h"
#include "base/cleanup.h"
#include "base/strbuf.h"
#include "base/vec.h"

#include <dirent.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#define KERNEL_DEV(ma, mi) ((uint32_t)(ma) << 20 | (uint32_t)(mi))

/* mountinfo writes blank, tab, newline and backslash as \040 and so on. */
static void unescape(char *s)
{
	char *out = s;

	for (; *s; s++) {
		if (s[0] == '\\' && s[1] >= '0' && s[1] <= '3' && s[2] >= '0' && s[2] <= '7' && s[3] >= '0' && s[3] <= '7') {
			*out++ = (char)((s[1] - '0') << 6 | (s[2] - '0') << 3 | (s[3] - '0'));
			s += 3;
		} else {
			*out++ = *s;
		}
	}
	*out = '\0';
}

bool fs_parse_line(const char *line, struct fs_line *ret)
{
	unsigned ma, mi;
	const char *dash = strstr(line, " - ");

	memset(ret, 0, sizeof(*ret));
	if (!dash || sscanf(line, "%*d %*d %u:%u %*s %255s", &ma, &mi, ret->folder) != 3 ||
	    sscanf(dash, " - %31s %255s", ret->type, ret->source) != 2)
		return false;
	unescape(ret->folder);
	unescape(ret->source);
	ret->dev = KERNEL_DEV(ma, mi);
	return ret->source[0] == '/';
}

static bool read_text(const char *path, char *buf, size_t size)
{
	cleanup_file FILE *f = fopen(path, "re");

	if (!f || !fgets(buf, (int)size, f))
		return false;
	buf[strcspn(buf, "\n")] = '\0';
	return true;
}

/* A partition's disk has the folder above it in sysfs. */
static uint32_t whole_disk(unsigned ma, unsigned mi)
{
	char path[128], buf[64];
	unsigned a, b;

	snprintf(path, sizeof(path), "/sys/dev/block/%u:%u/partition", ma, mi);
	if (!read_text(path, buf, sizeof(buf)))
		return KERNEL_DEV(ma, mi);
	snprintf(path, sizeof(path), "/sys/dev/block/%u:%u/../dev", ma, mi);
	if (read_text(path, buf, sizeof(buf)) && sscanf(buf, "%u:%u", &a, &b) == 2)
		return KERNEL_DEV(a, b);
	return KERNEL_DEV(ma, mi);
}

static uint64_t read_number(const char *disk, const char *file)
{
	char path[256], buf[64];

	snprintf(path, sizeof(path), "/sys/block/%.64s/%s", disk, file);
	return read_text(path, buf, sizeof(buf)) ? strtoull(buf, NULL, 10) : 0;
}

/* The first of slaves/, which is where dm and md list what they stand on; for a loop device the disk of its file. */
static uint32_t lower_disk(const char *disk)
{
	char path[512], buf[256];
	unsigned a, b;
	struct stat st;

	snprintf(path, sizeof(path), "/sys/block/%.64s/loop/backing_file", disk);
	if (read_text(path, buf, sizeof(buf)) && !stat(buf, &st))
		return whole_disk(major(st.st_dev), minor(st.st_dev));
	snprintf(path, sizeof(path), "/sys/block/%.64s/slaves", disk);
	DIR *d = opendir(path);

	for (struct dirent *de; d && (de = readdir(d));) {
		if (de->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "/sys/block/%.64s/slaves/%.64s/dev", disk, de->d_name);
		closedir(d);
		return read_text(path, buf, sizeof(buf)) && sscanf(buf, "%u:%u", &a, &b) == 2 ? whole_disk(a, b) : 0;
	}
	if (d)
		closedir(d);
	return 0;
}

int fs_rows(struct rec *rec, int run, int series, int clock, struct err *e)
{
	VEC(struct event) out = { 0 };
	nsec_t now = nsec_now();
	char line[4096];
	DIR *d;
	int r;

	cleanup_file FILE *f = fopen("/proc/self/mountinfo", "re");
	while (f && fgets(line, sizeof(line), f)) {
		struct event ev = { .kind = EV_FS, .t = now };
		cleanup_strbuf struct strbuf name = STRBUF_INIT;
		struct fs_line fs;
		struct stat st;

		line[strcspn(line, "\n")] = '\0';
		if (!fs_parse_line(line, &fs) || stat(fs.source, &st) || !S_ISBLK(st.st_mode))
			continue;
		strbuf_addf(&name, "%s %s", fs.type, fs.folder);
		ev.dev = fs.dev;
		ev.a = whole_disk(major(st.st_rdev), minor(st.st_rdev));
		ev.name = rec_string(rec, strbuf_str(&name));
		vec_push(&out, ev);
	}
	d = opendir("/sys/block");
	for (struct dirent *de; d && (de = readdir(d));) {
		struct event ev = { .kind = EV_DISK, .t = now };
		char path[256], buf[64];
		unsigned a, b;

		snprintf(path, sizeof(path), "/sys/block/%.64s/dev", de->d_name);
		if (de->d_name[0] == '.' || !read_text(path, buf, sizeof(buf)) || sscanf(buf, "%u:%u", &a, &b) != 2 ||
		    !read_number(de->d_name, "size"))
			continue;
		ev.dev = KERNEL_DEV(a, b);
		ev.name = rec_string(rec, de->d_name);
		ev.a = read_number(de->d_name, "queue/nr_requests");
		ev.b = read_number(de->d_name, "queue/rotational");
		ev.c = lower_disk(de->d_name);
		vec_push(&out, ev);
	}
	if (d)
		closedir(d);
	r = out.n ? rec_events(rec, run, series, clock, out.p, (uint32_t)out.n, e) : 0;
	vec_done(&out);
	return r;
}

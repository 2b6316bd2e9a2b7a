/* SPDX-License-Identifier: MIT */
#include "live/facts.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static uint64_t value_after(const char *text, const char *key)
{
	const char *s = strstr(text, key);

	return s ? strtoull(s + strlen(key), NULL, 10) : 0;
}

static void read_all(int fd, char *buf, size_t size)
{
	ssize_t n = fd < 0 ? -1 : pread(fd, buf, size - 1, 0);

	buf[n > 0 ? n : 0] = 0;
}

void facts_open(struct facts *f)
{
	*f = (struct facts){ .meminfo = open("/proc/meminfo", O_RDONLY | O_CLOEXEC),
			     .vmstat = open("/proc/vmstat", O_RDONLY | O_CLOEXEC) };
}

void facts_read(struct facts *f)
{
	char buf[16384];

	read_all(f->meminfo, buf, sizeof(buf));
	f->dirty = value_after(buf, "\nDirty:") * 1024;
	f->writeback = value_after(buf, "\nWriteback:") * 1024;
	read_all(f->vmstat, buf, sizeof(buf));
	f->dirty_limit = value_after(buf, "\nnr_dirty_threshold ") * (uint64_t)sysconf(_SC_PAGESIZE);
}

void facts_close(struct facts *f)
{
	if (f->meminfo >= 0)
		close(f->meminfo);
	if (f->vmstat >= 0)
		close(f->vmstat);
	f->meminfo = f->vmstat = -1;
}

const char *facts_wchan(uint32_t tid, char buf[64])
{
	char path[48];
	int fd;

	buf[0] = 0;
	snprintf(path, sizeof(path), "/proc/%u/wchan", tid);
	fd = tid ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	if (fd >= 0) {
		read_all(fd, buf, 64);
		close(fd);
	}
	if (!strcmp(buf, "0"))
		buf[0] = 0;
	return buf;
}

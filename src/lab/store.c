/* SPDX-License-Identifier: MIT */
#include "lab/store.h"
#include "base/cleanup.h"
#include "base/mem.h"
#include "base/units.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#define NONE UINT32_MAX

struct store {
	uint64_t blocks;		/* of the disk */
	uint32_t slots, used, fresh;	/* of the pool; fresh: never handed out from here on */
	uint32_t nfree;
	uint32_t *slot_of;		/* by block; NONE */
	uint32_t *free_slot;		/* stack of slots given back */
	char *pool;
	size_t pool_bytes;
};

static const char zeros[STORE_BLOCK];

static void *map(size_t bytes, int fd)
{
	return mmap(NULL, bytes, PROT_READ | PROT_WRITE, (fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED) | MAP_POPULATE, fd, 0);
}

static int map_pool(struct store *s, const char *file, struct err *e)
{
	cleanup_close int fd = -1;
	char text[UNITS_TEXT];

	if (file) {
		struct stat st;
		int r;

		fd = open(file, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
		if (fd < 0)
			return err_sys(e, -errno, "cannot open the lab's file %s", file);
		if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_uid != geteuid())
			return err_set(e, -EINVAL, "the lab's file %s is not a plain file of ours", file);
		r = posix_fallocate(fd, 0, (off_t)s->pool_bytes);
		if (r)
			return err_sys(e, -r, "the lab's file %s cannot be made %s large", file, units_size_text(s->pool_bytes, text));
	}
	s->pool = map(s->pool_bytes, fd);
	if (s->pool == MAP_FAILED) {
		s->pool = NULL;
		return err_sys(e, -errno, "cannot get %s of memory for the lab's blocks", units_size_text(s->pool_bytes, text));
	}
	/* a helper that forks (umount, mkfs) must not copy this */
	madvise(s->pool, s->pool_bytes, MADV_DONTFORK);
	madvise(s->pool, s->pool_bytes, MADV_DONTDUMP);
	if (!file && mlock(s->pool, s->pool_bytes))
		return err_sys(e, -errno, "cannot lock %s of memory for the lab's blocks", units_size_text(s->pool_bytes, text));
	return 0;
}

int store_new(uint64_t capacity_bytes, uint64_t pool_bytes, const char *file, struct store **ret, struct err *e)
{
	struct store *s = mem_alloc(sizeof(*s));
	int r;

	s->blocks = capacity_bytes / STORE_BLOCK;
	s->slots = (uint32_t)MIN(MIN(pool_bytes / STORE_BLOCK, s->blocks), (uint64_t)NONE - 1);
	s->pool_bytes = (size_t)MAX(s->slots, 1u) * STORE_BLOCK;
	s->slot_of = mem_array(s->blocks, sizeof(uint32_t));
	memset(s->slot_of, 0xff, s->blocks * sizeof(uint32_t));
	s->free_slot = mem_array(MAX(s->slots, 1u), sizeof(uint32_t));
	memset(s->free_slot, 0xff, s->slots * sizeof(uint32_t));	/* touched now, not during writeback */
	r = map_pool(s, file, e);
	if (r) {
		store_free(s);
		return r;
	}
	*ret = s;
	return 0;
}

void store_free(struct store *s)
{
	if (!s)
		return;
	if (s->pool)
		munmap(s->pool, s->pool_bytes);
	free(s->slot_of);
	free(s->free_slot);
	free(s);
}

uint64_t store_used(const struct store *s)
{
	return s->used;
}

uint64_t store_size(const struct store *s)
{
	return s->slots;
}

static char *at(const struct store *s, uint32_t slot)
{
	return s->pool + (size_t)slot * STORE_BLOCK;
}

static uint32_t take_slot(struct store *s)
{
	s->used++;
	return s->nfree ? s->free_slot[--s->nfree] : s->fresh++;
}

static void give_slot(struct store *s, uint64_t block)
{
	s->free_slot[s->nfree++] = s->slot_of[block];
	s->slot_of[block] = NONE;
	s->used--;
}

static bool is_zero(const char *p, size_t n)
{
	return n == 0 || (p[0] == 0 && !memcmp(p, zeros, n));
}

int store_put(struct store *s, uint64_t offset, const void *data, uint32_t n, bool full)
{
	const char *from = data;
	uint64_t need = 0;

	for (uint64_t b = offset / STORE_BLOCK; b <= (offset + n - 1) / STORE_BLOCK && n; b++)
		need += s->slot_of[b] == NONE;
	if (need && (full || need > s->slots - s->used)) {
		/* blocks of zeros need no room: count again, exactly */
		uint64_t o = offset, left = n;

		need = 0;
		for (const char *p = from; left;) {
			uint64_t k = MIN(left, STORE_BLOCK - o % STORE_BLOCK);

			need += s->slot_of[o / STORE_BLOCK] == NONE && !is_zero(p, k);
			o += k;
			p += k;
			left -= k;
		}
		if (need && (full || need > s->slots - s->used))
			return -ENOSPC;
	}
	while (n) {
		uint64_t b = offset / STORE_BLOCK, in = offset % STORE_BLOCK, k = MIN((uint64_t)n, STORE_BLOCK - in);

		if (s->slot_of[b] == NONE && !is_zero(from, k)) {
			uint32_t slot = take_slot(s);

			if (k < STORE_BLOCK)
				memset(at(s, slot), 0, STORE_BLOCK);
			memcpy(at(s, slot) + in, from, k);
			s->slot_of[b] = slot;
		} else if (s->slot_of[b] != NONE) {
			memcpy(at(s, s->slot_of[b]) + in, from, k);
		}
		offset += k;
		from += k;
		n -= (uint32_t)k;
	}
	return 0;
}

void store_drop(struct store *s, uint64_t offset, uint64_t n)
{
	while (n) {
		uint64_t b = offset / STORE_BLOCK, in = offset % STORE_BLOCK, k = MIN(n, STORE_BLOCK - in);

		if (b >= s->blocks)
			return;
		if (s->slot_of[b] != NONE) {
			if (k == STORE_BLOCK)
				give_slot(s, b);
			else
				memset(at(s, s->slot_of[b]) + in, 0, k);
		}
		offset += k;
		n -= k;
	}
}

int store_get(const struct store *s, uint64_t offset, uint32_t n, struct iovec *iov, int max)
{
	int m = 0;

	while (n && m < max) {
		uint64_t b = offset / STORE_BLOCK, in = offset % STORE_BLOCK, k = MIN((uint64_t)n, STORE_BLOCK - in);
		const char *p = s->slot_of[b] == NONE ? zeros + in : at(s, s->slot_of[b]) + in;

		if (m && p != zeros && (const char *)iov[m - 1].iov_base + iov[m - 1].iov_len == p) {
			iov[m - 1].iov_len += k;
		} else {
			iov[m].iov_base = (void *)(uintptr_t)p;
			iov[m++].iov_len = k;
		}
		offset += k;
		n -= (uint32_t)k;
	}
	return m;
}

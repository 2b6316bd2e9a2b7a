/* SPDX-License-Identifier: MIT */
#include "lab/log.h"
#include "base/cleanup.h"
#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

int log_create(const char *path, struct lab_log **ret, struct err *e)
{
	cleanup_close int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	struct lab_log *l;
	int r;

	if (fd < 0)
		return err_sys(e, -errno, "cannot create the lab's log %s", path);
	r = posix_fallocate(fd, 0, sizeof(*l));		/* a full tmpfs shows here, not as SIGBUS later */
	if (r)
		return err_sys(e, -r, "no room for the lab's log %s", path);
	l = mmap(NULL, sizeof(*l), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (l == MAP_FAILED)
		return err_sys(e, -errno, "cannot map the lab's log %s", path);
	l->entries = LOG_ENTRIES;
	l->pokes = LOG_POKES;
	l->magic = LOG_MAGIC;
	*ret = l;
	return 0;
}

int log_open(const char *path, const struct lab_log **ret, struct err *e)
{
	cleanup_close int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	const struct lab_log *l;
	struct stat st;

	if (fd < 0)
		return err_sys(e, -errno, "cannot open the lab's log %s", path);
	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_size != (off_t)sizeof(*l))
		return err_set(e, -EBADMSG, "%s is not a lab's log of this version", path);
	l = mmap(NULL, sizeof(*l), PROT_READ, MAP_SHARED, fd, 0);
	if (l == MAP_FAILED)
		return err_sys(e, -errno, "cannot map the lab's log %s", path);
	if (l->magic != LOG_MAGIC || l->entries != LOG_ENTRIES || l->pokes != LOG_POKES) {
		log_close(l);
		return err_set(e, -EBADMSG, "%s is not a lab's log of this version", path);
	}
	*ret = l;
	return 0;
}

void log_close(const struct lab_log *l)
{
	if (l)
		munmap((void *)(uintptr_t)l, sizeof(*l));
}

void log_put(struct lab_log *l, const struct log_entry *x)
{
	uint64_t head = l->head;

	l->entry[head % LOG_ENTRIES] = *x;
	__atomic_store_n(&l->head, head + 1, __ATOMIC_RELEASE);
}

void log_poke_put(struct lab_log *l, nsec_t t, const char *text)
{
	uint64_t n = l->npokes;
	struct log_poke *p = &l->poke[n % LOG_POKES];

	p->t = t;
	snprintf(p->text, sizeof(p->text), "%s", text);
	__atomic_store_n(&l->npokes, n + 1, __ATOMIC_RELEASE);
}

uint32_t log_take(const struct lab_log *l, uint64_t *tail, struct log_entry *ret, uint32_t max, uint64_t *ret_lost)
{
	uint64_t head = __atomic_load_n(&l->head, __ATOMIC_ACQUIRE), from = *tail, now;
	uint32_t n;

	*ret_lost = 0;
	if (from > head)
		from = head;
	if (head - from > LOG_ENTRIES)
		from = head - LOG_ENTRIES;
	n = (uint32_t)MIN(head - from, (uint64_t)max);
	for (uint32_t i = 0; i < n; i++)
		ret[i] = l->entry[(from + i) % LOG_ENTRIES];
	now = __atomic_load_n(&l->head, __ATOMIC_ACQUIRE);
	if (now >= LOG_ENTRIES && now - LOG_ENTRIES + 1 > from) {	/* some were overwritten while we copied */
		uint64_t bad = MIN(now - LOG_ENTRIES + 1 - from, (uint64_t)n);

		memmove(ret, ret + bad, (n - bad) * sizeof(*ret));
		n -= (uint32_t)bad;
		from += bad;
	}
	*ret_lost = from > *tail ? from - *tail : 0;
	*tail = from + n;
	return n;
}

static int by_value(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

void log_lateness(const struct lab_log *l, uint64_t tail, struct lateness *ret)
{
	enum { MOST = 65536 };
	uint64_t head = __atomic_load_n(&l->head, __ATOMIC_ACQUIRE), lost;
	cleanup_free struct log_entry *x = mem_array(MOST, sizeof(*x));
	cleanup_free uint32_t *late = mem_array(MOST, sizeof(*late));
	uint32_t n;

	if (head - MIN(tail, head) > MOST)
		tail = head - MOST;
	n = log_take(l, &tail, x, MOST, &lost);
	for (uint32_t i = 0; i < n; i++)
		late[i] = x[i].late_ns;
	qsort(late, n, sizeof(*late), by_value);
	*ret = (struct lateness){ .n = n };
	if (n) {
		ret->p50 = late[(n - 1) / 2];
		ret->p99 = late[(uint64_t)(n - 1) * 99 / 100];
		ret->max = late[n - 1];
	}
}

/* SPDX-License-Identifier: MIT */
#include "run/ring.h"
#include "base/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#define load_acquire(p)		__atomic_load_n((p), __ATOMIC_ACQUIRE)
#define store_release(p, v)	__atomic_store_n((p), (v), __ATOMIC_RELEASE)

static int map(int fd, struct ring **ret)
{
	void *p = mmap(NULL, sizeof(struct ring), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (p == MAP_FAILED)
		return -errno;
	*ret = p;
	return 0;
}

int ring_create(const char *path, const char *series, struct ring **ret, struct err *e)
{
	cleanup_close int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	struct ring *r = NULL;
	int res;

	if (fd < 0)
		return err_sys(e, -errno, "cannot make the ring file %s", path);
	res = posix_fallocate(fd, 0, sizeof(struct ring));
	if (res)
		return err_sys(e, -res, "cannot make the ring file %s (%zu bytes of memory)", path, sizeof(struct ring));
	res = map(fd, &r);
	if (res)
		return err_sys(e, res, "cannot map the ring file %s", path);
	r->entry_bytes = sizeof(struct sample);
	r->entries = RING_ENTRIES;
	snprintf(r->series, sizeof(r->series), "%s", series);
	store_release(&r->magic, RING_MAGIC);
	*ret = r;
	return 0;
}

int ring_open(const char *path, struct ring **ret, struct err *e)
{
	cleanup_close int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct stat st;
	struct ring *r = NULL;
	int res;

	if (fd < 0)
		return err_sys(e, -errno, "cannot open the ring file %s", path);
	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_size != (off_t)sizeof(struct ring))
		return err_set(e, -EBADMSG, "%s is not a ring file of this version", path);
	res = map(fd, &r);
	if (res)
		return err_sys(e, res, "cannot map the ring file %s", path);
	if (load_acquire(&r->magic) != RING_MAGIC || r->entry_bytes != sizeof(struct sample) ||
	    r->entries != RING_ENTRIES || r->head - r->tail > RING_ENTRIES || !memchr(r->series, 0, sizeof(r->series))) {
		ring_close(r);
		return err_set(e, -EBADMSG, "%s is not a ring file of this version", path);
	}
	*ret = r;
	return 0;
}

void ring_close(struct ring *r)
{
	if (r)
		munmap(r, sizeof(*r));
}

void ring_put(struct ring *r, const struct sample *s)
{
	uint64_t head = r->head;

	if (++r->put > RING_KEEP_ALL && s->status == SAMPLE_OK && sample_wait(s) <= r->limit && r->put % 10) {
		r->thinned++;
		return;
	}
	if (head - load_acquire(&r->tail) >= RING_ENTRIES) {
		r->lost++;
		return;
	}
	r->entry[head % RING_ENTRIES] = *s;
	store_release(&r->head, head + 1);
}

uint32_t ring_take(struct ring *r, struct sample *ret, uint32_t max)
{
	uint64_t tail = r->tail, head = load_acquire(&r->head);
	uint32_t n = 0;

	if (head - tail > RING_ENTRIES)		/* a damaged file: nothing in it can be believed */
		return 0;
	while (n < max && tail + n != head) {
		ret[n] = r->entry[(tail + n) % RING_ENTRIES];
		n++;
	}
	store_release(&r->tail, tail + n);
	return n;
}

static void change_begin(struct in_flight *now)
{
	__atomic_store_n(&now->seq, now->seq + 1, __ATOMIC_RELAXED);
	atomic_thread_fence(memory_order_release);
}

static void change_end(struct in_flight *now)
{
	store_release(&now->seq, now->seq + 1);
}

void ring_begin(struct ring *r, uint64_t id, nsec_t intended, nsec_t started, uint32_t tid)
{
	change_begin(&r->now);
	r->now.id = id;
	r->now.intended = intended;
	r->now.started = r->now.step_started = started;
	r->now.step = 0;
	r->now.tid = tid;
	change_end(&r->now);
}

void ring_step(struct ring *r, uint32_t step, nsec_t now)
{
	change_begin(&r->now);
	r->now.step = step;
	r->now.step_started = now;
	change_end(&r->now);
}

void ring_end(struct ring *r)
{
	change_begin(&r->now);
	r->now.started = 0;
	change_end(&r->now);
}

struct in_flight ring_now(const struct ring *r)
{
	return in_flight_read(&r->now);
}

void ring_set_phase(struct ring *r, uint32_t phase, nsec_t now)
{
	store_release(&r->phase_since[phase], now);
	store_release(&r->phase, phase);
}

uint32_t ring_phase_at(const struct ring *r, nsec_t t)
{
	for (uint32_t p = PHASE_MAX; p-- > 1; ) {
		nsec_t since = load_acquire(&r->phase_since[p]);

		if (since && since <= t)
			return p;
	}
	return PHASE_PREPARE;
}

uint32_t ring_owed(const struct ring *r, const struct in_flight *fl, nsec_t t1, struct sample *ret, uint32_t max)
{
	struct sample s = { .id = fl->id, .intended = fl->intended, .start = fl->started, .end = t1, .pid = r->pid,
			    .tid = fl->tid, .status = SAMPLE_CENSORED, .runq = -1,
			    .load_bytes_per_s = r->load_bytes_per_s };
	uint32_t n = 0;

	if (!fl->started || fl->intended >= t1)
		return 0;
	s.phase = (uint8_t)ring_phase_at(r, s.intended);
	if (fl->step < SAMPLE_STEPS && t1 > fl->step_started) {
		s.nsteps = (uint8_t)(fl->step + 1);
		s.step[fl->step] = t1 - fl->step_started;
	}
	while (n < max) {
		ret[n++] = s;
		if (r->interval <= 0 || s.intended >= t1 - r->interval)
			break;
		s.id++;
		s.intended += r->interval;
		s.start = 0;		/* never performed */
		s.nsteps = 0;
		memset(s.step, 0, sizeof(s.step));
		s.phase = (uint8_t)ring_phase_at(r, s.intended);
	}
	return n;
}

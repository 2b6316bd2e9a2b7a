/* SPDX-License-Identifier: MIT */
#include "lab/settings.h"
#include "base/cleanup.h"
#include "base/mem.h"
#include "base/units.h"
#include "sys/kfile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct setter {
	struct undo *u;
	const char *device;		/* "loop3" */
	struct strbuf *said;
};

static char *queue_file(const struct setter *s, const char *name)
{
	return mem_printf("/sys/block/%s/queue/%s", s->device, name);
}

static void refused(struct setter *s, const char *what, const char *wanted, const char *now)
{
	strbuf_addf(s->said, "%s: %s was wanted, it is %s\n", what, wanted, now);
}

static void compare(struct setter *s, const char *file, const char *what, const char *value)
{
	cleanup_strbuf struct strbuf raw = STRBUF_INIT, now = STRBUF_INIT;

	if (file_read(file, &raw, NULL))
		return;
	file_chosen(strbuf_str(&raw), &now);
	if (strcmp(strbuf_str(&now), value))
		refused(s, what, value, strbuf_str(&now));
}

/* The ordinary case. */
static void set(struct setter *s, const char *name, const char *value)
{
	cleanup_free char *file = queue_file(s, name);
	cleanup_strbuf struct strbuf now = STRBUF_INIT;
	struct err e = { 0 };

	if (undo_set(s->u, file, value, &now, &e))
		strbuf_addf(s->said, "%s = %s: %s\n", name, value, e.msg);
	else if (strcmp(strbuf_str(&now), value))
		refused(s, name, value, strbuf_str(&now));
}

static void set_number(struct setter *s, const char *name, uint64_t x)
{
	char text[24];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)x);
	set(s, name, text);
}

/* What undoing writes is `back`, whatever is there then: for values that the kernel changes along with others. */
static int will_write(struct setter *s, const char *file, const char *back, struct err *e)
{
	return undo_note(s->u, UNDO_FILE, file, back, NULL, e);
}

/* ---- scheduler and depths ---- */

static int no_scheduler(const struct setter *s, const char *sched, struct err *e)
{
	cleanup_free char *file = queue_file(s, "scheduler");
	cleanup_strbuf struct strbuf all = STRBUF_INIT;

	(void)file_read(file, &all, NULL);
	return err_set(e, -ENOTSUP, "this kernel has no I/O scheduler '%s'; it has: %s", sched, strbuf_str(&all));
}

/*
 * Loop has 128 driver tags, so a scheduler would hand 128 requests to a drive that takes 31. Written while there is no
 * scheduler, nr_requests shrinks the driver's tags themselves, and they stay so when a scheduler is chosen afterwards
 * (seen on 6.18; debugfs hctx0/tags shows it). Going back needs a different value first: writing the one that is shown
 * does nothing. Undone in reverse: scheduler none, nr_requests old - 1, nr_requests old, wbt, scheduler old.
 */
static int set_scheduler(struct setter *s, const char *sched, uint64_t depth, uint64_t nr, struct err *e)
{
	cleanup_free char *fs = queue_file(s, "scheduler"), *fn = queue_file(s, "nr_requests"), *fw = queue_file(s, "wbt_lat_usec");
	cleanup_strbuf struct strbuf now = STRBUF_INIT, wbt = STRBUF_INIT;
	char text[24];
	uint64_t old;
	int r;

	r = undo_set(s->u, fs, "none", &now, e);
	if (!r)
		r = file_read_u64(fn, &old, e);
	if (!r && !file_read(fw, &wbt, NULL))
		r = will_write(s, fw, strbuf_str(&wbt), e);
	if (r)
		return r;
	if (depth != old) {
		snprintf(text, sizeof(text), "%llu", (unsigned long long)old);
		r = will_write(s, fn, text, e);
		snprintf(text, sizeof(text), "%llu", (unsigned long long)old - 1);
		if (!r)
			r = will_write(s, fn, text, e);
		if (r)
			return r;
		snprintf(text, sizeof(text), "%llu", (unsigned long long)depth);
		if (file_write(fn, text, NULL) == 0)
			compare(s, fn, "requests handed to the driver at once", text);
		else
			strbuf_addf(s->said, "driver depth: the kernel refused %s\n", text);
	}
	if (!strcmp(sched, "none"))
		return 0;
	r = will_write(s, fs, "none", e);
	if (r)
		return r;
	if (file_write(fs, sched, NULL))
		return no_scheduler(s, sched, e);
	strbuf_clear(&now);
	strbuf_clear(&wbt);
	if (file_read(fs, &wbt, NULL))
		return 0;
	file_chosen(strbuf_str(&wbt), &now);
	if (strcmp(strbuf_str(&now), sched))
		return no_scheduler(s, sched, e);
	snprintf(text, sizeof(text), "%llu", (unsigned long long)nr);
	if (file_write(fn, text, NULL) == 0)
		compare(s, fn, "nr_requests", text);
	else
		strbuf_addf(s->said, "nr_requests: the kernel refused %s\n", text);
	return 0;
}

static int set_wbt(struct setter *s, const struct lab_conf *c, bool rotational, struct err *e)
{
	nsec_t t;
	int r;

	if (!strcmp(c->wbt, "auto")) {
		/* the kernel chose for a device it took for an SSD; BFQ does without */
		if (rotational && strcmp(c->sched, "bfq"))
			set(s, "wbt_lat_usec", "75000");
		return 0;
	}
	r = units_nsec(c->wbt, &t, e);
	if (r)
		return err_wrap(e, "wbt");
	set_number(s, "wbt_lat_usec", (uint64_t)(t / NSEC_PER_USEC));
	return 0;
}

/* ---- memory ---- */

/* dirty_bytes and dirty_ratio are one setting in two units: writing one makes the other 0. Undo writes the ratio. */
static int set_dirty(struct setter *s, const char *bytes, const char *ratio, uint64_t value, struct err *e)
{
	cleanup_free char *fb = mem_printf("/proc/sys/vm/%s", bytes), *fr = mem_printf("/proc/sys/vm/%s", ratio);
	uint64_t old_bytes, old_ratio;
	char text[24];
	int r;

	if (!value)
		return 0;
	r = file_read_u64(fb, &old_bytes, e);
	if (!r)
		r = file_read_u64(fr, &old_ratio, e);
	if (r)
		return r;
	snprintf(text, sizeof(text), "%llu", (unsigned long long)(old_bytes ? old_bytes : old_ratio));
	r = will_write(s, old_bytes ? fb : fr, text, e);
	if (r)
		return r;
	snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
	if (file_write(fb, text, NULL) == 0)
		compare(s, fb, bytes, text);
	else
		strbuf_addf(s->said, "%s: the kernel refused %s\n", bytes, text);
	return 0;
}

static int set_bdi(struct setter *s, const struct lab_conf *c, struct err *e)
{
	cleanup_free char *max = mem_printf("/sys/block/%s/bdi/max_bytes", s->device);
	cleanup_free char *ratio = mem_printf("/sys/block/%s/bdi/max_ratio", s->device);
	cleanup_free char *strict = mem_printf("/sys/block/%s/bdi/strict_limit", s->device);
	cleanup_strbuf struct strbuf old = STRBUF_INIT;
	struct err why = { 0 };
	char text[24];
	int r = 0;

	if (c->bdi_max_bytes) {
		/* kept by the kernel as a share: max_ratio brings it back exactly */
		if (file_read(ratio, &old, &why) || (r = will_write(s, ratio, strbuf_str(&old), e))) {
			strbuf_addf(s->said, "bdi_max_bytes: %s\n", r ? e->msg : why.msg);
			return r;
		}
		snprintf(text, sizeof(text), "%llu", (unsigned long long)c->bdi_max_bytes);
		if (file_write(max, text, &why))
			strbuf_addf(s->said, "bdi_max_bytes: %s\n", why.msg);
	}
	if (c->bdi_strict && undo_set(s->u, strict, "1", NULL, &why))
		strbuf_addf(s->said, "bdi_strict: %s\n", why.msg);
	return 0;
}

int settings_apply(const struct lab_conf *c, const struct profile *p, const char *device, struct undo *u,
		   struct strbuf *said, struct err *e)
{
	struct setter s = { .u = u, .device = device, .said = said };
	const struct disk_conf *d = profile_disk(p);
	bool rotational = c->rotational ? c->rotational == 2 : p->ops->rotational;
	uint64_t nr = c->nr_requests ? c->nr_requests : MAX(2 * d->depth, UINT64_C(4));
	int r = set_scheduler(&s, c->sched, d->depth, nr, e);

	if (r)
		return r;
	set(&s, "rotational", rotational ? "1" : "0");
	set(&s, "write_cache", d->write_cache ? "write back" : "write through");
	set_number(&s, "read_ahead_kb", c->read_ahead_kb);
	if (c->max_sectors_kb)
		set_number(&s, "max_sectors_kb", c->max_sectors_kb);
	r = set_wbt(&s, c, rotational, e);
	for (size_t i = 0; i < c->tunables.n && !r; i++) {
		cleanup_free char *name = mem_printf("iosched/%s", c->tunables.p[i].key);

		set(&s, name, c->tunables.p[i].value);
	}
	if (!r)
		r = set_bdi(&s, c, e);
	if (!r)
		r = set_dirty(&s, "dirty_background_bytes", "dirty_background_ratio", c->dirty_background_bytes, e);
	if (!r)
		r = set_dirty(&s, "dirty_bytes", "dirty_ratio", c->dirty_bytes, e);
	return r;
}

int settings_cgroup(const struct lab_conf *c, struct undo *u, struct strbuf *ret_procs, struct err *e)
{
	static const struct { const char *root, *probe, *limit; } kinds[] = {
		{ "/sys/fs/cgroup", "/sys/fs/cgroup/cgroup.subtree_control", "memory.max" },
		{ "/sys/fs/cgroup/memory", "/sys/fs/cgroup/memory/memory.limit_in_bytes", "memory.limit_in_bytes" },
	};
	int r;

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		cleanup_free char *dir = mem_printf("%s/stallmark-lab-%s", kinds[i].root, c->name);
		cleanup_free char *limit = mem_printf("%s/%s", dir, kinds[i].limit);
		cleanup_strbuf struct strbuf on = STRBUF_INIT;
		char text[24];

		if (access(kinds[i].probe, F_OK))
			continue;
		if (i == 0 && (file_read(kinds[i].probe, &on, NULL) || !strstr(strbuf_str(&on), "memory")))
			continue;
		r = undo_note(u, UNDO_CGROUP, dir, NULL, NULL, e);
		if (r)
			return r;
		if (mkdir(dir, 0755) && errno != EEXIST)
			return err_sys(e, -errno, "cannot make the memory cgroup %s", dir);
		snprintf(text, sizeof(text), "%llu", (unsigned long long)c->memory);
		r = file_write(limit, text, e);
		if (r)
			return r;
		strbuf_addf(ret_procs, "%s/cgroup.procs", dir);
		return 0;
	}
	return err_set(e, -ENOTSUP, "memory = needs a memory cgroup (v1 or v2), and this machine mounts none");
}

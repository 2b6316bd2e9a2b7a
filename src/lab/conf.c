/* SPDX-License-Identifier: MIT */
#include "base/cleanup.h"
#include "base/mem.h"
#include "base/units.h"
#include "lab/lab.h"
#include "model/drive.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

static const char *const as_profile[] = { "profile", "no", "yes", NULL };

#define C struct lab_conf
#define NUM(field_, type_, def_, min_, max_, help_) \
	{ .name = #field_, .type = (type_), .offset = offsetof(C, field_), .def = (def_), .min = (min_), .max = (max_), .help = (help_) }
#define WORD(field_, def_, help_) \
	{ .name = #field_, .type = PARAM_WORD, .offset = offsetof(C, field_), .def = (def_), .words = as_profile, .help = (help_) }

const struct param lab_params[] = {
	PARAM(C, disk, PARAM_TEXT, "hdd7200_2009", "profile of the disk (stallmark lab disks), or a path to one"),
	NUM(size, PARAM_SIZE, "2G", 16 << 20, 64e12, "size of the disk"),
	NUM(store, PARAM_SIZE, "0", 0, 64e12, "memory for its blocks, locked; 0: the size, or what half of the free memory allows"),
	PARAM(C, file, PARAM_TEXT, NULL, "blocks in this file instead of memory"),
	PARAM(C, fs, PARAM_TEXT, "ext4", "ext2, ext3, ext4, xfs, btrfs, or none"),
	PARAM(C, mkfs, PARAM_TEXT, NULL, "more options for mkfs, joined with +"),
	PARAM(C, mount, PARAM_TEXT, NULL, "mount options, joined with +: data=ordered+barrier=0"),
	PARAM(C, sched, PARAM_TEXT, "mq-deadline", "I/O scheduler: none, mq-deadline, kyber, bfq; sched.KEY sets its tunables"),
	NUM(nr_requests, PARAM_COUNT, "0", 0, 100000, "requests the scheduler holds; 0: twice the depth, as the kernel would"),
	NUM(depth, PARAM_COUNT, "0", 0, DISK_DEPTH_MAX, "requests the drive is given at once; 0: as the profile says"),
	WORD(rotational, "profile", "what the kernel is told: no, yes"),
	WORD(write_cache, "profile", "volatile write cache of the drive: no, yes"),
	NUM(max_sectors_kb, PARAM_COUNT, "0", 0, 65536, "largest request; 0: as the kernel has it"),
	NUM(read_ahead_kb, PARAM_COUNT, "128", 0, 1 << 20, "read-ahead of the device"),
	PARAM(C, wbt, PARAM_TEXT, "auto", "writeback throttling: target latency, 0 for off, auto: the kernel's for that kind of disk"),
	NUM(memory, PARAM_SIZE, "0", 0, 64e12, "memory limit of a cgroup for what works on it; 0: none"),
	NUM(dirty_bytes, PARAM_SIZE, "0", 0, 64e12, "vm.dirty_bytes of the whole machine; 0: as it is"),
	NUM(dirty_background_bytes, PARAM_SIZE, "0", 0, 64e12, "vm.dirty_background_bytes of the whole machine; 0: as it is"),
	NUM(bdi_max_bytes, PARAM_SIZE, "0", 0, 64e12, "dirty limit of this device only (bdi max_bytes); 0: as it is"),
	PARAM(C, bdi_strict, PARAM_BOOL, "no", "the device's dirty limit always counts (bdi strict_limit)"),
	NUM(seed, PARAM_COUNT, "1", 0, 1e18, "seed of the model: where the platter stands"),
	{ 0 }
};

int lab_conf_init(struct lab_conf *c, const char *name, struct err *e)
{
	size_t n = strlen(name);

	if (!n || n > LAB_NAME_MAX)
		return err_set(e, -EINVAL, "'%.60s' is no name for a lab: 1 to %d letters, digits, - and _", name, LAB_NAME_MAX);
	for (const char *s = name; *s; s++)
		if (!isalnum((unsigned char)*s) && *s != '-' && *s != '_')
			return err_set(e, -EINVAL, "'%.60s' is no name for a lab: letters, digits, - and _ only", name);
	memset(c, 0, sizeof(*c));
	memcpy(c->name, name, n);
	param_defaults(lab_params, c);
	return 0;
}

static void put_pair(struct lab_conf *c, bool tunable, const char *key, const char *value)
{
	struct lab_pair p = { mem_dup(key), mem_dup(value) };

	if (tunable)
		vec_push(&c->tunables, p);
	else
		vec_push(&c->profile, p);
}

static bool plain_key(const char *s)
{
	if (!*s)
		return false;
	for (; *s; s++)
		if (!isalnum((unsigned char)*s) && *s != '_')
			return false;
	return true;
}

int lab_conf_set(struct lab_conf *c, const char *key, const char *value, struct err *e)
{
	char owner[LAB_NAME_MAX + 10];
	int r;

	snprintf(owner, sizeof(owner), "lab %s", c->name);
	if (!strncmp(key, "sched.", 6) || !strncmp(key, "disk.", 5)) {
		const char *k = strchr(key, '.') + 1;

		if (!plain_key(k))
			return err_set(e, -EINVAL, "%s: '%.60s' is no key", owner, key);
		put_pair(c, *key == 's', k, value);
		return 0;
	}
	if (!strncmp(key, "poke.", 5)) {
		struct lab_poke_at p = { 0 };
		struct fault f;

		r = units_nsec(key + 5, &p.at, e);
		if (!r)
			r = fault_parse(value, &f, e);
		if (r)
			return err_wrap(e, "%s: %.60s", owner, key);
		p.text = mem_dup(value);
		vec_push(&c->pokes, p);
		return 0;
	}
	return param_set(lab_params, c, owner, key, value, e);
}

int lab_conf_parse(struct lab_conf *c, const char *text, struct err *e)
{
	cleanup_free char *copy = mem_dup(text);
	char *save = NULL;

	for (char *w = strtok_r(copy, ",", &save); w; w = strtok_r(NULL, ",", &save)) {
		char *eq = strchr(w, '=');
		int r;

		if (!eq)
			return err_set(e, -EINVAL, "lab %s: '%.80s' is not key=value (mount options are joined with +)", c->name, w);
		*eq = 0;
		r = lab_conf_set(c, w, eq + 1, e);
		if (r)
			return r;
	}
	return 0;
}

bool lab_conf_machine_wide(const struct lab_conf *c)
{
	return c->dirty_bytes || c->dirty_background_bytes;
}

const char *lab_fs_words(const char *fs)
{
	if (!strcmp(fs, "ext3"))
		return "ext3 by the ext4 driver";
	return !strcmp(fs, "ext2") ? "ext2 by the ext4 driver" : fs;
}

void lab_conf_text(const struct lab_conf *c, struct strbuf *out)
{
	strbuf_addf(out, "%s, %s, %s", c->disk, lab_fs_words(c->fs), c->sched);
	if (c->mount)
		strbuf_addf(out, ", %s", c->mount);
	if (c->depth)
		strbuf_addf(out, ", depth %llu", (unsigned long long)c->depth);
}

static void pairs_done(struct lab_pair *p, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(p[i].key);
		free(p[i].value);
	}
}

void lab_conf_done(struct lab_conf *c)
{
	param_done(lab_params, c);
	pairs_done(c->tunables.p, c->tunables.n);
	pairs_done(c->profile.p, c->profile.n);
	for (size_t i = 0; i < c->pokes.n; i++)
		free(c->pokes.p[i].text);
	vec_done(&c->tunables);
	vec_done(&c->profile);
	vec_done(&c->pokes);
}

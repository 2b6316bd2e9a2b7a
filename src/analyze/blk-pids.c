/* SPDX-License-Identifier: MIT */
#include "analyze/blk-pids.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

static struct blk_pid_entry *slot_of(struct blk_pid_entry *slot, size_t nslots, uint32_t pid)
{
	size_t i = (pid * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (nslots - 1);

	while (slot[i].used && slot[i].pid != pid)
		i = (i + 1) & (nslots - 1);
	return &slot[i];
}

static struct blk_pid_entry *find(struct blk_pids *p, uint32_t pid)
{
	struct blk_pid_entry *s;

	if (p->last && p->last->pid == pid)
		return p->last;
	if (p->n * 2 >= p->nslots) {
		size_t nslots = p->nslots ? p->nslots * 2 : 256;
		struct blk_pid_entry *slot = mem_array(nslots, sizeof(*slot));

		for (size_t i = 0; i < p->nslots; i++)
			if (p->slot[i].used)
				*slot_of(slot, nslots, p->slot[i].pid) = p->slot[i];
		free(p->slot);
		p->slot = slot;
		p->nslots = nslots;
	}
	s = slot_of(p->slot, p->nslots, pid);
	if (!s->used) {
		s->used = true;
		s->pid = pid;
		p->n++;
	}
	return p->last = s;
}

void blk_pids_name(struct blk_pids *p, uint32_t pid, const uint8_t *comm, size_t n, uint64_t when)
{
	struct blk_pid_entry *s = find(p, pid);

	if (s->named && s->named_when <= when)
		return;
	s->named = true;
	s->named_when = when;
	memset(s->name, 0, sizeof(s->name));
	n = strnlen((const char *)comm, n < sizeof(s->name) - 1 ? n : sizeof(s->name) - 1);
	memcpy(s->name, comm, n);
}

struct blk_cells *blk_pids_cells(struct blk_pids *p, uint32_t pid, uint64_t when)
{
	struct blk_pid_entry *s = find(p, pid);

	if (!s->counted) {
		s->counted = true;
		s->counted_when = when;
		s->cells = mem_alloc(sizeof(*s->cells));
	}
	return s->cells;
}

static int by_name(const void *a, const void *b)
{
	const struct blk_pid_totals *x = a, *y = b;
	int c = strverscmp(x->name, y->name);

	return c ? c : ((int32_t)x->pid > (int32_t)y->pid) - ((int32_t)x->pid < (int32_t)y->pid);	/* pid_t */
}

void blk_pids_finish(struct blk_pids *p, struct blk_totals *t)
{
	t->pids = mem_array(p->n ? p->n : 1, sizeof(*t->pids));
	t->npids = 0;
	for (size_t i = 0; i < p->nslots; i++) {
		struct blk_pid_entry *s = &p->slot[i];
		struct blk_pid_totals *o = &t->pids[t->npids];

		if (!s->counted)
			continue;
		o->pid = s->pid;
		if (s->named && s->named_when <= s->counted_when)
			memcpy(o->name, s->name, sizeof(o->name));
		else
			memcpy(o->name, "unknown", sizeof("unknown"));
		o->cells = *s->cells;
		free(s->cells);
		t->npids++;
	}
	qsort(t->pids, t->npids, sizeof(*t->pids), by_name);
	free(p->slot);
	*p = (struct blk_pids){ 0 };
}

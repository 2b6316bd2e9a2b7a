/* SPDX-License-Identifier: MIT */
#include "format/lanes.h"

static struct lane_group *find(struct lanes *l, uint64_t key)
{
	size_t i = (size_t)((key * UINT64_C(0x9e3779b97f4a7c15)) >> 20) & (l->cap - 1);

	while (l->group[i].used && l->group[i].key != key)
		i = (i + 1) & (l->cap - 1);
	return &l->group[i];
}

static void grow(struct lanes *l)
{
	struct lanes bigger = { .cap = l->cap ? l->cap * 2 : 64, .n = l->n, .rows = l->rows };

	bigger.group = mem_array(bigger.cap, sizeof(*bigger.group));
	for (size_t i = 0; i < l->cap; i++)
		if (l->group[i].used)
			*find(&bigger, l->group[i].key) = l->group[i];
	free(l->group);
	*l = bigger;
}

int lane_for(struct lanes *l, uint64_t key, nsec_t begin, nsec_t end, int *ret_nth, bool *ret_new)
{
	struct lane_group *g;
	int i;

	if (l->n * 2 >= l->cap)
		grow(l);
	g = find(l, key);
	if (!g->used) {
		*g = (struct lane_group){ .key = key, .used = true };
		l->n++;
	}
	for (i = 0; i < g->n && g->end[i] > begin; i++)
		;
	if (i == LANES_MAX)
		return 0;
	*ret_new = i == g->n;
	if (*ret_new) {
		g->row[i] = ++l->rows;
		g->n++;
	}
	g->end[i] = end;
	*ret_nth = i;
	return g->row[i];
}

void lanes_done(struct lanes *l)
{
	free(l->group);
	*l = (struct lanes){ 0 };
}

/* SPDX-License-Identifier: MIT */
#include "record/intern.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

#define BLOCK 65536

struct intern_block {
	struct intern_block *next;
	size_t used, size;
	char bytes[];
};

/* FNV-1a; the texts are names of files, tasks and kernel functions */
static uint32_t hash(const char *s)
{
	uint32_t h = 2166136261u;

	for (; *s; s++)
		h = (h ^ (unsigned char)*s) * 16777619u;
	return h ^ h >> 15;
}

static const char *store(struct intern *in, const char *text)
{
	size_t n = strlen(text) + 1;
	struct intern_block *b = in->block;
	char *at;

	if (!b || b->size - b->used < n) {
		size_t size = n > BLOCK ? n : BLOCK;

		b = mem_alloc(sizeof(*b) + size);
		b->size = size;
		b->next = in->block;
		in->block = b;
	}
	at = b->bytes + b->used;
	memcpy(at, text, n);
	b->used += n;
	return at;
}

static void grow(struct intern *in)
{
	in->nslots = in->nslots ? in->nslots * 2 : 64;
	free(in->slot);
	in->slot = mem_array(in->nslots, sizeof(*in->slot));
	for (uint32_t i = 0; i < in->n; i++) {
		uint32_t at = hash(in->text[i]) & (in->nslots - 1);

		while (in->slot[at])
			at = (at + 1) & (in->nslots - 1);
		in->slot[at] = i + 1;
	}
}

uint32_t intern(struct intern *in, const char *text, bool *ret_new)
{
	uint32_t at;

	if (in->n >= in->nslots / 2)
		grow(in);
	for (at = hash(text) & (in->nslots - 1); in->slot[at]; at = (at + 1) & (in->nslots - 1)) {
		if (!strcmp(in->text[in->slot[at] - 1], text)) {
			*ret_new = false;
			return in->slot[at] - 1;
		}
	}
	if (in->n == in->cap) {
		in->cap = in->cap ? in->cap * 2 : 64;
		in->text = mem_realloc(in->text, in->cap * sizeof(*in->text));
	}
	in->text[in->n] = store(in, text);
	in->slot[at] = in->n + 1;
	*ret_new = true;
	return in->n++;
}

const char *intern_keep(struct intern *in, const char *text)
{
	uint32_t at;
	bool is_new;

	if (!text)
		return NULL;
	at = intern(in, text, &is_new);		/* may move in->text */
	return in->text[at];
}

void intern_done(struct intern *in)
{
	for (struct intern_block *b = in->block, *next; b; b = next) {
		next = b->next;
		free(b);
	}
	free(in->text);
	free(in->slot);
	memset(in, 0, sizeof(*in));
}

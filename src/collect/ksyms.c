/* SPDX-License-Identifier: MIT */
#include "collect/ksyms.h"
#include "base/cleanup.h"
#include "base/strbuf.h"
#include "base/vec.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

struct sym {
	uint64_t at;
	uint32_t name;		/* offset into names */
};

struct ksyms {
	VEC(struct sym) sym;
	struct strbuf names;
};

static int by_address(const void *a, const void *b)
{
	const struct sym *x = a, *y = b;

	return x->at < y->at ? -1 : x->at > y->at ? 1 : x->name < y->name ? -1 : x->name > y->name;
}

int ksyms_parse(const char *text, size_t len, struct ksyms **ret, struct err *e)
{
	struct ksyms *k = mem_alloc(sizeof(*k));
	const char *end = text + len;
	bool hidden = true;

	while (text < end) {
		const char *nl = memchr(text, '\n', (size_t)(end - text));
		const char *stop = nl ? nl : end, *p = text;
		uint64_t at = 0;

		for (; p < stop && *p != ' '; p++) {
			int c = *p | 0x20;

			at = at << 4 | (uint64_t)(c >= 'a' ? c - 'a' + 10 : c - '0');
		}
		if (stop - p > 3 && strchr("tTwW", p[1]) && p[2] == ' ') {
			const char *name = p + 3, *q = name;

			while (q < stop && *q != '\t' && *q != ' ')
				q++;
			vec_push(&k->sym, ((struct sym){ at, (uint32_t)k->names.len }));
			strbuf_add(&k->names, name, (size_t)(q - name));
			strbuf_addc(&k->names, '\0');
			hidden &= at == 0;
		}
		text = nl ? nl + 1 : end;
	}
	if (hidden) {
		ksyms_free(k);
		return err_set(e, -EACCES, "the kernel hides its addresses in /proc/kallsyms (kernel.kptr_restrict), so kernel "
			       "stacks cannot be read; run as root with kptr_restrict at most 1");
	}
	qsort(k->sym.p, k->sym.n, sizeof(*k->sym.p), by_address);
	*ret = k;
	return 0;
}

int ksyms_load(struct ksyms **ret, struct err *e)
{
	cleanup_strbuf struct strbuf b = STRBUF_INIT;
	cleanup_close int fd = open("/proc/kallsyms", O_RDONLY | O_CLOEXEC);
	char buf[65536];
	ssize_t n;

	if (fd < 0)
		return err_sys(e, -errno, "cannot open /proc/kallsyms");
	while ((n = read(fd, buf, sizeof(buf))) > 0)
		strbuf_add(&b, buf, (size_t)n);
	if (n < 0)
		return err_sys(e, -errno, "cannot read /proc/kallsyms");
	return ksyms_parse(strbuf_str(&b), b.len, ret, e);
}

const char *ksyms_find(const struct ksyms *k, uint64_t address)
{
	size_t lo = 0, hi = k->sym.n;

	while (lo < hi) {	/* the last symbol at or before the address */
		size_t mid = lo + (hi - lo) / 2;

		if (k->sym.p[mid].at <= address)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (!lo || address - k->sym.p[lo - 1].at > 1u << 20)
		return NULL;
	lo--;
	while (lo && k->sym.p[lo - 1].at == k->sym.p[lo].at)	/* aliases: the first, always the same */
		lo--;
	return k->names.s + k->sym.p[lo].name;
}

void ksyms_free(struct ksyms *k)
{
	if (!k)
		return;
	vec_done(&k->sym);
	strbuf_done(&k->names);
	free(k);
}
